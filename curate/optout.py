"""Who is not to be taken: lists of repositories that a source file denies, and of authors who asked to be left out."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from curate.errors import UserError

FILE = "sources/opt-out.txt"
"""Looked at whatever is mined or released, so that nobody comes back with the next search."""


@dataclass(frozen=True)
class OptOut:
    """Names (with * and ?) and numbers of repositories."""

    denied: tuple[str, ...] = ()
    """By the source file."""
    opted_out: tuple[str, ...] = ()
    """By their authors."""

    def refusal(self, names: Sequence[str], number: int | None = None) -> tuple[str, str] | None:
        """Return why a project with these names and this number is not taken: (reason, sentence)."""
        for reason, sentence, patterns in (
            ("opted_out", "its authors asked to be left out", self.opted_out),
            ("denied", "the source file denies it", self.denied),
        ):
            for pattern in patterns:
                if pattern == str(number) or any(_matches(name, pattern) for name in names):
                    return reason, f"{names[0]}: {sentence} ({pattern})"
        return None


def read(root: Path, denied: Iterable[str] = (), file: str = FILE) -> OptOut:
    """Return the lists of a workspace, those of a further file added; raises UserError for what cannot be read."""
    if file != FILE and not (root / file).is_file():
        raise UserError(f"{file}: no such file (key opt_out)")
    entries = [entry for name in dict.fromkeys((FILE, file)) if (root / name).is_file() for entry in _read(root, name)]
    return OptOut(tuple(denied), tuple(entries))


def _read(root: Path, file: str) -> list[str]:
    try:
        lines = (root / file).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8: {error}") from None
    entries = [re.sub(r"^https?://[^/]+/|\.git$|/$", "", line.partition("#")[0].strip()) for line in lines]
    for number, entry in enumerate(entries, 1):
        if entry and not re.fullmatch(r"\d+|[\w.*?\[\]-]+(/[\w.*?\[\]-]+)?", entry):
            raise UserError(f"{file}: line {number}: {entry!r} is neither OWNER/NAME (with * and ?) nor a number")
    return [entry for entry in entries if entry]


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.lower(), pattern.lower())
