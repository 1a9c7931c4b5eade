"""Recognising the commonest licences by phrases that only they have; the phrases stand in `licences.toml`.

Texts are compared word by word, without case, layout and punctuation. Whatever is not recognised for sure is not
recognised.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from curate.records import Struct


class Known(Struct):
    """A licence that is recognised."""

    spdx: str
    """Its SPDX id."""
    phrases: tuple[str, ...]
    """All of them stand in its text."""
    never: tuple[str, ...] = ()
    """None of these does."""
    names: tuple[str, ...] = ()
    """What it is called."""


HEADERS = (
    ("AGPL", r"gnu affero general public license .{0,60}?version (3)"),
    ("LGPL", r"gnu (?:lesser|library) general public license .{0,60}?version (2 1|3)"),
    ("GPL", r"gnu general public license .{0,60}?version (2|3)"),
)
"""Notices that the GNU licences want at the top of a file."""
NOTICES = (
    ("Apache-2.0", "licensed under the apache license version 2 0"),
    ("MPL-2.0", "this source code form is subject to the terms of the mozilla public license v 2 0"),
)
"""The same of others."""
EITHER = re.compile(r"dual licensed|under (?:the terms of )?either|either of (?:the following|these)|your choice of")
"""Words that leave the choice between several licences."""
TOP = re.compile(r"""\ufeff?(?:\s|\#[^\n]*|[rRuU]?(\"{3}|'{3})[\s\S]*?(?:\1|\Z)|[rRuU]?"[^"\n]*"|[rRuU]?'[^'\n]*')*+""")
"""Comments and docstring before the first statement of a Python file."""
OPENING = 60
"""Words with which a licence file may say so before the texts begin; inside these the same words mean other things."""


@cache
def known() -> tuple[Known, ...]:
    """Return the licences of `licences.toml`, with names and phrases in their plain form."""
    data = tomllib.loads((Path(__file__).parent / "licences.toml").read_text(encoding="utf-8"))
    fields = ("phrases", "never", "names")
    return tuple(
        Known(spdx=entry["spdx"], **{field: tuple(map(plain, entry.get(field, ()))) for field in fields})
        for entry in data["licence"]
    )


def recognise(text: str) -> list[str]:
    """Return the SPDX ids of the licences whose text this is, or holds, sorted."""
    words = plain(text)
    found = [
        licence.spdx
        for licence in known()
        if all(phrase in words for phrase in licence.phrases) and not any(phrase in words for phrase in licence.never)
    ]
    # These two quote the GPL, whose terms they change.
    if any(spdx.startswith(("LGPL", "AGPL")) for spdx in found):
        found = [spdx for spdx in found if not spdx.startswith("GPL")]
    return sorted(found)


def offers_choice(text: str) -> bool:
    """Say whether a text lets the reader choose between licences."""
    return EITHER.search(" ".join(plain(text).split()[:OPENING])) is not None


def header(text: str) -> str | None:
    """Return the licence that a notice, as at the top of a source file, names; as written or in SPDX's spelling."""
    tag = re.search(r"(?m)^[ \t#/*;\"'-]*SPDX-License-Identifier:[ \t]*([^\n\r*]+)", text)
    if tag:
        return tag[1].strip(" \t\"'#/-<>")
    words = plain(text)
    for family, pattern in HEADERS:
        found = re.search(pattern, words)
        if found:
            return gnu(family, found[1], later="any later version" in words[found.start() :])
    for spdx, notice in NOTICES:
        if notice in words:
            return spdx
    texts = recognise(text)
    return texts[0] if len(texts) == 1 else None


def python_header(text: str) -> str | None:
    """Return the licence that the comments and the docstring at the top of a Python file name."""
    top = TOP.match(text)
    return header(top[0]) if top else None


def gnu(family: str, version: str, *, later: bool) -> str:
    """Return the SPDX id of a GNU licence; the version as plain words: `3`, `2 1`."""
    number = version.replace(" ", ".")
    return f"{family}-{number if '.' in number else number + '.0'}-{'or-later' if later else 'only'}"


def plain(text: str) -> str:
    """Return the words of a text, in lower case, with single spaces."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))
