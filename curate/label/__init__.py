"""Stage `label`: say of each function what it is for, on every axis of `schema/axes/`, with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from pydantic import Field, field_validator

from curate.errors import ItemError
from curate.label.axes import Axis, fingerprint, load_axes
from curate.label.labeller import Factory, Labeller, checked, find
from curate.label.rules import Rules
from curate.records import Label, Struct
from curate.work import Context, Done, Item, Prepared
from curate.workspace import Workspace

LABELLERS: Mapping[str, Factory] = {"rules": Rules}
"""Name -> what makes the labeller of that name from the axes."""


class Settings(Struct):
    """Settings of the stage."""

    labellers: tuple[str, ...] = Field(default=("rules",), min_length=1)
    """Who labels: names in `LABELLERS` or of the entry point group `curate.labellers`."""
    common_share: float = Field(default=0.05, gt=0, le=1)
    """A word is common in a project when this share of its functions has it; labels look at these words."""

    @field_validator("labellers")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Read the axes; raises UserError for an axis that is not valid or a labeller that does not exist."""
    for name in settings.labellers:
        find(name, LABELLERS)
    axes = load_axes(workspace.axes)
    return Prepared(fingerprint=fingerprint(axes), value=axes)


def work(rows: Iterable[Item], context: Context) -> Done:
    """Yield for each function the labels of every labeller asked for."""
    axes: tuple[Axis, ...] = context.prepared
    rows = list(rows)
    asked = {name: _made(name, axes).opinions(rows) for name in context.settings.labellers}
    for row in rows:
        opinions = {name: next(answers, None) for name, answers in asked.items()}
        labels: list[Label] = []
        try:
            for name, given in opinions.items():
                labels += checked(name, row["function_id"], given, axes)
        except ItemError as error:
            yield row["item_id"], error
        else:
            yield row["item_id"], labels


@lru_cache(maxsize=8)
def _made(name: str, axes: tuple[Axis, ...]) -> Labeller:
    """Return a labeller; kept, because a worker is called many times and remembers words it has looked up."""
    return find(name, LABELLERS)(axes)
