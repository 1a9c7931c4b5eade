"""From what was seen to a verdict."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.verify.evidence import Proof, before_running, choose, decide
from curate.verify.suite import JobResult, Seen


def linked(name: str = "t.py::test", *outcomes: str, traced: bool = True, items: int = 1) -> dict[str, Any]:
    outcomes = outcomes or ("passed", "passed")
    return {"node_id": name, "test_id": name, "outcomes": list(outcomes), "traced": traced, "items": items,
            "sound": set(outcomes) == {"passed"}, "detail": ""}  # fmt: skip


def ran(**outcomes: str) -> JobResult:
    tests = {f"t.py::{name}": Seen(items=1, outcomes=Counter([outcome])) for name, outcome in outcomes.items()}
    return JobResult(tests=tests, status=1)


def row(*tests: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"tests": list(tests), "failure": None, "is_stub": False, **values}


@pytest.mark.parametrize(
    ("given_row", "outcome"),
    [
        (row(), "no_tests"),
        (row(is_stub=True), "no_behaviour"),
        (row(failure={"stage": "install", "reason": "needs_build", "detail": "x"}), "environment_failed"),
        (row(linked("a", "failed", "failed")), "tests_fail"),
        (row(linked("a", "error", "error")), "tests_fail"),
        (row(linked("a", "skipped", "skipped")), "tests_skipped"),
        (row(linked("a", "xfailed", "xfailed")), "tests_skipped"),
        (row(linked("a", "xpassed", "xpassed")), "tests_skipped"),
        (row(linked("a", "passed", "failed")), "flaky"),
        (row(linked("a", "skipped", "skipped"), linked("b", "timeout", "timeout")), "timeout"),
        (row(linked("a", "crashed", "crashed")), "tests_crash"),
        (row(linked("a", "skipped", "skipped"), linked("b")), None),
    ],
)
def test_what_needs_no_run(given_row: dict[str, Any], outcome: str | None) -> None:
    decision = before_running(given_row)
    assert (decision and decision.outcome) == outcome


@pytest.mark.parametrize(
    ("reference", "stub", "traced", "outcome", "counts"),
    [
        (ran(test="passed"), ran(test="failed"), True, "verified", (1, 1)),
        (ran(test="passed"), ran(test="error"), True, "verified", (1, 1)),
        (ran(test="passed"), ran(test="crashed"), True, "verified", (1, 1)),
        (ran(test="passed"), ran(test="failed"), False, "verified", (1, 1)),
        (ran(test="passed"), ran(test="passed"), True, "stub_passes", (1, 0)),
        (ran(test="passed"), ran(test="skipped"), True, "stub_passes", (1, 0)),
        (ran(test="passed"), ran(test="xfailed"), True, "stub_passes", (1, 0)),
        (ran(test="passed"), ran(test="passed"), False, "not_traceable", (1, 0)),
        (ran(test="passed"), ran(test="timeout"), True, "timeout", (1, 0)),
        (ran(test="passed"), JobResult(stopped="timeout"), True, "timeout", (1, 0)),
        (ran(test="passed"), JobResult(status=4), True, "verified", (1, 1)),
        (ran(test="passed"), JobResult(status=4), False, "runs_at_import", (1, 1)),
        (ran(test="passed"), JobResult(broken={"t.py": "ImportError"}, status=2), True, "verified", (1, 1)),
        (ran(test="passed"), JobResult(broken={"other.py": "ImportError"}, status=2), True, "not_judged", (1, 0)),
        (ran(test="passed"), JobResult(stopped="crashed", detail="our runner died"), True, "not_judged", (1, 0)),
        (ran(test="passed"), JobResult(), True, "not_judged", (1, 0)),
        (ran(test="failed"), ran(test="failed"), True, "flaky", (0, 0)),
        (ran(test="skipped"), ran(test="failed"), True, "flaky", (0, 0)),
        (JobResult(), ran(test="failed"), True, "flaky", (0, 0)),
    ],
)
def test_what_running_shows(
    reference: JobResult, stub: JobResult, traced: bool, outcome: str, counts: tuple[int, int]
) -> None:
    proof = Proof()
    proof.add([linked("t.py::test", traced=traced)], reference, stub)
    assert decide(proof).outcome == outcome
    assert (len(proof.passed), len(proof.failing)) == counts


def test_items_that_did_not_run_keep_a_test_from_passing() -> None:
    assert Seen(items=1, outcomes=Counter(["passed", "not_run"])).outcome == "not_run"
    assert Seen(items=2, outcomes=Counter(["failed", "not_run"])).outcome == "failed"


@given(st.lists(st.tuples(st.integers(1, 400), st.booleans(), st.booleans())), st.integers(1, 6), st.integers(1, 300))
def test_chosen_tests_are_sound_few_and_small(made: list[tuple[int, bool, bool]], count: int, items: int) -> None:
    tests = [linked(f"t{n}", "passed" if sound else "failed", traced=traced, items=size)
             for n, (size, sound, traced) in enumerate(made)]  # fmt: skip
    chosen = choose(tests, count, items)
    assert all(test["sound"] for test in chosen)
    assert len(chosen) <= count
    assert len(chosen) <= 1 or sum(test["items"] for test in chosen) <= items
    assert bool(chosen) == any(test["sound"] for test in tests)
    if any(test["traced"] and test["sound"] for test in tests):
        assert all(test["traced"] for test in chosen)
