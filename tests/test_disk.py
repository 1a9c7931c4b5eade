"""A disk budget: files that no row needs go first, come back when a stage needs them, and nothing is lost meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.disk import make_room, used
from curate.flow import Mining, mine, pipeline_for, run_stages
from curate.pipeline import Options, Pipeline
from curate.recording import Summary
from curate.workspace import Workspace
from tests.mine.projects import FILES, repository, write


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    for part in ("sources", "schema", "releases"):
        (tmp_path / "here" / part).mkdir(parents=True)
    return Workspace.at(tmp_path / "here")


def _project(folder: Path, size: int) -> str:
    repository(folder, {**FILES, "data.txt": "x" * size, "who.txt": folder.name})
    return f"git+file://{folder}"


def _run(pipeline: Pipeline, *names: str) -> list[Summary]:
    said: list[Summary] = []
    run_stages(pipeline, names, Options(), said.append)
    return said


def test_what_does_not_fit_waits_until_the_rest_is_done_with(place: Workspace, tmp_path: Path) -> None:
    requests = [_project(tmp_path / name, 100_000) for name in ("a", "b", "c", "d", "e", "f", "g")]
    pipeline = pipeline_for(place, None)
    mining = Mining(max_disk=250_000)
    first = mine(pipeline, requests, Options(), lambda summary: None, mining)
    (said,) = first.summaries
    assert (said.done, said.reasons, first.postponed) == (4, {"disk_budget": 3}, 3)
    assert mine(pipeline, requests, Options(), lambda summary: None, mining).postponed == 3, "nothing may go yet"
    _run(pipeline, "extract")
    second = mine(pipeline, requests, Options(), lambda summary: None, mining)
    assert second.postponed == 0
    _run(pipeline, "extract")
    assert used(place) < 600_000
    counted = pipeline.store.rows("SELECT count(DISTINCT snapshot_id) AS n FROM current_functions", pipeline.view)
    assert counted == [{"n": 7}], "the rows of what was dropped stay"


def test_files_that_are_needed_again_are_fetched_again(place: Workspace, tmp_path: Path) -> None:
    pipeline = pipeline_for(place, None)
    mine(pipeline, [_project(tmp_path / "a", 1000)], Options(), lambda summary: None)
    _run(pipeline, "extract")
    before = pipeline.store.rows("SELECT function_id, source FROM current_functions ORDER BY ALL", pipeline.view)
    assert make_room(place, pipeline.store, 0)
    assert used(place) == 0
    said: list[Summary] = []
    run_stages(pipeline, ["extract"], Options(redo=True), said.append)
    assert [(one.stage, one.done, one.failed) for one in said] == [("mine", 1, 0), ("extract", 1, 0)]
    assert (
        pipeline.store.rows("SELECT function_id, source FROM current_functions ORDER BY ALL", pipeline.view) == before
    )


def test_a_project_that_cannot_come_back_says_so(place: Workspace, tmp_path: Path) -> None:
    pipeline = pipeline_for(place, None)
    mine(pipeline, [_project(tmp_path / "a", 1000)], Options(), lambda summary: None)
    assert not make_room(place, pipeline.store, 0), "not extracted yet: needed"
    _run(pipeline, "extract")
    make_room(place, pipeline.store, 0)
    (tmp_path / "a").rename(tmp_path / "gone")
    said: list[Summary] = []
    run_stages(pipeline, ["extract"], Options(redo=True), said.append)
    assert said[0].reasons == {"not_found": 1}


def test_what_no_row_refers_to_goes_first_and_folders_of_this_machine_stay(place: Workspace, tmp_path: Path) -> None:
    here = write(tmp_path / "inhouse", {"a.py": "def f():\n    '''Doc.'''\n    return 1\n", "b.txt": "x" * 5000})
    request = _project(tmp_path / "a", 10_000)
    pipeline = pipeline_for(place, None)
    mine(pipeline, [str(here), request], Options(), lambda summary: None)
    kept = {path.name for path in (place.private / "snapshots").iterdir() if not path.name.startswith(".")}
    stray = write(place.private / "snapshots" / "stray", {"a.txt": "x" * 50})
    make_room(place, pipeline.store, used(place) - 10)
    assert not stray.exists()
    assert all((place.private / "snapshots" / name).exists() for name in kept)
    _run(pipeline, "extract")
    assert not make_room(place, pipeline.store, 0)
    left = [path.name for path in (place.private / "snapshots").iterdir() if not path.name.startswith(".")]
    local = pipeline.store.rows("SELECT snapshot_id FROM snapshots WHERE source = 'local'")
    assert left == [row["snapshot_id"] for row in local]
