"""Make an environment in which a project's tests run, as it was on the day of the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from curate.errors import ItemError
from curate.records import Environment, Failure, Row, Struct
from curate.verify import environments, generated, lockfile, project, recipes, uv, wanted
from curate.verify.build import Builder
from curate.verify.lockfile import Source
from curate.verify.resolve import Resolver
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
    allow_build: bool = False
    """Build, inside the sandbox, what has no wheel, and the project itself where its build makes files."""
    build_seconds: float = 900.0
    """Time limit for one build."""
    build_memory_gb: int = 4
    """Memory for one build, in GiB."""


def prepare(settings: Settings, workspace: Workspace) -> Prepared:
    """Read the recipes."""
    del settings
    return recipes.prepare(workspace)


def work(rows: Sequence[Item], context: Context) -> Done:
    """Yield the environment of each snapshot; what code has to run for it runs in the sandbox."""
    for row in rows:
        try:
            result: list[Row] | ItemError = list(install(row, context))
        except ItemError as error:
            result = error
        yield row["item_id"], result


def install(row: Item, context: Context) -> Iterator[Row]:
    """Resolve and make the environment of one snapshot; raises ItemError.

    What it has to do without (requirements of its tests that lack wheels, files that its own build would have made) is
    a failure beside the environment.
    """
    folder = context.workspace.files_of(row["item_id"])
    settings: Settings = context.settings
    recipe = recipes.of(context.prepared, row["name"])
    who = project.identity(folder, row["name"], row["revision"])
    asked = wanted.choose(folder, who.name, [*settings.heavy, *recipe.heavy], recipe.packages)
    python, version, steps = _interpreter(row.get("requires_python"))
    builder = None
    if settings.allow_build or recipe.allow_build:
        memory = settings.build_memory_gb << 30
        builder = Builder(version, context.extra.get("sandbox"), settings.build_seconds, memory)
    day = _day_after(row.get("committed_at"))
    resolver = Resolver(row["name"].rpartition("/")[2], settings.pytest, python, builder, [*steps, *asked.left_out])
    requirements, as_of, lock = resolver.resolve(asked, day if settings.as_of_date else None)
    if error := resolver.not_built():
        yield _part(row, "requirements", error)
    seen_as: Literal["source", "wheel"] = "source"
    if builder and (why := generated.reason(folder)):
        try:
            lock = _with_project(builder, lock, folder, row["item_id"], who.version, as_of)
            seen_as = "wheel"
            resolver.steps.append(f"the project: {why}; built, and what its sources lack is put beside them")
        except ItemError as error:
            if error.transient:
                raise
            resolver.steps.append(f"the project: {why}; {error.reason}; its sources are used as they are")
            yield _part(row, "project", error)
    identity = environments.environment_id(version, lock)
    environments.ensure(identity, version, lock, lambda: builder.wheels(lock) if builder else {})
    known = {**asked.all(), settings.pytest: "curate"}
    yield Environment(
        environment_id=identity,
        snapshot_id=row["item_id"],
        python=version,
        requirements=requirements,
        requirements_from=[known[text] for text in requirements],
        lock=lock,
        resolved_as_of=as_of,
        steps=resolver.steps,
        project=seen_as,
    )


def _part(row: Item, part: str, error: ItemError) -> Failure:
    """Return the failure of a part that the environment can do without."""
    return Failure(
        stage="install",
        item_id=f"{row['item_id']}:{part}",
        subject=f"{row['name']}:{part}",
        reason=error.reason,
        detail=error.detail,
    )


def _with_project(
    builder: Builder, lock: str, folder: Path, snapshot_id: str, version: str, as_of: datetime | None
) -> str:
    """Build the project and return the lock that says how; raises ItemError."""

    def fill(base: Path) -> None:
        generated.fill(folder, base)

    requires = builder.project_requires(fill, version, as_of, lockfile.pins(lock))
    source = Source(lockfile.PROJECT, "", snapshot_id, requires)
    builder.project(source, fill, version)
    return lockfile.write(lock, [source])


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
