"""The gates of a release: named checks, in the order of the funnel; the first that refuses a function gives the reason.

A new gate is a function here, an entry in GATES, and a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from curate.errors import UserError
from curate.optout import OptOut

Candidate = Mapping[str, Any]
Refusal = tuple[str, str]
"""Reason for counting (snake_case), and the sentence for people."""

STEPS = ("with docstring", "with tests", "verified", "unique", "clean", "released")
"""Steps of the funnel after `functions`; every gate belongs to one."""


FirstSeen = Annotated[date | None, BeforeValidator(lambda given: None if given == "" else given)]


@dataclass(frozen=True)
class Gate:
    """A check with a threshold."""

    step: str
    check: Callable[[Candidate, Any], Refusal | None]
    kind: Any
    """Type of the threshold."""
    default: Any
    about: str


def opted_out(row: Candidate, left_out: list[str]) -> Refusal | None:
    """Refuse projects whose authors asked to be left out, also after they were mined."""
    return OptOut(opted_out=tuple(left_out)).refusal([row["project"]], row["repository_id"])


def library_code(row: Candidate, wanted: bool) -> Refusal | None:
    """Refuse tests, and the code around a project that is not part of what it offers."""
    if not wanted:
        return None
    if row["in_tests"]:
        return "test_code", "it stands in a test file"
    top = row["path"].split("/")[0]
    if top in {"setup.py", "conftest.py", "noxfile.py", "docs", "doc", "examples", "benchmarks", "scripts"}:
        return "not_library_code", f"it stands in {top}, not in the library"
    if row["cell"] is not None:
        return "notebook", "it stands in a notebook"
    return None


def behaviour(row: Candidate, wanted: bool) -> Refusal | None:
    """Refuse definitions without a body of their own: abstract methods, protocols, placeholders."""
    return ("no_behaviour", "it has no behaviour of its own") if wanted and row["is_stub"] else None


def nested(row: Candidate, allowed: bool) -> Refusal | None:
    """Refuse functions defined inside functions: they cannot be asked for by themselves."""
    return ("nested", "it is defined inside another function") if row["is_nested"] and not allowed else None


def docstring(row: Candidate, least: int) -> Refusal | None:
    """Refuse functions without a docstring of at least so many characters."""
    length = row["docstring_length"]
    if not length:
        return "no_docstring", "it has no docstring"
    if length < least:
        return "short_docstring", f"its docstring has {length} characters, fewer than {least}"
    return None


def tests(row: Candidate, least: int) -> Refusal | None:
    """Refuse functions that fewer tests reach."""
    if row["outcome"] is None:
        return "not_yet_run", "curate verify has not dealt with it"
    if row["outcome"] in {"no_tests", "not_traceable"}:
        return row["outcome"], row["verdict_reason"]
    if row["outcome"] == "verified" and row["tests_failing_on_stub"] < least:
        return "few_tests", f"{row['tests_failing_on_stub']} tests prove it, fewer than {least}"
    return None


def outcome(row: Candidate, wanted: str) -> Refusal | None:
    """Refuse functions that running has not proven."""
    return (row["outcome"], row["verdict_reason"]) if row["outcome"] != wanted else None


def duplicates(row: Candidate, refused: list[str]) -> Refusal | None:
    """Refuse functions that another one stands for."""
    if row["relation"] is None:
        return "not_yet_compared", "curate dedupe has not dealt with it"
    if row["relation"] in refused:
        return f"{row['relation']}_duplicate", f"{row['representative']} stands for it"
    return None


def contamination(row: Candidate, most: Mapping[str, float]) -> Refusal | None:
    """Refuse functions with a match in a corpus; the threshold says which overlap each relation may have at most."""
    if not row["checked"]:
        return "not_yet_checked", "curate contamination has not dealt with it"
    for match in row["matches"] or ():
        if match["overlap"] >= most.get(match["relation"], 2.0):
            where = f"{match['corpus']} {match['item_id']}"
            return f"in_{match['corpus']}", f"{match['relation']} match ({match['overlap']:.2f}) with {where}"
    return None


def licence(row: Candidate, allowed: list[str]) -> Refusal | None:
    """Refuse functions whose project has no licence, or none that is allowed; one of several alternatives is enough."""
    expression = row["license_expression"]
    if expression is None:
        return "no_licence", "no licence could be read"
    if not _fits(expression, set(allowed)):
        return "licence_not_allowed", f"{expression} is not on the list of allowed licences"
    return None


def _fits(expression: str, allowed: set[str]) -> bool:
    """Evaluate an SPDX expression: OR needs one allowed alternative, AND needs all."""
    from license_expression import AND, OR, get_spdx_licensing

    def holds(node: Any) -> bool:
        if isinstance(node, OR):
            return any(holds(part) for part in node.args)
        if isinstance(node, AND):
            return all(holds(part) for part in node.args)
        return str(node) in allowed

    return holds(get_spdx_licensing().parse(expression))


def first_seen(row: Candidate, after: date | None) -> Refusal | None:
    """Refuse functions that were there on a day or before: they, what they were made from, or their body elsewhere."""
    if after is None:
        return None
    dates = [row["first_seen_at"], row["body_seen_at"]]
    known = [one for one in dates if one is not None]
    if known and min(known).date() <= after:
        return "seen_before", f"it was first seen on {min(known).date()}, not after {after}"
    if not known:
        return "not_dated", "the history of its project was not read"
    return None if row["dates_complete"] else ("not_dated", "its history does not go back to its beginning")


def complexity(row: Candidate, bounds: tuple[int, int]) -> Refusal | None:
    """Refuse functions whose cyclomatic complexity lies outside the bounds."""
    low, high = bounds
    value = row["cyclomatic_complexity"]
    if value < low:
        return "too_simple", f"its complexity {value} is below {low}"
    return ("too_complex", f"its complexity {value} is above {high}") if value > high else None


def lines(row: Candidate, bounds: tuple[int, int]) -> Refusal | None:
    """Refuse functions with fewer or more lines than the bounds."""
    low, high = bounds
    value = row["lines"]
    if value < low:
        return "too_short", f"its {value} lines are fewer than {low}"
    return ("too_long", f"its {value} lines are more than {high}") if value > high else None


def label_confidence(row: Candidate, least: float) -> Refusal | None:
    """Refuse functions with a label that is less sure."""
    if row["label_confidence"] < least:
        return "unsure_labels", f"its least sure label has confidence {row['label_confidence']:.2f}, below {least}"
    return None


PERMISSIVE = [
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0",
    "Python-2.0", "Python-2.0.1", "Unlicense", "Zlib",
]  # fmt: skip

GATES: Mapping[str, Gate] = {
    "opted_out": Gate(
        "with docstring", opted_out, list[str], [], "projects left out, beside those of sources/opt-out.txt"
    ),
    "library_code": Gate("with docstring", library_code, bool, True, "leave out tests, docs, scripts"),
    "behaviour": Gate("with docstring", behaviour, bool, True, "leave out bodies without behaviour"),
    "nested": Gate("with docstring", nested, bool, False, "take functions defined inside functions"),
    "docstring": Gate("with docstring", docstring, int, 20, "least number of characters"),
    "tests": Gate("with tests", tests, int, 1, "least number of tests that fail on a stub"),
    "outcome": Gate("verified", outcome, str, "verified", "verdict that is wanted"),
    "duplicates": Gate("unique", duplicates, list[str], ["exact", "renamed", "near"], "relations left out"),
    "contamination": Gate(
        "clean",
        contamination,
        dict[str, float],
        {"exact": 0.0, "renamed": 0.0, "near": 0.7, "partial": 0.7},
        "relation -> overlap from which a match counts",
    ),
    "licence": Gate("released", licence, list[str], PERMISSIVE, "allowed SPDX licences"),
    "first_seen": Gate("released", first_seen, FirstSeen, "", 'a date after which it was first seen; "" for any'),
    "complexity": Gate("released", complexity, tuple[int, int], (1, 60), "least and most cyclomatic complexity"),
    "lines": Gate("released", lines, tuple[int, int], (2, 400), "least and most lines"),
    "label_confidence": Gate("released", label_confidence, float, 0.0, "least confidence of any label"),
}


def parse_gates(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return gate -> threshold with defaults filled in; raises UserError for an unknown gate or a bad threshold."""
    for name in given:
        if name not in GATES:
            raise UserError(f"{where}: there is no gate {name} (gates: {', '.join(GATES)})")
    thresholds: dict[str, Any] = {}
    for name, gate in GATES.items():
        try:
            thresholds[name] = TypeAdapter(gate.kind).validate_python(given.get(name, gate.default))
        except ValidationError as error:
            raise UserError(f"{where}: {name}: {error.errors()[0]['msg']} ({gate.about})") from None
    return thresholds


def first_refusal(row: Candidate, thresholds: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return (gate, reason, sentence) of the first gate that refuses a candidate, or None when all let it through."""
    for name, gate in GATES.items():
        refusal = gate.check(row, thresholds[name])
        if refusal is not None:
            return name, *refusal
    return None
