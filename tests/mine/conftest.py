from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curate.mine import Settings
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.index_server import Index


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    for name in ("CURATE_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def settings() -> Settings:
    return Settings(retries=1, pause_seconds=0, silence_seconds=5)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    for part in ("sources", "schema", "releases"):
        (root / part).mkdir(parents=True)
    return Workspace.at(root)


@pytest.fixture
def context(workspace: Workspace, settings: Settings) -> Context:
    return Context(workspace, settings)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with Index() as running:
        monkeypatch.setenv("CURATE_INDEX_URL", running.url)
        yield running
