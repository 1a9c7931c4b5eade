"""Licence files: how they are called, and what they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from curate.mine import licence_notices, licence_texts
from curate.mine.licence_texts import plain

BARE = re.compile(r"(?i)(un)?licen[cs]e|copying|licen[cs]es|mit-licen[cs]e")
SUFFIX = re.compile(r"(?i)\.(txt|md|rst|markdown)$")
OF_OTHERS = re.compile(r"(?i)third|3rd|vendor|notice|bundled|depend|external")
SOURCE = re.compile(r"(?i)\.(py|pyi|json|toml|ya?ml|html|js|cfg|ini|sh|ipynb|c|h|cpp)$")
MAX_BYTES = 1 << 20
SHORT_WORDS = 400
"""A file of fewer words may hold only the notice that belongs at the top of a source file; in a longer one such a
sentence may be about anything."""
EITHER = re.compile(r"dual licensed|under (?:the terms of )?either|either of (?:the following|these)|your choice of")
"""Words that leave the choice between several licences."""
OPENING = 60
"""Words with which a licence file may say so before the texts begin; inside these the same words mean other things."""


@dataclass(frozen=True)
class LicenceFile:
    """A licence file and what was recognised in it."""

    path: str
    text: str
    found: tuple[str, ...]
    """The licences that it holds."""
    unknown: bool
    """Whether it also holds one that is not known."""
    score: float
    how: str
    """text or notice or tag."""

    @property
    def name(self) -> str:
        """Its name without its folder."""
        return self.path.rpartition("/")[2]

    @property
    def bare(self) -> bool:
        """Whether its name is LICENSE or the like, without the name of a licence or of a part."""
        return BARE.fullmatch(SUFFIX.sub("", self.name)) is not None

    @property
    def exact(self) -> bool:
        """Whether it holds one licence and nothing else."""
        return len(self.found) == 1 and not self.unknown

    @property
    def restricted(self) -> bool:
        """Whether it is like a licence that is known, with conditions added."""
        return self.unknown and not self.found and licence_texts.RESTRICTED.search(self.text) is not None

    @property
    def choice(self) -> bool:
        """Whether it lets the reader choose between licences."""
        return EITHER.search(" ".join(plain(self.text).split()[:OPENING])) is not None


def read_file(root: Path, path: str) -> LicenceFile:
    """Return a licence file with the licences whose texts, or whose notice, it holds."""
    text = text_of(root / path)
    parts = licence_texts.recognise(text)
    found = tuple(part.spdx for part in parts if part.spdx)
    score = min((part.score for part in parts if part.spdx), default=0.0)
    unknown = any(part.spdx is None for part in parts)
    if not found and not unknown and len(plain(text).split()) < SHORT_WORDS:
        notice = licence_notices.read(text)
        if notice and notice.expression:
            return LicenceFile(path, text, (notice.expression,), False, notice.score, notice.how)
    return LicenceFile(path, text, found, unknown, score, "text")


def is_licence_file(path: str) -> bool:
    """LICENSE, COPYING and the like, with an ending or the name of a licence behind it; no source file."""
    name = path.rpartition("/")[2]
    head = re.match(rf"(?:{BARE.pattern.removeprefix('(?i)')})(?=$|[-_. ])", name, re.IGNORECASE)
    return head is not None and not SOURCE.search(name)


def text_of(path: Path, size: int = MAX_BYTES) -> str:
    """Return the beginning of a file; empty when there is none."""
    try:
        with path.open("rb") as content:
            return content.read(size).decode("utf-8", "replace")
    except OSError:
        return ""
