"""Make an environment in which a project's tests run, as it was on the day of the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from curate.errors import ItemError
from curate.records import Environment, Row, Struct
from curate.verify import environments, project, recipes, uv, wanted
from curate.verify.wanted import Wanted
from curate.work import Context, Done, Item, Prepared
from curate.workspace import Workspace


class Settings(Struct):
    """What shapes the environments."""

    pytest: str = "pytest>=7,<10"
    """The pytest to run the tests with; within the range the version of the snapshot's day is taken."""
    as_of_date: bool = True
    """Take no package newer than the snapshot, as long as that can be had."""
    heavy: tuple[str, ...] = ()
    """Frameworks (torch, jax, ...) to install even where a project can do without."""


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Read the recipes."""
    del settings
    return recipes.prepare(workspace)


def work(rows: Sequence[Item], context: Context) -> Done:
    """Yield the environment of each snapshot; no code of the project or of a package runs."""
    for row in rows:
        try:
            result: list[Row] | ItemError = [install(row, context)]
        except ItemError as error:
            result = error
        yield row["item_id"], result


def install(row: Item, context: Context) -> Environment:
    """Resolve and make the environment of one snapshot; raises ItemError."""
    folder = context.workspace.snapshot(row["item_id"])
    if not folder.is_dir():
        raise ItemError("snapshot_missing", "its files are not there: mine it again")
    settings: Settings = context.settings
    recipe = recipes.of(context.prepared, row["name"])
    name = project.identity(folder, row["name"], row["revision"]).name
    asked = wanted.choose(folder, name, [*settings.heavy, *recipe.heavy], recipe.packages)
    python, version, steps = _interpreter(row.get("requires_python"))
    steps += asked.left_out
    requirements, as_of, lock = _resolve(asked, settings, python, _day_after(row.get("committed_at")), steps)
    identity = environments.environment_id(version, lock)
    environments.ensure(identity, version, lock)
    known = {**asked.all(), settings.pytest: "curate"}
    return Environment(
        environment_id=identity,
        snapshot_id=row["item_id"],
        python=version,
        requirements=requirements,
        requirements_from=[known[text] for text in requirements],
        lock=lock,
        resolved_as_of=as_of,
        steps=steps,
        project="source",
    )


def _interpreter(requires: str | None) -> tuple[Path, str, list[str]]:
    found = uv.find_python(requires or "")
    if found is None:
        raise ItemError("interpreter", f"the project asks for Python {requires}, and none is installed here")
    return *found, [f"interpreter {found[1]} (asked for: {requires or 'any'})"]


def _day_after(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _resolve(
    asked: Wanted, settings: Settings, python: Path, day: datetime | None, steps: list[str]
) -> tuple[list[str], datetime | None, str]:
    """Try one way after the other; returns requirements, date and lock of the first that works, noting the steps."""
    first: uv.Refusal | None = None
    for what, texts in _ways(asked):
        for as_of in dict.fromkeys([day if settings.as_of_date else None, None]):
            requirements = [*texts, settings.pytest]
            label = f"{what}, {f'as of {as_of:%Y-%m-%d}' if as_of else 'newest'}"
            try:
                lock = uv.lock(requirements, python, as_of)
            except uv.Refusal as refusal:
                if refusal.reason in {"network", "no_space"}:
                    raise refusal.error() from None
                steps.append(f"{label}: {refusal.reason}: {' '.join(refusal.detail.split())[:300]}")
                first = first or refusal
            else:
                steps.append(f"{label}: resolved")
                return requirements, as_of, lock
    raise first.error() if first else ItemError("install_failed", "nothing to resolve")


def _ways(asked: Wanted) -> Iterator[tuple[str, list[str]]]:
    """Yield what to ask for, giving up more and more; what a project cannot do without is never given up."""
    ways = {
        "all requirements": asked.all(),
        "without imports of tests": {**asked.core, **asked.tests},
        "without test extras": {**asked.core, **asked.imported},
        "core requirements only": asked.core,
    }
    seen: list[dict[str, str]] = []
    for what, texts in ways.items():
        if texts not in seen:
            seen.append(texts)
            yield what, list(texts)
