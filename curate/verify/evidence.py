"""What the runs of a function's tests say about it: pure functions from what was seen to a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curate.verify.suite import JobResult

FAILS = frozenset({"failed", "error", "crashed"})
"""A stub counts as noticed by these; a test that only takes too long may be the machine's doing."""

BY_SUITE = {
    "crashed": ("tests_crash", "Its tests end the process that runs them."),
    "timeout": ("timeout", "Its tests take longer than the time limit."),
    "error": ("tests_fail", "Its tests fail on the original code."),
    "failed": ("tests_fail", "Its tests fail on the original code."),
    "xpassed": ("tests_skipped", "Its tests are expected to fail."),
    "xfailed": ("tests_skipped", "Its tests are expected to fail."),
    "skipped": ("tests_skipped", "Its tests are skipped in this environment."),
}


@dataclass(frozen=True)
class Decision:
    """Outcome, why in one sentence, and lines that show it."""

    outcome: str
    reason: str
    detail: str = ""


USAGE_ERROR = 4
"""Exit code of pytest when a conftest.py cannot be imported; the reference ran with the same arguments."""


@dataclass
class Proof:
    """What has been seen of one function while it was proven."""

    passed: list[Mapping[str, Any]] = field(default_factory=list)
    """Linked tests that passed on the reference."""
    failing: list[Mapping[str, Any]] = field(default_factory=list)
    """Those of them that failed on the stub."""
    late: int = 0
    """How many of them took too long on the stub."""
    alone: dict[str, str] = field(default_factory=dict)
    """Tests that pass in the suite but not when run by themselves -> what they said."""
    at_import: bool = False
    """Whether the stub broke an import, since the function runs at import too."""
    unjudged: str = ""
    """What a run on the stub said that ended before it came to a test."""
    detail: str = ""

    def add(self, tests: Iterable[Mapping[str, Any]], reference: JobResult, stub: JobResult) -> None:
        """Take in one run of tests on the reference and on the stub."""
        for test in tests:
            name = test["node_id"]
            seen = reference.tests.get(name)
            if seen is None or seen.outcome != "passed":
                why = seen.detail if seen else reference.detail or reference.broken.get(name.partition("::")[0], "")
                self.alone[name] = why or "it was not collected"
                continue
            self.passed.append(test)
            outcome = self._on_stub(name, stub)
            if outcome in FAILS:
                self.failing.append(test)
            self.late += outcome == "timeout"

    def _on_stub(self, name: str, stub: JobResult) -> str:
        seen = stub.tests.get(name)
        if seen is not None:
            return next((one for one in ("failed", "error", "crashed") if seen.outcomes[one]), seen.outcome)
        if stub.stopped == "timeout":
            return "timeout"
        if name.partition("::")[0] in stub.broken or stub.status == USAGE_ERROR:
            # Importing the test's file, or a conftest.py, now fails.
            self.at_import = True
            return "error"
        # The run ended before it came to the test: that says nothing about the stub.
        self.unjudged = stub.detail or "the run ended before it came to the tests"
        return "unjudged"


def before_running(row: Mapping[str, Any]) -> Decision | None:
    """Return the decision when there is nothing to run, else None."""
    if row["failure"]:
        failure = row["failure"]
        sentence = f"The project's {failure['stage']} stage failed: {failure['reason']}."
        return Decision("environment_failed", sentence, failure["detail"])
    if row["is_stub"]:
        return Decision("no_behaviour", "It has no behaviour of its own that a test could see.")
    tests: Sequence[Mapping[str, Any]] = row["tests"]
    if not tests:
        return Decision("no_tests", "No test that ran has run it.")
    if any(test["sound"] for test in tests):
        return None
    traced = [test for test in tests if test["traced"]] or tests
    worst = next(one for one in (*BY_SUITE, "passed") if any(one in test["outcomes"] for test in traced))
    flaky = next((test for test in traced if "passed" in test["outcomes"]), None)
    if flaky:
        sentence = "No test of it passes in every run of the suite."
        return Decision("flaky", sentence, f"{flaky['node_id']}: {', '.join(flaky['outcomes'])}\n{flaky['detail']}")
    shown = next(test for test in traced if worst in test["outcomes"])
    return Decision(*BY_SUITE[worst], f"{shown['node_id']}: {worst}\n{shown['detail']}")


def choose(tests: Sequence[Mapping[str, Any]], count: int, items: int) -> list[Mapping[str, Any]]:
    """Return the tests to prove a function with: sound ones, in order, at most `count`, with at most `items` items.

    Where every test has more items than that, the first is taken. Tests known only by names count where tracing saw
    none, as in bodies that are compiled. Time is no measure here: two machines would choose differently.
    """
    sound = [test for test in tests if test["sound"]]
    sound = [test for test in sound if test["traced"]] or sound
    chosen: list[Mapping[str, Any]] = []
    for test in sound:
        if len(chosen) < count and sum(one["items"] for one in [*chosen, test]) <= items:
            chosen.append(test)
    return chosen or sound[:1]


def decide(proof: Proof) -> Decision:
    """Return the verdict on a function whose tests were run."""
    total, failing = len(proof.passed), len(proof.failing)
    traced = any(test["traced"] for test in proof.passed)
    if failing and proof.at_import and not traced:
        sentence = "It runs when the project is imported, and no test was seen to run it: any test fails without it."
        return Decision("runs_at_import", sentence, proof.detail)
    if failing:
        also = ", some of them at import" if proof.at_import else ""
        return Decision("verified", f"{failing} of {total} tests that pass on it fail when its body raises{also}.")
    if not total:
        detail = "\n".join(f"{name}: {why}" for name, why in sorted(proof.alone.items())[:3])
        return Decision("flaky", "Its tests pass within the suite, but not by themselves.", detail)
    names = "\n".join(test["node_id"] for test in proof.passed[:5])
    if proof.unjudged or proof.late:
        return _not_seen(proof, names)
    if not traced:
        sentence = "Tests name it, but were not seen to run it, and none fails when its body raises."
        return Decision("not_traceable", sentence, names)
    return Decision("stub_passes", f"None of {total} tests that run it notices that its body raises.", names)


def _not_seen(proof: Proof, names: str) -> Decision:
    """Return the decision when tests on the stub did not come to an end of their own."""
    if proof.unjudged:
        return Decision("not_judged", "Its tests could not be run on the stub.", proof.unjudged)
    return Decision("timeout", "With its body replaced by a raise, its tests do not come to an end in time.", names)
