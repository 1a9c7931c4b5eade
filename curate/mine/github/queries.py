"""Search queries, and the spans of time that cut them into answers of at most 1,000 hits.

A span is halved by the clock, always in the same way, so that spans asked by an earlier run are found again. Nothing
but the time of creation cuts: it never changes, while stars do between two pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

CAP = 1000
"""A search hands out no more hits than this."""
SECOND = timedelta(seconds=1)
BEGINNING = datetime(2007, 10, 1, tzinfo=UTC)
"""No repository of GitHub is older."""


@dataclass(frozen=True, order=True)
class Span:
    """Seconds from `start` to `end`, both inclusive (UTC)."""

    start: datetime
    end: datetime

    @property
    def divisible(self) -> bool:
        """Whether it is longer than one second."""
        return self.end > self.start

    def halves(self) -> tuple[Span, Span]:
        """Return both halves; only for a divisible one."""
        middle = self.start + timedelta(seconds=(self.end - self.start).total_seconds() // 2)
        return Span(self.start, middle), Span(middle + SECOND, self.end)

    def qualifier(self) -> str:
        """Return it as search understands it."""
        return f"created:{_stamp(self.start)}..{_stamp(self.end)}"


def without(span: Span, done: Iterable[Span]) -> list[Span]:
    """Return what is left of a span when others are taken out of it, in order."""
    left = [span]
    for taken in sorted(done):
        rest: list[Span] = []
        for part in left:
            if taken.end < part.start or taken.start > part.end:
                rest.append(part)
                continue
            if part.start < taken.start:
                rest.append(Span(part.start, taken.start - SECOND))
            if part.end > taken.end:
                rest.append(Span(taken.end + SECOND, part.end))
        left = rest
    return left


def open_spans(window: Span, done: Sequence[Span], split: Collection[Span]) -> Iterator[Span]:
    """Yield the spans of a window that are still to be asked.

    `done` are complete; of those in `split` it is known that they hold too many hits.
    """
    if window in split and window.divisible:
        for half in window.halves():
            inside = [span for span in done if span.start <= half.end and span.end >= half.start]
            yield from open_spans(half, inside, split)
        return
    gaps = without(window, done)
    if gaps == [window]:
        yield window
        return
    for gap in gaps:
        yield from open_spans(gap, [], split)


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
