"""How strong the tests of a function are: the share of small changes of its body that they notice.

Mutants are exchanged in the running project (`runner/screen.py`), which takes milliseconds. That is checked: the
reference has to pass there, and of each function one that survived is run again in a project imported with it. Where
that disagrees, or a function cannot be exchanged, all its mutants are run the slow way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curate import splice
from curate.errors import ItemError
from curate.ids import stable_id
from curate.records import Mutant
from curate.verify import suite
from curate.verify.evidence import USAGE_ERROR
from curate.verify.mutants import Mutant as Change
from curate.verify.mutants import mutants
from curate.verify.suite import Job, JobResult

FAILS = ("failed", "error", "crashed", "timeout")
Tests = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Effort:
    """How much is tried."""

    mutants: int
    """At most so many of each function."""
    seconds: float
    """For all mutants of one function run the slow way, and for each of its tests."""
    item_seconds: float


@dataclass
class _Trial:
    """One mutant and what came of it."""

    row: Mapping[str, Any]
    change: Change
    mutant_id: str
    tests: tuple[str, ...]
    result: JobResult | None = None
    imported: bool = False

    @property
    def outcome(self) -> str:
        """killed, survived or not_judged."""
        result = self.result
        if result is None or result.stopped == "unfit":
            return "not_judged"
        if any(seen.outcome in FAILS for seen in result.tests.values()) or result.stopped in {"timeout", "crashed"}:
            return "killed"
        if self.imported and (result.broken or result.status == USAGE_ERROR):
            return "killed"  # the project, or its tests, can no longer be imported
        passed = [name for name in self.tests if name in result.tests and result.tests[name].outcome == "passed"]
        return "survived" if len(passed) == len(self.tests) else "not_judged"


def measure(
    place: suite.Place, proven: Sequence[tuple[Mapping[str, Any], Tests]], effort: Effort, file_of: Any
) -> dict[str, list[Mutant]]:
    """Return the mutants of each function, run on the tests that prove it; `file_of(row)` gives its file's bytes."""
    trials = [
        _Trial(row, change, stable_id(row["item_id"], change.source), tuple(str(test["node_id"]) for test in tests))
        for row, tests in proven
        for change in mutants(row["source"], effort.mutants)
    ]
    if not trials:
        return {}
    unsure = _exchange(place, trials, effort)
    _import(place, _doubtful(trials, unsure), effort, file_of)
    wrong = {trial.row["item_id"] for trial in trials if trial.imported and trial.outcome == "killed"} - unsure
    _import(place, [one for one in trials if one.row["item_id"] in wrong and not one.imported], effort, file_of)
    found: dict[str, list[Mutant]] = {}
    for trial in trials:
        found.setdefault(trial.row["item_id"], []).append(_row(trial))
    return found


def _exchange(place: suite.Place, trials: Sequence[_Trial], effort: Effort) -> set[str]:
    """Run mutants in the running project; return the functions for which that says nothing."""
    sets = dict.fromkeys(trial.tests for trial in trials)
    variants = []
    for tests in sets:
        variants.append({"id": f"warm {' '.join(tests)}", "tests": tests, "source": None})
        variants += [_variant(place, trial) for trial in trials if trial.tests == tests]
    names = sorted({name for tests in sets for name in tests})
    job = Job(
        id="screen",
        files=sorted({name.partition("::")[0] for name in names}),
        tests=names,
        once=True,
        item_seconds=effort.item_seconds,
        collect_seconds=effort.seconds,
        seconds=effort.seconds + effort.item_seconds * len(variants),
        restarts=0,
        variants=variants,
    )
    first = Job(id="first", files=job.files, tests=names[:1], once=True, seconds=effort.seconds, restarts=0)
    results = suite.run(place, [first, job], warm=True).jobs
    unsure = set()
    for trial in trials:
        reference = results[f"warm {' '.join(trial.tests)}"]
        trial.result = results[trial.mutant_id]
        sound = all(name in reference.tests and reference.tests[name].outcome == "passed" for name in trial.tests)
        if not sound or trial.outcome == "not_judged":
            unsure.add(trial.row["item_id"])
    return unsure


def _variant(place: suite.Place, trial: _Trial) -> dict[str, Any]:
    return {
        "id": trial.mutant_id,
        "tests": trial.tests,
        "file": str(place.copy.folder / trial.row["path"]),
        "line": trial.row["first_line"],
        "name": trial.row["qualname"].rpartition(".")[2],
        "source": trial.change.source,
    }


def _doubtful(trials: Iterable[_Trial], unsure: set[str]) -> list[_Trial]:
    """Return what has to be run the slow way: all of the functions that are unsure, and one survivor of the others."""
    chosen: dict[str, _Trial] = {}
    every = []
    for trial in trials:
        if trial.row["item_id"] in unsure:
            every.append(trial)
        elif trial.outcome == "survived":
            chosen.setdefault(trial.row["item_id"], trial)
    return [*every, *chosen.values()]


def _import(place: suite.Place, trials: Sequence[_Trial], effort: Effort, file_of: Any) -> None:
    """Run mutants in projects that are imported with them."""
    jobs = []
    for trial in trials:
        trial.result, trial.imported = None, True
        original = place.copy.folder / trial.row["path"]
        file = place.copy.base / "stubs" / f"{trial.mutant_id}.py"
        try:
            raw = splice.put(file_of(trial.row), trial.row["start_byte"], trial.row["end_byte"], trial.change.source)
        except (ItemError, SyntaxError):
            continue
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(raw)
        jobs.append(_job(trial, {str(original): str(file)}, effort))
    if not jobs:
        return
    first = Job(id="first", files=jobs[0].files, tests=jobs[0].tests, once=True, seconds=effort.seconds, restarts=0)
    results = suite.run(place, [first, *jobs], warm=True).jobs
    for trial in trials:
        trial.result = results.get(_imported(trial))


def _imported(trial: _Trial) -> str:
    return f"imported {trial.mutant_id}"


def _job(trial: _Trial, replace: Mapping[str, str], effort: Effort) -> Job:
    return Job(
        id=_imported(trial),
        files=sorted({name.partition("::")[0] for name in trial.tests}),
        tests=trial.tests,
        replace=replace,
        once=True,
        item_seconds=effort.item_seconds,
        collect_seconds=effort.seconds,
        seconds=effort.seconds,
        restarts=0,
    )


def _row(trial: _Trial) -> Mutant:
    outcome, result = trial.outcome, trial.result
    killer = None
    detail = ""
    if outcome == "killed" and result is not None:
        killer = next(
            (name for name in trial.tests if name in result.tests and result.tests[name].outcome in FAILS), None
        )
        detail = result.tests[killer].detail if killer else result.detail
    elif outcome == "not_judged":
        detail = result.detail if result else "it could not be run"
    return Mutant(
        mutant_id=trial.mutant_id,
        function_id=trial.row["item_id"],
        operator=trial.change.operator,
        line=trial.row["first_line"] + trial.change.line - 1,
        before=trial.change.before,
        after=trial.change.after,
        source=trial.change.source,
        outcome=outcome,
        killed_by=killer,
        how="imported" if trial.imported else "exchanged",
        detail=detail,
    )
