"""Prove functions by running: tests that pass on the original must fail when its body is replaced by a raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from curate import splice
from curate.errors import ItemError
from curate.records import Link, Mutant, Struct, Verdict
from curate.verify import built, project, recipes, strength, suite
from curate.verify.evidence import Decision, Proof, before_running, choose, decide
from curate.verify.suite import Job
from curate.work import Context, Done, Item, Prepared
from curate.workspace import Workspace

Tests = list[Mapping[str, Any]]


class Settings(Struct):
    """What shapes the proofs."""

    tests: int = 5
    """How many tests of a function are run at first: those that run the fewest other functions first."""
    more_tests: int = 20
    """How many are run when none of the first notices the stub."""
    items: int = 200
    """Tests are taken as long as they have no more items (parameter sets) than this in sum, a single one excepted."""
    item_seconds: float = 30.0
    """Time limit for one test item."""
    seconds: float = 120.0
    """Time limit for the tests of one function, once on the original and once on the stub."""
    mutants: int = 10
    """At most so many mutants of a verified function are run; 0 for none."""
    memory_gb: int = 6
    """Memory for the tests, in GiB."""


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Read the recipes."""
    del settings
    return recipes.prepare(workspace)


def work(rows: Sequence[Item], context: Context) -> Done:
    """Yield a verdict on each function; the rows of one call are of one snapshot and share a sandbox."""
    waiting: dict[str, Item] = {}
    for row in rows:
        decision = before_running(row)
        if decision:
            yield row["item_id"], [_verdict(row, decision, Proof())]
        else:
            waiting[row["item_id"]] = row
    if waiting:
        try:
            yield from Prover(list(waiting.values()), context).prove()
        except ItemError as error:
            yield from ((item_id, error) for item_id in waiting)


