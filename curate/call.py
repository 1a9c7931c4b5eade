"""What every command has in common: its options, and the one object it is given."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from curate.pipeline import Options, Pipeline
    from curate.workspace import Workspace

FOLDER = click.Path(path_type=Path, file_okay=False)
ARGUMENTS = frozenset({"source", "folder", "item", "name", "version", "dry_run", "refresh", "history", "max_disk"})
"""What commands take themselves; all else makes the `Call`."""


class Call:
    """One call of a command: where it works, how it runs, and where it reports to."""

    def __init__(self, folder: Path, *, as_json: bool, quiet: bool, recipe: str | None = None, **run: Any) -> None:
        from curate.console import Console

        self.folder = folder
        self.console = Console(as_json=as_json, quiet=quiet)
        self.recipe = recipe
        self.max_wait: float | None = run.pop("max_wait", None)
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

        cores, given = os.cpu_count() or 1, self.run.get("workers")
        run = {**self.run, "workers": given or cores, "waiting": given or max(4, 2 * cores)}
        return Options(**run, progress=self.console.progress, notice=self.console.notice)

    def pipeline(self) -> Pipeline:
        """The workspace's pipeline, with the settings of the recipe where one is named."""
        from curate.flow import pipeline_for
        from curate.recipe import load_recipe

        recipe = load_recipe(self.workspace, self.recipe)[1] if self.recipe else None
        return self.patient(pipeline_for(self.workspace, recipe))

    def patient(self, pipeline: Pipeline) -> Pipeline:
        """Let a pipeline wait no longer for a limit of GitHub than was said."""
        if self.max_wait is not None:
            for stage in ("search", "repositories"):
                pipeline.settings[stage] = {**pipeline.settings.get(stage, {}), "max_wait_seconds": self.max_wait}
        return pipeline

    def stages(self, *names: str) -> None:
        """Run stages and report them."""
        from curate.flow import run_stages

        run_stages(self.pipeline(), names, self.options, self.console.stage)


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A span of time: 90, 90s, 30m, 2h."""

    name = "time"

    def convert(self, value: Any, parameter: Any, context: Any) -> float:
        """Return it in seconds."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        if found is None:
            self.fail(f"{value!r} is not a time: write 90, 90s, 30m or 2h", parameter, context)
        return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


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


class Size(click.ParamType):  # type: ignore[type-arg]
    """An amount of data: 500MB, 20GB, 1TB."""

    name = "size"

    def convert(self, value: Any, parameter: Any, context: Any) -> int:
        """Return it in bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", str(value), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r} is not a size: write 500MB or 20GB", parameter, context)
        return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


def of_mining(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about taking projects in."""
    for option in (
        click.option("--max-wait", type=Duration(), metavar="TIME", help="Wait at most so long for a limit (60m)."),
        click.option(
            "--max-disk", type=Size(), metavar="SIZE", help="Keep the files of projects within so much (20GB)."
        ),
        click.option("--refresh", is_flag=True, help="Ask GitHub again about what is known already."),
    ):
        command = option(command)
    return command


def with_recipe(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option to run with a recipe's settings."""
    return click.option("--recipe", metavar="NAME", help="Use the settings of releases/NAME.toml.")(command)


def with_version(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option that says which version to write."""
    about = "Version to write; by default the newest that lies there, or 0.1.0."
    return click.option("--version", metavar="X.Y.Z", help=about)(command)
