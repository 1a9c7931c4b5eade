from __future__ import annotations

from pathlib import Path

import pytest

from curate.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir()
    return Workspace.at(tmp_path)
