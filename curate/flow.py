"""From a command to the stages it runs: what `cli.py` calls, and what a program calls instead of the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curate.errors import UserError
from curate.pipeline import Options, Pipeline
from curate.recipe import Recipe, load_recipe
from curate.recording import Summary
from curate.release.funnel import Step, funnel
from curate.stages import BY_NAME
from curate.store import sql_text
from curate.workspace import DROPPED, HISTORY_DROPPED, Workspace

if TYPE_CHECKING:
    from curate.discover import Found

Report = Callable[[Summary], None]


@dataclass(frozen=True)
class Released:
    """A release that lies on disk."""

    name: str
    version: str
    folder: Path
    changed: bool
    """Whether this run wrote it; False: it held these very bytes already."""
    replaced: bool
    """Whether another release of this version lay there before."""
    funnel: Sequence[Step]
    counts: Mapping[str, int]
    """Split -> number of problems."""


@dataclass(frozen=True)
class Mining:
    """How `curate mine` goes about it."""

    refresh: bool = False
    """Ask GitHub again about what is known."""
    dry_run: bool = False
    """Only say what would be taken."""
    history: bool = False
    """Fetch the history of what was taken in, for the dates of functions."""
    max_disk: int | None = None
    """How many bytes of files of projects may lie in the workspace; more are taken in once others are done with."""


@dataclass(frozen=True)
class Mined:
    """What mining came to."""

    items: Sequence[Mapping[str, Any]]
    """What was to be mined, one exact request each."""
    found: Sequence[Found]
    """What each search led to."""
    summaries: Sequence[Summary]
    """What each stage did."""

    @property
    def postponed(self) -> int:
        """How many projects wait for room on the disk."""
        return sum(summary.reasons["disk_budget"] for summary in self.summaries)


def pipeline_for(workspace: Workspace, recipe: Recipe | None) -> Pipeline:
    """Return the pipeline of a workspace, with a recipe's settings where there is one."""
    return Pipeline(workspace, recipe.settings if recipe else None)


def mine(
    pipeline: Pipeline, sources: Sequence[str], options: Options, report: Report, mining: Mining | None = None
) -> Mined:
    """Mine what the arguments of `curate mine` name; from then on only these projects count for the pipeline."""
    from curate.discover import Discovery, discover

    mining = mining or Mining()
    discovery = Discovery(pipeline, options, mining.refresh, mining.dry_run, mining.max_disk)
    try:
        items, found = discover(discovery, sources)
    finally:
        for name in BY_NAME:
            if name in discovery.summaries:
                report(discovery.summaries[name])
    pipeline.requests = tuple(item["item_id"] for item in items)
    if mining.history and not mining.dry_run:
        report(pipeline.run(BY_NAME["history"], options))
    return Mined(items, found, list(discovery.summaries.values()))


def run_stages(pipeline: Pipeline, names: Sequence[str], options: Options, report: Report) -> None:
    """Run stages in order, reporting each as it ends; files that were dropped to make room are fetched again."""
    for name in names:
        summary = pipeline.run(BY_NAME[name], options)
        if summary.reasons[DROPPED]:
            _fetch_again(pipeline, name, options, report)
            summary = pipeline.run(BY_NAME[name], options)
        elif summary.reasons[HISTORY_DROPPED]:
            report(pipeline.run(BY_NAME["history"], replace(options, redo=True)))
            summary = pipeline.run(BY_NAME[name], options)
        report(summary)


def _fetch_again(pipeline: Pipeline, stage: str, options: Options, report: Report) -> None:
    """Mine the snapshots anew that a stage could not read."""
    module = BY_NAME["mine"].load()
    settings = module.Settings(**pipeline.settings.get("mine", {}))
    dropped = pipeline.store.rows(sql_text("sql/dropped.sql"), pipeline.view, stage=stage, reason=DROPPED)
    pinned = module.items([row["request"] for row in dropped], pipeline.workspace, settings)
    numbers = {row["request"]: row["repository_id"] for row in dropped}
    items = [{**item, "repository_id": numbers.get(item_id)} for item_id, item in pinned if isinstance(item, dict)]
    report(pipeline.run(BY_NAME["mine"], replace(options, redo=True, only=None, limit=None), items))


def run_recipe(
    workspace: Workspace,
    name: str,
    version: str | None,
    options: Options,
    report: Report,
    mining: Mining | None = None,
    prepare: Callable[[Pipeline], Pipeline] = lambda pipeline: pipeline,
) -> Released:
    """Run every stage of a recipe, resuming, and write the release.

    Where the disk has no room for all projects at once, the stages run over those taken in, and make room for the next.
    """
    name, recipe = load_recipe(workspace, name)
    version = check_version(workspace, name, version)
    pipeline = prepare(pipeline_for(workspace, recipe))
    mining = replace(mining or Mining(), history=recipe.history)
    stages = [stage for stage in BY_NAME if stage not in _BY_OTHER_MEANS and (stage != "date" or recipe.history)]
    postponed: int | None = None
    while True:
        left = mine(pipeline, recipe.sources, options, report, mining).postponed
        if not left or left == postponed:
            break
        run_stages(pipeline, _READING_FILES, options, report)
        postponed = left
    run_stages(pipeline, stages, options, report)
    return _release(pipeline, name, version, recipe, options, report)


