"""Functions -> matches with the items of known corpora, and a record of which corpora could be looked into.

A corpus that cannot be had is not an error but a row that says so: a function is only known to be clean of the corpora
that were checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from pydantic import Field

from curate.records import Match, Struct
from curate.work import Context, Done, Item, Prepared
from curate.workspace import Workspace


class Settings(Struct):
    """What counts as a match."""

    threshold: float = Field(0.7, gt=0, le=1)
    """Jaccard similarity of token shingles from which a function and an item are near-duplicates."""
    containment: float = Field(0.8, gt=0, le=1)
    """Share of the shingles of one that must be found in the other for it to count as a part of it."""
    text_containment: float = Field(0.7, gt=0, le=1)
    """The same for the words of a docstring and of an item's text."""
    min_shingles: int = Field(12, ge=1)
    """What has fewer telling shingles is compared as a whole only."""
    min_words: int = Field(10, ge=1)
    """What has fewer telling word shingles is not compared as text."""
    min_tokens: int = Field(30, ge=0)
    """Shorter functions are renamed copies only when they also share their own name."""
    common: int = Field(8, ge=1)
    """Shingles that more than so many items of one corpus have are idioms, and tell nothing."""
    max_matches: int = Field(5, ge=1)
    """At most so many matches of a function with one corpus are kept, the best."""


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Obtain every corpus that `sources/corpora.toml` names; raises UserError when that file is wrong."""
    from curate.contamination.corpora import obtain

    found = obtain(workspace)
    status = [[corpus.name, corpus.fingerprint] for corpus in found]
    return Prepared(
        fingerprint=hashlib.sha256(json.dumps(status).encode()).hexdigest()[:16],
        value=tuple((corpus.name, str(corpus.path)) for corpus in found if corpus.path),
        rows=tuple(corpus.row for corpus in found),
    )


def work(rows: list[Item], context: Context) -> Done:
    """Yield the matches of each function."""
    from curate.contamination.matching import matcher

    settings: Settings = context.settings
    match = matcher(context.prepared, settings)
    for row in rows:
        yield row["item_id"], list(_matches(row, match(row["normalised"], row["docstring"] or "")))


def _matches(row: Item, hits: list[tuple[str, str, str, str, float]]) -> Iterator[Match]:
    for corpus, item_id, relation, part, overlap in hits:
        yield Match(
            function_id=row["item_id"], corpus=corpus, item_id=item_id, relation=relation, part=part, overlap=overlap
        )
