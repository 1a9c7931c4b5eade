"""The code cells of a notebook, with what is not Python set aside so that positions stay as they are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from curate.errors import ItemError
from curate.extract.files import parse

_PYTHON_MAGICS = {
    "time",
    "timeit",
    "capture",
    "prun",
    "python",
    "python3",
    "pypy",
    "debug",
    "memit",
    "mprun",
    "snakeviz",
}
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_LINE = re.compile(r"\s*(?:%{1,2}[A-Za-z_]|!|\?{1,2}[A-Za-z_%])|.*[\w)\]]\?{1,2}\s*\Z")
_ASSIGNED = re.compile(r"(\s*[A-Za-z_][\w.,\s\[\]*]*=\s*)(?:%[A-Za-z_]|!).*\Z", re.DOTALL)


def code_cells(raw: bytes) -> Iterator[tuple[int, str]]:
    """Yield (position among all cells, source) of the code cells; raises ItemError(bad_notebook)."""
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(raw.decode("utf-8-sig"), as_version=4)  # type: ignore[no-untyped-call]
        cells = [(n, cell.source) for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    except RecursionError as error:
        raise ItemError("too_deep", "nested deeper than can be read") from error
    except Exception as error:  # nbformat lets KeyError, AttributeError and its own errors through.
        raise ItemError("bad_notebook", f"{type(error).__name__}: {str(error)[:200]}") from error
    metadata = notebook.metadata
    language = metadata.get("language_info", {}).get("name") or metadata.get("kernelspec", {}).get("language", "python")
    if str(language).lower() in {"python", "python3", "ipython"}:
        yield from cells


def set_aside(cell: str) -> str:
    """Return a cell with its magic, shell and help lines replaced by names of the same length in bytes.

    Only lines that Python itself stumbles over are touched, so a `%` that continues an expression stays one. A cell in
    another language comes back empty. What still does not parse is left to the parser.
    """
    first = _CELL_MAGIC.match(cell)
    if first and first.group(1) not in _PYTHON_MAGICS:
        return ""
    lines = re.split(r"(?<=\n)", cell)
    for _ in range(len(lines)):
        try:
            parse("".join(lines))
        except ItemError as error:
            at = re.match(r"line (\d+)", error.detail)
            if not at or not _cover_first(lines, int(at.group(1)) - 1):
                break
        else:
            break
    return "".join(lines)


def _cover_first(lines: list[str], at: int) -> bool:
    """Cover the line that was complained about, or else the first that looks like a magic line."""
    order = [at, *range(len(lines))]
    return any(0 <= n < len(lines) and _cover(lines, n) for n in order)


def _cover(lines: list[str], n: int) -> bool:
    line = lines[n].rstrip("\r\n")
    assigned = _ASSIGNED.match(line)
    if not assigned and not _LINE.match(line):
        return False
    head = assigned.group(1) if assigned else line[: len(line) - len(line.lstrip())]
    lines[n] = head + _bar(line[len(head) :]) + lines[n][len(line) :]
    while line.endswith("\\") and n + 1 < len(lines):
        n += 1
        line = lines[n].rstrip("\r\n")
        lines[n] = "#" * len(line.encode()) + lines[n][len(line) :]
    return True


def _bar(text: str) -> str:
    kept = text.rstrip()
    return "_" * len(kept.encode()) + text[len(kept) :]
