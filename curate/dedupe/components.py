"""Clusters of documents that edges join, and how each member hangs on to its representative."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, TypeAlias

Relation: TypeAlias = Literal["representative", "renamed", "near"]


@dataclass(frozen=True)
class Edge:
    """Two documents that are duplicates."""

    one: int
    other: int
    relation: Literal["renamed", "near"]
    similarity: float


def clusters(count: int, edges: Iterable[Edge]) -> list[list[int]]:
    """Return the connected components of documents 0 to count - 1, each in order, ordered by their first."""
    parent = list(range(count))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for edge in edges:
        one, other = sorted((root(edge.one), root(edge.other)))
        parent[other] = one
    found: dict[int, list[int]] = defaultdict(list)
    for place in range(count):
        found[root(place)].append(place)
    return list(found.values())


def best_first(starts: Iterable[int], edges: Iterable[Edge]) -> dict[int, Relation]:
    """Return how each document is reached from the start in its component, when the closest is always taken next.

    Prim's algorithm: renamed copies are closer than near-duplicates, and these the closer the more similar.
    """
    neighbours: dict[int, list[tuple[int, float, int]]] = defaultdict(list)
    for edge in edges:
        for here, there in ((edge.one, edge.other), (edge.other, edge.one)):
            neighbours[here].append((_CLOSENESS.index(edge.relation), -edge.similarity, there))
    reached: dict[int, Relation] = {}
    heap = [(0, -1.0, start) for start in starts]
    while heap:
        closeness, _, place = heappop(heap)
        if place in reached:
            continue
        reached[place] = _CLOSENESS[closeness]
        for neighbour in neighbours[place]:
            if neighbour[2] not in reached:
                heappush(heap, neighbour)
    return reached


_CLOSENESS: tuple[Relation, ...] = ("representative", "renamed", "near")
