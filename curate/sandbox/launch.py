"""Starting a sandboxed command, following it to its end, and making sure that nothing of it is left."""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from curate.sandbox.command import Command, Completed, Ended, SandboxError
from curate.sandbox.identity import Identity, identity
from curate.sandbox.streams import Streams
from curate.sandbox.trees import lent
from curate.sandbox.watch import Watch

SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the system's own programs lie, whatever PATH the caller has; every sandbox shows these."""

_OUTER_ENV = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}
_GRACE = 10.0  # seconds for the kernel to end what has been killed
_BY_SIGNAL = range(128 + 1, 128 + 65)


@dataclass(frozen=True)
class Start:
    """How a sandbox starts one command."""

    argv: list[str]
    """The sandbox's own program. It writes JSON lines to the status pipe: `child-pid`, the host's number of the
    first process of the new process namespace, and at the end `exit-code`, unless the command never ran."""
    files: list[int]
    """Open files to pass on."""


Arrange = Callable[[Command, Identity, int, ExitStack], Start]
"""Prepares a start from the command, who runs it, the status pipe, and a stack that closes what it opens."""


def contain(name: str, command: Command, arrange: Arrange) -> Completed:
    """Run a command by way of `arrange`, within its limits. Raises SandboxError when the sandbox fails."""
    who = identity()
    _check(command, who)
    with ExitStack() as stack:
        used = sum([stack.enter_context(lent(path, who.owner)) for path in command.writable])
        status, told = os.pipe()
        stack.callback(os.close, status)
        try:
            start = arrange(command, who, told, stack)
            running = _Running(name, command, start, status, told, used)
        finally:
            os.close(told)
        try:
            running.follow()
        finally:
            running.finish()
    return running.completed()


def content(data: bytes, stack: ExitStack) -> int:
    """An open file in memory that holds `data`, to be read by a child; the stack closes it."""
    file = os.memfd_create("curate")
    stack.callback(os.close, file)
    with open(file, "wb", closefd=False) as writer:
        writer.write(data)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _check(command: Command, who: Identity) -> None:
    if not command.argv or not command.argv[0] or "=" in command.argv[0]:
        raise SandboxError(f"not a program that can be run: {command.argv[:1]}")
    if any("\0" in argument for argument in command.argv):
        raise SandboxError("an argument holds a NUL byte")
    for path in command.read_only if who.separate else ():
        mode = path.stat().st_mode if path.exists() else 0o777
        if not mode & 0o004 or (stat.S_ISDIR(mode) and not mode & 0o001):
            raise SandboxError(f"root's commands run as another user, who may not read {path}: chmod -R o+rX it")


@dataclass
class _Running:
    name: str
    command: Command
    start: Start
    status: int
    told: int
    used: int
    ended: Ended | None = None
    exit_code: int | None = None
    init: int | None = None
    watch: Watch | None = None
    seconds: float = 0.0
    said: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = time.monotonic()
        self.deadline = self.begun + self.command.limits.wall_seconds
        self.streams = Streams(self.command, lambda: self.end("output_limit"))
        try:
            self.process = subprocess.Popen(
                self.start.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[*self.start.files, self.told],
                env=_OUTER_ENV,
                cwd="/",
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise SandboxError(f"{self.name} cannot be started: {error}") from error

    def follow(self) -> None:
        """Move bytes and obey limits until the process and all who could write to its pipes are gone."""
        outer = os.pidfd_open(self.process.pid)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(outer, selectors.EVENT_READ, lambda: self._outer_gone(selector, outer))
                selector.register(self.status, selectors.EVENT_READ, lambda: self._told(selector))
                self.streams.register(selector, *self._pipes())
                while self._readers(selector):
                    self._obey_clock()
                    for key, _ in selector.select(max(0.0, self.deadline - time.monotonic())):
                        key.data()
        finally:
            os.close(outer)

    def end(self, reason: Ended) -> None:
        """End the command because of a limit; the first reason counts."""
        with self.lock:
            if self.ended is None:
                self.ended = reason
                self.deadline = time.monotonic() + _GRACE
        self._kill()

    def finish(self) -> None:
        """Kill whatever is left and wait until it is gone. Raises SandboxError when the kernel does not manage."""
        self._kill()
        while self.init is None and select.select([self.status], [], [], 1)[0] and self._listen():
            self._kill()  # cut short before it was known who the first process is
        if self.watch is not None:
            self.watch.stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        for pipe in self._pipes():
            with suppress(OSError):
                pipe.close()
        if self.init is not None:
            # The first process of a process namespace is reported dead only when all others in it are.
            gone = select.select([self.init], [], [], _GRACE)[0]
            os.close(self.init)
            self.seconds = time.monotonic() - self.begun
            if not gone:
                raise SandboxError(f"{self.name}: the kernel did not end the command's processes")

    def completed(self) -> Completed:
        """What came of it. Raises SandboxError when the command never ran."""
        stdout, stderr = self.streams.stdout.content(), self.streams.stderr.content()
        if self.ended is None and self.exit_code is None:
            said = stderr.decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(f"{self.name} failed: {said[-1] if said else 'it ended without a word'}")
        ended: Ended = self.ended or ("killed" if self.exit_code in _BY_SIGNAL else "exited")
        if self.ended is None and self.exit_code == 128 + signal.SIGXCPU:
            ended = "cpu_limit"
        return Completed(
            ended=ended,
            returncode=self.exit_code if ended in ("exited", "killed") else None,
            stdout=stdout,
            stderr=stderr,
            truncated=self.streams.stdout.dropped or self.streams.stderr.dropped,
            seconds=self.seconds,
            peak_memory_bytes=self.watch.peak_memory if self.watch is not None else 0,
            sandbox=self.name,
        )

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101  (Popen made them)
        return stdin, stdout, stderr

    def _readers(self, selector: selectors.BaseSelector) -> bool:
        return any(key.events & selectors.EVENT_READ for key in selector.get_map().values())

    def _obey_clock(self) -> None:
        if time.monotonic() < self.deadline:
            return
        if self.ended is not None:
            raise SandboxError(f"{self.name}: the kernel did not end the command's processes")
        self.end("timeout")

    def _outer_gone(self, selector: selectors.BaseSelector, outer: int) -> None:
        selector.unregister(outer)
        self._kill()  # what the command left running still holds its pipes

    def _told(self, selector: selectors.BaseSelector) -> None:
        if not self._listen():
            selector.unregister(self.status)

    def _listen(self) -> bool:
        """Take what the sandbox says; False when it will say no more."""
        data = os.read(self.status, 1 << 16)
        self.said += data
        *lines, self.said = self.said.split(b"\n")
        for line in lines:
            self._heard(json.loads(line))
        return bool(data)

    def _heard(self, news: dict[str, Any]) -> None:
        if "child-pid" in news and self.init is None:
            with suppress(ProcessLookupError):
                self.init = os.pidfd_open(news["child-pid"])
                self.watch = Watch(news["child-pid"], self.command, self.used, self.end)
            if self.ended is not None:
                self._kill()
        if "exit-code" in news:
            self.exit_code = news["exit-code"]

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            if self.init is not None:
                signal.pidfd_send_signal(self.init, signal.SIGKILL)
        if self.init is None or self.process.poll() is None:
            with suppress(ProcessLookupError):
                self.process.kill()
