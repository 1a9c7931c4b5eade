"""What a project needs beyond what can be read from it: `sources/recipes/NAME.toml`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from packaging.utils import canonicalize_name
from pydantic import Field

from curate.config import load_toml
from curate.records import Struct
from curate.work import Prepared
from curate.workspace import Workspace


class Recipe(Struct):
    """One file of `sources/recipes`."""

    packages: tuple[str, ...] = ()
    """Further requirements for the environment."""
    heavy: tuple[str, ...] = ()
    """Frameworks to install although the project can do without."""
    allow_build: bool = False
    """Build, inside the sandbox, what has no wheel, and the project itself where its build makes files."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Environment variables for the tests."""
    test_paths: tuple[str, ...] = ()
    """What pytest is given, relative to the project's root; by default it looks everywhere."""
    deselect: tuple[str, ...] = ()
    """Tests to leave out, as `path::Class::test` or as a path."""


NONE = Recipe()


def folder(workspace: Workspace) -> Path:
    """Return where recipes lie."""
    return workspace.root / "sources" / "recipes"


def prepare(workspace: Workspace) -> Prepared:
    """Read every recipe; raises UserError for one that is not well-formed."""
    found: dict[str, Recipe] = {}
    for file in sorted(folder(workspace).glob("*.toml")):
        found[file.stem] = load_toml(file, Recipe)
    text = "\n".join(f"{name} {recipe.model_dump_json()}" for name, recipe in found.items())
    return Prepared(fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16] if found else "", value=found)


def of(recipes: Mapping[str, Recipe] | None, name: str) -> Recipe:
    """Return the recipe of a project: under its name, or the last part of OWNER/NAME."""
    known = {canonicalize_name(key): recipe for key, recipe in (recipes or {}).items()}
    return known.get(canonicalize_name(name.rpartition("/")[2]), NONE)
