from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from curate.mine.github.queries import Span, open_spans, without

START = datetime(2020, 1, 1, tzinfo=UTC)


def span(first: int, last: int) -> Span:
    return Span(START + timedelta(seconds=first), START + timedelta(seconds=last))


def seconds(spans: list[Span]) -> list[int]:
    found: list[int] = []
    for one in spans:
        first, last = ((moment - START).total_seconds() for moment in (one.start, one.end))
        found += range(int(first), int(last) + 1)
    return found


SPANS = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: span(min(pair), max(pair)))


@given(SPANS, st.lists(SPANS, max_size=6))
def test_what_is_left_and_what_is_done_make_up_the_whole(window: Span, done: list[Span]) -> None:
    left = without(window, done)
    assert seconds(left) == sorted(set(seconds([window])) - set(seconds(done)))


@given(SPANS.filter(lambda one: one.divisible))
def test_halves_are_disjoint_and_complete(window: Span) -> None:
    first, second = window.halves()
    assert seconds([first, second]) == seconds([window])
    assert first.start == window.start
    assert second.end == window.end


@given(st.lists(st.integers(0, 200), max_size=80), st.integers(1, 5), st.integers(0, 40))
def test_a_search_in_rounds_finds_each_once_however_it_is_interrupted(made: list[int], cap: int, stop: int) -> None:
    """Search a world of creation times with a small cap; stop after some questions, and go on from what is known."""
    done: list[Span] = []
    split: set[Span] = set()
    window, found, asked = span(0, 200), [], 0
    while spans := list(open_spans(window, done, split)):
        for one in spans:
            asked += 1
            if asked == stop:
                break  # what is known so far stays; the rest of the round is lost
            hits = [second for second in made if second in seconds([one])]
            if len(hits) > cap and one.divisible:
                split.add(one)
            else:
                found += hits
                done.append(one)
    assert sorted(found) == sorted(made)
    assert seconds(sorted(done)) == seconds([window]), "no second is asked twice"


def test_the_next_day_asks_only_for_the_new_day() -> None:
    first, later = span(0, 99), span(0, 150)
    assert list(open_spans(later, [span(0, 49), span(50, 99)], {first})) == [span(100, 150)]


def test_one_second_is_not_halved() -> None:
    second = span(5, 5)
    assert list(open_spans(second, [], {second})) == [second]


def test_as_search_understands_it() -> None:
    assert span(0, 61).qualifier() == "created:2020-01-01T00:00:00Z..2020-01-01T00:01:01Z"
