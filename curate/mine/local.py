"""Folders of this machine, such as in-house code: copied in, and named by their content."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from curate.errors import ItemError, UserError
from curate.mine.source import Origin, Pin, Settings
from curate.mine.tree import Tree
from curate.workspace import Workspace

FORM = "a folder"
PREFIX = "local:"
SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".bzr", ".curate", "__pycache__", "node_modules", ".tox", ".nox", ".eggs",
    ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
})  # fmt: skip
"""Folders that are not the project's own work: history, caches, what was installed."""
CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
"""First bytes of the CACHEDIR.TAG with which tools mark a folder as a cache."""


def matches(request: str) -> bool:
    """Say whether the request can be the path of a folder, not something like `word:...` or `name==1.0`."""
    return not re.match(r"[A-Za-z0-9_.-]+(:|\+\w+:|[=<>~!]=)", request)


def check(request: str, workspace: Workspace) -> str:
    """Return the folder's full path; a relative one starts at the workspace. Raises UserError when there is none."""
    folder = (workspace.root / Path(request).expanduser()).resolve()
    if not folder.is_dir() or not folder.name or not folder.name.isprintable():
        raise UserError(f"{request}: no such folder (a project of a package index is written pypi:NAME)")
    return str(folder)


def resolve(request: str, settings: Settings) -> Pin:
    """Pin to the content that the folder has now."""
    folder = Path(request)
    tree = Tree(None, settings)
    _read(folder, tree)
    return Pin(f"{PREFIX}{folder.name}@{tree.digest()}", folder.name, location=request)


def fetch(pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
    """Copy the folder's files; raises a transient ItemError when they changed since they were pinned."""
    del scratch, settings
    _read(Path(pin.location), tree)
    content = pin.request.rpartition("@")[2]
    if tree.digest() != content:
        raise ItemError("changed_meanwhile", f"{pin.name} has changed since it was looked at", transient=True)
    return Origin(
        identity=("local", pin.name, content),
        source="local",
        name=pin.name,
        url=pin.name,
        revision=content,
        # File times differ between two copies of one folder, and so would all that is made from them.
        committed_at=None,
    )


def _read(folder: Path, tree: Tree) -> None:
    """Take the folder's files into `tree`."""
    if not folder.is_dir():
        raise ItemError("not_found", f"the folder {folder.name} is gone")
    for path in _walk(folder, tree):
        name = path.relative_to(folder).as_posix()
        try:
            facts = path.lstat()
            if stat.S_ISLNK(facts.st_mode):
                tree.link(name, _target(folder, path))
            elif not stat.S_ISREG(facts.st_mode):
                tree.leave_out(name, "not_a_file", "a pipe, socket or device")
            else:
                with path.open("rb") as content:
                    tree.add(name, content, size=facts.st_size, executable=bool(facts.st_mode & 0o100))
        except OSError as error:
            tree.leave_out(name, "cannot_read", error.strerror or str(error))
    tree.finish()
    if not tree.files:
        raise ItemError("empty", f"the folder {folder.name} holds no file that can be kept")


def _walk(folder: Path, tree: Tree) -> Iterator[Path]:
    """Yield everything but folders, sorted by name, without what is skipped."""

    def unreadable(error: OSError) -> None:
        tree.leave_out(os.path.relpath(error.filename, folder), "cannot_read", error.strerror or str(error))

    for at, folders, files in os.walk(folder, onerror=unreadable):
        here = Path(at)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and not _skipped(here / name))
        yield from (here / name for name in sorted([*files, *links]) if name not in SKIPPED)


def _skipped(folder: Path) -> bool:
    return folder.name in SKIPPED or (folder / "pyvenv.cfg").is_file() or _is_cache(folder)


def _is_cache(folder: Path) -> bool:
    try:
        with (folder / "CACHEDIR.TAG").open("rb") as tag:
            return tag.read(len(CACHE_TAG)) == CACHE_TAG
    except OSError:
        return False


def _target(folder: Path, link: Path) -> str:
    """Return where a link leads, relative to the folder; what leads out of it is told without naming the place."""
    reached = Path(os.path.realpath(link))
    inside = Path(os.path.realpath(folder))
    return reached.relative_to(inside).as_posix() if reached.is_relative_to(inside) else "../(outside)"
