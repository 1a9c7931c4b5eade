"""The labeller of rules: the signals of the axis files, weighed.

Weights are log-odds and add up as in a naive Bayes model. Signals are not independent, though: a function about losses
says "loss" everywhere. So within one kind of signal the strongest counts whole, the next a half, then a quarter, and so
on: however many words of a docstring match, together they count less than twice the strongest of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from curate.label.axes import Axis
from curate.label.labeller import Opinion
from curate.label.matching import Hit, Matcher

_SHOWN = 4
_SAYS = {
    "import": "uses", "call": "calls", "base": "its class derives from", "decorator": "is decorated with",
    "name": "its name has", "class": "its class is named", "path": "its path has", "argument": "has a parameter",
    "signature": "its signature has", "summary": "its docstring begins with", "docstring": "its docstring has",
    "body": "its code has", "project": "its project often has",
}  # fmt: skip


class Rules:
    """Labels by the signals of the axis files."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._axes = tuple(axes)
        self._matcher = Matcher(self._axes)

    def opinions(self, functions: Iterable[Mapping[str, Any]]) -> Iterator[list[Opinion]]:
        """Yield one opinion per axis for each function."""
        for function in functions:
            by_axis: list[list[Hit]] = [[] for _ in self._axes]
            for hit in self._matcher.hits(function):
                by_axis[hit.axis].append(hit)
            yield [_weigh(axis, hits) for axis, hits in zip(self._axes, by_axis, strict=True)]


def _weigh(axis: Axis, hits: list[Hit]) -> Opinion:
    totals = scores(axis, hits)
    best = axis.vocabulary.index(axis.fallback)
    if any(hit.signal.weight > 0 for hit in hits):
        best = max(range(len(totals)), key=totals.__getitem__)  # the first of equals: file order
    for_it = sorted((hit for hit in hits if hit.value == best and hit.signal.weight > 0), key=_strength)
    return Opinion(axis.axis, axis.vocabulary[best], _share(totals, best, axis.temperature), _evidence(for_it))


def scores(axis: Axis, hits: Iterable[Hit]) -> list[float]:
    """Return the score of each value: its prior, and per kind the weights with diminishing returns."""
    kinds: list[dict[str, list[float]]] = [{} for _ in axis.value]
    for hit in hits:
        kinds[hit.value].setdefault(hit.signal.kind, []).append(hit.signal.weight)
    return [
        value.prior + math.fsum(_discounted(weights) for weights in found.values())
        for value, found in zip(axis.value, kinds, strict=True)
    ]


def _discounted(weights: list[float]) -> float:
    """Return what speaks for a value less what speaks against it, the n-th strongest of either counted with 1 / 2^n."""
    return _fading(w for w in weights if w > 0) - _fading(-w for w in weights if w < 0)


def _fading(weights: Iterable[float]) -> float:
    return math.fsum(weight / (1 << n) for n, weight in enumerate(sorted(weights, reverse=True)))


def _share(totals: list[float], best: int, temperature: float) -> float:
    """Return the softmax of the best score, rounded so that it is the same on every machine."""
    top = max(totals)
    powers = [math.exp((total - top) / temperature) for total in totals]
    return round(powers[best] / math.fsum(powers), 4)


def _strength(hit: Hit) -> tuple[float, str]:
    return -hit.signal.weight, hit.found


def _evidence(hits: list[Hit]) -> str:
    said = list(dict.fromkeys(f"{_SAYS[hit.signal.kind]} {hit.found}" for hit in hits))[:_SHOWN]
    return "; ".join(said) or "nothing speaks strongly enough for another value"
