"""The stage as a whole: items, plugins, and what a crash or a second process leaves."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from curate import mine
from curate.errors import ItemError, UserError
from curate.mine import Settings
from curate.mine.place import place, scratch
from curate.records import Snapshot
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.index_server import Index
from tests.mine.mining import files, mined
from tests.mine.projects import FILES, repository, tar_gz, write

SDIST = tar_gz(FILES)
PROGRAM = """
import sys
from pathlib import Path
from curate import mine
from curate.errors import ItemError
from curate.work import Context
from curate.workspace import Workspace
workspace, settings = Workspace(Path(sys.argv[1])), mine.Settings(retries=0, silence_seconds=30)
rows = [row for _, row in mine.items(mine.requests(sys.argv[2:], workspace), workspace, settings)]
print("ready", flush=True)
for item_id, rows in mine.work(rows, Context(workspace, settings)):
    print(rows if isinstance(rows, ItemError) else rows[0].snapshot_id, flush=True)
"""


def _process(workspace: Workspace, *requests: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(workspace.root), *requests]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent.parent)


def test_one_bad_request_stops_no_other(index: Index, context: Context, tmp_path: Path) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    write(tmp_path / "code", FILES)
    asked = [
        "pypi:absent",
        "pypi:demo",
        str(tmp_path / "code"),
        "pypi:demo==1.0",
        "git+http://u:tok-en@127.0.0.1:1/a/b",
    ]
    requests = mine.requests(asked, context.workspace)
    found = mine.items(requests, context.workspace, context.settings)
    shapes = [
        (item_id.partition("@")[0], row.reason if isinstance(row, ItemError) else row["name"]) for item_id, row in found
    ]
    assert shapes == [
        ("pypi:absent", "not_found"), ("pypi:demo==1.0", "demo"), ("local:code", "code"),
        ("git+http://127.0.0.1:1/a/b", "network"),
    ]  # fmt: skip
    rows = [row for _, row in found if not isinstance(row, ItemError)]
    assert all({"item_id", "unit", "name", "request"} <= set(row) for row in rows)
    index.projects.clear()
    done = dict(mine.work(rows, context))
    assert isinstance(done["pypi:demo==1.0"], ItemError)
    made, *_ = done[rows[1]["item_id"]]  # type: ignore[misc]
    assert isinstance(made, Snapshot)


def test_a_row_goes_to_another_process_with_its_secret_and_shows_it_to_nobody(context: Context, tmp_path: Path) -> None:
    repository(tmp_path / "demo")
    request = "git+https://user:tok-en@example.org/a/b@" + "1" * 40
    ((_, row),) = mine.items([request], context.workspace, context.settings)
    assert isinstance(row, dict)
    assert pickle.loads(pickle.dumps(row)) == row
    assert row["secret"].get_secret_value() == "user:tok-en"
    assert "tok-en" not in str(row)


def test_a_run_that_is_killed_leaves_nothing_half_done(
    index: Index, workspace: Workspace, context: Context, own_cache: Path
) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    index.fault("/files/demo-1.0.tar.gz", "stall", times=1)
    process = _process(workspace, "pypi:demo==1.0")
    try:
        for _ in range(500):
            if index.asked("/files/demo-1.0.tar.gz") and list((own_cache / "downloads").glob(".new-*/file")):
                break
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    home = workspace.snapshot("x").parent
    assert [path.name[:5] for path in home.iterdir() if path.name != ".lock"] == [".new-"]
    assert list((own_cache / "downloads").glob(".new-*"))
    snapshot, _, folder = mined("pypi:demo==1.0", context)
    assert files(folder) == {path: text.encode() for path, text in FILES.items()}
    assert {path.name for path in home.iterdir()} == {".lock", snapshot.snapshot_id}
    assert not list((own_cache / "downloads").glob(".new-*"))


def test_processes_that_mine_the_same_do_not_disturb_each_other(
    index: Index, workspace: Workspace, tmp_path: Path
) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    write(tmp_path / "code", FILES)
    repository(tmp_path / "repo")
    requests = ["pypi:demo", str(tmp_path / "code"), f"git+file://{tmp_path}/repo"]
    processes = [_process(workspace, *requests) for _ in range(2)]
    said = {process.communicate(timeout=60)[0] for process in processes}
    assert all(process.returncode == 0 for process in processes)
    (lines,) = said
    ids = lines.split()[1:]
    assert len(ids) == 3
    for snapshot_id in ids:
        assert files(workspace.snapshot(snapshot_id)) == {path: text.encode() for path, text in FILES.items()}
    assert {path.name for path in workspace.snapshot("x").parent.iterdir()} == {".lock", *ids}


def test_a_folder_at_work_is_not_cleared_away_by_others(tmp_path: Path) -> None:
    with scratch(tmp_path) as mine_, scratch(tmp_path) as theirs:
        assert mine_ != theirs
        assert mine_.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_snapshot_that_somebody_changed_is_made_good(index: Index, context: Context) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    snapshot, _, folder = mined("pypi:demo", context)
    (folder / "demo/__init__.py").write_text("tampered = 1\n")
    (folder / "extra.py").write_text("x = 1\n")
    assert mined("pypi:demo", context)[0] == snapshot
    assert files(folder) == {path: text.encode() for path, text in FILES.items()}


def test_an_equal_folder_stays_where_it_is(tmp_path: Path) -> None:
    target = write(tmp_path / "target", FILES)
    before = target.stat().st_ino
    place(write(tmp_path / "made", FILES), target, tmp_path)
    assert target.stat().st_ino == before


def test_a_full_disk_is_tried_again_later(index: Index, context: Context) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    home = context.workspace.private
    home.mkdir()
    (home / "snapshots").write_text("in the way")
    with pytest.raises(ItemError) as caught:
        mined("pypi:demo", context)
    assert (caught.value.reason, caught.value.transient) == ("cannot_write", True)


def test_the_order_of_requests_and_the_hash_seed_do_not_matter(
    index: Index, workspace: Workspace, tmp_path: Path
) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    write(tmp_path / "code", {f"m{number}.py": f"x = {number}\n" for number in range(20)})
    said = []
    for seed, requests in (("1", ["pypi:demo", str(tmp_path / "code")]), ("2", [str(tmp_path / "code"), "pypi:demo"])):
        command = [sys.executable, "-c", PROGRAM, str(workspace.root), *requests]
        variables = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=60).stdout
        said.append(sorted(out.split()))
    assert said[0] == said[1]


PLUGIN = """
from curate.errors import UserError
from curate.mine.source import Origin, Pin
import io
FORM = "toy:WORD"
def matches(request): return request.startswith("toy:")
def check(request, workspace): return request
def resolve(request, settings): return Pin(request + "==1", "toy")
def fetch(pin, tree, scratch, settings):
    tree.add("a.py", io.BytesIO(b"x = 1"))
    return Origin(("toy", "1"), "local", "toy", "toy", "1")
