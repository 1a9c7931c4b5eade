"""Unpacking archives that may have been made to do harm.

Nothing is extracted by tarfile or zipfile themselves: they are read member by member, and the files are written by
`Tree`, which knows no links, devices or modes. So no member can be written through another.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import posixpath
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from curate.errors import ItemError
from curate.mine.source import Settings
from curate.mine.tree import CHUNK, Tree

SMALL = 1 << 20
"""Below this size nobody minds how well something was compressed."""
HEADER_BYTES = 1 << 20
"""More than this between two members of a tar file is no header, but an attempt to fill the memory."""
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError,
    KeyError, IndexError, OverflowError, RecursionError, NotImplementedError,
)  # fmt: skip
"""What the readers are seen to raise over input that is not what it says it is."""
OPENERS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def unpack(archive: Path, tree: Tree, settings: Settings) -> None:
    """Put the files of a tar (gz, bz2, xz) or zip archive into `tree`, what leads out of it left out.

    Raises ItemError: `too_large`, `unsafe_archive` (unpacks to far more than it is), `damaged_archive`, `empty`.
    """
    size = archive.stat().st_size
    allowed = max(SMALL, size * settings.max_ratio)
    if allowed < tree.limit:
        tree.limit = allowed
        tree.over_limit = ItemError(
            "unsafe_archive", f"{size:,} bytes unpack to more than {settings.max_ratio} times as many (max_ratio)"
        )
    with archive.open("rb") as handle:
        magic = handle.read(6)
    opener = next((opener for start, opener in OPENERS.items() if magic.startswith(start)), None)
    try:
        if magic.startswith(b"PK"):
            _zip(archive, tree)
        elif opener is not None:
            with opener(archive) as stream:
                _tar(_Bounded(stream, tree), tree)
        else:
            raise ItemError("damaged_archive", f"neither zip nor a compressed tar: it begins with {magic!r}")
    except DAMAGE as error:
        raise ItemError("damaged_archive", f"{type(error).__name__}: {error}") from None
    tree.finish()
    if not tree.files:
        raise ItemError("empty", "the archive holds no file that can be kept")


class _Bounded:
    """A decompressed stream that ends the reading when more comes out of it than may."""

    def __init__(self, stream: BinaryIO, tree: Tree) -> None:
        self.stream, self.tree = stream, tree
        self.total = 0
        self.in_header: int | None = 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.total += len(data)
        # Blocks and names are not in the files' total, so a little more may come out than can be kept.
        if self.total > self.tree.limit + 4096 * self.tree.settings.max_files:
            raise self.tree.over_limit
        if self.in_header is not None:
            self.in_header += len(data)
            if self.in_header > HEADER_BYTES:
                raise ItemError("unsafe_archive", f"a header of more than {HEADER_BYTES:,} bytes")
        return data


def _tar(stream: _Bounded, tree: Tree) -> None:
    # Reading as a stream never seeks back: tarfile gets one pass, however the members are laid out.
    with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|", encoding="utf-8", errors="surrogateescape") as tar:
        for member in tar:
            stream.in_header = None
            _member(tar, member, tree)
            stream.in_header = 0
    stream.in_header = None
    while stream.read(CHUNK):  # to the end, where the checksum is
        pass


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo, tree: Tree) -> None:
    if member.isreg():
        content = cast("BinaryIO", tar.extractfile(member))
        tree.add(member.name, content, size=member.size, executable=bool(member.mode & 0o100))
        while content.read(CHUNK):  # what was left out is passed over here, so that headers can be told from it
            pass
    elif member.issym():
        tree.link(member.name, _target(member.name, member.linkname))
    elif member.islnk():
        tree.link(member.name, member.linkname)
    elif member.isdir():
        tree.count()
    else:
        tree.count()
        tree.leave_out(member.name, "not_a_file", "a device, pipe or other special entry")


def _zip(archive: Path, tree: Tree) -> None:
    with zipfile.ZipFile(archive) as bundle:
        for info in bundle.infolist():
            # Some old archives were made with the other slash.
            name = info.filename.replace("\\", "/")
            mode = info.external_attr >> 16
            if info.is_dir():
                tree.count()
            elif info.flag_bits & 0x1:
                tree.count()
                tree.leave_out(name, "encrypted", "needs a password")
            elif stat.S_ISLNK(mode):
                with bundle.open(info) as content:
                    tree.link(name, _target(name, content.read(4096).decode("utf-8", "surrogateescape")))
            else:
                _zipped(bundle, info, name, tree, executable=bool(mode & 0o100))


def _zipped(bundle: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, tree: Tree, *, executable: bool) -> None:
    try:
        content = bundle.open(info)
    except NotImplementedError as error:
        tree.count()
        tree.leave_out(name, "unknown_compression", str(error))
        return
    with content:
        tree.add(name, cast("BinaryIO", content), size=info.file_size, executable=executable)


def _target(name: str, link: str) -> str:
    """Return where a symbolic link leads, relative to the archive's root; an absolute one stays absolute."""
    return link if posixpath.isabs(link) else posixpath.join(posixpath.dirname(name), link)
