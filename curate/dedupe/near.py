"""Near-duplicates: all pairs of documents whose shingles overlap enough, found exactly, in an in-memory DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.dedupe.components import Edge

Shingles: TypeAlias = npt.NDArray[np.uint64]
"""A set of shingles: sorted, without repeats, a tenth of the size of a Python set."""

MEMORY = "2GB"
"""What DuckDB may take before it spills to disk."""


def packed(shingles: set[int]) -> Shingles:
    """Return a set of shingles in its compact form."""
    return np.sort(np.fromiter(shingles, np.uint64, len(shingles)))


def jaccard(one: Shingles, other: Shingles) -> float:
    """Return the Jaccard similarity of two sets; 1.0 for two empty ones."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    united = len(one) + len(other) - common
    return common / united if united else 1.0


def similar_pairs(documents: Mapping[int, Shingles], threshold: float) -> Iterator[Edge]:
    """Yield every pair of documents with a Jaccard similarity of at least `threshold`, in order; see `near.sql`."""
    if len(documents) < 2:
        return
    # Through its decimal form: the float 0.7 is a little less than seven tenths.
    exact = Fraction(str(threshold))
    numbers = np.repeat(
        np.fromiter(documents, np.int64, len(documents)), [len(shingles) for shingles in documents.values()]
    )
    sets = pa.table({"document": numbers, "shingle": np.concatenate(list(documents.values()))})
    sql = (Path(__file__).parent / "near.sql").read_text(encoding="utf-8")
    with TemporaryDirectory(prefix="curate-") as spill, duckdb.connect(":memory:") as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'; SET preserve_insertion_order = false")
        connection.execute(f"SET temp_directory = '{spill.replace(chr(39), chr(39) * 2)}'")
        connection.register("sets", sets)
        found = connection.sql(sql, params={"p": exact.numerator, "q": exact.denominator}).fetchall()
    for one, other, common, united in found:
        yield Edge(one, other, "near", common / united)