"""


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, entry: str, module: str = PLUGIN) -> None:
    write(folder, {
        "toy_source.py": module,
        "toy-1.0.dist-info/METADATA": "Name: toy\nVersion: 1.0\n",
        "toy-1.0.dist-info/entry_points.txt": f"[curate.sources]\n{entry}\n",
    })  # fmt: skip
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "toy_source", raising=False)


def test_a_source_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: Context) -> None:
    _install(tmp_path / "site", monkeypatch, "toy = toy_source")
    assert list(mine.sources()) == ["pypi", "git", "github", "toy", "local"]
    snapshot, _, folder = mined("toy:x", context)
    assert (snapshot.name, files(folder)) == ("toy", {"a.py": b"x = 1"})


@pytest.mark.parametrize(
    ("entry", "module", "said"),
    [
        ("pypi = toy_source", PLUGIN, "has the name of one"),
        ("toy = absent_module", PLUGIN, "cannot be loaded"),
        ("toy = toy_source", "FORM = 'toy'", "lacks a member"),
    ],
)
def test_a_source_that_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace, entry: str, module: str, said: str
) -> None:
    _install(tmp_path / "site", monkeypatch, entry, module)
    with pytest.raises(UserError, match=said):
        mine.requests(["pypi:demo"], workspace)


def test_importing_the_room_is_cheap() -> None:
    heavy = "requests pypi_simple bs4 license_expression duckdb pyarrow numpy"
    check = f"import sys, curate.mine; print([name for name in '{heavy}'.split() if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_settings_that_cannot_be() -> None:
    for wrong in ({"max_files": 0}, {"retries": -1}, {"unknown": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Settings(**wrong)


def test_projects_of_one_name_are_told_apart(tmp_path: Path, context: Context) -> None:
    for name in ("one/demo", "two/demo.git", "other"):
        repository(tmp_path / name)
    requests = [f"git+file://{tmp_path}/{name}" for name in ("one/demo", "two/demo.git", "other")]
    requests += ["git+https://a.example/team/lib@" + "1" * 40, "git+https://b.example/team/lib@" + "1" * 40]
    found = mine.items(requests, context.workspace, context.settings)
    names = [row["name"] for _, row in found if isinstance(row, dict)]
    assert names == ["one/demo", "two/demo", "other", "a.example/team/lib", "b.example/team/lib"]
    assert mine.items(requests[:1], context.workspace, context.settings)[0][1]["name"] == "demo"  # type: ignore[index]
