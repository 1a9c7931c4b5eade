"""Writable folders: handed to the command before a run, measured during it, taken back after it.

All work goes through open directories, so that a link put in the way leads nowhere.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from curate.sandbox.command import SandboxError
from curate.sandbox.interpreter import SYSTEM

ENTRY_BYTES = 4096  # what an empty file or folder counts for: else a flood of them would cost nothing
_DEEPEST = 100
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Owner(NamedTuple):
    """Whom files belong to."""

    uid: int
    gid: int


class _Found(NamedTuple):
    directory: int
    name: str
    status: os.stat_result
    depth: int


@contextmanager
def lent(path: Path, owner: Owner | None) -> Iterator[int]:
    """A folder for the time of one run, owned by `owner` unless None; gives the bytes it holds.

    Raises SandboxError when it is no folder, one that must never be lent, in use by another run, nested
    deeper than 100, or shares files with a place outside it (hard links), which a write would then reach.
    """
    _refuse_precious(path)
    try:
        top = os.open(path, _DIRECTORY)
    except OSError as error:
        raise SandboxError(f"not a folder that can be made writable: {path} ({error.strerror})") from error
    try:
        _lock(top, path)
        used = _hand_over(top, path, owner)
        try:
            yield used
        finally:
            _take_back(top)
    finally:
        os.close(top)


def measure(path: Path | str, most: int) -> int:
    """Bytes that a folder holds on disk; stops counting beyond `most`. What vanishes meanwhile is not counted."""
    total, pending = 0, [os.fspath(path)]
    while pending and total <= most:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += size(entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    if total > most:
                        break
        except OSError:
            continue
    return total


def size(status: os.stat_result) -> int:
    """What one entry counts for."""
    return max(ENTRY_BYTES, status.st_blocks * 512)


def read_result(folder: Path, name: str, most: int = 64 << 20) -> bytes:
    """A regular file that a command left in its writable folder, however hard it tries to be something else.

    Raises SandboxError when it is missing, no regular file, lies outside the folder by way of links, or is
    larger than `most` bytes.
    """
    try:
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder.resolve()):
            raise SandboxError(f"{name} leads out of its folder")
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SandboxError(f"{name} is no regular file")
            content = file.read(most + 1)
    except (OSError, RuntimeError) as error:
        raise SandboxError(f"{name} cannot be read: {error}") from error
    if len(content) > most:
        raise SandboxError(f"{name} is larger than {most} bytes")
    return content


def _refuse_precious(path: Path) -> None:
    real = path.resolve()
    if any(keep.is_relative_to(real) for keep in (Path.home(), Path("/"), *SYSTEM, Path("/etc"), Path("/var"))):
        raise SandboxError(f"{path} is not a folder to hand to foreign code")


def _lock(top: int, path: Path) -> None:
    try:
        fcntl.flock(top, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SandboxError(f"{path} is in use by another run") from None


def _hand_over(top: int, path: Path, owner: Owner | None) -> int:
    used = 0
    links: dict[int, list[int]] = {}
    for found in _walk(top):
        if found.depth > _DEEPEST:
            raise SandboxError(f"{path} is nested deeper than {_DEEPEST}")
        used += size(found.status)
        if stat.S_ISREG(found.status.st_mode) and found.status.st_nlink > 1:
            links.setdefault(found.status.st_ino, [found.status.st_nlink]).append(1)
    if any(counted[0] > len(counted) - 1 for counted in links.values()):
        raise SandboxError(f"{path} holds hard links to files outside it: copy them (uv: --link-mode copy)")
    if owner is not None:
        for found in _walk(top):
            os.chown(found.name, owner.uid, owner.gid, dir_fd=found.directory, follow_symlinks=False)
        os.fchown(top, owner.uid, owner.gid)
    return used


def _take_back(top: int) -> None:
    """Ours again: owner, access and kind; no setuid bits, no pipes that would block who opens them."""
    mine = Owner(os.geteuid(), os.getegid())
    os.fchown(top, mine.uid, mine.gid)
    os.fchmod(top, stat.S_IMODE(os.fstat(top).st_mode) & 0o1777 | 0o700)
    for found in _walk(top):
        mode = found.status.st_mode
        if found.depth > _DEEPEST:
            _remove(found)
        elif stat.S_ISLNK(mode):
            if found.status.st_uid != mine.uid:
                os.chown(found.name, mine.uid, mine.gid, dir_fd=found.directory, follow_symlinks=False)
        elif stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            _settle(found, mine)
        else:
            os.unlink(found.name, dir_fd=found.directory)


def _settle(found: _Found, mine: Owner) -> None:
    if found.status.st_uid != mine.uid:
        os.chown(found.name, mine.uid, mine.gid, dir_fd=found.directory, follow_symlinks=False)
    mode = stat.S_IMODE(found.status.st_mode)
    wanted = mode & 0o1777 | (0o700 if stat.S_ISDIR(found.status.st_mode) else 0o600)
    if wanted != mode:
        os.chmod(found.name, wanted, dir_fd=found.directory)


def _remove(found: _Found) -> None:
    """A subtree too deep for paths: chmod(1) and rm(1) manage any depth."""
    place = f"/proc/{os.getpid()}/fd/{found.directory}"
    remove = ["rm", "-rf", "--one-file-system"]
    for program in (remove, ["chmod", "-R", "u+rwx"], remove):
        subprocess.run([*program, "--", found.name], cwd=place, check=False, capture_output=True)
        if not os.access(found.name, os.F_OK, dir_fd=found.directory, follow_symlinks=False):
            return


def _walk(directory: int, depth: int = 1) -> Iterator[_Found]:
    """All entries below an open directory, each before what it holds, down to the first too deep."""
    for name in sorted(os.listdir(directory)):
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        yield _Found(directory, name, status, depth)
        if not stat.S_ISDIR(status.st_mode) or depth > _DEEPEST:
            continue
        try:
            below = os.open(name, _DIRECTORY, dir_fd=directory)
        except PermissionError as error:
            raise SandboxError(f"a folder cannot be read: {name}") from error
        try:
            yield from _walk(below, depth + 1)
        finally:
            os.close(below)
