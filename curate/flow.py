"""From a command to the stages it runs: what `cli.py` calls, and what a program calls instead of the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curate.errors import ItemError, UserError
from curate.pipeline import BY_NAME, Options, Pipeline
from curate.recipe import Recipe, load_recipe
from curate.recording import Summary
from curate.release.funnel import Step, funnel
from curate.store import sql_text
from curate.workspace import Workspace

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


def pipeline_for(workspace: Workspace, recipe: Recipe | None) -> Pipeline:
    """Return the pipeline of a workspace, with a recipe's settings where there is one."""
    return Pipeline(workspace, recipe.settings if recipe else None)


def mine(pipeline: Pipeline, sources: Sequence[str], options: Options) -> Summary:
    """Mine what the arguments of `curate mine` name; from then on only these projects count for the pipeline."""
    module = BY_NAME["mine"].load()
    settings = module.Settings(**pipeline.settings.get("mine", {}))
    requests = module.requests(sources, pipeline.workspace)
    items = [
        {"item_id": item_id, "name": item_id, "error": _again(found)} if isinstance(found, ItemError) else found
        for item_id, found in module.items(requests, pipeline.workspace, settings)
    ]
    summary = pipeline.run(BY_NAME["mine"], options, items)
    pipeline.requests = tuple(item["item_id"] for item in items)
    return summary


def _again(error: ItemError) -> ItemError:
    """What a request could not be pinned to today may be there tomorrow."""
    return ItemError(error.reason, error.detail, transient=True)


def run_stages(pipeline: Pipeline, names: Sequence[str], options: Options, report: Report) -> None:
    """Run stages in order, reporting each as it ends."""
    for name in names:
        report(pipeline.run(BY_NAME[name], options))


def run_recipe(workspace: Workspace, name: str, version: str | None, options: Options, report: Report) -> Released:
    """Run every stage of a recipe, resuming, and write the release."""
    name, recipe = load_recipe(workspace, name)
    version = check_version(workspace, name, version)
    pipeline = pipeline_for(workspace, recipe)
    report(mine(pipeline, recipe.sources, options))
    run_stages(pipeline, [stage for stage in BY_NAME if stage not in {"mine", "release"}], options, report)
    return _release(pipeline, name, version, recipe, options, report)


def release(workspace: Workspace, name: str, version: str | None, options: Options, report: Report) -> Released:
    """Write a release of a recipe from what the store holds; raises UserError when a stage has not been run for it."""
    name, recipe = load_recipe(workspace, name)
    version = check_version(workspace, name, version)
    pipeline = pipeline_for(workspace, recipe)
    pipeline.versions = _versions_run(pipeline, name)
    module = BY_NAME["mine"].load()
    requests = module.requests(recipe.sources, workspace)
    found = module.items(requests, workspace, module.Settings(**recipe.settings.get("mine", {})))
    pipeline.requests = tuple(item_id for item_id, _ in found)
    return _release(pipeline, name, version, recipe, options, report)


def _versions_run(pipeline: Pipeline, recipe: str) -> dict[str, str]:
    """Return, for every stage, the newest version that ran with the recipe's settings."""
    versions: dict[str, str] = {}
    runs = pipeline.store.rows("SELECT stage, version, settings FROM runs ORDER BY started_at, run_id")
    for name, stage in BY_NAME.items():
        if name == "release":
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
        "gates": recipe.gates,
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
    decided = decide(candidates, labels, recipe.gates if recipe else {})
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
