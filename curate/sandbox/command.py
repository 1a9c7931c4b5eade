"""What a sandbox is asked to run, what it answers, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from curate.errors import CurateError, UserError

Ended = Literal[
    "exited",  # by itself, with `returncode`
    "killed",  # by a signal: `returncode` is 128 + its number, as shells say it
    "timeout",
    "cpu_limit",
    "out_of_memory",
    "process_limit",
    "disk_limit",
    "output_limit",
]
"""How a command ended. All but the first two: the sandbox ended it, because a limit was passed."""


class SandboxError(CurateError):
    """The sandbox itself failed. A command that fails inside it is a `Completed`, never this."""


class SandboxUnavailable(SandboxError, UserError):  # noqa: N818  (it names a state, as its message does)
    """No sandbox works on this machine; the message says in one line what to install."""


@dataclass(frozen=True)
class Limits:
    """What a command may use. Whole process tree, unless said otherwise."""

    wall_seconds: float = 60.0
    """Time by the clock."""
    cpu_seconds: float = 240.0
    """CPU time of all processes together; also of each one, by the kernel."""
    memory_bytes: int = 4 << 30
    """Resident memory of all processes together (pages they share count once); also the private memory of each."""
    processes: int = 512
    """Processes and threads together: OpenMP starts one thread a core in each process."""
    open_files: int = 1024
    """Open files of each process."""
    file_bytes: int = 1 << 30
    """Size of any one file written."""
    scratch_bytes: int = 1 << 30
    """Room in `/tmp`, and as much again in `/dev/shm`. Both are private to the run and lie in memory."""
    disk_bytes: int = 2 << 30
    """How much the writable folders may grow, files deleted while open included. An entry counts at least 4096."""
    output_bytes: int = 64 << 20
    """What may be written to stdout and stderr together before the command is ended."""
    kept_bytes: int = 1 << 20
    """How much of the end of stdout, and of stderr, is kept."""


@dataclass(frozen=True)
class Command:
    """One command to run in a sandbox: all that it sees is named here.

    Besides `read_only` and `writable`, it sees the system's programs and libraries (`/usr` and a few files of `/etc`),
    its own processes, and a private empty `/tmp`, which is also its HOME. A folder may be writable in one run at
    a time. What lies in it afterwards is the caller's again: readable, deletable, without sockets, pipes and
    setuid bits. It may hold symbolic links to anywhere: read results with `read_result`.
    """

    argv: tuple[str, ...]
    """The program and its arguments; no shell is involved."""
    cwd: Path = Path("/tmp")  # noqa: S108  (the sandbox's private one)
    """The working directory, as the command sees it."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables besides PATH, LANG, HOME and TMPDIR, which it may replace. Nothing is inherited."""
    read_only: tuple[Path, ...] = ()
    """Paths of the host shown at the same place, not writable."""
    writable: tuple[Path, ...] = ()
    """Folders of the host shown at the same place, writable."""
    stdin: bytes = b""
    """What the command reads from its standard input."""
    limits: Limits = field(default_factory=Limits)
    """What it may use."""
    on_line: Callable[[bytes], bytes | None] | None = None
    """Called with each line of stdout as it comes; the answer goes to stdin, and None closes it.

    For a server that is fed its jobs one by one, and whose answers must not be lost when it hangs. What it is
    called with comes from the command: it may be anything.
    """


@dataclass(frozen=True)
class Completed:
    """What came of a command."""

    ended: Ended
    """How it ended."""
    returncode: int | None
    """Its exit code; 126 or 127 when it could not start, 128 + n after signal n, None when the sandbox ended it."""
    stdout: bytes
    """The end of its standard output. May hold anything, terminal escapes included."""
    stderr: bytes
    """The end of its standard error."""
    truncated: bool
    """Whether the beginning of stdout or stderr was dropped."""
    seconds: float
    """Time by the clock, starting the sandbox included."""
    peak_memory_bytes: int
    """The most memory seen in use by all its processes together; 0 when it was over before the first look."""
    sandbox: str
    """The name of the sandbox it ran in."""


class Sandbox(Protocol):
    """A place to run somebody else's code. Whoever implements it must pass `self_check.check`."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""

    def unavailable(self) -> str | None:
        """None when it works on this machine, else one line: why not, and what to install or change."""

    def run(self, command: Command) -> Completed:
        """Run a command to its end; nothing of it is left afterwards.

        Raises SandboxError when the sandbox, not the command, failed.
        """
