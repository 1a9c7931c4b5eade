"""The files of one snapshot while they are taken in: nothing gets past the limits, or out of the folder."""

from __future__ import annotations

import errno
import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from curate.errors import ItemError

if TYPE_CHECKING:
    from curate.mine.source import Settings

CHUNK = 1 << 20
NAME_BYTES, PATH_BYTES = 255, 1000
"""What file systems take as a name, and what leaves room for the workspace's own path."""
JUNK = re.compile(r"\._.*|pax_global_header")
"""Files that archivers put beside the project's folder."""


@dataclass(frozen=True)
class Kept:
    """A file that was taken in."""

    sha256: str
    size: int


@dataclass(frozen=True)
class LeftOut:
    """A file that was not, and why."""

    path: str
    reason: str
    detail: str


class Tree:
    """Takes in files one by one and keeps count; without a folder it only hashes them."""

    def __init__(self, root: Path | None, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self.limit = settings.max_bytes
        self.over_limit = ItemError("too_large", f"more than {settings.max_bytes:,} bytes (max_bytes)")
        self.files: dict[str, Kept] = {}
        self.left_out: list[LeftOut] = []
        self._links: dict[str, str] = {}
        self._entries = 0
        self._bytes = 0

    def count(self) -> None:
        """Count an entry; raises ItemError when there are too many."""
        self._entries += 1
        if self._entries > self.settings.max_files:
            raise ItemError("too_large", f"more than {self.settings.max_files:,} files (max_files)")

    def add(self, path: str, content: BinaryIO, *, size: int = 0, executable: bool = False) -> None:
        """Take in a file; raises ItemError when the project as a whole goes past a limit."""
        self.count()
        name = self._admit(path)
        if name is None:
            return
        if size > self.settings.max_file_bytes:
            self.leave_out(name, "file_too_large", f"{size:,} bytes")
            return
        if name in self.files:
            self.leave_out(name, "duplicate_name", "a later file of the same name took its place")
            self._forget(name)
        kept = self._write(name, content, executable)
        if kept is not None:
            self.files[name] = kept

    def link(self, path: str, target: str) -> None:
        """Take in a link to `target`, a path relative to the root; settled by `finish`."""
        self.count()
        name = self._admit(path)
        if name is None:
            return
        parts = posixpath.normpath(target)
        if posixpath.isabs(target) or parts == ".." or parts.startswith("../"):
            self.leave_out(name, "link_outside", f"a link to {target}")
        else:
            self._links[name] = parts

    def finish(self) -> None:
        """Put copies in place of the links; those that lead to no file of the project are left out."""
        for name in sorted(self._links):
            target = self._links[name]
            for _ in range(40):  # as many hops as Linux follows
                target = self._links.get(target, target)
            if target in self.files and name not in self.files:
                self._copy(target, name)
            else:
                folder = target == "." or any(path.startswith(target + "/") for path in self.files)
                self.leave_out(name, "link_to_folder" if folder else "broken_link", f"a link to {target}")

    def strip_top(self) -> None:
        """Drop the one folder around everything, so that paths are relative to the project's root."""
        tops = {path.split("/")[0] for path in self.files if "/" in path}
        loose = [path for path in self.files if "/" not in path]
        if len(tops) != 1 or not all(JUNK.fullmatch(path) for path in loose):
            return
        prefix = tops.pop() + "/"
        for path in loose:
            self.leave_out(path, "outside_project", "lies beside the project's folder")
            self._forget(path)
        self.files = {path.removeprefix(prefix): kept for path, kept in self.files.items()}
        self.left_out = [LeftOut(out.path.removeprefix(prefix), out.reason, out.detail) for out in self.left_out]
        if self.root is not None:
            self.root = self.root / prefix

    def leave_out(self, path: str, reason: str, detail: str) -> None:
        """Note that a file is not taken in."""
        self.left_out.append(LeftOut(printable(path)[:300], reason, printable(detail)[:300]))

    @property
    def bytes(self) -> int:
        """Total size of the files kept."""
        return sum(kept.size for kept in self.files.values())

    def digest(self) -> str:
        """Return the hash of the sorted (path, content hash) list."""
        return digest(self.files)

    def _admit(self, path: str) -> str | None:
        """Return the path in its plain form, or None when it was left out."""
        name = "/".join(part for part in path.split("/") if part not in {"", "."})
        refused = _refusal(path, name)
        if refused is None:
            return name
        reason, detail = refused
        if reason == "git_folder":  # once for the folder, not for every object in it
            path = name[: name.lower().index(".git") + 4]
        if not any(out.path == path and out.reason == reason == "git_folder" for out in self.left_out):
            self.leave_out(path, reason, detail)
        return None

    def _write(self, name: str, content: BinaryIO, executable: bool) -> Kept | None:
        hasher, size = hashlib.sha256(), 0
        target = self._open(name)
        if target is None and self.root is not None:
            return None
        try:
            while chunk := content.read(CHUNK):
                size += len(chunk)
                self._add_bytes(len(chunk))
                if size > self.settings.max_file_bytes:
                    self.leave_out(name, "file_too_large", f"more than {self.settings.max_file_bytes:,} bytes")
                    self._forget(name)
                    return None
                hasher.update(chunk)
                if target is not None:
                    _put(target, chunk)
        finally:
            if target is not None:
                target.close()
        if executable and self.root is not None:
            (self.root / name).chmod(0o755)
        return Kept(hasher.hexdigest(), size)

    def _open(self, name: str) -> BinaryIO | None:
        if self.root is None:
            return None
        target = self.root / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            return target.open("xb", buffering=0)
        except (FileExistsError, NotADirectoryError):
            self.leave_out(name, "name_collision", "a file and a folder, or two spellings, share the name")
        except OSError as error:
            raise disk_error(error) from None
        return None

    def _copy(self, source: str, name: str) -> None:
        kept = self.files[source]
        if self.root is None:
            self._add_bytes(kept.size)
            self.files[name] = kept
            return
        origin = self.root / source
        with origin.open("rb") as content:
            copied = self._write(name, content, executable=bool(origin.stat().st_mode & 0o100))
        if copied is not None:
            self.files[name] = copied

    def _forget(self, name: str) -> None:
        self.files.pop(name, None)
        if self.root is not None:
            (self.root / name).unlink(missing_ok=True)

    def _add_bytes(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self.limit:
            raise self.over_limit


def digest(files: Mapping[str, Kept]) -> str:
    """Return the hash of the sorted (path, content hash) list of some files."""
    lines = [f"{files[path].sha256}  {path}\n" for path in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def printable(text: str) -> str:
    """Return a text that can be stored as UTF-8, with what cannot shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def disk_error(error: OSError) -> ItemError:
    """Return what a failed write means for the item; another run may have more luck."""
    reason = "disk_full" if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} else "cannot_write"
    return ItemError(reason, error.strerror or str(error), transient=True)


def _refusal(path: str, name: str) -> tuple[str, str] | None:
    """Return why a path may not be written, as (reason, detail)."""
    parts = name.split("/")
    if not name or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path or path[1:2] == ":":
        return "unsafe_name", "absolute, leads out of the project, or means another file on another system"
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return "unreadable_name", "the name is not UTF-8"
    if max(sizes) > NAME_BYTES or len(name.encode()) > PATH_BYTES:
        return "name_too_long", f"{max(sizes)} bytes in a name, {len(name.encode())} in the path"
    if ".git" in (part.lower() for part in parts):
        return "git_folder", "the history is not part of a snapshot"
    return None


def _put(target: BinaryIO, chunk: bytes) -> None:
    try:
        view = memoryview(chunk)
        while view:
            view = view[target.write(view) :]
    except OSError as error:
        raise disk_error(error) from None
