"""Licences that a notice names, as at the top of a source file: a tag, a sentence, or a whole short text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from curate.mine.licence_names import gnu, joined, named, normalise
from curate.mine.licence_texts import SHORT, plain, recognise

TAG = re.compile(r"(?m)^[ \t#/*;\"'-]*SPDX-License-Identifier:[ \t]*([^\n*]+)")
GNU = (
    ("AGPL", r"gnu affero general public license .{0,60}?version (3)"),
    ("LGPL", r"gnu (?:lesser|library) general public license .{0,60}?version (2 1|2|3)"),
    ("GPL", r"gnu general public license .{0,60}?version (2|3)"),
)
"""Notices that the GNU licences want at the top of a file."""
OTHERS = (
    ("Apache-2.0", re.compile(r"licensed under the apache license version 2 0")),
    ("MPL-2.0", re.compile(r"subject to the terms of the mozilla public license v(?:ersion)? 2 0")),
    ("BSL-1.0", re.compile(r"distributed under the boost software license version 1 0")),
)
"""The same of others."""
SENTENCE = re.compile(
    r"(?i)\b(?:licen[cs]e\s*:|(?:licen[cs]ed|released|distributed)\s+under)\s+"
    r"(?:the\s+)?(?:terms\s+of\s+(?:the\s+)?)?([A-Za-z0-9][^\n;]{1,80})"
)
"""Under which name a header puts its file: License: BSD 3 clause; released under the GPLv3."""
BARE_GNU = {"gpl": "GPL-1.0-or-later", "lgpl": "LGPL-2.0-or-later", "agpl": "AGPL-1.0-or-later"}
"""A GNU licence without a version: the licences themselves say that any version may be chosen."""
WORTH_READING = re.compile(r"(?i)licen[cs]e|gpl|permission|redistribution")
TOP = re.compile(r"""\ufeff?(?:\s|\#[^\n]*|[rRuU]?(\"{3}|'{3})[\s\S]*?(?:\1|\Z)|[rRuU]?"[^"\n]*"|[rRuU]?'[^'\n]*')*+""")
"""Comments and docstring before the first statement of a Python file."""


@dataclass(frozen=True)
class Notice:
    """What a notice says."""

    expression: str | None
    """The licence; None when it names one that is not known."""
    how: str
    """tag, notice or text, as in `licenses`."""
    score: float = 1.0
    """Similarity, where a text was compared."""


def top(text: str) -> str:
    """Return the comments and the docstring at the top of a Python file; empty when they speak of no licence."""
    found = TOP.match(text)
    return found[0].strip() if found and WORTH_READING.search(found[0]) else ""


def read(text: str) -> Notice | None:
    """Return the licence that a notice names; None when it names none."""
    tags = [tag.strip(" \t\r\"'#/-<>") for tag in TAG.findall(text)]
    tags = list(dict.fromkeys(tag for tag in tags if tag.upper() != "NOASSERTION"))
    if tags:
        found = [normalise(tag) for tag in tags]
        known = [expression for expression in found if expression]
        return Notice(joined("AND", known) if len(known) == len(tags) else None, "tag")
    words = plain(text)
    for kind, pattern in GNU:
        gnu_notice = re.search(pattern, words)
        if gnu_notice:
            later = "any later version" in words[gnu_notice.start() :]
            return Notice(normalise(gnu(kind, gnu_notice[1], later=later)), "notice")
    for spdx, notice in OTHERS:
        if notice.search(words):
            return Notice(spdx, "notice")
    if SHORT.search(text):
        texts = recognise(text)
        spdx_ids = [each.spdx for each in texts if each.spdx]
        score = min((each.score for each in texts), default=0.0)
        return Notice(joined("AND", spdx_ids) if texts and len(spdx_ids) == len(texts) else None, "text", score)
    return _sentence(text)


def _sentence(text: str) -> Notice | None:
    for found in SENTENCE.finditer(text):
        # The name may end with the line, or before a remark: MIT License, see LICENSE.
        for end in (r"$", r"\.(?:\s|$)|\s+[Ss]ee\b|\s*\(", r",|\s+-"):
            name = re.split(end, found[1])[0].strip(" .,\"'`*()")
            bare = re.sub(r"^gnu | licen[cs]e$", "", plain(name))
            expression = named(name) or BARE_GNU.get(bare)
            if expression:
                return Notice(expression, "notice")
    return None
