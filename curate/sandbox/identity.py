"""Who foreign code runs as, and what the kernel holds against that user."""

from __future__ import annotations

import os
import platform
import re
import resource
import threading
from dataclasses import dataclass
from pathlib import Path

from curate.sandbox.command import Limits
from curate.sandbox.trees import Owner

_NOBODY = 65533
_FREE_UIDS = 0x7000_0000  # from here on nobody hands out user ids: https://systemd.io/UIDS-GIDS
_NEEDED = (0, 1, 5, 6, 7, 8, 19, 21)  # CHOWN DAC_OVERRIDE KILL SETGID SETUID SETPCAP SYS_PTRACE SYS_ADMIN
_COUNTS_BY_NAMESPACE = (5, 14)  # from this Linux on RLIMIT_NPROC counts within a user namespace


@dataclass(frozen=True)
class Identity:
    """The user and group a command has inside.

    Root's commands get a user of their own (`separate`): the kernel does not count root's processes. Anyone else's
    run as the caller, mapped to another number in a user namespace.
    """

    uid: int
    gid: int
    separate: bool

    @property
    def owner(self) -> Owner | None:
        """Who must own the writable folders; None when the caller does."""
        return Owner(self.uid, self.gid) if self.separate else None


def identity() -> Identity:
    """For a run started by this thread: as root a number that no other running command has."""
    if not _may_change_user():
        return Identity(_NOBODY, _NOBODY, separate=False)
    own = _FREE_UIDS + threading.get_native_id()
    uid = own if _mapped(own) else _NOBODY
    return Identity(uid, uid, separate=True)


def rlimits(limits: Limits, who: Identity) -> dict[str, tuple[int, int]]:
    """Soft and hard limits of each process, by the names that prlimit(1) has for them."""
    wanted = {
        "core": (0, 0),
        "cpu": (max(1, round(limits.cpu_seconds)), max(1, round(limits.cpu_seconds)) + 2),
        "data": (limits.memory_bytes, limits.memory_bytes),  # AS would count what torch and jax merely reserve
        "fsize": (limits.file_bytes, limits.file_bytes),
        "nofile": (limits.open_files, limits.open_files),
        "nproc": (limits.processes + _others(who),) * 2,
    }
    return {name: _allowed(name, soft, hard) for name, (soft, hard) in wanted.items()}


def _allowed(name: str, soft: int, hard: int) -> tuple[int, int]:
    most = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return (soft, hard) if most == resource.RLIM_INFINITY else (min(soft, most), min(hard, most))


def _may_change_user() -> bool:
    if os.geteuid() != 0:
        return False
    held = re.search(r"^CapEff:\s*(\w+)", Path("/proc/self/status").read_text("ascii", "replace"), re.MULTILINE)
    return held is not None and all(int(held[1], 16) >> bit & 1 for bit in _NEEDED)


def _mapped(uid: int) -> bool:
    """Whether this user namespace has the id: containers often have but 65536 of them."""
    ranges = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text("ascii").splitlines())
    return any(first <= uid < first + count for first, _, count in ranges)


def _others(who: Identity) -> int:
    """Older kernels count all tasks the user has: these must not use up the command's."""
    release = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if who.separate or release >= _COUNTS_BY_NAMESPACE:
        return 0
    mine = (entry for entry in os.scandir("/proc") if entry.name.isdigit() and entry.stat().st_uid == os.getuid())
    return sum(len(list(Path(entry.path, "task").iterdir())) for entry in mine)
