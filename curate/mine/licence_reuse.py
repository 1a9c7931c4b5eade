"""What REUSE says of single files: `REUSE.toml` (https://reuse.software/spec-3.3/) and the older `.reuse/dep5`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Said:
    """What is said of the files that patterns match."""

    patterns: tuple[re.Pattern[str], ...]
    expression: str
    read_from: str
    text: str
    overrides: bool = False
    """Whether it goes before what the file itself says."""


@dataclass(frozen=True)
class Reuse:
    """All that is said, in order."""

    said: Sequence[Said]

    def of(self, path: str) -> Said | None:
        """Return what holds for a file: the last that matches it."""
        found = (each for each in reversed(self.said) if any(pattern.fullmatch(path) for pattern in each.patterns))
        return next(found, None)


def read(root: Path) -> Reuse:
    """Return what a project's REUSE files say; nothing when there are none, or they are no such files."""
    try:
        if (root / "REUSE.toml").is_file():
            return Reuse(list(_toml((root / "REUSE.toml").read_text(encoding="utf-8"))))
        if (root / ".reuse/dep5").is_file():
            return Reuse(list(_dep5((root / ".reuse/dep5").read_text(encoding="utf-8"))))
    except (OSError, ValueError):
        pass
    return Reuse(())


def _toml(text: str) -> Iterator[Said]:
    for each in tomllib.loads(text).get("annotations", []):
        paths, tags = _strings(each.get("path")), _strings(each.get("SPDX-License-Identifier"))
        if paths and tags:
            expression = tags[0] if len(tags) == 1 else " AND ".join(f"({tag})" for tag in tags)
            text = f"path = {paths}\nSPDX-License-Identifier = {tags}"
            overrides = each.get("precedence") == "override"
            yield Said(tuple(map(glob, paths)), expression, "REUSE.toml", text, overrides)


def _dep5(text: str) -> Iterator[Said]:
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"(?m)^(Files|License):[ \t]*((?:.*)(?:\n[ \t]+.*)*)", paragraph))
        if len(fields) == 2:
            patterns = tuple(glob(pattern, star=".*") for pattern in fields["Files"].split())
            expression = fields["License"].splitlines()[0].strip()
            yield Said(patterns, expression, ".reuse/dep5", paragraph.strip())


def glob(pattern: str, star: str = "[^/]*") -> re.Pattern[str]:
    """Return the regular expression of a pattern in which ** crosses folders, and * does so only with star=".*"."""
    parts = (
        ".*" if part == "**" else star if part == "*" else re.escape(part) for part in re.split(r"(\*\*|\*)", pattern)
    )
    return re.compile("".join(parts))


def _strings(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [each for each in value or [] if isinstance(each, str)]
