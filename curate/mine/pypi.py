"""Projects of a package index: the sdist as uploaded, else a wheel; nothing is built or run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from curate.errors import ItemError, UserError
from curate.mine.address import address
from curate.mine.source import Origin, Pin, Settings
from curate.mine.tree import Tree
from curate.redact import redact
from curate.workspace import Workspace

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage

FORM = "pypi:NAME[==VERSION]"
PREFIX = "pypi:"
SDISTS = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz")
"""Formats of source archives that can be read, the preferred first."""
NEWEST = 5
"""How many versions a message lists."""


def matches(request: str) -> bool:
    """Say whether the request begins with `pypi:`."""
    return request.startswith(PREFIX)


def check(request: str, workspace: Workspace) -> str:
    """Return the request with normalised name and version; raises UserError."""
    del workspace
    address()  # tells of an address that cannot be one before anything is begun
    found = re.fullmatch(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\s*={2,3}\s*(\S+))?", request[len(PREFIX) :])
    if not found:
        raise UserError(f"{request}: write {FORM}, with one exact version or none")
    name = f"{PREFIX}{canonicalize_name(found[1])}"
    if found[2] is None:
        return name
    try:
        return f"{name}=={Version(found[2])}"
    except InvalidVersion:
        raise UserError(f"{request}: {found[2]} is not a version; write {FORM}, such as {name}==1.0") from None


def resolve(request: str, settings: Settings) -> Pin:
    """Pin to the newest release that is final and not yanked, or else the newest that is not yanked."""
    name, _, version = request.removeprefix(PREFIX).partition("==")
    if not version:
        version = str(_newest(name, _listed(name, settings)))
    return Pin(f"{PREFIX}{name}=={version}", name)


def fetch(pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
    """Unpack the release's sdist, or a wheel when there is none, into `tree`."""
    del scratch
    from curate.mine.index import Index
    from curate.mine.unpack import unpack

    name, _, version = pin.request.removeprefix(PREFIX).partition("==")
    with Index(settings) as index:
        package = _choose(pin, index.files(name), Version(version))
        archive = index.download(package)
    unpack(archive, tree, settings)
    if package.package_type == "sdist":
        tree.strip_top()
    sha256 = archive.parent.name  # where downloads are kept
    return Origin(
        identity=("pypi", sha256),
        source="pypi",
        name=name,
        url=redact(package.url),
        revision=version,
        sha256=sha256,
        committed_at=package.upload_time,
    )


def _listed(name: str, settings: Settings) -> list[DistributionPackage]:
    from curate.mine.index import Index

    with Index(settings) as index:
        return index.files(name)


def _newest(name: str, packages: Sequence[DistributionPackage]) -> Version:
    usable = {_version(package) for package in packages if _rank(package) is not None and not package.is_yanked}
    versions = sorted(version for version in usable if version is not None)
    if not versions:
        raise ItemError("not_found", f"{name} has no release with an sdist or a wheel that is not yanked")
    return max((version for version in versions if not version.is_prerelease), default=versions[-1])


def _choose(pin: Pin, packages: Sequence[DistributionPackage], version: Version) -> DistributionPackage:
    """Return the best file of a version; yanked files only when there is no other."""
    wanted = [package for package in packages if _version(package) == version]
    ranked = [(package.is_yanked, rank, package.filename, package) for package in wanted if (rank := _rank(package))]
    if ranked:
        return min(ranked, key=lambda entry: entry[:3])[3]
    if wanted:
        names = ", ".join(sorted(package.filename for package in wanted)[:NEWEST])
        raise ItemError("no_usable_file", f"{pin.request} has neither sdist nor wheel, only {names}")
    raise ItemError("not_found", f"the index has no {pin.request}; {_newest_words(_version(p) for p in packages)}")


def _newest_words(versions: Iterable[Version | None]) -> str:
    known = sorted({version for version in versions if version is not None}, reverse=True)
    return f"its newest versions are {', '.join(map(str, known[:NEWEST]))}" if known else "it has no release at all"


def _version(package: DistributionPackage) -> Version | None:
    try:
        return Version(package.version or "")
    except InvalidVersion:
        return None


def _rank(package: DistributionPackage) -> tuple[int, int] | None:
    """Return how good a file is, the lowest first; None when it cannot be used."""
    if package.package_type == "sdist":
        return next(((0, place) for place, end in enumerate(SDISTS) if package.filename.endswith(end)), None)
    if package.package_type == "wheel":
        return 1, int(not package.filename.endswith("-none-any.whl"))
    return None
