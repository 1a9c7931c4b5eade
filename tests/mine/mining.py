"""Mining in one line, for tests."""

from __future__ import annotations

from pathlib import Path

from curate import mine
from curate.errors import ItemError
from curate.records import Failure, Snapshot
from curate.work import Context


def mined(request: str, context: Context) -> tuple[Snapshot, list[Failure], Path]:
    """Mine one request; raise the ItemError when there is one."""
    (checked,) = mine.requests([request], context.workspace)
    ((_, row),) = mine.items([checked], context.workspace, context.settings)
    if isinstance(row, ItemError):
        raise row
    ((_, rows),) = mine.work([row], context)
    if isinstance(rows, ItemError):
        raise rows
    (snapshot,) = [row for row in rows if isinstance(row, Snapshot)]
    failures = [row for row in rows if isinstance(row, Failure)]
    return snapshot, failures, context.workspace.snapshot(snapshot.snapshot_id)


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
