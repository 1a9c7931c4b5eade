from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.mine.github.choose import Rules, decide, request_of
from curate.mine.github.criteria import Search
from curate.mine.require import Require
from curate.optout import OptOut

ALL = Rules(Search(), Require(), OptOut())


def row(number: int, **change: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "host": "github.com", "repository_id": number, "full_name": f"team/p{number}", "former_names": [],
        "stars": 500, "archived": False, "fork": False, "fork_of": None, "is_template": False, "size_kb": 10,
        "license": "MIT", "language": "Python", "created_at": datetime(2020, 1, number, tzinfo=UTC),
        "root_commit": None, "revision": None, "failure": None, "failure_detail": None,
        "failure_transient": None, "profile": None,
    }  # fmt: skip
    return {**facts, **change}


def reasons(rows: list[dict[str, Any]], rules: Rules = ALL) -> dict[int, str | None]:
    return {one.row["repository_id"]: one.refusal[0] if one.refusal else None for one in decide(rows, rules)}


def test_copies_give_way_to_the_oldest_also_when_it_has_fewer_stars() -> None:
    rows = [
        row(1, stars=10, root_commit="r"),
        row(2, stars=900, root_commit="r"),
        row(3, root_commit="other"),
        row(4, root_commit="r", host="github.example.org"),
        row(5),
        row(6),
    ]
    assert reasons(rows) == {1: None, 2: "copy", 3: None, 4: None, 5: None, 6: None}
    assert set(reasons(rows, Rules(Search(copies="include"), Require(), OptOut())).values()) == {None}


def test_a_fork_is_no_original_even_when_it_was_made_first() -> None:
    rules = Rules(Search(forks="include"), Require(), OptOut())
    assert reasons([row(1, fork=True, root_commit="r"), row(2, root_commit="r")], rules) == {1: "copy", 2: None}


@pytest.mark.parametrize("pattern", ["7", "Team/P7", "team/*7", "old/name"])
def test_who_opted_out_stays_out_also_under_a_former_name(pattern: str) -> None:
    rules = Rules(Search(), Require(), OptOut(opted_out=(pattern,)))
    assert reasons([row(7, former_names=["old/name"]), row(8)], rules) == {7: "opted_out", 8: None}
    assert reasons([row(7, former_names=["old/name"])], Rules(Search(), Require(), OptOut((pattern,)))) == {7: "denied"}


def test_those_with_most_stars_and_failures_make_room() -> None:
    rows = [row(1, stars=9), row(2, stars=7, failure="blocked", failure_detail="451"), row(3, stars=5), row(4, stars=5)]
    rules = Rules(Search(take=2), Require(), OptOut())
    assert reasons(rows, rules) == {1: None, 2: "blocked", 3: None, 4: "enough"}


def test_what_could_not_be_had_this_time_keeps_its_place() -> None:
    failed = {"failure": "network", "failure_detail": "502", "failure_transient": True}
    rows = [row(1, stars=9, **failed), row(2, stars=7), row(3, stars=5)]
    assert reasons(rows, Rules(Search(take=2), Require(), OptOut())) == {1: "network", 2: None, 3: "enough"}


@given(st.permutations([row(number, stars=number % 3, root_commit=str(number % 4)) for number in range(1, 12)]))
def test_the_order_of_hits_does_not_matter(rows: list[dict[str, Any]]) -> None:
    rules = Rules(Search(take=3), Require(), OptOut())
    assert decide(rows, rules) == decide(sorted(rows, key=lambda one: one["repository_id"]), rules)


def test_the_request_names_the_commit() -> None:
    assert request_of(row(1)) is None
    assert request_of(row(1, revision="a" * 40)) == "github:team/p1@" + "a" * 40
