"""A workspace with the real axes, and small projects in it that went through the real extraction."""

from __future__ import annotations

import hashlib
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curate.pipeline import Options, Pipeline
from curate.records import Record, Snapshot, Work
from curate.stages import BY_NAME
from curate.store import Store, query, sql_text
from curate.workspace import Workspace

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "label"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def new_workspace(folder: Path) -> Workspace:
    for part in ("sources", "releases"):
        (folder / part).mkdir(parents=True)
    shutil.copytree(ROOT / "schema" / "axes", folder / "schema" / "axes")
    return Workspace.at(folder)


def add_project(workspace: Workspace, name: str, files: dict[str, str]) -> None:
    """Put a project where mining would have put it, and extract it."""
    snapshot_id = hashlib.sha256(name.encode()).hexdigest()
    for path, text in files.items():
        file = workspace.snapshot(snapshot_id) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    row = Snapshot(
        run_id=f"r-{name}", work_item=name, snapshot_id=snapshot_id, source="local", name=name, url=name,
        revision="1", sha256=snapshot_id, committed_at=NOON, license_expression="MIT", license_path="LICENSE",
        license_from="file", requires_python=None, files=len(files), bytes=1,
    )  # fmt: skip
    done = Work(run_id=row.run_id, stage="mine", version="1-x", item_id=name, status="done", done_at=NOON)
    tables: dict[str, list[Record]] = {"snapshots": [row], "work": [done]}
    Store(workspace.store).append(tables)
    Pipeline(workspace).run(BY_NAME["extract"], Options())


def items(workspace: Workspace, common_share: float = 0.05) -> list[dict[str, Any]]:
    """Return what the stage's query hands to the stage."""
    with Store(workspace.store).reading() as connection:
        sql = sql_text(BY_NAME["label"].items or "")
        rows: list[dict[str, Any]] = query(connection, sql, common_share=common_share).to_pylist()
    return rows


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path)


@pytest.fixture(scope="session")
def case_items(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The functions of the case files, each file a project of its own."""
    made = new_workspace(tmp_path_factory.mktemp("cases"))
    for file in sorted(CASES.glob("*.py")):
        add_project(made, file.stem, {file.name: file.read_text(encoding="utf-8")})
    return items(made)
