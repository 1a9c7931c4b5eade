"""Keeping what was taken in within a budget: files of projects that no row needs can go, and come back when needed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from curate.store import Store, sql_text
from curate.workspace import Workspace


def used(workspace: Workspace) -> int:
    """Return how many bytes the files and histories of projects take."""
    return sum(_size(folder) for folder in _folders(workspace))


def make_room(workspace: Workspace, store: Store, budget: int) -> bool:
    """Drop files of projects, those needed least first, until at most `budget` bytes are left; say whether that is so.

    First go those that no row refers to any more, then those that every stage has dealt with, then those that are at
    least extracted; of each, the largest first. What lies nowhere else, a folder of this machine, is kept.
    """
    sizes = {folder: _size(folder) for folder in _folders(workspace)}
    total = sum(sizes.values())
    if total <= budget:
        return True
    need = {row["snapshot_id"]: row["need"] for row in store.rows(sql_text("sql/needed.sql"))}
    for folder in sorted(sizes, key=lambda folder: (need.get(folder.name, 0), -sizes[folder], folder)):
        if total <= budget or need.get(folder.name, 0) >= KEPT:
            break
        shutil.rmtree(folder, ignore_errors=True)
        total -= sizes[folder]
    return total <= budget


KEPT = 3
"""From this need on nothing is dropped."""


def _folders(workspace: Workspace) -> Iterator[Path]:
    for parent in (workspace.private / "snapshots", workspace.private / "histories"):
        if parent.is_dir():
            yield from (path for path in sorted(parent.iterdir()) if path.is_dir() and not path.name.startswith("."))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
