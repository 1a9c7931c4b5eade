"""Stores what a run brings, in batches, together with the entries that say what is done."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from curate import __version__
from curate.errors import ItemError
from curate.records import Failure, Record, Row, Run, Work
from curate.store import Store
from curate.work import Item, Outcome

FLUSH_SECONDS = 2.0
"""What a kill -9 may cost: results are stored at least this often."""


@dataclass
class Summary:
    """What a run of a stage did."""

    stage: str
    version: str = ""
    pending: int = 0
    earlier: int = 0
    """Items dealt with by earlier runs, of those asked for."""
    earlier_failed: int = 0
    """How many of these had failed for good."""
    done: int = 0
    failed: int = 0
    written: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """Reason -> the first failure of it, in words."""
    seconds: float = 0.0
    bugs: list[str] = field(default_factory=list)
    """Tracebacks of faults in curate itself."""

    def add(self, later: Summary) -> None:
        """Take in what a further run of the stage did, over other items."""
        self.version = later.version
        for name in ("pending", "earlier", "earlier_failed", "done", "failed", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.written.update(later.written)
        self.reasons.update(later.reasons)
        self.examples = {**later.examples, **self.examples}
        self.bugs += later.bugs


def started_at(moment: datetime) -> str:
    """Return how the ids of runs begin that start at a moment; they sort by it."""
    return f"{moment:%Y%m%dT%H%M%S.%f}"


class Recorder:
    """Stores what a run brings, in batches."""

    def __init__(self, store: Store, stage: str, version: str, settings: str, summary: Summary) -> None:
        self.store, self.stage, self.version, self.settings, self.summary = store, stage, version, settings, summary
        self.started = datetime.now(UTC)
        self.run_id = f"{started_at(self.started)}-{stage}-{os.urandom(2).hex()}"
        self.rows: dict[str, list[Record]] = {}
        self.flushed = time.monotonic()

    def start(self, rows: Iterable[Row]) -> None:
        """Record that the run has begun, with what was prepared for it."""
        self.rows = {"runs": [self._run("started", None, self.summary.pending)]}
        self._keep("", rows)
        if self.rows.keys() - {"runs"}:
            self._done("", "done")
        self.flush()

    def add(self, unit: Iterable[Item], outcomes: Iterable[Outcome]) -> None:
        """Take in what became of a unit of items; stored now or with the next batch."""
        items = {item["item_id"]: item for item in unit}
        for outcome in outcomes:
            if outcome.bug:
                self.summary.bugs.append(outcome.bug)
            if outcome.error is not None:
                self._fail(items[outcome.item_id], outcome.error)
            else:
                self.summary.done += 1
                self._keep(outcome.item_id, outcome.rows)
                self._done(outcome.item_id, "done")
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def end(self, status: Any) -> None:
        """Store what is left and record how the run ended."""
        self.rows.setdefault("runs", []).append(
            self._run(status, datetime.now(UTC), self.summary.done + self.summary.failed)
        )
        self.flush()

    def _fail(self, item: Item, error: ItemError) -> None:
        self.summary.failed += 1
        failure = Failure(
            stage=self.stage,
            item_id=item["item_id"],
            subject=str(item.get("name", item["item_id"])),
            reason=error.reason,
            detail=error.detail,
        )
        self._keep(item["item_id"], [failure])
        self._done(item["item_id"], "retry" if error.transient else "failed")

    def _keep(self, item_id: str, rows: Iterable[Row]) -> None:
        for row in rows:
            stored = row.model_copy(update={"run_id": self.run_id, "work_item": item_id})
            self.rows.setdefault(row.table, []).append(stored)
            self.summary.written[row.table] += 1
            if isinstance(row, Failure):
                self.summary.reasons[row.reason] += 1
                self.summary.examples.setdefault(row.reason, f"{row.subject}: {row.detail}")

    def _done(self, item_id: str, status: Any) -> None:
        entry = Work(
            run_id=self.run_id,
            stage=self.stage,
            version=self.version,
            item_id=item_id,
            status=status,
            done_at=datetime.now(UTC),
        )
        self.rows.setdefault("work", []).append(entry)

    def _run(self, status: Any, ended: datetime | None, items: int) -> Run:
        return Run(
            run_id=self.run_id,
            stage=self.stage,
            version=self.version,
            settings=self.settings,
            started_at=self.started,
            ended_at=ended,
            items=items,
            status=status,
            curate=__version__,
        )

    def flush(self) -> None:
        """Store what has come in since the last time."""
        if not self.rows:
            return
        self.store.append(self.rows)
        self.rows = {}
        self.flushed = time.monotonic()
