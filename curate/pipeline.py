"""The one loop that runs any stage of the pipeline (its table of contents is `stages.py`).

    pending rows (anti-join against `work`) -> the stage's function, through an executor -> append in batches

A batch and the entries that say it is done are stored in one transaction, so a run that is killed at any moment goes on
where it was: nothing reported is lost, nothing is done twice.
"""

from __future__ import annotations

import fcntl
import fnmatch
import hashlib
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from curate.errors import UserError
from curate.executors import Executor, open_executor
from curate.recording import Recorder, Summary
from curate.stages import STAGES, Stage
from curate.store import Store, View, query, sql_text
from curate.work import Call, Context, Item, Outcome, Prepared, WholeCall, died
from curate.workspace import Workspace


@dataclass
class Options:
    """How a stage is run; none of it changes what comes out."""

    limit: int | None = None
    only: str | None = None
    redo: bool = False
    workers: int = 1
    """Worker processes."""
    waiting: int | None = None
    """The same for stages that mostly wait for servers; None: as many as others have."""
    progress: Callable[[str, int], Any] | None = None
    """Given a stage's name and the number of items, returns an object with `update(n)` and `close()`."""
    notice: Callable[[str], None] | None = None
    """Given a line about why nothing happens for a while."""

    def workers_for(self, stage: Stage) -> int:
        """Return how many processes work on a stage."""
        if stage.serial:
            return 1
        return self.waiting or self.workers if stage.waits else self.workers


class Pipeline:
    """Runs stages over one workspace, and remembers the versions of their results."""

    def __init__(
        self, workspace: Workspace, settings: Mapping[str, Any] | None = None, requests: tuple[str, ...] | None = None
    ) -> None:
        self.workspace = workspace
        self.store = Store(workspace.store)
        self.settings = dict(settings or {})
        self.versions: dict[str, str] = {}
        self.requests = requests

    @property
    def view(self) -> View:
        """The rows that count: those of the versions run so far, for the projects asked for."""
        whole = tuple(stage.name for stage in STAGES if stage.whole is not None)
        return View(versions=dict(self.versions), requests=self.requests, whole=whole)

    def run(self, stage: Stage, options: Options, items: Sequence[Item] | None = None) -> Summary:
        """Run one stage over all that is pending.

        `items` is for a stage whose items are handed in; one with an `error` (an ItemError) has failed already.
        """
        began = time.monotonic()
        module = stage.load()
        settings = module.Settings(**self.settings.get(stage.name, {}))
        prepared = module.prepare(settings, self.workspace) if hasattr(module, "prepare") else Prepared()
        version = stage_version(stage, settings, [prepared.fingerprint, *map(self._version_of, stage.follows)])
        self.versions[stage.name] = version
        summary = Summary(stage.name, version)
        with _only_one(self.workspace):
            # Working copies that a killed run has left; under the lock nobody else has any.
            shutil.rmtree(self.workspace.private / "work", ignore_errors=True)
            pending = self._pending(stage, summary, settings, options, items)
            if pending:
                run = Recorder(self.store, stage.name, version, settings.model_dump_json(), summary)
                extra = {"notice": _before_waiting(run, options)} if stage.serial else {}
                context = Context(self.workspace, settings, prepared.value, extra)
                run.start(prepared.rows)
                self._work(stage, context, pending, options, run)
        summary.seconds = time.monotonic() - began
        return summary

    def _version_of(self, name: str) -> str:
        """Return the version of a stage's results that count here: those of this run, else the newest."""
        if name not in self.versions:
            newest = "SELECT arg_max(version, (done_at, run_id)) AS version FROM work WHERE stage = $name"
            return self.store.rows(newest, name=name)[0]["version"] or ""
        return self.versions[name]

    def _pending(
        self, stage: Stage, summary: Summary, settings: Any, options: Options, items: Sequence[Item] | None
    ) -> list[Item]:
        parameters = settings.model_dump()
        with self.store.reading(self.view) as connection:
            if items is None:
                items = query(connection, sql_text(stage.items or ""), **parameters).to_pylist()
            found = query(connection, sql_text("sql/done.sql"), stage=stage.name, version=summary.version)
        done = {row["item_id"]: row["status"] for row in found.to_pylist()}
        chosen = [item for item in items if _matches(options.only, item)]
        earlier = [done[item["item_id"]] for item in chosen if item["item_id"] in done]
        pending = chosen if options.redo else [item for item in chosen if item["item_id"] not in done]
        pending = pending[: options.limit]
        summary.pending = len(pending)
        if not options.redo:
            summary.earlier, summary.earlier_failed = len(earlier), earlier.count("failed")
        return pending

    def _work(self, stage: Stage, context: Context, pending: list[Item], options: Options, run: Recorder) -> None:
        broken = [item for item in pending if "error" in item]
        run.add(broken, [Outcome(item["item_id"], error=item["error"]) for item in broken])
        pending = [item for item in pending if "error" not in item]
        executor: Executor = open_executor(min(options.workers_for(stage), len(pending)))
        units: Iterable[list[Item]] = _units(pending, stage.unit_size)
        if stage.whole is not None:
            units = [pending]
            executor = open_executor(1)
            with self.store.reading(self.view) as connection:
                tables = {
                    name: query(connection, sql_text(file), **context.settings.model_dump())
                    for name, file in stage.whole.items()
                }
            call: Callable[[list[Item]], list[Outcome]] = WholeCall(stage.module, context, tables)
        else:
            call = Call(stage.module, context)
        bar = options.progress(stage.name, len(pending)) if options.progress else None
        try:
            for unit, outcomes in executor.map(call, units):
                if isinstance(outcomes, BaseException):
                    run.add(unit, [died(item, outcomes) for item in unit])
                else:
                    run.add(unit, outcomes)
                if bar:
                    bar.update(len(unit))
        except KeyboardInterrupt:
            run.end("interrupted")
            raise
        except BaseException:
            run.end("failed")
            raise
        finally:
            if bar:
                bar.close()
        run.end("done")


def _before_waiting(run: Recorder, options: Options) -> Callable[[str], None]:
    """Return what is called when nothing will happen for a while: what was found so far is stored first."""

    def notice(text: str) -> None:
        run.flush()
        if options.notice:
            options.notice(text)

    return notice


def stage_version(stage: Stage, settings: Any, inputs: Sequence[str] = ()) -> str:
    """Return the stage's number and a hash of what shapes its results.

    That is the settings, and `inputs`: the fingerprint of what was prepared, and the versions of stages it follows.
    """
    shaping = json.dumps([settings.model_dump(mode="json"), *inputs], sort_keys=True)
    return f"{stage.number}-{hashlib.sha256(shaping.encode()).hexdigest()[:8]}"


def _matches(only: str | None, item: Item) -> bool:
    return only is None or fnmatch.fnmatchcase(str(item.get("name", item["item_id"])), f"*{only}*")


def _units(pending: list[Item], size: int) -> Iterator[list[Item]]:
    for _, group in itertools.groupby(pending, key=lambda item: item.get("unit", item["item_id"])):
        members = list(group)
        for start in range(0, len(members), size):
            yield members[start : start + size]


@contextmanager
def _only_one(workspace: Workspace) -> Iterator[None]:
    """Keep two runs out of one workspace: both would do the same work. The lock goes with the process."""
    workspace.private.mkdir(parents=True, exist_ok=True)
    with (workspace.private / "lock").open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise UserError(
                f"another curate (process {handle.read() or 'unknown'}) is at work in {workspace.root}: "
                "wait for it to end, or stop it"
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
