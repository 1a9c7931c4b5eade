"""Who is not to be taken: lists of repositories that a source file denies, and of authors who asked to be left out."""

from __future__ import annotations

import fnmatch
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
    """Return the lists of a workspace; raises UserError when a file that is named is not there."""
    path = root / file
    if not path.is_file():
        if file != FILE:
            raise UserError(f"{file}: no such file (key opt_out)")
        return OptOut(tuple(denied))
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return OptOut(tuple(denied), tuple(line for line in lines if line))


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.lower(), pattern.lower())