_READING_FILES = ("extract", "install", "trace", "prove")
_BY_OTHER_MEANS = {"search", "repositories", "choose", "mine", "history", "release"}
"""Stages that `run_recipe` does not run one after the other."""


def release(workspace: Workspace, name: str, version: str | None, options: Options, report: Report) -> Released:
    """Write a release of a recipe from what the store holds; raises UserError when a stage has not been run for it."""
    from curate.discover import known

    name, recipe = load_recipe(workspace, name)
    version = check_version(workspace, name, version)
    pipeline = pipeline_for(workspace, recipe)
    pipeline.versions = _versions_run(pipeline, name, recipe.history)
    pipeline.requests = known(pipeline, recipe.sources)
    return _release(pipeline, name, version, recipe, options, report)


def _versions_run(pipeline: Pipeline, recipe: str, history: bool) -> dict[str, str]:
    """Return, for every stage, the newest version that ran with the recipe's settings."""
    versions: dict[str, str] = {}
    runs = pipeline.store.rows("SELECT stage, version, settings FROM runs ORDER BY started_at, run_id")
    for name, stage in BY_NAME.items():
        if name in _BY_OTHER_MEANS - {"mine"} or (name == "date" and not history):
            continue
        wanted = stage.load().Settings(**pipeline.settings.get(name, {})).model_dump(mode="json")
        for run in runs:
            same = run["stage"] == name and json.loads(run["settings"]) == wanted
            if same and run["version"].startswith(f"{stage.number}-"):
                versions[name] = run["version"]
        if name not in versions:
            raise UserError(f"{name} has not been run with the settings of {recipe}: `curate run {recipe}` runs all")
    return versions


def _release(pipeline: Pipeline, name: str, version: str, recipe: Recipe, options: Options, report: Report) -> Released:
    from curate.release import assemble
    from curate.release.build import write

    pipeline.settings["release"] = {
        "release": name,
        "version": version,
        "gates": _gates(pipeline.workspace, recipe),
        "split": recipe.split.model_dump(),
        "precedence": recipe.precedence,
        "seed": recipe.seed,
    }
    report(pipeline.run(BY_NAME["release"], Options(redo=options.redo)))
    content = assemble(pipeline.store, pipeline.view, name, version, recipe)
    folder = pipeline.workspace.releases / name / version
    lay_there = folder.exists()
    changed = write(content, folder)
    counts = {split: len(rows) for split, rows in content.problems.items()}
    return Released(name, version, folder, changed, changed and lay_there, content.funnel, counts)


def _gates(workspace: Workspace, recipe: Recipe | None) -> dict[str, Any]:
    """Return a recipe's gates, closed also for those who opted out of this workspace."""
    from curate import optout

    gates = dict(recipe.gates) if recipe else {}
    left_out = [*gates.get("opted_out", ()), *optout.read(workspace.root).opted_out]
    return {**gates, "opted_out": left_out} if left_out else gates


def check_version(workspace: Workspace, name: str, version: str | None) -> str:
    """Return the version to release: the one given, else the newest that lies there, else 0.1.0."""
    if version is None:
        lying = [path.parent.name for path in (workspace.releases / name).glob("*/lock.json")]
        numbers = [tuple(int(part) for part in one.split(".")) for one in lying if re.fullmatch(r"\d+\.\d+\.\d+", one)]
        return ".".join(str(part) for part in max(numbers, default=(0, 1, 0)))
    if not re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        raise UserError(f"{version} is not a version: write it as MAJOR.MINOR.PATCH, such as 0.1.0")
    return version


def status(workspace: Workspace, recipe_name: str | None) -> dict[str, Any]:
    """Return the funnel of what the store holds, the failures by stage and reason, and what still has to be run."""
    from curate.release.select import best_labels, decide

    name, recipe = load_recipe(workspace, recipe_name) if recipe_name else (None, None)
    pipeline = pipeline_for(workspace, recipe)
    store, view = pipeline.store, pipeline.view
    labels = best_labels(store.rows(sql_text("release/labels.sql"), view), recipe.precedence if recipe else ())
    candidates = store.rows(sql_text("release/candidates.sql"), view)
    decided = decide(candidates, labels, _gates(workspace, recipe))
    refusals = [(refusal[0], refusal[1]) if refusal else (None, "") for _, _, refusal in decided]
    snapshots = store.rows("SELECT name, revision FROM current_snapshots ORDER BY ALL", view)
    missing = {row["reason"]: row["count"] for row in store.rows(sql_text("sql/missing.sql"), view)}
    return {
        "workspace": str(workspace.root),
        "recipe": name,
        "projects": snapshots,
        "funnel": funnel(len(snapshots), refusals, missing, last="releasable"),
        "failures": store.rows(sql_text("sql/failures.sql"), view),
        "stages": store.rows(sql_text("sql/stages.sql"), view),
    }
