"""Every gate lets through and refuses what it says, and the first refusal counts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from curate.errors import UserError
from curate.release.gates import GATES, STEPS, first_refusal, parse_gates

FINE: dict[str, Any] = {
    "project": "team/lib", "repository_id": 7,
    "path": "lib/core.py", "cell": None, "in_tests": False, "is_stub": False, "is_nested": False,
    "docstring_length": 80, "outcome": "verified", "verdict_reason": "why", "tests_failing_on_stub": 2,
    "relation": "representative", "representative": "lib:core.py:f", "checked": True, "matches": None,
    "license_expression": "MIT", "cyclomatic_complexity": 3, "lines": 10, "label_confidence": 0.6,
    "first_seen_at": None, "body_seen_at": None, "dates_complete": None,
}  # fmt: skip
MATCH = {"corpus": "c", "item_id": "c/1", "relation": "near", "overlap": 0.9}


def refusal(given: dict[str, Any] | None = None, **row: Any) -> tuple[str, str] | None:
    found = first_refusal(FINE | row, parse_gates(given or {}, "here"))
    return found and found[:2]


def test_a_sound_candidate_passes() -> None:
    assert refusal() is None


@pytest.mark.parametrize(
    ("row", "gate", "reason"),
    [
        ({"in_tests": True}, "library_code", "test_code"),
        ({"path": "docs/conf.py"}, "library_code", "not_library_code"),
        ({"path": "setup.py"}, "library_code", "not_library_code"),
        ({"cell": 3}, "library_code", "notebook"),
        ({"is_stub": True}, "behaviour", "no_behaviour"),
        ({"is_nested": True}, "nested", "nested"),
        ({"docstring_length": 0}, "docstring", "no_docstring"),
        ({"docstring_length": 5}, "docstring", "short_docstring"),
        ({"outcome": None}, "tests", "not_yet_run"),
        ({"outcome": "no_tests"}, "tests", "no_tests"),
        ({"tests_failing_on_stub": 0}, "tests", "few_tests"),
        ({"outcome": "flaky"}, "outcome", "flaky"),
        ({"relation": None}, "duplicates", "not_yet_compared"),
        ({"relation": "near"}, "duplicates", "near_duplicate"),
        ({"checked": False}, "contamination", "not_yet_checked"),
        ({"matches": [MATCH]}, "contamination", "in_c"),
        ({"license_expression": None}, "licence", "no_licence"),
        ({"license_expression": "GPL-3.0-only"}, "licence", "licence_not_allowed"),
        ({"license_expression": "MIT AND GPL-3.0-only"}, "licence", "licence_not_allowed"),
        ({"cyclomatic_complexity": 100}, "complexity", "too_complex"),
        ({"lines": 1}, "lines", "too_short"),
        ({"lines": 999}, "lines", "too_long"),
    ],
)
def test_each_gate_refuses_with_its_reason(row: dict[str, Any], gate: str, reason: str) -> None:
    assert refusal(**row) == (gate, reason)


@pytest.mark.parametrize("row", [{"repository_id": 5}, {"project": "Gone/away"}])
def test_who_opted_out_after_being_mined_is_left_out(row: dict[str, Any]) -> None:
    assert refusal({"opted_out": ["5", "gone/*"]}, **row) == ("opted_out", "opted_out")
    assert refusal({"opted_out": ["55", "gone"]}, **row) is None


@pytest.mark.parametrize(
    ("given", "row"),
    [
        ({"nested": True}, {"is_nested": True}),
        ({"docstring": 5}, {"docstring_length": 5}),
        ({"duplicates": ["exact"]}, {"relation": "near"}),
        ({"contamination": {"near": 0.95}}, {"matches": [MATCH]}),
        ({"licence": ["GPL-3.0-only"]}, {"license_expression": "MIT OR GPL-3.0-only"}),
        ({}, {"license_expression": "MIT OR GPL-3.0-only"}),
        ({}, {"matches": [MATCH | {"overlap": 0.3}]}),
        ({"complexity": [1, 200]}, {"cyclomatic_complexity": 100}),
    ],
)
def test_thresholds_are_the_recipe_s(given: dict[str, Any], row: dict[str, Any]) -> None:
    assert refusal(given, **row) is None


DATED = {"first_seen_at": datetime(2024, 5, 2, 9), "body_seen_at": datetime(2024, 6, 1), "dates_complete": True}


@pytest.mark.parametrize(
    ("after", "row", "reason"),
    [
        ("", {"first_seen_at": None}, None),
        ("2024-05-01", {}, None),
        (date(2024, 5, 1), {}, None),
        ("2024-05-02", {}, "seen_before"),
        ("2024-05-01", {"body_seen_at": datetime(2024, 4, 1)}, "seen_before"),
        ("2024-05-01", {"dates_complete": False}, "not_dated"),
        ("2024-05-02", {"dates_complete": False}, "seen_before"),
        ("2024-05-01", {"first_seen_at": None, "body_seen_at": None, "dates_complete": None}, "not_dated"),
    ],
)
def test_only_what_was_first_seen_after_a_day(after: str | date, row: dict[str, Any], reason: str | None) -> None:
    found = refusal({"first_seen": after}, **(DATED | row))
    assert found == (reason and ("first_seen", reason))


def test_the_day_on_which_it_was_first_seen_is_in_the_sentence() -> None:
    found = first_refusal(FINE | DATED, parse_gates({"first_seen": "2025-01-01"}, "here"))
    assert found == ("first_seen", "seen_before", "it was first seen on 2024-05-02, not after 2025-01-01")


def test_the_first_gate_gives_the_reason() -> None:
    assert refusal(in_tests=True, docstring_length=0, outcome=None) == ("library_code", "test_code")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"docstrings": 3}, "there is no gate docstrings"),
        ({"docstring": "long"}, "docstring: "),
        ({"first_seen": "May"}, "first_seen: "),
    ],
)
def test_mistakes_in_the_recipe_name_the_gate(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_gates(given, "releases/x.toml: gates")


def test_gates_stand_in_the_order_of_the_funnel() -> None:
    places = [STEPS.index(gate.step) for gate in GATES.values()]
    assert places == sorted(places)
    assert set(places) == set(range(len(STEPS)))
