"""Syntax trees of Python files and of the code cells of notebooks."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curate.errors import ItemError

MAX_BYTES = 2_000_000
"""A larger file was written by a program, or is a notebook full of pictures."""
PYTHON_MAGICS = {"time", "timeit", "capture", "prun", "python", "python3", "pypy", "debug", "memit", "mprun"}
"""Cell magics that run the rest of their cell as Python."""
LOADERS = (b"import_module", b"__import__", b"importorskip")
"""Functions that import the module that they are given the name of."""
_MAGIC = re.compile(r"(\s*)(?:[%!?]|[\w., ]+=\s*[%!]|.*[\w)\]]\?{1,2}\s*$)")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")


def read(file: Path) -> Iterator[tuple[ast.Module | None, bool]]:
    """Yield the module of a file, or one for each code cell of a notebook in Python, None for a cell that is none.

    With it goes whether its text names a function that imports modules. Raises ItemError(unreadable) when the file as
    a whole is too large or cannot be parsed. Encodings are Python's own matter.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ItemError("unreadable", f"more than {MAX_BYTES:,} bytes")
        raw = file.read_bytes()
        if file.suffix == ".py":
            yield _parsed(raw), any(name in raw for name in LOADERS)
            return
        cells = list(_cells(json.loads(raw)))
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ItemError("unreadable", str(error)) from error
    for cell in cells:
        try:
            yield _cell(cell), any(name.decode() in cell for name in LOADERS)
        except ItemError:
            yield None, False


def _parsed(source: bytes | str) -> ast.Module:
    try:
        return ast.parse(source)
    # Beside SyntaxError: ValueError (null bytes), RecursionError, MemoryError, and whatever a codec raises.
    except Exception as error:
        raise ItemError("unreadable", str(error)) from error


def _cells(notebook: Any) -> Iterator[str]:
    metadata = notebook.get("metadata") or {}
    kernel = metadata.get("kernelspec") or {}
    language = (metadata.get("language_info") or {}).get("name") or kernel.get("language") or "python"
    if str(language).lower() not in {"python", "python2", "python3", "ipython"}:
        return
    sheets = notebook.get("worksheets") or [notebook]  # until version 3 of the format
    for cell in (cell for sheet in sheets for cell in sheet["cells"]):
        if cell.get("cell_type") == "code":
            source = cell["source"] if "source" in cell else cell["input"]
            yield source if isinstance(source, str) else "".join(source)


def _cell(source: str) -> ast.Module:
    magic = _CELL_MAGIC.match(source)
    if magic and magic[1] not in PYTHON_MAGICS:
        return ast.Module([], [])
    try:
        return _parsed(source)
    except ItemError:
        return _parsed(_without_magics(source))


def _without_magics(source: str) -> str:
    """Return a cell with lines for the shell and magics replaced by `pass`, lines that continue them too."""
    lines = []
    inside = False
    for line in source.splitlines():
        magic = _MAGIC.match(line)
        if inside:
            lines.append("")
        else:
            lines.append(f"{magic[1]}pass" if magic else line)
        inside = (inside or magic is not None) and line.endswith("\\")
    return "\n".join(lines)
