"""A recipe: what goes into a release, and with which settings each stage runs for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from curate.config import load_toml
from curate.errors import UserError
from curate.records import Struct
from curate.workspace import Workspace


class Split(Struct):
    """How problems are divided."""

    rule: Literal["project"] = "project"
    """project: all problems of a project go to one split."""
    shares: dict[str, float] = Field(default_factory=lambda: {"test": 1.0})
    """Split name -> share of the problems to aim at."""
    assign: dict[str, str] = Field(default_factory=dict)
    """Project name -> split, for projects whose split is given."""

    @field_validator("shares")
    @classmethod
    def _shares(cls, shares: dict[str, float]) -> dict[str, float]:
        for name, share in shares.items():
            if not re.fullmatch(r"\w+", name):
                raise ValueError(f"a split's name is made of letters, digits and _, not {name!r}")
            if share <= 0:
                raise ValueError(f"the share of {name} must be above 0")
        if not shares:
            raise ValueError("at least one split is needed")
        return shares


class Recipe(Struct):
    """A file `releases/NAME.toml`."""

    title: str
    """Name of the data set for people."""
    description: str = ""
    """What it is, for the card."""
    kinds: tuple[Literal["function"], ...] = ("function",)
    """Kinds of problems, each a configuration of the data set."""
    sources: list[str] = Field(min_length=1)
    """What to mine: anything that `curate mine` takes."""
    history: bool = False
    """Whether the history of git repositories is fetched, so that functions have dates."""
    seed: int = 0
    """Seed of whatever is chosen at random."""
    split: Split = Field(default_factory=Split)
    """How problems are divided."""
    precedence: list[str] = Field(default_factory=lambda: ["human", "model", "rules"])
    """Labellers, the one believed first in front."""
    gates: dict[str, Any] = Field(default_factory=dict)
    """Gate -> threshold; gates that are not named keep their default (see curate/release/gates.py)."""
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Stage -> settings that differ from the stage's defaults."""


def load_recipe(workspace: Workspace, name: str) -> tuple[str, Recipe]:
    """Return (name, recipe) for a name in releases/ or the path of a TOML file; raises UserError."""
    path = Path(name) if name.endswith(".toml") else workspace.releases / f"{name}.toml"
    if not path.is_absolute() and not path.exists():
        path = workspace.root / path
    if not path.exists():
        known = ", ".join(sorted(found.stem for found in workspace.releases.glob("*.toml"))) or "none"
        raise UserError(f"there is no recipe {name} (recipes in releases/: {known})")
    recipe = load_toml(path, Recipe)
    _check_settings(path, recipe)
    return path.stem, recipe


def _check_settings(path: Path, recipe: Recipe) -> None:
    from curate.config import parse
    from curate.release.gates import parse_gates
    from curate.stages import BY_NAME

    for stage, values in recipe.settings.items():
        if stage not in BY_NAME or stage == "release":
            known = ", ".join(name for name in BY_NAME if name != "release")
            raise UserError(f"{path}: settings.{stage}: there is no such stage (stages: {known})")
        parse(BY_NAME[stage].load().Settings, values, f"{path}: settings.{stage}")
    parse_gates(recipe.gates, f"{path}: gates")
