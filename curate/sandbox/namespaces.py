"""The sandbox made of what nearly every Linux has: unshare(1), and the mount calls of the kernel (5.12 or newer)."""

from __future__ import annotations

import base64
import functools
import json
import shutil
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from curate.sandbox import seccomp, view
from curate.sandbox.command import Command, Completed, Limits, SandboxError
from curate.sandbox.identity import Identity, rlimits
from curate.sandbox.launch import SYSTEM_PATH, Start, contain, content

name = "namespaces"

_STAGE = Path(__file__).with_name("stage.py")


def unavailable() -> str | None:
    """None when it works here, else why not."""
    program = shutil.which("unshare")
    if program is None:
        return "unshare is not installed: install the package util-linux"
    return _probe(program)


def run(command: Command) -> Completed:
    """Run a command to its end. Raises SandboxError when its namespaces cannot be made."""
    return contain(name, command, _arrange)


@functools.cache
def _probe(program: str) -> str | None:
    if not seccomp.supported():
        return "no system call filter for this kind of processor"
    try:
        completed = run(Command(("true",), limits=Limits(wall_seconds=10)))
    except (SandboxError, OSError) as error:
        return f"{error} ({program} of util-linux 2.35; it needs Linux 5.12 and unprivileged user namespaces, or root)"
    return None if completed.returncode == 0 else f"{program} does not work here: {completed.ended}"


def _arrange(command: Command, who: Identity, told: int, stack: ExitStack) -> Start:
    program = shutil.which("unshare")
    if program is None:
        raise SandboxError("unshare is not installed")
    entries = view.plan(command, who.uid, who.gid)
    task = {
        "argv": command.argv,
        "cwd": str(command.cwd),
        "env": view.environment(command),
        "entries": [{key: _plain(value) for key, value in asdict(entry).items()} for entry in entries],
        "folders": [str(folder) for folder in view.folders(entries)],
        "hostname": view.HOSTNAME,
        "scratch": str(view.SCRATCH),
        "scratch_bytes": command.limits.scratch_bytes,
        "rlimits": rlimits(command.limits, who),
        "user": [who.uid, who.gid] if who.separate else None,
        "seccomp": base64.b64encode(seccomp.program()).decode(),
        "pivot_root": seccomp.pivot_root(),
    }
    file = content(json.dumps(task).encode(), stack)
    user = [] if who.separate else ["--user", f"--map-user={who.uid}", f"--map-group={who.gid}", "--keep-caps"]
    spaces = ["--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
    stage = [sys.executable, "-I", "-S", "-B", str(_STAGE), str(file), str(told)]
    setpriv = shutil.which("setpriv", path=SYSTEM_PATH)
    if setpriv is None:
        raise SandboxError("setpriv is not installed: install the package util-linux")
    return Start([setpriv, "--pdeathsig", "KILL", "--", program, *user, *spaces, "--", *stage], [file])


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
