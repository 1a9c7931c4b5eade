"""Find the signals that a function gives, for all axes at once.

Whether a word or a dotted name starts a pattern is asked once per word and remembered, since the same words and names
come again and again: after a warm-up a function costs one look-up per word, however many patterns there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curate.label.axes import DOTTED, Axis, Signal
from curate.label.words import names, texts

_REMEMBERED = 50_000
_MARKERS = ("^", "$")


class Hit(NamedTuple):
    """A signal that a function gives."""

    axis: int
    value: int
    signal: Signal
    found: str
    """The name or the words that were found."""


@dataclass(frozen=True)
class _Pattern:
    order: int
    axis: int
    value: int
    signal: Signal
    text: str
    anchor: re.Pattern[str]
    """Matches the whole dotted name, or the word under which a row of words is looked up."""
    row: re.Pattern[str] | None
    """Finds the row of words in a text written as `^ w w w $`; None when the word alone decides."""


class _Starts(dict[str, tuple[_Pattern, ...]]):
    """word or dotted name -> the patterns that it may match."""

    def __init__(self, patterns: Sequence[_Pattern]) -> None:
        super().__init__()
        self.patterns = patterns

    def __missing__(self, text: str) -> tuple[_Pattern, ...]:
        if len(self) > _REMEMBERED:
            self.clear()
        found = tuple(pattern for pattern in self.patterns if pattern.anchor.fullmatch(text))
        self[text] = found
        return found


class Matcher:
    """The signals of several axes, made ready for matching."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        by_kind: dict[str, list[_Pattern]] = {}
        order = 0
        for a, axis in enumerate(axes):
            for v, value in enumerate(axis.value):
                for signal in value.signals:
                    for text in signal.patterns:
                        make = _dotted if signal.kind in DOTTED else _row
                        by_kind.setdefault(signal.kind, []).append(_Pattern(order, a, v, signal, text, *make(text)))
                    order += 1
        self._starts = {kind: _Starts(patterns) for kind, patterns in by_kind.items()}

    def hits(self, function: Mapping[str, Any]) -> list[Hit]:
        """Return the signals that a function gives, each once, in the order of the files."""
        found: dict[int, Hit] = {}
        for kind, listed in names(function).items():
            starts = self._starts.get(kind)
            for name in listed if starts is not None else ():
                for pattern in starts[name]:  # type: ignore[index]
                    found.setdefault(pattern.order, Hit(pattern.axis, pattern.value, pattern.signal, name))
        for kind, pieces in texts(function).items():
            if kind in self._starts:
                for piece in pieces:
                    self._in_text(self._starts[kind], piece, found)
        return [found[order] for order in sorted(found)]

    @staticmethod
    def _in_text(starts: _Starts, piece: Sequence[str], found: dict[int, Hit]) -> None:
        text = ""
        for word in dict.fromkeys(piece):
            for pattern in starts[word]:
                if pattern.order in found:
                    continue
                shown = word
                if pattern.row is not None:
                    text = text or f"^ {' '.join(piece)} $"
                    match = pattern.row.search(text)
                    if match is None:
                        continue
                    shown = match.group().strip("^$ ")
                found[pattern.order] = Hit(pattern.axis, pattern.value, pattern.signal, shown)


def _glob(text: str, any_text: str) -> str:
    return any_text.join(re.escape(part) for part in text.split("*"))


def _dotted(text: str) -> tuple[re.Pattern[str], None]:
    return re.compile(_glob(text, ".*")), None


def _row(text: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    parts = text.split()
    plain = [part for part in parts if part not in _MARKERS]
    anchor = re.compile(_glob(plain[0], ".*")) if plain else re.compile(r"(?!)")
    if len(parts) == 1:
        return anchor, None
    row = " ".join(_glob(part, "[^ ]*") for part in parts)
    return anchor, re.compile(rf"(?<![^ ]){row}(?![^ ])")
