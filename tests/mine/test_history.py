"""Histories are fetched as a whole, once, and described."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from curate.errors import ItemError
from curate.mine import history
from curate.mine.remote import remote_of
from curate.records import History
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.git_server import GitServer
from tests.mine.projects import WHEN, commit, repository, write

QUICK = history.Settings(retries=0, pause_seconds=0, silence_seconds=5)


def fetched(request: str, revision: str, workspace: Workspace) -> History | ItemError:
    row: dict[str, Any] = {"item_id": "s", "snapshot_id": "s", "name": "x", "request": request, "url": "x"}
    ((_, found),) = history.work([row | {"revision": revision}], Context(workspace, QUICK))
    if isinstance(found, ItemError):
        return found
    (described,) = found
    assert isinstance(described, History)
    return described


@pytest.fixture
def made(tmp_path: Path) -> tuple[str, str]:
    first = repository(tmp_path / "served" / "demo")
    write(tmp_path / "served" / "demo", {"more.py": "x = 1\n"})
    return first, commit(tmp_path / "served" / "demo")


@pytest.mark.parametrize("scheme", ["file", "http"])
def test_the_whole_history_is_fetched(scheme: str, made: tuple[str, str], tmp_path: Path, workspace: Workspace) -> None:
    first, last = made
    with GitServer(tmp_path / "served") as server:
        url = (tmp_path / "served" / "demo").as_uri() if scheme == "file" else f"http://{server.host}/demo/.git"
        found = fetched(f"git+{url}@{last}", last, workspace)
    assert isinstance(found, History)
    assert (found.commits, found.first_commit, found.root_commits, found.complete) == (2, first, [first], True)
    assert found.first_commit_at is not None
    assert found.first_commit_at.timestamp() == WHEN
    assert workspace.history("s").is_dir()
    assert [path.name for path in workspace.history("s").parent.iterdir() if path.name != ".lock"] == ["s"]


def test_what_lies_there_is_not_fetched_again_and_what_is_gone_is(
    made: tuple[str, str], tmp_path: Path, workspace: Workspace
) -> None:
    last = made[1]
    with GitServer(tmp_path / "served") as server:
        request = f"git+http://{server.host}/demo/.git@{last}"
        assert isinstance(fetched(request, last, workspace), History)
        server.status = 500
        assert isinstance(fetched(request, last, workspace), History)
        shutil.rmtree(workspace.history("s"))
        failed = fetched(request, last, workspace)
        assert isinstance(failed, ItemError)
        assert (failed.reason, failed.transient) == ("network", True)
        server.status = None
        assert isinstance(fetched(request, last, workspace), History)


def test_a_commit_that_is_not_there(made: tuple[str, str], tmp_path: Path, workspace: Workspace) -> None:
    url = (tmp_path / "served" / "demo").as_uri()
    failed = fetched(f"git+{url}@{'1' * 40}", "1" * 40, workspace)
    assert isinstance(failed, ItemError)
    assert not workspace.history("s").exists()


def test_requests_lead_back_to_where_they_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKENS", "CURATE_GITHUB_URL"):
        monkeypatch.delenv(name, raising=False)
    assert remote_of(f"git+file:///a%20b@{'1' * 40}", "b").url == "file:///a%20b"
    assert remote_of(f"git+ssh://git@host/a/b@{'1' * 40}", "x").url == "ssh://git@host/a/b"
    assert remote_of(f"github:a/b@{'1' * 40}", "x").url.endswith("/a/b.git")
