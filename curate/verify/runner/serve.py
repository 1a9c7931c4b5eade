"""Run jobs one after the other, each in a process of its own that is forked before the project is imported.

A job is a dict: `id`; `tests` (ids without parameters, or null for all); `files` (what pytest is given); `replace`
(file of the project -> file with other content, put back afterwards); `links` (raise flags); `order`; `once`;
`item_seconds`, `collect_seconds`, `seconds` (limits for one item, one file's collection, the job); `restarts` (how
often a job goes on after a test that hung or crashed); `arguments` (further ones for pytest); `variants` (of functions,
to be run one after the other once the tests are collected: see `screen.py`).
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from . import preload
from .flags import Flags
from .plugin import Plugin, Report, Skipper, shorten
from .screen import Screen

ARGUMENTS = (
    *("-o", "addopts=", "-o", "required_plugins=", "-o", "log_cli=false"),
    *("-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:randomly", "-p", "no:random_order"),
    *("-p", "no:rerunfailures", "-p", "no:flaky", "-p", "no:timeout", "-p", "no:sugar"),
    *("--continue-on-collection-errors", "-q", "--no-header", "--no-summary", "--tb=short"),
)
"""How a project wants its suite run (coverage, workers, random order, reruns) would change what is measured."""
PR_SET_CHILD_SUBREAPER = 36
TICK = 0.1
STACK_LINES = 8


def main(spec_file: str, start: str = "0") -> None:
    """Run the jobs of a specification, from number `start` on."""
    spec = json.loads(Path(spec_file).read_text())
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    preload.put_on_path(spec["roots"])
    for number in range(int(start), len(spec["jobs"])):
        modules = Job(spec, number).run()
        if number == 0 and spec["warm"] and not preload.load(modules, spec["project"]):
            # A package took the project along, or started threads: forked children would not be fresh. Start over.
            os.execv(sys.executable, [sys.executable, str(Path(__file__).parent), spec_file, "1"])  # noqa: S606


class Job:
    """One job, over as many processes as it takes."""

    def __init__(self, spec: dict[str, Any], number: int) -> None:
        """Take the job and the places from the specification."""
        job = spec["jobs"][number]
        self.number = number
        self.job = {**job, "project": spec["project"], "id": job["id"]}
        self.spec = spec
        self.report = Report(spec["results"], job["id"])
        self.events = Follower(spec["results"])
        self.log = Path(spec["log"])
        self.stacks = Path(spec["stacks"])
        self.ignored: list[str] = []
        self.total = 0

    def run(self) -> list[str]:
        """Run it to its end; returns the third-party modules that it has loaded."""
        kept = {target: (Path(target).read_bytes(), Path(target).stat().st_mtime_ns) for target in self.job["replace"]}
        for target, source in self.job["replace"].items():
            # Bytecode is told from stale one by size and second: each content needs a second of its own.
            put(target, Path(source).read_bytes(), kept[target][1] + (self.number + 1) * 10**9)
        try:
            return self._attempts()
        finally:
            for target, (content, when) in kept.items():
                put(target, content, when)
            self.events.close()

    def _attempts(self) -> list[str]:
        self.end = time.monotonic() + self.job["seconds"]
        for _ in range(self.job["restarts"] + 1):
            self.events.skip()
            self.state: dict[str, Any] = {"event": "begin"}
            self.since = time.monotonic()
            self.log.write_bytes(b"")
            self.stacks.write_bytes(b"")
            pid = os.fork()
            if pid == 0:
                self._child()
            why = self._watch(pid)
            end_strays()
            if self.state["event"] == "finish":
                return list(self.state["modules"])
            if not self._blame(*why):
                return []
        self.report.write("stopped", reason="too_many_restarts", detail="too many tests hang or crash")
        return []

    def _watch(self, pid: int) -> tuple[str, str]:
        """Wait for the child; returns (crashed, how it ended) or (timeout, what took too long)."""
        late = ""
        while True:
            signal.sigtimedwait({signal.SIGCHLD}, TICK)
            ended, status = os.waitpid(pid, os.WNOHANG)
            for event in self.events.new():
                self._follow(event)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                how = f"the process was ended by signal {-code}" if code < 0 else f"the process ended with code {code}"
                return ("timeout", late) if late else ("crashed", how)
            late = late or self._late()
            if late:
                os.killpg(pid, signal.SIGKILL) if os.getpgid(pid) == pid else os.kill(pid, signal.SIGKILL)

    def _follow(self, event: dict[str, Any]) -> None:
        self.state = event
        self.since = time.monotonic()
        if event["event"] == "collected":
            self.total = sum(event["tests"].values())

    def _late(self) -> str:
        now = time.monotonic()
        item = self.state["event"] == "start"
        limit = self.job["item_seconds"] if item else self.job["collect_seconds"]
        if now > self.end:
            return f"the run took longer than {self.job['seconds']:g} s"
        # The grace lets the dump of the stacks come first.
        return f"it took longer than {limit:g} s" if now > self.since + limit + 0.3 else ""

    def _blame(self, outcome: str, why: str) -> bool:
        """Report what the process died of; returns whether the job can go on without it."""
        # The innermost call stands first in a dump.
        stack = self.stacks.read_text("utf-8", "replace").splitlines()[:STACK_LINES]
        detail = shorten("\n".join([*stack, why]))
        if time.monotonic() > self.end:
            self.report.write("stopped", reason="timeout", detail=why)
            return False
        if self.state["event"] == "start":
            values = {key: self.state[key] for key in ("index", "test", "item")}
            seconds = round(time.monotonic() - self.since, 3)
            self.report.write("end", outcome=outcome, seconds=seconds, detail=detail, hits=[], **values)
            self.job["from"] = self.state["index"] + 1
            return True
        if self.state["event"] == "collecting" and self.state["path"] not in self.ignored:
            self.ignored.append(self.state["path"])
            self.report.write("broken", path=self.state["path"], detail=detail)
            return True
        if self.state["event"] == "end" and self.state["index"] + 1 < self.total:
            self.job["from"] = self.state["index"] + 1
            return True
        tail = self.log.read_text("utf-8", "replace")[-4000:]
        self.report.write("stopped", reason=outcome, detail=shorten(tail + "\n" + why))
        return False

    def _child(self) -> None:
        """Become the process that runs the tests. Never returns."""
        code = 1
        try:
            os.setsid()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            self.report.owner = os.getpid()
            log = os.open(self.log, os.O_WRONLY | os.O_APPEND)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.chdir(self.spec["project"])
            os.environ["PYTHONPATH"] = os.pathsep.join(self.spec["roots"])
            status = self._pytest()
            tail = "" if status in (0, 1, 5) else self.log.read_text("utf-8", "replace")[-4000:]
            self.report.write("finish", status=status, detail=shorten(tail), modules=preload.third_party())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            # Straight out: a thread or exit handler of the project must not hold or change what has been reported.
            os._exit(code)

    def _pytest(self) -> int:
        flags = Flags([(path, line) for path, line in self.spec["functions"]]) if self.job["links"] else None
        if flags:
            flags.install()
        with self.stacks.open("w") as stacks:
            faulthandler.enable(stacks)
            plugin = Plugin(self.job, self.report, stacks, flags)
            ignored = [f"--ignore={path}" for path in self.ignored]
            arguments = ["--rootdir", self.spec["project"], *ARGUMENTS, *ignored, *self.job["arguments"]]
            plugins: list[object] = [plugin, Skipper(plugin)]
            if self.job["variants"]:
                plugins.append(Screen(self.job, plugin))
            return int(pytest.main([*arguments, *self.job["files"]], plugins=plugins))


def put(path: str, content: bytes, when: int) -> None:
    """Write a file and set its time."""
    Path(path).write_bytes(content)
    os.utime(path, ns=(when, when))


class Follower:
    """Reads events as they are appended to a file, whole lines only."""

    def __init__(self, path: str) -> None:
        """Begin at the end of the file."""
        self.file = open(path, "rb")  # noqa: SIM115, PTH123
        self.skip()

    def skip(self) -> None:
        """Pass over what is there."""
        self.file.seek(0, os.SEEK_END)
        self.rest = b""

    def new(self) -> list[dict[str, Any]]:
        """Return the events written since."""
        *lines, self.rest = (self.rest + self.file.read()).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def end_strays() -> None:
    """End every process that the job has left behind; all of them are ours by now, being nobody else's."""
    me = str(os.getpid())
    for _ in range(50):
        children = [one.name for one in Path("/proc").iterdir() if one.name.isdigit() and _parent(one.name) == me]
        for pid in children:
            try:
                os.kill(int(pid), signal.SIGKILL)
                os.waitpid(int(pid), 0)
            except (ProcessLookupError, ChildProcessError):
                continue
        if not children:
            return


def _parent(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
    except OSError:
        return ""
