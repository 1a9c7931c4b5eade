"""Mining: requests for projects become snapshots, whole and unchanged, with their licence and where it is written.

A snapshot is unpacked into a temporary folder and then moved to its place, so a folder that stands there is complete.
Nothing of a project is built or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from curate.errors import ItemError, UserError
from curate.mine import git, github, local, pypi, sourcefile
from curate.mine.source import Origin, Pin, Settings, Source, snapshot_id
from curate.mine.tree import LeftOut, Tree
from curate.records import Failure, License, Row, Snapshot
from curate.redact import redact
from curate.work import Context, Done, Item
from curate.workspace import Workspace

__all__ = ["SOURCES", "Settings", "items", "requests", "resolve", "searches", "sources", "work"]

SOURCES: dict[str, Source] = {"pypi": pypi, "git": git, "github": github, "local": local}
"""The sources that come with curate; others register under the entry point group `curate.sources`."""
GROUP = "curate.sources"


def sources() -> dict[str, Source]:
    """Return every source by name, `local` last, since any other path may be a folder; raises UserError."""
    found = {name: source for name, source in SOURCES.items() if name != "local"}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name in SOURCES:
            raise UserError(f"the source {point.name} of {point.value} has the name of one that comes with curate")
        try:
            found[point.name] = point.load()
        except Exception as error:
            raise UserError(f"the source {point.name} of {point.value} cannot be loaded: {error}") from error
        if not isinstance(found[point.name], Source):
            raise UserError(f"the source {point.name} of {point.value} lacks a member of curate.mine.source.Source")
    return {**found, "local": SOURCES["local"]}


def requests(arguments: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the checked requests that arguments and the source files among them name, each once; raises UserError."""
    known = sources()
    checked: dict[str, None] = {}
    for argument in arguments:
        if not _is_file(argument):
            checked[_check(argument, known, workspace)] = None
            continue
        for number, project in enumerate(sourcefile.load(workspace.root / argument).project, 1):
            try:
                checked[_check(project.request, known, workspace)] = None
            except UserError as error:
                raise UserError(f"{argument}: project {number}, request: {error}") from None
    return list(checked)


def searches(arguments: Sequence[str], workspace: Workspace) -> dict[str, sourcefile.SourceFile]:
    """Return the source files among the arguments that search, by name; raises UserError."""
    files = {name: sourcefile.load(workspace.root / name) for name in arguments if _is_file(name)}
    return {name: file for name, file in files.items() if file.search is not None}


def _is_file(argument: str) -> bool:
    return argument.endswith(".toml") and not re.match(r"[a-z]+[:+]", argument)


def resolve(request: str, settings: Settings) -> tuple[str, Pin]:
    """Return (name of the source, exact request) for a checked request; raises ItemError."""
    name, source = _source_of(request, sources())
    return name, source.resolve(request, settings)


def items(requests: Sequence[str], workspace: Workspace, settings: Settings) -> list[tuple[str, Item | ItemError]]:
    """Return (item_id, row for `work`) for each request, or (request, ItemError) for one that cannot be pinned."""
    del workspace
    found: dict[str, Item | ItemError] = {}
    for request in requests:
        try:
            source, pin = resolve(request, settings)
        except ItemError as error:
            found.setdefault(redact(request), error)
            continue
        row = {"item_id": pin.request, "unit": pin.request, "name": pin.name, "request": redact(request)}
        found.setdefault(pin.request, {**row, "source": source, "location": pin.location, "secret": pin.secret})
    _tell_apart([row for row in found.values() if isinstance(row, dict) and row["location"]])
    return list(found.items())


def _tell_apart(rows: Sequence[Item]) -> None:
    """Give projects that lie at different places and end in one name as much of their address as tells them apart."""
    places: dict[str, set[str]] = {}
    for row in rows:
        places.setdefault(row["name"], set()).add(row["location"])
    for row in rows:
        own = _parts(row["location"])
        others = [_parts(place) for place in places[row["name"]] if place != row["location"]]
        length = row["name"].count("/") + 1
        while others and length < len(own):
            length += 1
            others = [parts for parts in others if parts[-length:] == own[-length:]]
            row["name"] = "/".join(own[-length:])


def _parts(place: str) -> list[str]:
    return [part for part in re.split(r"[/:]+", place.removesuffix(".git")) if part]


def work(rows: Iterable[Mapping[str, Any]], context: Context) -> Done:
    """Mine pinned requests: yield (item_id, [Snapshot, one Failure for each file left out]) or (item_id, ItemError)."""
    known = sources()
    for row in rows:
        pin = Pin(row["item_id"], row["name"], row.get("location") or "", row.get("secret"))
        try:
            yield row["item_id"], _mine(known[row["source"]], pin, row.get("repository_id"), context)
        except ItemError as error:
            yield row["item_id"], error


def _mine(source: Source, pin: Pin, repository_id: int | None, context: Context) -> list[Row]:
    from curate.mine import licence, metadata
    from curate.mine.place import place, scratch
    from curate.mine.profile import profile

    target = context.workspace.snapshot("any").parent
    with scratch(target) as temporary:
        tree = Tree(temporary / "files", context.settings)
        origin = source.fetch(pin, tree, temporary, context.settings)
        root = tree.root or temporary
        stated = metadata.read(root)
        licences = licence.read(root, tree.files, stated, snapshot_id(origin.identity))
        snapshot = _snapshot(origin, tree, stated, licence.deciding(licences))
        like = profile(root, tree.files, snapshot.snapshot_id)
        place(root, context.workspace.snapshot(snapshot.snapshot_id), temporary)
    snapshot = snapshot.model_copy(update={"repository_id": repository_id})
    return [snapshot, like, *licences, *(_failure(pin, out) for out in tree.left_out)]


def _snapshot(origin: Origin, tree: Tree, stated: Sequence[Any], terms: License | None) -> Snapshot:
    return Snapshot(
        snapshot_id=snapshot_id(origin.identity),
        source=origin.source,
        name=origin.name,
        url=origin.url,
        revision=origin.revision,
        sha256=origin.sha256 or tree.digest(),
        committed_at=origin.committed_at,
        license_expression=terms.expression if terms else None,
        license_path=terms.read_from if terms else None,
        license_from=f"{terms.how} of {terms.read_from}" if terms else None,
        requires_python=next((each.requires_python for each in stated if each.requires_python), None),
        files=len(tree.files),
        bytes=tree.bytes,
    )


def _failure(pin: Pin, out: LeftOut) -> Failure:
    return Failure(
        stage="mine",
        item_id=f"{pin.request}:{out.path}",
        subject=f"{pin.name}:{out.path}",
        reason=out.reason,
        detail=out.detail,
    )


def _check(request: str, known: Mapping[str, Source], workspace: Workspace) -> str:
    return _source_of(request, known)[1].check(request, workspace)


def _source_of(request: str, known: Mapping[str, Source]) -> tuple[str, Source]:
    for name, source in known.items():
        if source.matches(request):
            return name, source
    forms = ", ".join(source.FORM for source in known.values())
    raise UserError(f"{redact(request)}: a source is one of {forms}, or a sources/*.toml file that lists such")
