"""The folder curate works in, and where things lie in it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from curate.errors import ItemError, UserError

DROPPED = "snapshot_missing"
"""Reason of items whose files have to be fetched again."""
HISTORY_DROPPED = "history_dropped"
"""The same for histories."""
PARTS = ("sources", "schema", "releases")


@dataclass(frozen=True)
class Workspace:
    """A folder with `sources/`, `schema/` and `releases/`; what curate makes lies under `.curate/`."""

    root: Path

    @classmethod
    def at(cls, folder: Path) -> Workspace:
        """Return the workspace in `folder`; raises UserError when the folder is not laid out as one."""
        root = folder.resolve()
        missing = [part for part in PARTS if not (root / part).is_dir()]
        if missing:
            raise UserError(
                f"{folder} is not a curate workspace (no {'/, '.join(missing)}/): run `curate init {folder}` first"
            )
        return cls(root)

    @property
    def private(self) -> Path:
        """`.curate/`: the store, the snapshots, the logs."""
        return self.root / ".curate"

    @property
    def store(self) -> Path:
        """The DuckDB file with every table."""
        return self.private / "store.duckdb"

    @property
    def axes(self) -> Path:
        """Folder with one TOML file a label axis."""
        return self.root / "schema" / "axes"

    @property
    def corpora(self) -> Path:
        """The file that names the corpora to check against."""
        return self.root / "sources" / "corpora.toml"

    @property
    def releases(self) -> Path:
        """Folder with recipes and what was shipped."""
        return self.root / "releases"

    def snapshot(self, snapshot_id: str) -> Path:
        """Folder that holds the files of one snapshot, as mined; it may have been dropped to make room."""
        return self.private / "snapshots" / snapshot_id

    def history(self, snapshot_id: str) -> Path:
        """Bare repository with one snapshot's commit and all before it; it may have been dropped, or never fetched."""
        return self.private / "histories" / snapshot_id

    def files_of(self, snapshot_id: str) -> Path:
        """The same for who reads the files; raises a transient ItemError when they were dropped."""
        folder = self.snapshot(snapshot_id)
        if not folder.is_dir():
            raise ItemError(DROPPED, snapshot_id, transient=True)
        return folder


def cache() -> Path:
    """Folder for downloads and environments that workspaces share: `CURATE_CACHE`, else the user's cache folder."""
    named = os.environ.get("CURATE_CACHE")
    if named:
        return Path(named).resolve()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "curate"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "curate"
