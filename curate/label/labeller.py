"""What a labeller is.

Built-in ones stand in `curate.label.LABELLERS`; others are found under the entry point group `curate.labellers`. Each
is made by calling what is registered with the axes, and has to pass the suite in `tests/label/test_contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, NamedTuple, Protocol, TypeAlias

from curate.errors import ItemError, UserError
from curate.label.axes import Axis, named
from curate.records import Label

GROUP = "curate.labellers"


class Opinion(NamedTuple):
    """What a labeller says of one function on one axis."""

    axis: str
    value: str
    confidence: float
    """How sure it is, in [0, 1]."""
    evidence: str
    """Why, in words a person can check; never empty."""


class Labeller(Protocol):
    """Says one value per axis of each function, the same each time it is asked."""

    def opinions(self, functions: Iterable[Mapping[str, Any]]) -> Iterator[list[Opinion]]:
        """Yield, for each function in order, its opinions: at most one per axis.

        A function is a row of `items.sql`. A function that cannot be judged gets an empty list.
        """
        ...  # pragma: no cover


Factory: TypeAlias = Callable[[Sequence[Axis]], Labeller]


def find(name: str, built_in: Mapping[str, Factory]) -> Factory:
    """Return what makes the labeller `name`; raises UserError that lists the known ones."""
    if name in built_in:
        return built_in[name]
    registered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in registered:
        known = ", ".join(sorted({*built_in, *registered}))
        raise UserError(f"there is no labeller {name!r}; known are {known}")
    loaded: Factory = registered[name].load()
    return loaded


def checked(name: str, function_id: str, opinions: list[Opinion] | None, axes: Sequence[Axis]) -> list[Label]:
    """Return opinions as records; raises ItemError when the labeller broke its contract."""
    if opinions is None:
        raise ItemError("bad_label", f"labeller {name} stopped before this function")
    allowed = named(axes)
    seen: set[str] = set()
    for axis, value, confidence, evidence in opinions:
        if axis not in allowed or axis in seen:
            raise ItemError("bad_label", f"labeller {name}: axis {axis!r} is unknown or was labelled twice")
        seen.add(axis)
        if value not in allowed[axis]:
            raise ItemError("bad_label", f"labeller {name}: {value!r} is no value of the axis {axis}")
        if not 0 <= confidence <= 1 or not evidence:
            raise ItemError("bad_label", f"labeller {name}: no confidence in [0, 1] or no evidence for {axis}")
    return [Label(function_id=function_id, labeller=name, **opinion._asdict()) for opinion in opinions]
