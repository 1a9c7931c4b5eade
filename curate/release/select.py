"""The stage `release`: which functions become problems, under which id and in which split, and why the rest do not."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from curate.recipe import Split
from curate.records import Row, Selection, Struct
from curate.release.gates import first_refusal, parse_gates
from curate.release.splits import by_project
from curate.shingles import canonical, logical_lines
from curate.work import Context


class Settings(Struct):
    """What the recipe says about choosing."""

    release: str = ""
    """Name of the recipe."""
    version: str = ""
    """Version to be released."""
    gates: dict[str, Any] = Field(default_factory=dict)
    """Gate -> threshold."""
    split: Split = Field(default_factory=Split)
    """How problems are divided."""
    precedence: list[str] = Field(default_factory=list)
    """Labellers, the one believed first in front."""
    seed: int = 0
    """Seed of the split."""


def work(tables: dict[str, Any], context: Context) -> Iterator[Row]:
    """Yield one Selection for every function."""
    settings: Settings = context.settings
    labels = best_labels(tables["labels"].to_pylist(), settings.precedence)
    decided = decide(tables["candidates"].to_pylist(), labels, settings.gates)
    sizes = Counter(row["project"] for row, problem_id, _ in decided if problem_id)
    splits = by_project(sizes, settings.split, settings.seed)
    for row, problem_id, refusal in decided:
        gate, reason, sentence = refusal or (None, "", "it passed every gate")
        yield Selection(
            release=settings.release,
            version=settings.version,
            function_id=row["function_id"],
            problem_id=problem_id,
            split=splits[row["project"]] if problem_id else None,
            gate=gate,
            reason_class=reason,
            reason=sentence,
        )


Decision = tuple[Mapping[str, Any], str | None, tuple[str, str, str] | None]


def decide(
    candidates: Sequence[dict[str, Any]], labels: Mapping[str, list[dict[str, Any]]], gates: Mapping[str, Any]
) -> list[Decision]:
    """Return (candidate, problem id or None, refusal or None) for every candidate, in order."""
    thresholds = parse_gates(gates, "gates")
    decided: list[Decision] = []
    taken: dict[str, str] = {}
    for candidate in candidates:
        own = labels.get(candidate["function_id"], [])
        row = {**candidate, "label_confidence": min((label["confidence"] for label in own), default=0.0)}
        refusal = first_refusal(row, thresholds)
        problem_id = None
        if refusal is None:
            problem_id = problem_id_of(row)
            if problem_id in taken:
                refusal = "duplicates", "same_problem", f"revision {taken[problem_id]} holds the same problem"
                problem_id = None
            else:
                taken[problem_id] = row["revision"]
        decided.append((row, problem_id, refusal))
    return decided


def problem_id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a problem: it stays while project, path, name and what the body says stay.

    Layout, comments and docstring may change, and so may the version of Python that curate runs on.
    """
    body = canonical(logical_lines(row["source"]))
    parts = [row["project"], row["path"], row["qualname"], row["kind"], body]
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{row['project']}/{row['qualname']}-{digest}"


def best_labels(labels: Sequence[dict[str, Any]], precedence: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return function_id -> one label an axis: by the labeller believed first, then the surest.

    A labeller that the precedence does not name comes after those it names; `human` also stands for `human:NAME`.
    """
    rank = {name: place for place, name in enumerate(precedence)}
    best: dict[tuple[str, str], dict[str, Any]] = {}

    def order(label: dict[str, Any]) -> tuple[int, float, str, str]:
        family = label["labeller"].split(":")[0]
        place = rank.get(label["labeller"], rank.get(family, len(rank)))
        return place, -label["confidence"], label["labeller"], label["value"]

    for label in labels:
        key = label["function_id"], label["axis"]
        if key not in best or order(label) < order(best[key]):
            best[key] = label
    chosen: dict[str, list[dict[str, Any]]] = {}
    for (function_id, _), label in sorted(best.items()):
        chosen.setdefault(function_id, []).append(label)
    return chosen
