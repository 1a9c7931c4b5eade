from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from curate import mine
from curate.errors import ItemError, UserError
from curate.mine import Settings
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.mining import files, mined
from tests.mine.projects import FILES, WHEN, write


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return write(tmp_path / "demo", FILES)


def test_the_id_depends_on_name_and_content_alone(demo: Path, tmp_path: Path, context: Context) -> None:
    here, _, _ = mined(str(demo), context)
    copy = tmp_path / "elsewhere/demo"
    shutil.copytree(demo, copy)
    os.utime(copy / "LICENSE", (WHEN, WHEN))
    there, _, _ = mined(str(copy), context)
    assert here.snapshot_id == there.snapshot_id
    assert (here.url, here.name, here.revision) == ("demo", "demo", here.sha256)
    write(copy, {"LICENSE": "other"})
    assert mined(str(copy), context)[0].snapshot_id != here.snapshot_id
    renamed = demo.rename(tmp_path / "renamed")
    assert mined(str(renamed), context)[0].snapshot_id != here.snapshot_id


def test_a_copy_with_other_file_times_is_the_same_snapshot(demo: Path, context: Context) -> None:
    copy = demo.parent / "elsewhere" / demo.name
    shutil.copytree(demo, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1e9, 1e9))
    first, second = mined(str(demo), context)[0], mined(str(copy), context)[0]
    assert first == second
    assert first.committed_at is None


def test_what_is_not_the_projects_own_work_is_passed_over(demo: Path, context: Context) -> None:
    write(demo, {
        ".git/config": "", ".hg/x": "", "demo/__pycache__/a.pyc": "", "node_modules/a.js": "", ".curate/store": "",
        "venv/pyvenv.cfg": "", "venv/lib/a.py": "", "env2/pyvenv.cfg": "", ".mypy_cache/a": "",
        "own-cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n", "own-cache/a.py": "",
    })  # fmt: skip
    write(demo, {"env/a.py": "kept = 1\n", "build/b.py": "kept = 1\n", ".github/c.py": "kept = 1\n"})
    _, failures, folder = mined(str(demo), context)
    assert sorted(files(folder)) == sorted([*FILES, "env/a.py", "build/b.py", ".github/c.py"])
    assert failures == []


def test_links_and_special_files(demo: Path, tmp_path: Path, context: Context) -> None:
    write(tmp_path, {"secret.py": "password = 1\n"})
    (demo / "inside.py").symlink_to(demo / "demo/__init__.py")
    (demo / "relative.py").symlink_to("demo/__init__.py")
    (demo / "outside.py").symlink_to("../secret.py")
    (demo / "tests/linked").symlink_to(demo / "demo")
    (demo / "away").symlink_to(tmp_path)
    (demo / "broken.py").symlink_to("absent")
    (demo / "a").symlink_to("b")
    (demo / "b").symlink_to("a")
    os.mkfifo(demo / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(os.path.relpath(demo / "socket"))
        _, failures, folder = mined(str(demo), context)
    assert files(folder)["inside.py"] == files(folder)["relative.py"] == FILES["demo/__init__.py"].encode()
    assert {row.subject.partition(":")[2]: row.reason for row in failures} == {
        "outside.py": "link_outside", "away": "link_outside", "tests/linked": "link_to_folder",
        "broken.py": "broken_link", "a": "broken_link", "b": "broken_link",
        "pipe": "not_a_file", "socket": "not_a_file",
    }  # fmt: skip
    assert str(tmp_path) not in str(failures)
    assert b"password" not in b"".join(files(folder).values())


def test_a_relative_folder_lies_in_the_workspace(workspace: Workspace, context: Context) -> None:
    write(workspace.root / "code/demo", FILES)
    assert mine.requests(["code/demo", "./code/demo/"], workspace) == [str(workspace.root / "code/demo")]
    assert mined("code/demo", context)[0].name == "demo"


def test_a_folder_that_changes_meanwhile_is_tried_again_later(demo: Path, context: Context, settings: Settings) -> None:
    ((_, row),) = mine.items([str(demo)], context.workspace, settings)
    write(demo, {"new.py": "x = 1\n"})
    ((_, error),) = mine.work([row], context)  # type: ignore[list-item]
    assert isinstance(error, ItemError)
    assert (error.reason, error.transient) == ("changed_meanwhile", True)


def test_an_empty_folder_and_a_name_that_is_no_folder(tmp_path: Path, context: Context) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ItemError, match="empty"):
        mined(str(tmp_path / "empty"), context)
    with pytest.raises(UserError, match=r"einops: no such folder.*pypi:NAME"):
        mine.requests(["einops"], context.workspace)


def test_an_unreadable_file_is_a_row(demo: Path, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = os.fsencode(demo) + b"/\xff.py"
    with open(bad, "wb") as file:  # noqa: PTH123 pathlib takes no bytes
        file.write(b"x = 1\n")
    _, failures, folder = mined(str(demo), context)
    assert [(row.subject, row.reason) for row in failures] == [("demo:\\udcff.py", "unreadable_name")]
    assert sorted(files(folder)) == sorted(FILES)
