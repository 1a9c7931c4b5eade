"""Small projects, made as files in a temporary workspace, and what extraction finds in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from curate.extract import Settings, work
from curate.records import Failure, Function, Link, Row, Test
from curate.work import Context
from curate.workspace import Workspace

CASES = Path(__file__).parents[1] / "cases" / "extract"


@dataclass(frozen=True)
class Found:
    """The rows of one project."""

    root: Path
    rows: list[Row]

    @property
    def functions(self) -> list[Function]:
        return [row for row in self.rows if isinstance(row, Function)]

    @property
    def tests(self) -> list[Test]:
        return [row for row in self.rows if isinstance(row, Test)]

    @property
    def failures(self) -> dict[str, str]:
        return {row.item_id: row.reason for row in self.rows if isinstance(row, Failure)}

    def function(self, qualname: str, kind: str | None = None) -> Function:
        (row,) = [row for row in self.functions if row.qualname == qualname and kind in {None, row.kind}]
        return row

    def links(self) -> dict[str, set[str]]:
        """Return node id -> `path:qualname` of what it is linked to."""
        functions = {row.function_id: f"{row.path}:{row.qualname}" for row in self.functions}
        found: dict[str, set[str]] = {test.node_id: set() for test in self.tests}
        names = {test.test_id: test.node_id for test in self.tests}
        for row in self.rows:
            if isinstance(row, Link):
                found[names[row.test_id]].add(functions[row.function_id])
        return found


Extract = Callable[..., Found]


@pytest.fixture
def extract(tmp_path: Path) -> Extract:
    """Write files (text or bytes) as a snapshot and extract it."""

    def run(files: dict[str, str | bytes], snapshot: str = "snap", **settings: object) -> Found:
        for part in ("sources", "schema", "releases"):
            (tmp_path / part).mkdir(exist_ok=True)
        workspace = Workspace.at(tmp_path)
        root = workspace.snapshot(snapshot)
        root.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        item = {"item_id": snapshot, "unit": snapshot, "name": "toy", "snapshot_id": snapshot}
        ((item_id, rows),) = work([item], Context(workspace, Settings(**settings)))
        assert item_id == snapshot
        assert not isinstance(rows, Exception)
        return Found(root, list(rows))

    return run
