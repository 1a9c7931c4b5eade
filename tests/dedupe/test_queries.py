"""The queries of the stage, over a real store: who is a candidate, and when the work counts as new."""

from __future__ import annotations

from typing import Any

from curate.pipeline import Options, Pipeline
from curate.records import Function, Record, Verdict, Work
from curate.stages import BY_NAME
from curate.store import Store
from curate.workspace import Workspace
from tests.made import NOON, function, snapshot, verdict


def store_as(store: Store, stage: str, rows: list[Any], run_id: str) -> None:
    """Store rows as one finished run of a stage."""
    work = Work(run_id=run_id, stage=stage, version="1-x", item_id="all", status="done", done_at=NOON)
    tables: dict[str, list[Record]] = {"work": [work]}
    for row in rows:
        tables.setdefault(row.table, []).append(row.model_copy(update={"run_id": run_id, "work_item": "all"}))
    store.append(tables)


def run(workspace: Workspace) -> tuple[int, list[dict[str, Any]]]:
    pipeline = Pipeline(workspace)
    done = pipeline.run(BY_NAME["dedupe"], Options()).done
    return done, pipeline.store.rows("SELECT * FROM current_clusters ORDER BY function_id", pipeline.view)


def mined(workspace: Workspace, *functions: Function) -> Store:
    store = Store(workspace.store)
    store_as(store, "mine", [snapshot("s1", "lib")], "r1")
    store_as(store, "extract", list(functions), "r2")
    return store


def test_candidates_are_functions_with_behaviour_that_are_no_tests(workspace: Workspace) -> None:
    twin = "def f(x):\n    return x\n"
    mined(
        workspace,
        function("one", normalised=twin),
        function("two", normalised=twin),
        function("stub", normalised=twin, is_stub=True),
        function("test_it", normalised=twin, in_tests=True),
    )
    done, rows = run(workspace)
    assert done == 1
    assert [(row["function_id"], row["relation"]) for row in rows] == [
        ("f-one", "representative"),
        ("f-two", "exact"),
    ]


def test_a_verdict_makes_it_new_work_and_another_representative(workspace: Workspace) -> None:
    twin = "def f(x):\n    return x\n"
    store = mined(workspace, function("one", normalised=twin), function("two", normalised=twin))
    assert run(workspace)[0] == 1
    assert run(workspace)[0] == 0
    verdicts: list[Verdict] = [verdict("two")]
    store_as(store, "prove", verdicts, "r3")
    done, rows = run(workspace)
    assert done == 1
    assert {row["representative_id"] for row in rows} == {"f-two"}
    assert len(rows) == 2


def test_nothing_to_compare_is_no_item(workspace: Workspace) -> None:
    mined(workspace)
    assert run(workspace) == (0, [])
