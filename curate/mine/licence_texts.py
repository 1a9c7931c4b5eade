"""Which licences a text holds: pyaskalono compares it with every text of the SPDX list.

It names the one licence that a whole text is most like, so a file with several texts would pass for its longest one,
and words around a short text hide it. So the short texts, which are the ones that are put together, are cut out first
and compared one by one, and then what is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

PART = 0.9
"""Similarity from which a short text that was cut out is the licence. In 506 licence files of packages the lowest right
one had 0.90; wrong were 0.89 (an ISC for 0BSD), 0.88 (a part of Python's) and 0.80 (a BSD that asks for more)."""
WHOLE = 0.8
"""The same for a longer text, which is askalono's own: the highest wrong one had 0.77, the lowest right 0.84."""
WORDS = 60
"""So many words beside the texts that were cut out are compared too: the shortest notices have 75."""
MANY_WORDS = 300
"""So many may be licences that nobody knows; fewer are lists of authors and remarks."""


def _words(text: str) -> str:
    return r"\W+".join(text.split())


SHORT = re.compile(
    "|".join(
        rf"{_words(first)}\b[\s\S]{{0,5000}}?\b{_words(last)}\b"
        for first, last in (
            ("permission is hereby granted free of charge", "dealings (?:in|with) the software"),
            ("redistribution and use in source and binary forms", "possibility of such damage"),
            ("permission to use copy modify and", "performance of this software"),
        )
    ),
    re.IGNORECASE,
)
"""First and last words of the MIT, BSD and ISC families."""
MARGIN = re.compile(r"(?m)^[ \t#*/;|>-]+")
"""What stands before the lines of a text in a comment or a quotation."""
NEIGHBOURS = {"Pixar": ("Apache-2.0", "pixar"), "BSD-3-Clause-HP": ("BSD-3-Clause", "hewlett")}
"""Licences that differ from a common one in the name they hold, and that the common one is taken for when its
appendix is left out or its third clause says `author`; that name tells them apart."""
LGPL_3 = re.compile(_words("gnu lesser general public license version 3 29 june 2007"), re.IGNORECASE)
"""SPDX's text of the LGPL 3 holds the GPL 3 that it adds to; in a file of its own it scores 0.3."""
RESTRICTED = re.compile(
    r"(?i)commons\W+clause|non\W?commercial|academic use only|research (?:purposes|use) only|not evil"
)
"""Conditions that people add to licences which have none such."""
FREE = ("MIT", "BSD", "Apache", "ISC", "0BSD", "Zlib", "BSL", "PSF", "Python")


@dataclass(frozen=True)
class Recognised:
    """A licence that a text holds."""

    spdx: str | None
    """Its SPDX id; None for a text that begins and ends like a licence and is none that is known."""
    score: float
    """Similarity to the licence's text, in [0, 1]."""


def recognise(text: str) -> list[Recognised]:
    """Return the licences whose text this is, or holds, sorted by id; unknown ones last."""
    text = MARGIN.sub("", text)
    parts = [_like(match[0], PART) for match in SHORT.finditer(text)]
    rest = SHORT.sub(" ", text)
    words = len(re.findall(r"\w+", rest))
    if not parts or words >= WORDS:
        left = _like(rest, WHOLE)
        parts += [left] if left.spdx or not parts or words >= MANY_WORDS else []
    if any(part.spdx is None for part in parts):
        # Some long texts hold what looks like a short one.
        whole = _like(text, WHOLE)
        parts = [whole, *(part for part in parts if part.spdx)] if whole.spdx else parts
    if RESTRICTED.search(text) and all((part.spdx or "").startswith(FREE) for part in parts):
        return [Recognised(None, 0.0)]
    best = {part.spdx: part for part in sorted(parts, key=lambda part: part.score)}
    if len(best) == 1 and None in best and not SHORT.search(text):
        return []
    return [best[spdx] for spdx in sorted(best, key=lambda spdx: (spdx is None, spdx or ""))]


def _like(text: str, least: float) -> Recognised:
    if LGPL_3.search(text) and not re.search(_words("gnu general public license version 3 29 june 2007"), text, re.I):
        return Recognised("LGPL-3.0-only", 1.0)
    spdx, score = _most_like(text.strip())
    other, name = NEIGHBOURS.get(spdx, (spdx, None))
    spdx = spdx if name and name in text.lower() else other
    return Recognised(spdx if score >= least else None, score)


@lru_cache(maxsize=10_000)
def _most_like(text: str) -> tuple[str, float]:
    """Compare a text with all licences: 0.1 s each, for the library reads its list anew every time."""
    from askalono import identify

    found = identify(text)
    return str(found.name), round(float(found.score), 3)


def plain(text: str) -> str:
    """Return the words of a text, in lower case, with single spaces."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))
