"""The files of a snapshot: which there are, their dotted names, and their syntax trees."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from curate.conventions import is_skipped
from curate.errors import ItemError

_PYTHON2 = re.compile(
    "|".join(
        [
            r"^\s*(?:print\s+[^\s=(.,\[]|print\s*>>|exec\s+[\"'\w]|raise\s+[\w.]+\s*,)",
            r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:",
            r"`\w|<>|\b0[0-7]+\b|\bur[\"']|\b\d+[lL]\b",
        ]
    )
)
_SOURCE_ROOTS = {"src", "lib", "python"}


def source_files(root: Path) -> Iterator[tuple[str, Path | ItemError]]:
    """Yield (path relative to the root, file) for every Python file and notebook, sorted.

    Symbolic links are not followed. A link inside the snapshot is a second name of a file that is yielded anyway; one
    that leads out is an ItemError.
    """
    found: list[tuple[str, Path | ItemError]] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not is_skipped(name)]
        for name in names:
            if name.endswith((".py", ".ipynb")):
                file = Path(folder, name)
                path = file.relative_to(root).as_posix()
                found.append(_checked(root, path, file))
    yield from sorted((entry for entry in found if entry[0]), key=lambda entry: entry[0])


def _checked(root: Path, path: str, file: Path) -> tuple[str, Path | ItemError]:
    shown = path.encode("utf-8", "replace").decode()
    if shown != path:
        return shown, ItemError("undecodable", "the file's name is not UTF-8")
    if file.is_symlink():
        target = file.resolve()
        if target.is_relative_to(root.resolve()) and target.exists():
            return "", file
        return path, ItemError("link_outside", "a symbolic link that leads out of the snapshot or nowhere")
    return path, file


def read_bytes(file: Path, limit: int) -> bytes:
    """Return a file's bytes; raises ItemError(too_large | unreadable)."""
    try:
        size = file.stat().st_size
        if size > limit:
            raise ItemError("too_large", f"{size} bytes; the limit is {limit}")
        return file.read_bytes()
    except OSError as error:
        raise ItemError("unreadable", error.strerror or type(error).__name__) from error


def parse(text: str) -> ast.Module:
    """Parse source text; raises ItemError(does_not_parse | python2 | too_deep)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        reason = "python2" if _is_python2(text, error) else "does_not_parse"
        reason = "too_deep" if "too many nested" in error.msg else reason
        raise ItemError(reason, f"line {error.lineno}: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise ItemError("too_deep", "expressions nested deeper than the parser can follow") from error
    except ValueError as error:
        raise ItemError("does_not_parse", str(error)) from error


def _is_python2(text: str, error: SyntaxError) -> bool:
    if "parentheses in call to" in error.msg or "multiple exception types" in error.msg:
        return True
    line = re.split(r"\r\n|\r|\n", text)[(error.lineno or 1) - 1 : error.lineno or 1]
    return bool(line and _PYTHON2.search(line[0]))


def dotted_name(path: str, packages: set[str]) -> str:
    """Return the name under which a file is imported; `packages` are the folders that hold an `__init__.py`.

    The name starts at the outermost package around the file, so that `src/pkg/a.py` is `pkg.a`. A file in no package
    goes by its path, without a leading `src`.
    """
    parts = PurePosixPath(path).with_suffix("").parts
    folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
    start = next((n for n, folder in enumerate(folders) if folder in packages), None)
    if start is None:
        start = 1 if len(parts) > 1 and parts[0] in _SOURCE_ROOTS else 0
    named = parts[start:]
    return ".".join(named[:-1] if named[-1] == "__init__" and len(named) > 1 else named)
