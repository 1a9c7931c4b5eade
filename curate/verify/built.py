"""The environment and the built part of a project for later stages: from the cache, or made again by the lock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from curate.verify import environments, generated, lockfile
from curate.verify.build import Builder
from curate.verify.project import Identity
from curate.work import Context, Item


def environment(row: Item, snapshot_id: str, who: Identity, context: Context) -> tuple[Path, Path | None]:
    """Return the interpreter of a row's environment, and the wheel of its project when there is one; raises ItemError.

    What a lock names by its source was allowed to be built when the lock was made.
    """
    lock: str = row["lock"]
    builder = Builder(row["python"], context.extra.get("sandbox"))
    python = environments.ensure(row["environment_id"], row["python"], lock, lambda: builder.wheels(lock))
    found = [source for source in lockfile.sources(lock) if source.name == lockfile.PROJECT]
    if not found:
        return python, None
    snapshot = context.workspace.files_of(snapshot_id)
    source = replace(found[0], sha256=snapshot_id)
    return python, builder.project(source, lambda base: generated.fill(snapshot, base), who.version)
