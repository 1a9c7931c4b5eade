"""The corpora that `sources/corpora.toml` names, each obtained once and kept as a Parquet file in the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import Field, model_validator

from curate.config import load_toml
from curate.contamination.origins import Found, NotAvailableError, fetch
from curate.errors import UserError
from curate.records import Corpus, Struct
from curate.workspace import Workspace, cache

_FORMAT = 1
"""Raised when the cached files change their form."""


class Origin(Struct):
    """A place where a corpus can be had: exactly one of `file`, `folder`, `pypi` and `hub`."""

    file: str | None = None
    """A .jsonl, .json or .parquet file (.gz for the first two), relative to the workspace."""
    folder: str | None = None
    """A folder of Python files, each function of which is an item, relative to the workspace."""
    pypi: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+==[^=\s]+$")] | None = None
    """A distribution, NAME==VERSION."""
    member: str | None = None
    """With `pypi`: which file of the distribution, as a pattern."""
    hub: Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")] | None = None
    """A data set on the Hugging Face Hub, OWNER/NAME."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    """With `hub`: the full hash of the commit; a branch or a tag can move."""
    files: tuple[str, ...] = ()
    """With `hub`: which files of the data set, as patterns."""

    @model_validator(mode="after")
    def _complete(self) -> Origin:
        kinds = [kind for kind in ("file", "folder", "pypi", "hub") if getattr(self, kind)]
        if len(kinds) != 1:
            raise ValueError("an origin has exactly one of file, folder, pypi, hub")
        needed = {"pypi": {"member"}, "hub": {"revision", "files"}}.get(kinds[0], set())
        given = {key for key in ("member", "revision", "files") if getattr(self, key)}
        if needed != given:
            wants = " and ".join(sorted(needed)) or "no other key"
            raise ValueError(f"an origin with {kinds[0]} needs {wants}")
        return self

    @property
    def label(self) -> str:
        """What a person looks it up by."""
        return self.file or self.folder or self.pypi or self.hub or ""


class Entry(Struct):
    """A corpus."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$")]
    """Its name in every report."""
    id: str = "id"
    """Column that names an item; where it is missing, items are numbered."""
    code: tuple[str, ...] = ("code",)
    """Columns that make up an item's code when put one after the other; those that an origin lacks are left out."""
    text: tuple[str, ...] = ()
    """Columns that say in words what the item asks for."""
    origins: Annotated[tuple[Origin, ...], Field(min_length=1)]
    """Where it can be had: the first that works is used."""


class Corpora(Struct):
    """`sources/corpora.toml`."""

    corpus: tuple[Entry, ...] = ()
    """The corpora, one table each."""

    @model_validator(mode="after")
    def _named_once(self) -> Corpora:
        names = [entry.name for entry in self.corpus]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two corpora have the name {twice[0]}")
        return self


@dataclass(frozen=True)
class Obtained:
    """A corpus at hand, or the reason why not."""

    name: str
    fingerprint: str
    """Hash of what was read; empty when nothing was."""
    path: Path | None
    row: Corpus


def obtain(workspace: Workspace) -> list[Obtained]:
    """Obtain every corpus, in the order of the file; raises UserError when that is missing or wrong."""
    entries = load_toml(workspace.corpora, Corpora).corpus
    unreachable: set[str] = set()
    return [_obtain(entry, workspace, unreachable) for entry in entries]


def _obtain(entry: Entry, workspace: Workspace, unreachable: set[str]) -> Obtained:
    reasons = []
    for origin in entry.origins:
        try:
            return _from_origin(entry, origin, workspace, unreachable)
        except NotAvailableError as error:
            reasons.append(f"{origin.label}: {error}")
    last = entry.origins[-1]
    row = Corpus(
        corpus=entry.name,
        revision=last.revision or "",
        origin=last.label,
        status="not_checked",
        items=0,
        reason=" ".join("; ".join(reasons).split())[:500],
    )
    return Obtained(entry.name, "", None, row)


def _from_origin(entry: Entry, origin: Origin, workspace: Workspace, unreachable: set[str]) -> Obtained:
    """Return the corpus from one origin: out of the cache when its content is fixed by its address."""
    fixed = bool(origin.hub or origin.pypi)
    known = _path(_fingerprint(entry, origin, ""))
    if fixed and known.exists():
        return _obtained(entry, origin, known, origin.revision or (origin.pypi or "").partition("==")[2])
    found = fetch(origin, workspace.root, unreachable)
    path = known if fixed else _path(_fingerprint(entry, origin, found.revision))
    if not path.exists():
        _write(entry, found, path)
    return _obtained(entry, origin, path, found.revision)


def _fingerprint(entry: Entry, origin: Origin, content: str) -> str:
    shape = [_FORMAT, entry.id, entry.code, entry.text, origin.model_dump(), content]
    return hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:32]


def _path(fingerprint: str) -> Path:
    return cache() / "corpora" / f"{fingerprint}.parquet"


def _obtained(entry: Entry, origin: Origin, path: Path, revision: str) -> Obtained:
    import pyarrow.parquet as pq

    items = pq.read_metadata(path).num_rows
    row = Corpus(corpus=entry.name, revision=revision, origin=origin.label, status="checked", items=items, reason="")
    return Obtained(entry.name, path.stem, path, row)


def _write(entry: Entry, found: Found, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [_item(entry, number, row) for number, row in enumerate(found.rows)]
    if not rows:
        raise NotAvailableError("it has no items")
    if not any(row["code"].strip() or row["text"].strip() for row in rows):
        columns = ", ".join(sorted({str(key) for row in found.rows for key in row}))
        wanted = ", ".join([*entry.code, *entry.text]) or "none named"
        raise UserError(
            f"sources/corpora.toml: corpus {entry.name}: no column of {wanted} holds text; it has {columns}"
        )
    schema = pa.schema([(name, pa.string()) for name in ("item_id", "code", "text")])
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder) / path.name
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), part, use_dictionary=False)
        os.replace(part, path)  # noqa: PTH105 both are names in one folder


def _item(entry: Entry, number: int, row: dict[str, Any]) -> dict[str, str]:
    code = "".join(_text(row.get(column)) for column in entry.code)
    text = "\n".join(_text(row.get(column)) for column in entry.text)
    return {"item_id": str(row.get(entry.id, number)), "code": code, "text": text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
