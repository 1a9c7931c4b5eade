"""A private copy of a snapshot, in which its tests run, and what makes it look installed."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from curate.verify import declared, generated
from curate.workspace import Workspace


@dataclass(frozen=True)
class Identity:
    """What an installed project would answer when asked."""

    name: str
    version: str


@dataclass(frozen=True)
class Copy:
    """A folder with the project in it, all of it writable by the tests."""

    base: Path
    roots: tuple[Path, ...]
    """Where imports start."""

    @property
    def folder(self) -> Path:
        """The project's root."""
        return self.base / "project"


def identity(folder: Path, name: str, revision: str) -> Identity:
    """Return name and version from the metadata, pyproject.toml, or the snapshot itself; version 0 when unknown."""
    metadata, stated = declared.metadata(folder), declared.dig(declared.pyproject(folder), "project")
    poetry = declared.dig(declared.pyproject(folder), "tool", "poetry")
    names = (metadata["Name"], stated.get("name"), poetry.get("name"), name.rpartition("/")[2])
    versions = (metadata["Version"], stated.get("version"), poetry.get("version"), revision)
    return Identity(
        next(str(one) for one in names if one),
        next((str(one) for one in versions if one and _is_version(str(one))), "0"),
    )


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return len(text) < 30


@contextmanager
def working_copy(
    workspace: Workspace, snapshot_id: str, who: Identity, roots: Iterable[str], wheel: Path | None = None
) -> Iterator[Copy]:
    """Copy a snapshot for the length of the block; the snapshot itself is never shown to its own code.

    `roots` are the folders that modules are imported from, relative to the project; its own root is always one. From a
    `wheel` of the project comes what its sources lack.
    """
    parent = workspace.private / "work"
    parent.mkdir(parents=True, exist_ok=True)
    base = Path(tempfile.mkdtemp(prefix=f"{snapshot_id[:12]}-", dir=parent))
    base.chmod(0o755)
    try:
        folder = base / "project"
        ignored = shutil.ignore_patterns(*generated.IGNORED)
        shutil.copytree(workspace.files_of(snapshot_id), folder, symlinks=True, ignore=ignored)
        folder.chmod(0o755)
        places = list(dict.fromkeys([*(folder / root for root in roots), folder]))
        apart, metadata = base / "built", base / "metadata"
        if wheel:
            generated.add(wheel, folder, places, apart, metadata)
        _write_generated(folder, who.version)
        if not metadata.exists():
            _write_metadata(metadata, folder, who)
        places += [place for place in (apart, metadata) if place.exists()]
        yield Copy(base, tuple(places))
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _write_generated(folder: Path, version: str) -> None:
    """Write the version file that a build would have generated, where the project names one and it is missing."""
    data = declared.pyproject(folder)
    tables = (
        (declared.dig(data, "tool", "setuptools_scm"), ("version_file", "write_to")),
        (declared.dig(data, "tool", "hatch", "build", "hooks", "vcs"), ("version-file",)),
        (declared.dig(data, "tool", "pdm", "version"), ("write_to",)),
    )
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    text = f"__version__ = version = {version!r}\n__version_tuple__ = version_tuple = {numbers!r}\n"
    for table, keys in tables:
        for key in keys:
            name = table.get(key) if isinstance(table, dict) else None
            target = (folder / name).resolve() if isinstance(name, str) else folder
            inside = target.is_relative_to(folder.resolve()) and target.parent.is_dir()
            if inside and target.suffix == ".py" and not target.exists():
                target.write_text(text)


def _write_metadata(place: Path, folder: Path, who: Identity) -> None:
    """Write a dist-info folder, so that `importlib.metadata` knows the project."""
    data = declared.dig(declared.pyproject(folder), "project")
    escaped = canonicalize_name(who.name).replace("-", "_")
    info = place / f"{escaped}-{who.version}.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {who.name}\nVersion: {who.version}\n")
    info.joinpath("INSTALLER").write_text("curate\n")
    groups = {"console_scripts": data.get("scripts"), "gui_scripts": data.get("gui-scripts")}
    stated = data.get("entry-points")
    groups |= stated if isinstance(stated, dict) else {}
    lines = []
    for group, entries in groups.items():
        if isinstance(entries, dict) and entries:
            lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    info.joinpath("entry_points.txt").write_text("\n".join(lines))
