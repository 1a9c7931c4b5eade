"""Run a project's whole suite: which tests pass, whenever and in whatever order, and which functions each one runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, cast

from curate.errors import ItemError
from curate.ids import stable_id
from curate.records import Failure, Link, Row, Struct, Test, TestRun
from curate.verify import built, project, recipes, suite
from curate.verify.suite import Job, JobResult, Results
from curate.work import Context, Done, Item, Prepared
from curate.workspace import Workspace


class Settings(Struct):
    """What shapes the runs of the suite."""

    runs: int = 2
    """How often the suite is run: once with links, then without, in reversed order and with other hash seeds."""
    item_seconds: float = 60.0
    """Time limit for one test item."""
    suite_seconds: float = 900.0
    """Time limit for one run of the suite."""
    restarts: int = 10
    """How often a run goes on after a test that hung or crashed."""
    memory_gb: int = 6
    """Memory for the tests, in GiB."""


SUSPECT = ("failed", "error")
RAN = (0, 1, 5)
"""pytest's exit codes when it came to its end: passed, failed, nothing collected."""


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Read the recipes."""
    del settings
    return recipes.prepare(workspace)


def work(rows: Sequence[Item], context: Context) -> Done:
    """Yield the runs and links of each snapshot."""
    for row in rows:
        try:
            result: list[Row] | ItemError = Tracer(row, context).trace()
        except ItemError as error:
            result = error
        yield row["item_id"], result


@dataclass(frozen=True)
class Setting:
    """What one run of the suite varies."""

    number: int
    links: bool
    order: str
    hash_seed: int

    def __str__(self) -> str:
        return f"hash seed {self.hash_seed}, {self.order} order, {'with' if self.links else 'without'} links"


class Tracer:
    """The runs of one snapshot."""

    def __init__(self, row: Item, context: Context) -> None:
        self.row = row
        self.context = context
        self.settings: Settings = context.settings
        self.recipe = recipes.of(context.prepared, row["name"])
        self.functions = [function for function in row["functions"] if not function["in_tests"]]
        self.tests = {test["node_id"]: test["test_id"] for test in row["tests"]}

    def trace(self) -> list[Row]:
        """Run the suite and return what was seen; raises ItemError when it can't be run or nothing is collected."""
        row, snapshot = self.row, self.context.workspace.files_of(self.row["item_id"])
        self.who = project.identity(snapshot, row["name"], row["revision"])
        self.python, self.wheel = built.environment(row, row["item_id"], self.who, self.context)
        settings = [Setting(1, links=True, order="collected", hash_seed=0)]
        settings += [
            Setting(n, False, "reversed" if n % 2 == 0 else "collected", n - 1)
            for n in range(2, self.settings.runs + 1)
        ]
        # Two at a time: what a run costs is mostly waiting for one process.
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(self._run, settings))
        first = results[0].jobs["suite"]
        self._refuse_nothing(results[0], first)
        self._without_flags(settings[0], results)
        rows: list[Row] = [*self._new_tests(results), *self._links(first), *self._broken(first)]
        for setting, result in zip(settings, results, strict=True):
            rows += self._test_runs(setting, result.jobs["suite"])
        return rows

    def _run(self, setting: Setting) -> Results:
        results = self._once(setting, ())
        same_names = any("import file mismatch" in detail for detail in results.jobs["suite"].broken.values())
        return self._once(setting, ("--import-mode=importlib",)) if same_names else results

    def _once(self, setting: Setting, arguments: tuple[str, ...]) -> Results:
        row = self.row
        with project.working_copy(self.context.workspace, row["item_id"], self.who, row["roots"], self.wheel) as copy:
            place = suite.Place(
                python=self.python,
                copy=copy,
                variables=self.recipe.variables,
                sandbox=self.context.extra.get("sandbox"),
                memory_bytes=self.settings.memory_gb << 30,
                hash_seed=setting.hash_seed,
            )
            job = Job(
                id="suite",
                files=self.recipe.test_paths,
                arguments=[*arguments, *(f"--deselect={one}" for one in self.recipe.deselect)],
                links=setting.links,
                order=setting.order,
                item_seconds=self.settings.item_seconds,
                seconds=self.settings.suite_seconds,
                restarts=self.settings.restarts,
            )
            return suite.run(place, [job], [(f["path"], f["first_line"]) for f in self.functions])

    def _without_flags(self, setting: Setting, results: list[Results]) -> None:
        """Repeat the first run without links when tests failed in it alone, and believe the repetition about these.

        Flags break what compiles bytecode itself (torch.compile); all else stays as it was, so that tests that depend
        on order or hash seed fail again.
        """
        first = results[0].jobs["suite"].tests
        others = [result.jobs["suite"].tests for result in results[1:]]

        def steady(name: str) -> bool:
            return bool(others) and all(name in one and one[name].outcome == "passed" for one in others)

        suspects = [name for name, seen in first.items() if seen.outcome in SUSPECT and steady(name)]
        if suspects:
            again = self._run(replace(setting, links=False)).jobs["suite"].tests
            for name in suspects:
                if name in again and again[name].outcome == "passed":
                    first[name] = replace(again[name], hits=first[name].hits, flags=False)

    def _refuse_nothing(self, results: Results, first: JobResult) -> None:
        if first.tests:
            return
        lines = [first.detail, *(f"{path}: {detail}" for path, detail in first.broken.items())]
        detail = "\n".join(line for line in [*lines, results.said] if line)[:3000]
        if results.ended and results.ended != "exited":
            raise ItemError("suite_" + results.ended, detail or "the sandbox ended the run")
        if first.broken:
            raise ItemError("collection_failed", detail)
        if first.stopped or first.status not in RAN:
            raise ItemError("suite_failed", detail or "pytest did not start")
        raise ItemError("no_tests_collected", detail or "pytest found no tests")

    def _test_id(self, node_id: str) -> str:
        return self.tests.get(node_id) or stable_id(self.row["item_id"], node_id)

    def _new_tests(self, results: Sequence[Results]) -> Iterator[Row]:
        seen = {node_id for result in results for node_id in result.jobs["suite"].tests}
        for node_id in sorted(seen - set(self.tests)):
            path, _, rest = node_id.partition("::")
            yield Test(
                test_id=self._test_id(node_id),
                snapshot_id=self.row["item_id"],
                path=path,
                qualname=rest.replace("::", "."),
                node_id=node_id,
                framework="pytest",
                first_line=0,
                last_line=0,
                source="",
                found_by="collected",
            )

    def _links(self, first: JobResult) -> Iterator[Row]:
        for node_id, test in sorted(first.tests.items()):
            for number in sorted(test.hits):
                function_id = self.functions[number]["function_id"]
                yield Link(function_id=function_id, test_id=self._test_id(node_id), how="coverage")

    def _broken(self, first: JobResult) -> Iterator[Row]:
        for path, detail in sorted(first.broken.items()):
            subject = f"{self.row['name']}:{path}"
            item_id = f"{self.row['item_id']}:{path}"
            yield Failure(stage="trace", item_id=item_id, subject=subject, reason="does_not_collect", detail=detail)

    def _test_runs(self, setting: Setting, result: JobResult) -> Iterator[Row]:
        for node_id, test in sorted(result.tests.items()):
            yield TestRun(
                snapshot_id=self.row["item_id"],
                test_id=self._test_id(node_id),
                environment_id=self.row["environment_id"],
                run=setting.number,
                setting=str(setting if test.flags else replace(setting, links=False)),
                outcome=cast("Outcome", "error" if test.outcome == "not_run" else test.outcome),
                items=test.items,
                seconds=round(test.seconds, 3),
                detail=test.detail,
            )


Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "timeout", "crashed"]
