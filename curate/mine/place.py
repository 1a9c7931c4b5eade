"""Work that becomes visible all at once, whatever happens in the middle of it."""

from __future__ import annotations

import fcntl
import filecmp
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curate.errors import ItemError
from curate.mine.tree import disk_error

PREFIX = ".new-"


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Give a temporary folder inside `folder`, after clearing away what killed processes left there.

    Everybody at work holds the lock file shared; who gets it alone knows that nobody else is at work. The system lets
    go of a lock when its process dies, however it dies.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / ".lock").open("a")
    except OSError as error:
        raise disk_error(error) from None
    with handle:
        _clear(folder, handle.fileno())
        fcntl.flock(handle, fcntl.LOCK_SH)
        temporary = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _clear(folder: Path, lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    for left in folder.glob(f"{PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    fcntl.flock(lock, fcntl.LOCK_UN)


def place(made: Path, target: Path, scratch: Path) -> None:
    """Move a finished folder to its place; one with the same files may stand there already, another one gives way."""
    for attempt in range(5):
        try:
            made.rename(target)
            return
        except OSError as error:
            if not target.is_dir():
                raise disk_error(error) from None
        if _same(made, target):
            return
        try:
            target.rename(scratch / f"old-{attempt}")
        except FileNotFoundError:
            continue
    raise ItemError("cannot_write", f"another process keeps changing {target.name}", transient=True)


def _same(one: Path, other: Path) -> bool:
    mine, theirs = _files(one), _files(other)
    return mine == theirs and all(filecmp.cmp(one / path, other / path, shallow=False) for path in mine)


def _files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
