"""The funnel: how many came in, how many left at which step, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curate.release.gates import GATES, STEPS


@dataclass(frozen=True)
class Step:
    """One line of the funnel."""

    name: str
    count: int
    left: dict[str, int]
    """Reason -> how many left at this step, most frequent first."""


def funnel(
    projects: int,
    refusals: Iterable[tuple[str | None, str]],
    missing: Mapping[str, int] | None = None,
    last: str = "released",
) -> list[Step]:
    """Return the funnel of functions given as (gate that refused it or None, reason).

    `missing` counts the projects that could not be taken in, by reason; `last` names the last step. The
    counts of a step and the reasons of all steps up to it add up to the functions.
    """
    counted = Counter(refusals)
    remaining = sum(counted.values())
    steps = [Step("projects", projects, dict(missing or {})), Step("functions", remaining, {})]
    for name in STEPS:
        gates = {gate for gate, about in GATES.items() if about.step == name}
        reasons: Counter[str] = Counter()
        for (gate, reason), count in counted.items():
            if gate in gates:
                reasons[reason] += count
        remaining -= sum(reasons.values())
        ordered = dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))
        steps.append(Step(last if name == STEPS[-1] else name, remaining, ordered))
    return steps


def as_text(steps: Sequence[Step]) -> str:
    """Return the funnel as lines of text."""
    width = max(len(str(step.count)) for step in steps)
    lines = []
    for step in steps:
        why = ", ".join(f"{reason} {count}" for reason, count in step.left.items())
        gone = sum(step.left.values())
        lines.append(f"  {step.name:<16}{step.count:>{width}}" + (f"   -{gone}: {why}" if gone else ""))
    return "\n".join(lines)


def as_data(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the funnel as plain data, for JSON."""
    return [{"step": step.name, "count": step.count, "left": step.left} for step in steps]
