"""One suite that every sandbox must pass, whoever wrote it: what must work, what must be refused, what must be bounded.

The idea is from inspect_ai's `self_check` of its sandboxes.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from curate.sandbox.acts import ACTS
from curate.sandbox.checks import BOUNDED, NORMAL, Check
from curate.sandbox.command import Command, Completed, Limits, Sandbox, SandboxError
from curate.sandbox.interpreter import python_paths

_PYTHON = (sys.executable, "-I", "-S", "-B")
_ROOM = ["outside", "outside/secret", "outside/socket", "shown", "shown/file"]
_ACTS_FILE = Path(__file__).with_name("acts.py")


@dataclass(frozen=True)
class CheckResult:
    """Whether a sandbox held in one respect."""

    name: str
    held: bool
    detail: str


def check(sandbox: Sandbox) -> list[CheckResult]:
    """Try everything on a sandbox, two runs at a time; takes some seconds. What it cannot start counts as not held."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(partial(run, sandbox), (*NORMAL, *BOUNDED)))
    return [*refusals(sandbox), *results, _missing_program(sandbox)]


@contextmanager
def room() -> Iterator[dict[str, str]]:
    """A corner of the host with things to steal, servers to reach and a process to spy on; gone afterwards."""
    with ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="curate-check-")))
        for name in ("outside", "shown", "work"):
            (top / name).mkdir()
        (top / "outside" / "secret").write_text("curate-check")
        (top / "shown" / "file").write_text("shown")
        top.chmod(0o755)
        home = stack.enter_context(_secret_in_home(top))
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = f"curate-check-{os.getpid()}-{threading.get_native_id()}"
        for address in ("\0" + abstract, str(top / "outside" / "socket")):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
        udp = stack.enter_context(_echo())
        spied = stack.enter_context(subprocess.Popen(["sleep", "600"], env={"SECRET": "curate-check"}))
        stack.callback(spied.kill)
        yield {
            **{name: str(top / name) for name in ("outside", "shown", "work")},
            "home_secret": str(home),
            "tcp": str(tcp.getsockname()[1]),
            "udp": str(udp),
            "abstract": abstract,
            "pid": str(spied.pid),
        }


def refusals(sandbox: Sandbox) -> list[CheckResult]:
    """Try only what must be refused, all of it in one run."""
    with room() as things:
        command = _command(("-", json.dumps(things)), Path(things["work"]))
        shown = (*command.read_only, Path(things["shown"]))
        try:
            completed = sandbox.run(replace(command, read_only=shown, stdin=_ACTS_FILE.read_bytes()))
            outcomes = json.loads(completed.stdout)
            said = f"{completed.ended}: {completed.stderr[-300:]!r}"
        except (SandboxError, ValueError) as error:
            outcomes, said = {}, f"{type(error).__name__}: {error}"
        top = Path(things["work"]).parent
        left = sorted(str(path.relative_to(top)) for path in top.rglob("*") if not path.is_relative_to(things["work"]))
    results = [CheckResult("leave_outside_alone", bool(outcomes) and left == _ROOM, ", ".join(left))]
    for name in ACTS:
        outcome = outcomes.get(name, said)
        results.append(CheckResult(name, outcome.startswith("refused"), outcome))
    return results


def run(sandbox: Sandbox, item: Check) -> CheckResult:
    """One program, and whether what came of it is as it must be."""
    with tempfile.TemporaryDirectory(prefix="curate-check-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        command = _command(("-c", f"work = {folder!r}\n{item.source}"), work)
        limits = replace(command.limits, **item.limits)
        try:
            completed = sandbox.run(replace(command, limits=limits, stdin=item.stdin, env=item.env))
            held = item.expected(completed, work)
        except (SandboxError, OSError) as error:
            return CheckResult(item.name, False, f"{type(error).__name__}: {error}")
        detail = _told(completed)
        try:
            shutil.rmtree(work)
        except (OSError, RecursionError) as error:
            return CheckResult(item.name, False, f"what it left cannot be deleted: {error}")
        return CheckResult(item.name, held, detail)


def _missing_program(sandbox: Sandbox) -> CheckResult:
    """A program that is not there is the command's failure, a path that is not there the sandbox's."""
    try:
        completed = sandbox.run(Command(("no-such-program",)))
    except SandboxError as error:
        return CheckResult("missing_program", False, str(error))
    try:
        sandbox.run(Command(("true",), cwd=Path("/no-such-folder")))
    except SandboxError:
        return CheckResult("missing_program", completed.returncode == 127, _told(completed))
    return CheckResult("missing_program", False, "it ran in a folder that is not there")


def _command(argv: tuple[str, ...], work: Path) -> Command:
    """With Python at hand, in its own writable folder."""
    shown = python_paths(Path(sys.executable))
    return Command((*_PYTHON, *argv), cwd=work, read_only=shown, writable=(work,), limits=Limits(wall_seconds=15))


def _told(completed: Completed) -> str:
    code = "" if completed.returncode is None else f" {completed.returncode}"
    tails = (text[-200:].decode("utf-8", "replace") for text in (completed.stdout, completed.stderr))
    return f"{completed.ended}{code} in {completed.seconds:.2f} s; {' | '.join(map(ascii, tails))}"


@contextmanager
def _secret_in_home(fallback: Path) -> Iterator[Path]:
    """A file in HOME, or beside it all when HOME cannot be written."""
    folder = Path.home() if os.access(Path.home(), os.W_OK) else fallback
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".curate-check-") as file:
        file.write("curate-check")
        file.flush()
        yield Path(file.name)


@contextmanager
def _echo() -> Iterator[int]:
    """A UDP server that answers whatever reaches it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.1)
        over = threading.Event()

        def answer() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    server.sendto(*server.recvfrom(16))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            over.set()
            thread.join()
