"""The pipeline, as a table of contents: every stage, what it reads and writes, and the module that does it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A step of the pipeline: what it reads, what it writes, and the module that does it (see `work.py`)."""

    name: str
    module: str
    number: int
    """Raised by hand when the code gives other results: earlier ones are then done again."""
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    follows: tuple[str, ...]
    """Stages whose version is part of this one's: when they are done anew, so is this one."""
    items: str | None
    """File with the query for its items, below this package; None: the items are handed in."""
    whole: Mapping[str, str] | None = None
    """For a stage that reads whole tables: name -> file with the query."""
    unit_size: int = 1
    """At most so many items that share a `unit` go to a worker in one call."""
    waits: bool = False
    """Whether most of its time goes by waiting for servers, so that more of it can go on at once."""
    serial: bool = False
    """Whether its items are worked on here, one after the other, because they share a budget at somebody else's."""

    def load(self) -> Any:
        """Import the module; late, because some pull in heavy packages."""
        return importlib.import_module(self.module)


STAGES: tuple[Stage, ...] = (
    Stage(
        "search",
        "curate.mine.github.search",
        number=1,
        reads=(),
        writes=("searches", "hits"),
        follows=(),
        items=None,
        serial=True,
    ),
    Stage(
        "repositories",
        "curate.mine.github.repositories",
        number=1,
        reads=("hits",),
        writes=("repositories",),
        follows=(),
        items=None,
        serial=True,
    ),
    Stage(
        "mine",
        "curate.mine",
        number=2,
        reads=(),
        writes=("snapshots", "licenses", "profiles"),
        follows=(),
        items=None,
        waits=True,
    ),
    Stage(
        "history",
        "curate.mine.history",
        number=1,
        reads=("snapshots",),
        writes=("histories",),
        follows=(),
        items="mine/history.sql",
        waits=True,
    ),
    Stage(
        "choose",
        "curate.mine.github.choose",
        number=1,
        reads=("hits", "repositories", "profiles"),
        writes=("choices",),
        follows=(),
        items=None,
        serial=True,
    ),
    Stage(
        "extract",
        "curate.extract",
        number=2,
        reads=("snapshots",),
        writes=("functions", "tests", "links"),
        follows=(),
        items="extract/items.sql",
    ),
    Stage(
        "date",
        "curate.extract.dates",
        number=1,
        reads=("histories", "functions"),
        writes=("appearances",),
        follows=("extract",),
        items="extract/dates.sql",
    ),
    Stage(
        "install",
        "curate.verify.install",
        number=1,
        reads=("snapshots",),
        writes=("environments",),
        follows=(),
        items="verify/install.sql",
    ),
    Stage(
        "trace",
        "curate.verify.trace",
        number=1,
        reads=("environments", "functions", "tests"),
        writes=("test_runs", "tests", "links"),
        follows=("extract", "install"),
        items="verify/trace.sql",
    ),
    Stage(
        "prove",
        "curate.verify.prove",
        number=2,
        reads=("functions", "links", "test_runs", "environments"),
        writes=("verdicts", "links", "mutants"),
        follows=("trace",),
        items="verify/prove.sql",
        unit_size=16,
    ),
    Stage(
        "label",
        "curate.label",
        number=1,
        reads=("functions",),
        writes=("labels",),
        follows=("extract",),
        items="label/items.sql",
        unit_size=500,
    ),
    Stage(
        "dedupe",
        "curate.dedupe",
        number=1,
        reads=("functions", "verdicts"),
        writes=("clusters",),
        follows=("extract",),
        items="dedupe/items.sql",
        whole={"functions": "dedupe/functions.sql"},
    ),
    Stage(
        "contamination",
        "curate.contamination",
        number=1,
        reads=("functions",),
        writes=("matches", "corpora"),
        follows=("extract",),
        items="contamination/items.sql",
        unit_size=500,
    ),
    Stage(
        "release",
        "curate.release.select",
        number=1,
        reads=("functions", "verdicts", "labels", "clusters", "matches"),
        writes=("selections",),
        follows=("extract",),
        items="release/items.sql",
        whole={"candidates": "release/candidates.sql", "labels": "release/labels.sql"},
    ),
)

BY_NAME: Mapping[str, Stage] = {stage.name: stage for stage in STAGES}
