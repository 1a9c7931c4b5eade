"""The pytest plugin that reports what happens, one JSON object a line, as it happens.

Nothing is read from what pytest or a test prints, nor from an exit code: what has no line here has not happened.
"""

from __future__ import annotations

import faulthandler
import inspect
import json
import os
import time
from typing import IO, Any

import pytest

from .flags import Flags

DETAIL_LINES = 12
DETAIL_CHARACTERS = 2000


class Report:
    """Writes events to a file; every event is in the file before the test goes on."""

    def __init__(self, path: str, job: str) -> None:
        """Append to `path`, for one job."""
        self.job = job
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.owner = os.getpid()

    def write(self, event: str, **values: Any) -> None:
        """Write one event; forked children of a test, which run the same hooks, stay silent."""
        if os.getpid() == self.owner:
            os.write(self.fd, (json.dumps({"job": self.job, "event": event, **values}) + "\n").encode("ascii"))


class Plugin:
    """Chooses, orders and bounds the tests of one job, and reports on each item."""

    def __init__(self, job: dict[str, Any], report: Report, stacks: IO[str], flags: Flags | None) -> None:
        """Follow `job` (see `serve.py`)."""
        self.job = job
        self.report = report
        self.stacks = stacks
        self.flags = flags
        self.wanted = None if job["tests"] is None else frozenset(job["tests"])
        self.index = -1
        self.failed: set[str] = set()
        self.current: dict[str, Any] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectstart(self, collector: Any) -> None:
        """Say which file is about to be imported, for the case that the process does not live to tell."""
        if isinstance(collector, pytest.Module):
            self.report.write("collecting", path=self._relative(collector))

    def pytest_collectreport(self, report: Any) -> None:
        """Report a file that can't be collected."""
        if report.failed:
            path = str(report.nodeid).partition("::")[0]
            self.report.write("broken", path=path, detail=shorten(report.longreprtext))
        elif report.skipped:
            self.report.write("module_skipped", path=str(report.nodeid), detail=shorten(report.longreprtext))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> Any:
        """Make no items of tests that were not asked for: a file may hold thousands of parameter sets."""
        if self.wanted is None or inspect.isclass(obj) or self._named(collector, name) in self.wanted:
            return None
        return []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the items of the job's tests, in the job's order, from where an earlier process left off."""
        wanted = self.wanted
        if wanted is not None:
            items[:] = [item for item in items if self.test(item) in wanted]
        if self.job.get("order") == "reversed":
            items.reverse()
        counts: dict[str, int] = {}
        for item in items:
            counts[self.test(item)] = counts.get(self.test(item), 0) + 1
        self.report.write("collected", tests=counts, at_import=self.flags.take() if self.flags else [])
        done = int(self.job.get("from", 0))
        self.index = done - 1
        del items[:done]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Run one item between a `start` and an `end` event."""
        test = self.test(item)
        self.index += 1
        if self.settled(test):
            yield
            return
        if self.flags:
            self.flags.take()
        self.current = {"outcome": "", "detail": ""}
        self.report.write("start", index=self.index, test=test, item=item.nodeid)
        self.stacks.seek(0)
        self.stacks.truncate()
        faulthandler.dump_traceback_later(float(self.job["item_seconds"]), file=self.stacks)
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        faulthandler.cancel_dump_traceback_later()
        outcome = self.current["outcome"] or "error"
        if outcome in ("failed", "error"):
            self.failed.add(test)
        self.report.write(
            "end",
            index=self.index,
            test=test,
            item=item.nodeid,
            outcome=outcome,
            seconds=round(seconds, 6),
            detail=self.current["detail"],
            hits=self.flags.take() if self.flags else [],
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Combine setup, call and teardown of the item into one outcome."""
        outcome = outcome_of(report)
        if outcome and worse(outcome, self.current["outcome"]):
            self.current["outcome"] = outcome
            said = report.longrepr
            text = said[2] if isinstance(said, tuple) else report.longreprtext
            self.current["detail"] = "" if outcome == "passed" else shorten(text)

    def settled(self, test: str) -> bool:
        """Whether further items of a test would tell nothing new."""
        return bool(self.job["once"]) and test in self.failed

    def test(self, item: Any) -> str:
        """pytest's id without parameters, from the objects: ids may hold any character."""
        return self._named(item, getattr(item, "originalname", None) or item.name.partition("[")[0])

    def _named(self, node: Any, name: str) -> str:
        classes = [one.name for one in node.listchain() if isinstance(one, pytest.Class)]
        return "::".join([self._relative(node), *classes, name])

    def _relative(self, node: Any) -> str:
        return os.path.relpath(str(node.path), self.job["project"]).replace(os.sep, "/")


class Skipper:
    """Keeps pytest from running items that are settled; a plugin of its own, being a second answer to one hook."""

    def __init__(self, plugin: Plugin) -> None:
        """Ask `plugin`."""
        self.plugin = plugin

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Say that the item is done, or leave it to pytest."""
        return True if self.plugin.settled(self.plugin.test(item)) else None


_ORDER = ("", "skipped", "xfailed", "passed", "xpassed", "failed", "error")


def worse(outcome: str, than: str) -> bool:
    """Whether an outcome of a later phase takes the place of an earlier one."""
    return _ORDER.index(outcome) > _ORDER.index(than)


def outcome_of(report: Any) -> str:
    """Return the outcome of one phase of an item; empty for a setup or teardown without news."""
    expected = hasattr(report, "wasxfail")
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.skipped:
        return "xfailed" if expected else "skipped"
    if report.when != "call":
        return ""
    return "xpassed" if expected else "passed"


def shorten(text: str) -> str:
    """Return the last lines of a report: the exception stands there."""
    lines = [line for line in str(text).splitlines() if line.strip()]
    return "\n".join(lines[-DETAIL_LINES:])[-DETAIL_CHARACTERS:]
