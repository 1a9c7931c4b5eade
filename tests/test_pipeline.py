"""The loop: pending, work, append; resuming, retrying, failing, being killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.pipeline import Options, Pipeline, stage_version
from curate.stages import STAGES, Stage
from curate.workspace import Workspace
from tests.toys import shout

TOY = Stage("toy", "tests.toys.shout", 1, reads=(), writes=("labels",), follows=(), items=None, unit_size=2)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir()
    return Workspace.at(tmp_path)


def items(*does: str) -> list[dict[str, Any]]:
    return [{"item_id": f"i{n}", "unit": "u", "name": f"item {n}", "does": what} for n, what in enumerate(does)]


def shouted(workspace: Workspace) -> list[tuple[str, str]]:
    rows = Pipeline(workspace).store.rows("SELECT function_id, value FROM current_labels ORDER BY 1")
    return [(row["function_id"], row["value"]) for row in rows]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_item_gets_a_row_or_a_reason(workspace: Workspace, workers: int) -> None:
    pipeline = Pipeline(workspace)
    summary = pipeline.run(TOY, Options(workers=workers), items("", "fail", "", "retry", "", "bug", ""))
    assert (summary.pending, summary.done, summary.failed) == (7, 4, 3)
    assert summary.reasons == {"too_quiet": 1, "network": 1, "internal_error": 1}
    assert len(summary.bugs) == 1
    assert "ZeroDivisionError" in summary.bugs[0]
    assert [name for name, _ in shouted(workspace)] == ["i0", "i2", "i4", "i6"]
    failures = pipeline.store.rows("SELECT item_id, reason, subject FROM current_failures ORDER BY 1")
    assert [row["item_id"] for row in failures] == ["i1", "i3", "i5"]
    assert failures[0]["subject"] == "item 1"


def test_a_second_run_takes_up_only_what_may_work_now(workspace: Workspace) -> None:
    given = items("", "fail", "retry", "")
    Pipeline(workspace).run(TOY, Options(), given)
    given[2]["does"] = ""
    again = Pipeline(workspace).run(TOY, Options(), given)
    assert (again.pending, again.done) == (1, 1)
    assert Pipeline(workspace).store.rows("SELECT item_id FROM current_failures") == [{"item_id": "i1"}]
    assert Pipeline(workspace).run(TOY, Options(), given).pending == 0


def test_a_worker_that_dies_costs_one_item(workspace: Workspace) -> None:
    given = [{**item, "unit": item["item_id"]} for item in items("", "", "die", "", "")]
    summary = Pipeline(workspace).run(TOY, Options(workers=2), given)
    assert (summary.done, summary.failed) == (4, 1)
    assert summary.reasons == {"worker_died": 1}


def test_other_settings_are_another_version_and_both_stay(workspace: Workspace) -> None:
    given = items("", "")
    Pipeline(workspace, {"toy": {"word": "hey"}}).run(TOY, Options(), given)
    assert Pipeline(workspace, {"toy": {"word": "ho"}}).run(TOY, Options(), given).pending == 2
    assert shouted(workspace) == [("i0", "ho"), ("i1", "ho")]
    back = Pipeline(workspace, {"toy": {"word": "hey"}})
    assert back.run(TOY, Options(), given).pending == 0
    values = back.store.rows("SELECT DISTINCT value FROM current_labels", back.view)
    assert values == [{"value": "hey"}]


def test_redo_replaces_and_only_and_limit_choose(workspace: Workspace) -> None:
    given = items("", "", "")
    Pipeline(workspace).run(TOY, Options(only="item 1"), given)
    assert shouted(workspace) == [("i1", "hey")]
    assert Pipeline(workspace).run(TOY, Options(limit=1), given).pending == 1
    assert Pipeline(workspace).run(TOY, Options(redo=True), given).done == 3
    assert len(shouted(workspace)) == 3
    assert Pipeline(workspace).store.rows("SELECT count(*) AS n FROM labels") == [{"n": 5}]


def test_only_the_newest_result_of_a_whole_stage_counts(workspace: Workspace) -> None:
    pipeline = Pipeline(workspace)
    folder = Path(__file__).parent / "toys"
    total = Stage(
        "total", "tests.toys.total", 1, ("labels",), ("labels",), (), None, {"labels": str(folder / "labels.sql")}
    )
    for count in (1, 3):
        pipeline.run(TOY, Options(), items(*[""] * count))
        pipeline.run(total, Options(), [{"item_id": f"set of {count}"}])
    view = pipeline.view.__class__(versions=pipeline.versions, whole=("total",))
    found = pipeline.store.rows("SELECT value FROM current_labels WHERE function_id = 'total'", view)
    assert found == [{"value": "3"}]


def test_two_runs_do_not_work_in_one_workspace_at_once(workspace: Workspace) -> None:
    holder = _start(workspace, "0.2", 40)
    try:
        with pytest.raises(UserError, match=f"process {holder.pid}.* is at work"):
            Pipeline(workspace).run(TOY, Options(), items(""))
        # Reading works meanwhile.
        assert Pipeline(workspace).store.rows("SELECT count(*) AS n FROM runs")[0]["n"] >= 1
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_at_any_moment_nothing_is_lost_or_done_twice(workspace: Workspace, workers: str) -> None:
    for delay in (0.7, 2.6, 1.1):
        run = _start(workspace, "0.05", 150, workers)
        time.sleep(delay)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    run = _start(workspace, "0", 150, workers)
    assert run.wait(60) == 0
    rows = shouted(workspace)
    assert len(rows) == 150
    stored = Pipeline(workspace).store.rows("SELECT count(*) AS n FROM labels")[0]["n"]
    assert stored == 150
    done = Pipeline(workspace).store.rows("SELECT item_id FROM work GROUP BY ALL HAVING count(*) > 1")
    assert done == []


def test_a_version_depends_on_number_settings_and_prepared_data() -> None:
    plain = stage_version(TOY, shout.Settings())
    assert plain == stage_version(TOY, shout.Settings(word="hey"))
    assert plain != stage_version(TOY, shout.Settings(word="ho"))
    assert plain != stage_version(TOY, shout.Settings(), ["other axes"])
    assert plain.startswith("1-")


def test_what_builds_on_a_stage_is_done_anew_when_the_stage_is(workspace: Workspace) -> None:
    after = Stage("after", "tests.toys.shout", 1, reads=(), writes=("labels",), follows=("toy",), items=None)
    for word, pending in (("hey", 1), ("hey", 0), ("ho", 1), ("hey", 0)):
        pipeline = Pipeline(workspace, {"toy": {"word": word}})
        pipeline.run(TOY, Options(), items(""))
        assert pipeline.run(after, Options(), items("")).pending == pending
    alone = Pipeline(workspace)
    assert alone.run(after, Options(), items("")).pending == 0, "the newest results of the toy stage count"


def test_working_copies_that_a_killed_run_left_are_swept(workspace: Workspace) -> None:
    (workspace.private / "work" / "left").mkdir(parents=True)
    Pipeline(workspace).run(TOY, Options(), items(""))
    assert not (workspace.private / "work").exists()


def test_stages_read_what_earlier_ones_write() -> None:
    written: set[str] = set()
    for stage in STAGES:
        assert set(stage.reads) <= written, stage.name
        written |= set(stage.writes)


def _start(workspace: Workspace, pause: str, count: int, workers: str = "1") -> subprocess.Popen[bytes]:
    """Start a process of its own that runs the toy stage, and wait until its run is recorded."""
    program = (
        "import sys; from pathlib import Path\n"
        "from curate.pipeline import Options, Pipeline\n"
        "from curate.workspace import Workspace\n"
        "from tests.test_pipeline import TOY, items\n"
        "if __name__ == '__main__':\n"
        "    root, pause, count, workers = sys.argv[1:]\n"
        "    given = [{**i, 'unit': i['item_id'], 'pause': float(pause)} for i in items(*[''] * int(count))]\n"
        "    Pipeline(Workspace.at(Path(root))).run(TOY, Options(workers=int(workers)), given)\n"
    )
    script = workspace.root / "drive.py"
    script.write_text(program)
    command = [sys.executable, str(script), str(workspace.root), pause, str(count), workers]
    here = str(Path(__file__).parent.parent)
    before = _runs(workspace)
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": here})
    for _ in range(400):
        if process.poll() is not None or _runs(workspace) > before:
            break
        time.sleep(0.02)
    return process


def _runs(workspace: Workspace) -> int:
    if not workspace.store.exists():
        return 0
    found: int = Pipeline(workspace).store.rows("SELECT count(*) AS n FROM runs")[0]["n"]
    return found
