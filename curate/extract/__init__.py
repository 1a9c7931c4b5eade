"""Extraction: from the files of a snapshot to functions, tests and static links. Nothing of the project is run."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from curate.errors import ItemError
from curate.records import Row, Struct
from curate.work import Context, Done, Item

if TYPE_CHECKING:
    from pathlib import Path


class Settings(Struct):
    """What shapes the rows."""

    max_file_bytes: int = 2_000_000
    """Files larger than this are not read: generated code and notebooks full of pictures."""
    max_context: int = 6_000
    """Largest size of a class skeleton in `context`, in characters."""
    black: Literal["candidates", "all", "none"] = "candidates"
    """Whose `normalised` is formatted by black: functions that can become problems (with a docstring and a body, not
    nested, outside the tests), all, or none. It takes about as long as the rest of extraction together."""


def work(rows: Iterable[Item], context: Context) -> Done:
    """Yield the functions, tests, links and unreadable files of each snapshot."""
    for row in rows:
        snapshot_id = row["snapshot_id"]
        try:
            root = context.workspace.files_of(snapshot_id)
        except ItemError as error:
            yield row["item_id"], error
        else:
            yield row["item_id"], extract(root, snapshot_id, row["name"], context.settings)


def extract(root: Path, snapshot_id: str, name: str, settings: Settings) -> list[Row]:
    """Return every row of one project: failures, functions and tests by place, links."""
    from curate.extract.normal import laid_out
    from curate.extract.project import Project

    with without_collector():
        project = Project(root, snapshot_id, name, settings)
        functions = laid_out(project.functions, settings.black)
        return [*project.failures, *functions, *project.tests(), *project.links()]


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep Python's cycle collector from going through all that has been kept, again with every tree that is parsed.

    Trees hold no cycles and the rest is needed until the end; this halves the time of a large project.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
