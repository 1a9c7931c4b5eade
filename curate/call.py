"""What every command has in common: its options, and the one object it is given."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from curate.pipeline import Options, Pipeline
    from curate.workspace import Workspace

FOLDER = click.Path(path_type=Path, file_okay=False)
ARGUMENTS = frozenset({"source", "folder", "item", "name", "version"})
"""What commands take themselves; all else makes the `Call`."""


class Call:
    """One call of a command: where it works, how it runs, and where it reports to."""

    def __init__(self, folder: Path, *, as_json: bool, quiet: bool, recipe: str | None = None, **run: Any) -> None:
        from curate.console import Console

        self.folder = folder
        self.console = Console(as_json=as_json, quiet=quiet)
        self.recipe = recipe
        self.run = run

    @property
    def workspace(self) -> Workspace:
        """The workspace in the folder; raises UserError when there is none."""
        from curate.workspace import Workspace

        return Workspace.at(self.folder)

    @property
    def options(self) -> Options:
        """How stages are run."""
        from curate.pipeline import Options

        run = {**self.run, "workers": self.run.get("workers") or os.cpu_count() or 1}
        return Options(**run, progress=self.console.progress)

    def pipeline(self) -> Pipeline:
        """The workspace's pipeline, with the settings of the recipe where one is named."""
        from curate.flow import pipeline_for
        from curate.recipe import load_recipe

        return pipeline_for(self.workspace, load_recipe(self.workspace, self.recipe)[1] if self.recipe else None)

    def stages(self, *names: str) -> None:
        """Run stages and report them."""
        from curate.flow import run_stages

        run_stages(self.pipeline(), names, self.options, self.console.stage)


def common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every command has; the command is given the `Call` made from them."""

    @click.option("-C", "here", type=FOLDER, help="Work in this folder.")
    @click.option("--quiet", is_flag=True, help="Print nothing but errors.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
    @functools.wraps(command)
    def called(here: Path | None, **given: Any) -> None:
        arguments = {name: given.pop(name) for name in set(given) & ARGUMENTS}
        root = click.get_current_context().find_root()
        call = Call(here or root.obj or Path(), **given)
        root.meta["curate.call"] = call
        command(call, **arguments)

    return called


def of_stage(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every stage has."""
    for option in (
        click.option("--redo", is_flag=True, help="Do again what has been done."),
        click.option("--only", metavar="PATTERN", help="Only items whose name holds this (with * and ?)."),
        click.option("--workers", type=click.IntRange(1), help="Worker processes; one for each core by default."),
        click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many items."),
    ):
        command = option(command)
    return common(command)


def with_recipe(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option to run with a recipe's settings."""
    return click.option("--recipe", metavar="NAME", help="Use the settings of releases/NAME.toml.")(command)


def with_version(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option that says which version to write."""
    about = "Version to write; by default the newest that lies there, or 0.1.0."
    return click.option("--version", metavar="X.Y.Z", help=about)(command)
