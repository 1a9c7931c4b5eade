"""What the pipeline hands to a stage, and what it wants back.

A stage is a plain module with

- `Settings`: a frozen pydantic class whose defaults are the stage's defaults;
- `work(rows, context)`: a pure function from rows to rows, run in a worker process that holds no database. `rows` are
  what the stage's items query selected, each a dict with `item_id`; it yields `(item_id, records)` for each of them, or
  `(item_id, ItemError)`. An item may also yield `Failure` records for parts of it that could not be dealt with;
- optionally `prepare(settings, workspace)`: called once before the run, in the main process, for what all workers need
  and what the version of the results depends on beside the settings (label axes, corpora).

A stage that reads whole tables (`whole=True` in the pipeline) gets them as Arrow tables instead of rows:
`work(tables, context)` yields records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from curate.errors import ItemError
from curate.records import Row
from curate.workspace import Workspace

Item: TypeAlias = dict[str, Any]
Done: TypeAlias = Iterator[tuple[str, Iterable[Row] | ItemError]]


@dataclass(frozen=True)
class Prepared:
    """What a stage prepared for its workers."""

    fingerprint: str = ""
    """Enters the stage's version: other axes or corpora, other results."""
    value: Any = None
    """Anything that pickles."""
    rows: tuple[Row, ...] = ()
    """Records to store with the run, such as which corpora could be read."""


@dataclass(frozen=True)
class Context:
    """What a stage's function may look at beside its rows."""

    workspace: Workspace
    settings: Any
    """The stage's `Settings`."""
    prepared: Any = None
    """`Prepared.value`."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Facts about this run that do not shape results, such as the name of the sandbox to use."""