class Prover:
    """The proofs of some functions of one snapshot."""

    def __init__(self, rows: Sequence[Item], context: Context) -> None:
        """Take rows that all have at least one sound test."""
        self.rows = rows
        self.context = context
        self.settings: Settings = context.settings
        self.proofs: dict[str, Proof] = {row["item_id"]: Proof() for row in rows}
        self.refused: dict[str, Decision] = {}
        self.sandbox = ""

    def prove(self) -> Done:
        """Run and decide; raises ItemError when nothing could be run at all."""
        row, settings = self.rows[0], self.settings
        who = project.identity(self.context.workspace.files_of(row["snapshot_id"]), row["project"], row["revision"])
        python, wheel = built.environment(row, row["snapshot_id"], who, self.context)
        recipe = recipes.of(self.context.prepared, row["project"])
        with project.working_copy(self.context.workspace, row["snapshot_id"], who, row["roots"], wheel) as copy:
            self.place = suite.Place(
                python=python,
                copy=copy,
                variables=recipe.variables,
                sandbox=self.context.extra.get("sandbox"),
                memory_bytes=settings.memory_gb << 30,
            )
            first = {one["item_id"]: choose(one["tests"], settings.tests, settings.items) for one in self.rows}
            self._run(first)
            more = {}
            for one in self.rows:
                if not self.proofs[one["item_id"]].failing and one["item_id"] not in self.refused:
                    known = {test["test_id"] for test in first[one["item_id"]]}
                    rest = [test for test in one["tests"] if test["test_id"] not in known]
                    more[one["item_id"]] = choose(rest, settings.more_tests, settings.items)
            self._run({item_id: tests for item_id, tests in more.items() if tests})
            decisions = {item_id: self.refused.get(item_id) or decide(proof) for item_id, proof in self.proofs.items()}
            mutants = self._mutants(decisions)
        for one in self.rows:
            proof, decision = self.proofs[one["item_id"]], decisions[one["item_id"]]
            proven = proof.failing if decision.outcome == "verified" else []
            links = [Link(function_id=one["item_id"], test_id=test["test_id"], how="proven") for test in proven]
            own = mutants.get(one["item_id"], [])
            yield one["item_id"], [_verdict(one, decision, proof, self.sandbox, own), *links, *own]

    def _mutants(self, decisions: Mapping[str, Decision]) -> dict[str, list[Mutant]]:
        """Run the mutants of what has been proven."""
        settings = self.settings
        effort = strength.Effort(settings.mutants, settings.seconds, settings.item_seconds)
        proven = [
            (row, self.proofs[row["item_id"]].failing)
            for row in self.rows
            if decisions[row["item_id"]].outcome == "verified"
        ]
        return strength.measure(self.place, proven, effort, self._raw)

    def _raw(self, row: Item) -> bytes:
        raw: bytes = (self.context.workspace.snapshot(row["snapshot_id"]) / row["path"]).read_bytes()
        return raw

    def _run(self, chosen: Mapping[str, Tests]) -> None:
        """Run tests on the original, once for all functions that share them, and on each function's stub."""
        stubs = {row["item_id"]: self._stub(row) for row in self.rows if row["item_id"] in chosen}
        chosen = {item_id: tests for item_id, tests in chosen.items() if stubs[item_id]}
        if not chosen:
            return
        references = {_key(tests): self._job(f"reference {_key(tests)}", tests, {}) for tests in chosen.values()}
        # The first job shows which packages to load for the others.
        jobs = sorted(references.values(), key=lambda job: -len(job.files))
        # It counts for nothing: what counts all starts alike, so that no fault of the start looks like a stub's.
        jobs = [replace(jobs[0], id="first"), *jobs]
        jobs += [self._job(f"stub {item_id}", tests, stubs[item_id]) for item_id, tests in chosen.items()]
        results = suite.run(self.place, jobs, warm=True)
        self.sandbox = results.sandbox
        if results.ended and len(chosen) > 1:
            # One of them is too much for the sandbox: the others are not to suffer for it.
            for item_id, tests in chosen.items():
                self._run({item_id: tests})
            return
        for item_id, tests in chosen.items():
            if results.ended:
                sentence = f"Running its tests ended the sandbox: {results.ended}."
                self.refused[item_id] = Decision("sandbox_ended", sentence, results.said)
                continue
            reference, stub = results.jobs[f"reference {_key(tests)}"], results.jobs[f"stub {item_id}"]
            self.proofs[item_id].add(tests, reference, stub)

    def _job(self, name: str, tests: Tests, replace: Mapping[str, str]) -> Job:
        node_ids = [str(test["node_id"]) for test in tests]
        return Job(
            id=name,
            files=sorted({node_id.partition("::")[0] for node_id in node_ids}),
            tests=node_ids,
            replace=replace,
            once=True,
            item_seconds=self.settings.item_seconds,
            collect_seconds=self.settings.seconds,
            seconds=self.settings.seconds,
            restarts=2 if replace else 10,
        )

    def _stub(self, row: Item) -> dict[str, str]:
        """Write the file with the function's body replaced; returns what the runner has to replace."""
        original = self.place.copy.folder / row["path"]
        try:
            stubbed = splice.stub_source(self._raw(row), row["start_byte"], row["end_byte"], row["body_byte"])
        except (ItemError, SyntaxError) as error:
            self.refused[row["item_id"]] = Decision("no_stub", "Its body cannot be replaced in its file.", str(error))
            return {}
        file = self.place.copy.base / "stubs" / f"{row['item_id']}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(stubbed)
        return {str(original): str(file)}


def _key(tests: Tests) -> str:
    return " ".join(sorted(str(test["test_id"]) for test in tests))


def _verdict(
    row: Item, decision: Decision, proof: Proof, sandbox: str | None = None, mutants: Sequence[Mutant] = ()
) -> Verdict:
    passes = [sum(outcome == "passed" for outcome in test["outcomes"]) + 1 for test in proof.passed]
    return Verdict(
        function_id=row["item_id"],
        outcome=decision.outcome,
        reason=decision.reason,
        detail=decision.detail,
        runs=min(passes, default=0),
        tests=len(proof.passed),
        tests_failing_on_stub=len(proof.failing),
        mutants=sum(mutant.outcome != "not_judged" for mutant in mutants),
        mutants_killed=sum(mutant.outcome == "killed" for mutant in mutants),
        environment_id=row["environment_id"],
        sandbox=sandbox or None,
    )
