"""Functions -> clusters of equal and nearly equal ones, each with a representative.

Three relations join functions: the same code (layout, comments and docstring aside), the same code with other names,
and nearly the same tokens. A cluster is a connected component; nothing depends on the order of the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import Field

from curate.records import Cluster, Struct
from curate.renaming import renamed
from curate.shingles import SHINGLE, canonical, logical_lines, shingles, words
from curate.work import Context

if TYPE_CHECKING:
    import pyarrow as pa

    from curate.dedupe.components import Edge, Relation
    from curate.dedupe.near import Shingles


class Settings(Struct):
    """What counts as a duplicate."""

    threshold: float = Field(0.7, gt=0, le=1)
    """Jaccard similarity of token shingles from which two functions are near-duplicates."""
    shingle: int = Field(SHINGLE, ge=1)
    """Tokens in a shingle."""
    min_shingles: int = Field(20, ge=1)
    """Functions with fewer shingles are never near-duplicates: a changed token or two makes them another function."""
    min_tokens: int = Field(30, ge=0)
    """Shorter functions are renamed copies only when they also share their own name: getters all look alike."""


@dataclass(frozen=True)
class Document:
    """The code that one or more functions consist of."""

    members: list[int]
    """Numbers of its functions in the order of preference, best first."""
    renamed: str
    """The code with its local names replaced."""
    shingles: Shingles


def work(tables: dict[str, pa.Table], context: Context) -> Iterator[Cluster]:
    """Yield where each candidate function belongs: one row a function, duplicate or not."""
    from curate.dedupe.components import best_first, clusters
    from curate.dedupe.near import jaccard, similar_pairs

    settings: Settings = context.settings
    rows = sorted(tables["functions"].to_pylist(), key=preference)
    documents = _documents(rows, settings)
    long_enough = {n: d.shingles for n, d in enumerate(documents) if len(d.shingles) >= settings.min_shingles}
    edges = [*_renamed_edges(documents), *similar_pairs(long_enough, settings.threshold)]
    groups = clusters(len(documents), edges)
    relations = best_first([group[0] for group in groups], edges)
    for group in groups:
        # Documents are numbered in the order of preference, so the first of a group holds its representative.
        representative = documents[group[0]]
        for place in group:
            similarity = jaccard(documents[place].shingles, representative.shingles) if place != group[0] else 1.0
            yield from _rows(rows, documents[place], representative, relations[place], similarity)


def _rows(
    rows: Sequence[dict[str, Any]], document: Document, first: Document, relation: Relation, similarity: float
) -> Iterator[Cluster]:
    """Yield a row for each function of a document: its best one hangs on to the cluster, the others are its copies."""
    representative_id = rows[first.members[0]]["function_id"]
    for number, member in enumerate(document.members):
        yield Cluster(
            function_id=rows[member]["function_id"],
            cluster_id=sha256(representative_id.encode()).hexdigest()[:16],
            representative_id=representative_id,
            relation="exact" if number else relation,
            similarity=similarity,
        )


def preference(row: dict[str, Any]) -> tuple[bool, bool, datetime, str, str]:
    """Sort key of who stands for a cluster: verified, then earliest (unknown dates last), then project and id."""
    date = row["committed_at"]
    return not row["verified"], date is None, date or datetime.min, row["project"], row["function_id"]


def _documents(rows: Sequence[dict[str, Any]], settings: Settings) -> list[Document]:
    """Bring together rows with the same code, in order of their best row."""
    from curate.dedupe.near import packed

    found: dict[str, Document] = {}
    texts: dict[str, Document] = {}
    for place, row in enumerate(rows):
        document = texts.get(row["normalised"])
        if document is None:
            lines = logical_lines(row["normalised"])
            tokens = words(lines)
            alike = renamed(lines, keep_own_name=len(tokens) < settings.min_tokens)
            new = Document([], alike, packed(shingles(tokens, settings.shingle)))
            document = texts[row["normalised"]] = found.setdefault(canonical(lines), new)
        document.members.append(place)
    return list(found.values())


def _renamed_edges(documents: Sequence[Document]) -> Iterator[Edge]:
    """Yield an edge from the best document of each renamed text to the others."""
    from curate.dedupe.components import Edge

    alike: dict[str, list[int]] = defaultdict(list)
    for place, document in enumerate(documents):
        alike[document.renamed].append(place)
    for first, *others in alike.values():
        for other in others:
            yield Edge(first, other, "renamed", 1.0)
