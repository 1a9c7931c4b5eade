"""Clusters: near-duplicates found exactly, relations, representatives, nothing left to the order of the rows."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate import dedupe
from curate.dedupe.components import Edge, best_first, clusters
from curate.dedupe.near import jaccard, packed, similar_pairs
from curate.records import Cluster
from curate.work import Context
from curate.workspace import Workspace

DAY = datetime(2024, 1, 1)
LONG = """def standardise(values, floor):
    mean = np.mean(values, axis=0)
    spread = np.std(values, axis=0)
    spread = np.maximum(spread, floor)
    shifted = values - mean
    return shifted / spread
"""
RENAMED = (
    LONG.replace("standardise", "whiten")
    .replace("values", "batch")
    .replace("mean = ", "mu = ")
    .replace("- mean", "- mu")
)
NEAR = LONG.replace("    return shifted / spread\n", "    return shifted / spread * 9\n")
OTHER = (
    "def forward(self, x):\n    for layer in self.layers:\n        x = layer(x) + self.bias\n    return self.head(x)\n"
)


def row(function_id: str, code: str, **more: Any) -> dict[str, Any]:
    values = {"function_id": function_id, "project": "p", "normalised": code, "committed_at": DAY, "verified": False}
    return values | more


SCHEMA = pa.schema(
    [
        ("function_id", pa.string()),
        ("project", pa.string()),
        ("normalised", pa.string()),
        ("committed_at", pa.timestamp("us")),
        ("verified", pa.bool_()),
    ]
)


def cluster(rows: list[dict[str, Any]], workspace: Workspace, **given: Any) -> dict[str, Cluster]:
    tables = {"functions": pa.Table.from_pylist(rows, schema=SCHEMA)}
    found = list(dedupe.work(tables, Context(workspace, dedupe.Settings(**given))))
    assert len(found) == len(rows)
    return {row.function_id: row for row in found}


# --- the join ---

sets = st.lists(st.sets(st.integers(0, 30), max_size=14), max_size=12)
thresholds = st.sampled_from([0.01, 0.3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0])


@given(sets, thresholds)
@settings(deadline=None, max_examples=30)
def test_the_join_finds_what_comparing_all_pairs_finds(given: list[set[int]], threshold: float) -> None:
    documents = {number: packed(shingles) for number, shingles in enumerate(given) if shingles}
    expected = {
        (one, other)
        for one, other in combinations(sorted(documents), 2)
        if len(given[one] & given[other]) >= threshold * len(given[one] | given[other])
    }
    found = {(edge.one, edge.other): edge.similarity for edge in similar_pairs(documents, threshold)}
    assert found.keys() == expected
    assert all(found[pair] == jaccard(documents[pair[0]], documents[pair[1]]) for pair in found)


def test_the_join_is_exact_on_families_of_large_sets() -> None:
    rng = random.Random(7)
    given = []
    for _ in range(40):
        base = {rng.randrange(2**64) for _ in range(rng.randrange(20, 120))} | set(range(rng.randrange(12)))
        for _ in range(rng.randrange(1, 6)):
            cut = rng.sample(sorted(base), int(len(base) * rng.uniform(0.6, 1)))
            given.append({*cut, *(rng.randrange(2**64) for _ in range(rng.randrange(12)))})
    documents = {number: packed(shingles) for number, shingles in enumerate(given)}
    expected = {
        (one, other)
        for one, other in combinations(documents, 2)
        if 10 * len(given[one] & given[other]) >= 7 * len(given[one] | given[other])
    }
    assert len(expected) > 10
    assert {(edge.one, edge.other) for edge in similar_pairs(documents, 0.7)} == expected


def test_exactly_seven_tenths_is_enough() -> None:
    documents = {0: packed(set(range(10))), 1: packed(set(range(7)))}
    assert [edge.similarity for edge in similar_pairs(documents, 0.7)] == [0.7]
    assert list(similar_pairs(documents, 0.71)) == []


# --- components ---


def test_components_and_the_closest_way() -> None:
    edges = [Edge(1, 2, "near", 0.8), Edge(0, 2, "near", 0.7), Edge(1, 3, "renamed", 1.0), Edge(5, 6, "near", 0.9)]
    assert clusters(7, edges) == [[0, 1, 2, 3], [4], [5, 6]]
    assert best_first([0, 4, 5], edges) == {
        0: "representative",
        1: "near",
        2: "near",
        3: "renamed",
        4: "representative",
        5: "representative",
        6: "near",
    }


# --- the stage ---


def test_relations(workspace: Workspace) -> None:
    rows = [
        row("a", LONG),
        row("b", LONG, committed_at=DAY + timedelta(1)),
        row("c", RENAMED, committed_at=DAY + timedelta(2)),
        row("d", NEAR, committed_at=DAY + timedelta(3)),
        row("e", OTHER),
    ]
    found = cluster(rows, workspace)
    assert {key: value.relation for key, value in found.items()} == {
        "a": "representative",
        "b": "exact",
        "c": "renamed",
        "d": "near",
        "e": "representative",
    }
    assert {value.representative_id for key, value in found.items() if key != "e"} == {"a"}
    assert len({value.cluster_id for value in found.values()}) == 2
    assert found["a"].similarity == found["b"].similarity == 1.0
    assert found["c"].similarity < 0.7 <= found["d"].similarity < 1.0


def test_rewrapped_lines_are_the_same_code(workspace: Workspace) -> None:
    wrapped = LONG.replace("np.maximum(spread, floor)", "np.maximum(\n        spread,\n        floor,\n    )")
    assert cluster([row("a", LONG), row("b", wrapped)], workspace)["b"].relation == "exact"


GETTERS = {
    "other attribute": ("def size(self):\n    return self._size\n", "def name(self):\n    return self._name\n"),
    "other name": ("def size(self):\n    return self._n\n", "def count(self):\n    return self._n\n"),
    "other call": ("def f(x):\n    return np.exp(x)\n", "def f(x):\n    return np.log(x)\n"),
}


@pytest.mark.parametrize("case", GETTERS)
def test_short_functions_of_one_shape_are_not_duplicates(case: str, workspace: Workspace) -> None:
    one, other = GETTERS[case]
    found = cluster([row("a", one), row("b", other)], workspace)
    assert {value.relation for value in found.values()} == {"representative"}


def test_short_functions_that_share_their_name_may_be_renamed_copies(workspace: Workspace) -> None:
    one, other = "def relu(x):\n    return np.maximum(x, 0)\n", "def relu(value):\n    return np.maximum(value, 0)\n"
    assert cluster([row("a", one), row("b", other)], workspace)["b"].relation == "renamed"


PREFERRED = [
    ({"verified": True, "committed_at": None}, {"committed_at": DAY}),
    ({"committed_at": DAY}, {"committed_at": DAY + timedelta(1)}),
    ({"committed_at": DAY}, {"committed_at": None}),
    ({"project": "a"}, {"project": "b"}),
]


@pytest.mark.parametrize(("better", "worse"), PREFERRED)
def test_who_stands_for_a_cluster(better: dict[str, Any], worse: dict[str, Any], workspace: Workspace) -> None:
    for names in (("x", "y"), ("y", "x")):
        found = cluster([row(names[0], LONG, **better), row(names[1], NEAR, **worse)], workspace)
        assert {value.representative_id for value in found.values()} == {names[0]}
        assert found[names[1]].relation == "near"


def test_the_order_of_the_rows_changes_nothing(workspace: Workspace) -> None:
    rows = [
        row(f"{number:02}", code, committed_at=DAY + timedelta(number % 3), project=f"p{number % 2}")
        for number, code in enumerate([LONG, NEAR, OTHER, RENAMED, LONG, OTHER, NEAR.replace("9", "8"), RENAMED])
    ]
    expected = cluster(rows, workspace)
    for seed in range(4):
        random.Random(seed).shuffle(rows)
        assert cluster(rows, workspace) == expected


def test_code_that_does_not_parse_and_code_that_is_empty(workspace: Workspace) -> None:
    found = cluster([row("a", "def f(:\n  print 'x'"), row("b", ""), row("c", "")], workspace)
    assert [found[key].relation for key in "abc"] == ["representative", "representative", "exact"]


def test_no_functions(workspace: Workspace) -> None:
    assert cluster([], workspace) == {}
