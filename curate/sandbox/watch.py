"""Watching a running sandbox from outside: what all its processes use together, which no rlimit bounds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from curate.sandbox.command import Command, Ended
from curate.sandbox.trees import ENTRY_BYTES, measure, size

_EVERY = 0.02  # seconds between looks
_SHARE = 10  # a look may take a tenth of the time at most
_SPARE_TASKS = 16  # above `processes`, which the kernel holds where it can: its reaper, a helper
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class Watch:
    """One thread a run: looks at the sandbox's own /proc, and says when a limit of the whole tree is passed."""

    def __init__(self, init: int, command: Command, used: int, end: Callable[[Ended], None]) -> None:
        """Watch the process namespace whose first process is `init`; `used` is what lay in the folders before."""
        self.peak_memory = 0
        self._root = Path(f"/proc/{init}/root")
        self._command = command
        self._used = used
        self._end = end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {init}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        pause = {self._processes: 0.0, self._disk: 0.1}
        due = {look: time.monotonic() + wait for look, wait in pause.items()}
        with ExitStack() as stack:
            proc: int | None = None
            while not self._over.wait(_EVERY):
                proc = self._open_proc(stack) if proc is None else proc
                if proc is None:
                    continue
                for look, when in list(due.items()):
                    begun = time.monotonic()
                    if begun < when:
                        continue
                    passed = look(proc)
                    if passed is not None:
                        self._end(passed)
                    now = time.monotonic()
                    due[look] = now + max(pause[look], _SHARE * (now - begun))

    def _open_proc(self, stack: ExitStack) -> int | None:
        """The sandbox's own /proc, once it is there: until its root is in place this is still the host's."""
        with suppress(OSError):
            proc = os.open(self._root / "proc", os.O_RDONLY | os.O_DIRECTORY)
            if os.fstat(proc).st_dev != Path("/proc").stat().st_dev:
                stack.callback(os.close, proc)
                return proc
            os.close(proc)
        return None

    def _processes(self, proc: int) -> Ended | None:
        limits = self._command.limits
        memory = tasks = 0
        ticks = 0
        for pid in _pids(proc):
            with suppress(OSError):
                fields = _read(proc, f"{pid}/stat").rpartition(b")")[2].split()
                ticks += sum(map(int, fields[11:15]))  # its own, and that of children it has waited for
                tasks += int(fields[17])
                memory += int(fields[21]) * _PAGE if pid != "1" else 0  # the first process is the sandbox's
        if memory > limits.memory_bytes:
            memory = _without_shared_twice(proc)
        self.peak_memory = max(self.peak_memory, memory)
        if memory > limits.memory_bytes:
            return "out_of_memory"
        if ticks / _TICK > limits.cpu_seconds:
            return "cpu_limit"
        return "process_limit" if tasks > limits.processes + _SPARE_TASKS else None

    def _disk(self, proc: int) -> Ended | None:
        limits = self._command.limits
        most = self._used + limits.disk_bytes
        total = _deleted(proc)
        for folder in self._command.writable:
            total += measure(folder, most)
        if total > most:
            return "disk_limit"
        for place in ("tmp", "dev/shm"):  # bounded in bytes by its mount, not in files
            with suppress(OSError):
                scratch = os.statvfs(self._root / place)
                if (scratch.f_files - scratch.f_ffree) * ENTRY_BYTES > limits.scratch_bytes + (1 << 20):
                    return "disk_limit"
        return None


def _pids(proc: int) -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir(proc) if name.isdigit()]
    return []


def _read(proc: int, name: str) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY, dir_fd=proc), "rb") as file:
        return file.read()


def _without_shared_twice(proc: int) -> int:
    """Proportional set sizes: forked processes share most of their pages, and reading this is slow."""
    total = 0
    for pid in _pids(proc):
        with suppress(OSError):
            lines = _read(proc, f"{pid}/smaps_rollup").splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss:") and pid != "1")
    return total


def _deleted(proc: int) -> int:
    """What is held by files that have no name any more, each counted once; memory files are among them."""
    held: dict[tuple[int, int], int] = {}
    for pid in _pids(proc):
        with suppress(OSError):
            directory = os.open(f"{pid}/fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
            try:
                for name in os.listdir(directory):  # noqa: PTH208  (an open directory)
                    with suppress(OSError):
                        status = os.stat(name, dir_fd=directory)
                        if status.st_nlink == 0:
                            held[status.st_dev, status.st_ino] = size(status)
            finally:
                os.close(directory)
    return sum(held.values())
