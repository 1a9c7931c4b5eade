"""Looking into a wheel that foreign code has made, before anything of it is unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from curate.errors import ItemError

MOST_BYTES = 1 << 30
MOST_FILES = 50_000


def check(wheel: Path, name: str, version: str) -> None:
    """Raise ItemError when a file is no sound wheel of a package; a project's may have any name and version."""
    try:
        told, told_version, _, _ = parse_wheel_filename(wheel.name)
        with zipfile.ZipFile(wheel) as bundle:
            entries = bundle.infolist()
    except (InvalidWheelFilename, zipfile.BadZipFile, OSError) as error:
        raise ItemError("build_failed", f"the backend gave no wheel: {error}") from None
    if version and (told != canonicalize_name(name) or told_version != Version(version)):
        raise ItemError("build_failed", f"the backend gave {wheel.name} for {name} {version}")
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise ItemError("build_failed", f"{wheel.name} unpacks to more than {MOST_BYTES >> 20} MiB")
    for entry in entries:
        if entry.filename.startswith("/") or ".." in PurePosixPath(entry.filename).parts or "\\" in entry.filename:
            raise ItemError("build_failed", f"{wheel.name} holds {entry.filename!r}, which leads out of it")


def contents(wheel: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield path and content of each file that has been checked."""
    with zipfile.ZipFile(wheel) as bundle:
        for entry in bundle.infolist():
            if not entry.is_dir():
                yield PurePosixPath(entry.filename), bundle.read(entry)
