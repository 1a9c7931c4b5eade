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

import importlib
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from curate.errors import ItemError, UserError
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


@dataclass(frozen=True)
class Outcome:
    """What became of one item."""

    item_id: str
    rows: tuple[Row, ...] = ()
    error: ItemError | None = None
    bug: str | None = None


@dataclass(frozen=True)
class Call:
    """A stage's function with its context: a picklable callable."""

    module: str
    context: Context

    def __call__(self, unit: list[Item]) -> list[Outcome]:
        """Work on a unit; an error costs the item it happened to, or those not yet reported."""
        module = importlib.import_module(self.module)
        outcomes: list[Outcome] = []
        try:
            for item_id, result in module.work(unit, self.context):
                if isinstance(result, ItemError):
                    outcomes.append(Outcome(item_id, error=result))
                else:
                    outcomes.append(Outcome(item_id, rows=tuple(result)))
        except Exception as error:
            known = {outcome.item_id for outcome in outcomes}
            rest = [item["item_id"] for item in unit if item["item_id"] not in known]
            outcomes += [_failed(item_id, error) for item_id in rest]
        return outcomes


@dataclass(frozen=True)
class WholeCall:
    """The same for a stage that reads whole tables."""

    module: str
    context: Context
    tables: dict[str, Any]

    def __call__(self, unit: list[Item]) -> list[Outcome]:
        """Work on the tables; the unit is the one item that stands for them."""
        item_id = unit[0]["item_id"]
        try:
            return [Outcome(item_id, rows=tuple(importlib.import_module(self.module).work(self.tables, self.context)))]
        except Exception as error:
            return [_failed(item_id, error)]


def _failed(item_id: str, error: Exception) -> Outcome:
    if isinstance(error, ItemError):
        return Outcome(item_id, error=error)
    if isinstance(error, UserError):
        raise error
    # A fault of curate: the run goes on, the item is taken up again once it is mended.
    fault = ItemError("internal_error", f"{type(error).__name__}: {error}", transient=True)
    return Outcome(item_id, error=fault, bug=traceback.format_exc())


def died(item: Item, error: BaseException) -> Outcome:
    """Return the outcome of an item whose worker process ended while it worked on it."""
    if isinstance(error, UserError):
        raise error
    died = ItemError("worker_died", f"the worker process ended while working on it: {error}", transient=False)
    return Outcome(item["item_id"], error=died)
