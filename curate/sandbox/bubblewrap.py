"""The sandbox made of bubblewrap, the tool below Flatpak: no daemon, no root, milliseconds to start."""

from __future__ import annotations

import functools
import shutil
from contextlib import ExitStack

from curate.sandbox import seccomp, view
from curate.sandbox.command import Command, Completed, Limits, SandboxError
from curate.sandbox.identity import Identity, rlimits
from curate.sandbox.launch import SYSTEM_PATH, Start, contain, content

name = "bubblewrap"

_HELPERS = ("prlimit", "setpriv", "env")


def unavailable() -> str | None:
    """None when it works here, else why not."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed: install the package bubblewrap (apt, dnf, pacman, zypper, apk)"
    return _probe(program)


def run(command: Command) -> Completed:
    """Run a command to its end. Raises SandboxError when bubblewrap fails."""
    return contain(name, command, _arrange)


@functools.cache
def _probe(program: str) -> str | None:
    """Run nothing for once: whether this kernel lets `program` work shows only then."""
    missing = [helper for helper in _HELPERS if shutil.which(helper, path=SYSTEM_PATH) is None]
    if missing:
        return f"{', '.join(missing)} not found in {SYSTEM_PATH}: install the packages util-linux and coreutils"
    if not seccomp.supported():
        return "no system call filter for this kind of processor"
    try:
        completed = run(Command(("true",), limits=Limits(wall_seconds=10)))
    except (SandboxError, OSError) as error:
        return f"{error} ({program}; it needs Linux 5.3 and unprivileged user namespaces, or root)"
    if completed.returncode != 0:
        return f"{program} does not work here: {completed.stderr.decode('utf-8', 'replace').strip() or completed.ended}"
    return None


def _arrange(command: Command, who: Identity, told: int, stack: ExitStack) -> Start:
    files: list[int] = []

    def share(data: bytes) -> str:
        files.append(content(data, stack))
        return str(files[-1])

    options = [*_isolation(who), "--seccomp", share(seccomp.program())]
    entries = view.plan(command, who.uid, who.gid)
    for folder in view.folders(entries):  # bubblewrap would make them for their owner alone
        options += ["--perms", "0755", "--dir", str(folder)]
    for entry in entries:
        match entry:
            case view.Bind(target, source, writable):
                options += ["--bind" if writable else "--ro-bind", str(source), str(target)]
            case view.Link(target, points_to):
                options += ["--symlink", points_to, str(target)]
            case view.Text(target, text):
                options += ["--perms", "0644", "--ro-bind-data", share(text.encode()), str(target)]
    for setting in ("/proc/sys", "/proc/sysrq-trigger"):  # bubblewrap leaves them to root without capabilities
        options += ["--ro-bind-try", setting, setting]
    # Whoever owns the new root could write to it without bounds: it lies in memory.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(command.cwd)]
    scratch = ["--size", str(command.limits.scratch_bytes), "--perms", "1777", "--tmpfs"]
    options = ["--proc", "/proc", "--dev", "/dev", *scratch, "/dev/shm", *scratch, str(view.SCRATCH), *options]  # noqa: S108
    arguments = share("\0".join(options).encode() + b"\0")
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bubblewrap is not installed")
    head = [program, "--args", arguments, "--json-status-fd", str(told), "--"]
    return Start([*head, *_inside(command, who)], files)


def _isolation(who: Identity) -> list[str]:
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--hostname", view.HOSTNAME, "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    if who.separate:  # bubblewrap maps user ids only to its caller's, so root's command changes over inside
        kept = ("SETUID", "SETGID", "SETPCAP", "DAC_READ_SEARCH")  # the last one to enter the other user's folder
        return [*options, *(part for capability in kept for part in ("--cap-add", f"CAP_{capability}"))]
    return [*options, "--unshare-user", "--uid", str(who.uid), "--gid", str(who.gid)]


def _inside(command: Command, who: Identity) -> list[str]:
    """The command behind what sets its user, its limits, and last its variables: these may hold LD_PRELOAD."""
    argv: list[str] = []
    if who.separate:
        argv += [_helper("setpriv"), f"--reuid={who.uid}", f"--regid={who.gid}", "--clear-groups"]
        argv += ["--inh-caps=-all", "--bounding-set=-all", "--"]
    limits = rlimits(command.limits, who).items()
    argv += [_helper("prlimit"), *(f"--{kind}={soft}:{hard}" for kind, (soft, hard) in limits), "--"]
    variables = (f"{key}={value}" for key, value in view.environment(command).items())
    return [*argv, _helper("env"), "-i", *variables, *command.argv]


def _helper(program: str) -> str:
    found = shutil.which(program, path=SYSTEM_PATH)
    if found is None:
        raise SandboxError(f"{program} is not installed: install the packages util-linux and coreutils")
    return found
