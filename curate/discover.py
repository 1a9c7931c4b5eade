"""From what is asked for to the projects taken in: search, look up, choose, mine.

Every step is a stage of the pipeline, run as often as it takes: a span of a search that holds too many hits leads to
two smaller ones, and a repository that turns out not to fit makes room for the next. What a step needs is read from the
store, so a run that was stopped goes on where it was, and a later one asks only for what is new.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from curate import mine, optout
from curate.disk import make_room
from curate.errors import ItemError, UserError
from curate.mine import github
from curate.mine.github.address import address
from curate.mine.github.choose import Decision, Rules, decide, request_of
from curate.mine.github.criteria import Search
from curate.mine.github.queries import CAP, Span, open_spans
from curate.mine.sourcefile import SourceFile
from curate.pipeline import Options, Pipeline
from curate.recording import Summary, started_at
from curate.records import Repository
from curate.stages import BY_NAME
from curate.store import sql_text

Rows = list[dict[str, Any]]
POSTPONED = "disk_budget"
"""Reason of items for whose files there is no room yet."""


@dataclass
class Discovery:
    """One call of `curate mine`: what it has tried, and what each stage did."""

    pipeline: Pipeline
    options: Options
    refresh: bool = False
    """Whether to ask again about what is known."""
    dry: bool = False
    """Whether to stop before anything is looked up or taken in."""
    max_disk: int | None = None
    """How many bytes of files of projects may lie in the workspace."""
    began: str = field(default_factory=lambda: started_at(datetime.now(UTC)))
    tried: set[tuple[str, str]] = field(default_factory=set)
    summaries: dict[str, Summary] = field(default_factory=dict)
    """Stage -> what all its runs did."""

    @property
    def settings(self) -> mine.Settings:
        """The settings for mining."""
        return mine.Settings(**self.pipeline.settings.get("mine", {}))

    def fresh(self, stage: str, items: Rows) -> Rows:
        """Return the items that this call has not tried yet."""
        return [item for item in items if (stage, item["item_id"]) not in self.tried]

    def run(self, stage: str, items: Rows, *, redo: bool = False) -> None:
        """Run a stage over items, once in this call."""
        self.tried |= {(stage, item["item_id"]) for item in items}
        # What leads to mining is not cut short.
        options = self.options if stage == "mine" else replace(self.options, redo=redo, only=None, limit=None)
        for batch in self._batches(stage, items):
            summary = self.pipeline.run(BY_NAME[stage], options, batch)
            if stage in self.summaries:
                self.summaries[stage].add(summary)
            else:
                self.summaries[stage] = summary

    def _batches(self, stage: str, items: Rows) -> Iterator[Rows]:
        """Yield all items, or a few at a time while there is room for their files."""
        if stage != "mine" or self.max_disk is None or not items:
            yield items
            return
        size = 2 * self.options.workers
        for start in range(0, len(items), size):
            if not make_room(self.pipeline.workspace, self.pipeline.store, self.max_disk):
                why = ItemError(POSTPONED, "go on with the other stages, then mine again (--max-disk)", transient=True)
                yield [item if "error" in item else {**item, "error": why} for item in items[start:]]
                return
            yield items[start : start + size]

    def rows(self, sql: str, **parameters: Any) -> Rows:
        """Return rows of the store that count, with times in UTC."""
        found = self.pipeline.store.rows(sql, replace(self.pipeline.view, requests=None), **parameters)
        return [
            {name: value.replace(tzinfo=UTC) if isinstance(value, datetime) else value for name, value in row.items()}
            for row in found
        ]


@dataclass(frozen=True)
class Found:
    """What a source file has led to."""

    name: str
    decisions: Sequence[Decision]
    """A `Decision` for every repository that its search found."""
    unfinished: int = 0
    """How many parts of the search are still to be asked: more may be found, and other ones chosen."""


def discover(discovery: Discovery, sources: Sequence[str]) -> tuple[Rows, list[Found]]:
    """Take in what the arguments of `curate mine` name; return the items that were to be mined, and what was chosen."""
    workspace = discovery.pipeline.workspace
    wanted = mine.requests(sources, workspace)
    files = mine.searches(sources, workspace)
    items = explicit(discovery, wanted)
    if not discovery.dry and (items or not files):
        discovery.run("mine", items)
    found = []
    for name, file in files.items():
        unfinished = search(discovery, file.search or Search())
        decisions = settle(discovery, file)
        found.append(Found(name, decisions, unfinished))
        items += _items(discovery, decisions)
        if not discovery.dry and discovery.options.only is None and discovery.options.limit is None:
            record(discovery, name, decisions)
    return items, found


def explicit(discovery: Discovery, requests: Sequence[str]) -> Rows:
    """Return the items to mine for requests; those for GitHub are looked up, the rest are pinned by their source."""
    left_out = optout.read(discovery.pipeline.workspace.root)
    named = [request for request in requests if github.matches(request)]
    if named and not discovery.dry:
        discovery.run("repositories", _lookups(discovery, named), redo=discovery.refresh)
    known = _looked_up(discovery) if named else {}
    exact: dict[str, dict[str, Any] | None] = {}
    waiting: Rows = []
    for request in requests:
        row = known.get(request)
        if row is not None or request not in named or github.is_exact(request):
            exact[(request_of(row) if row else None) or request] = row
        elif discovery.dry:
            waiting.append({"item_id": request, "name": request})  # not asked for yet
        # else not found, which is reported where it was looked up
    pinned = mine.items(list(exact), discovery.pipeline.workspace, discovery.settings)
    return [*(_checked(item_id, item, exact.get(item_id), left_out) for item_id, item in pinned), *waiting]


def _checked(item_id: str, item: Any, row: dict[str, Any] | None, left_out: optout.OptOut) -> dict[str, Any]:
    if isinstance(item, ItemError):
        # What a request could not be pinned to today may be there tomorrow.
        return {"item_id": item_id, "name": item_id, "error": ItemError(item.reason, item.detail, transient=True)}
    names = [_named(item_id), str(item.get("name", item_id))]
    names += [row["full_name"], *row["former_names"]] if row else []
    refused = left_out.refusal(names, row["repository_id"] if row else None)
    if refused:
        return {**item, "error": ItemError(*refused, transient=True)}
    return {**item, "repository_id": row["repository_id"] if row else None}


def _named(item_id: str) -> str:
    """Return OWNER/NAME as an exact request has it."""
    return "/".join(item_id.rpartition("@")[0].removesuffix(".git").split(":")[-1].split("/")[-2:])


def _lookups(discovery: Discovery, requests: Sequence[str]) -> Rows:
    known = _looked_up(discovery)
    items: Rows = []
    for request in requests:
        name, ref = github.split(request)
        about = {"name": name, "full_name": name, "ref": ref, "known": known.get(request)}
        # Somebody named it: what is not there today may be there tomorrow.
        items.append({"item_id": request, **about, "again": True})
    return items


def search(discovery: Discovery, spec: Search) -> int:
    """Ask the spans of a search that are new or unfinished, smaller ones in place of those with too many hits.

    Returns how many are still to be asked, since they could not be had in full.
    """
    window = spec.window(datetime.now(UTC))
    while window and (items := discovery.fresh("search", _open(discovery, spec.queries(), window))):
        discovery.run("search", items, redo=True)
    discovery.summaries.setdefault("search", Summary("search"))
    return len(_open(discovery, spec.queries(), window)) if window else 0


def _open(discovery: Discovery, queries: Sequence[str], window: Span) -> Rows:
    since = discovery.began if discovery.refresh else ""
    asked = discovery.rows("SELECT * FROM current_searches WHERE run_id >= $since ORDER BY ALL", since=since)
    host = address().host
    asked = [row for row in asked if row["host"] == host]
    items: Rows = []
    for query in queries:
        own = [(Span(row["created_from"], row["created_to"]), row["status"]) for row in asked if row["query"] == query]
        done = [span for span, status in own if status == "complete"]
        split = {span for span, status in own if status == "split"}
        _check_cuts(
            query, {Span(row["created_from"], row["created_to"]): row for row in asked if row["query"] == query}
        )
        for span in open_spans(window, done, split):
            name = f"{query} {span.qualifier()}"
            about = {"query": query, "created_from": span.start, "created_to": span.end}
            items.append({"item_id": f"{host} {name}", "name": name, **about})
    return items


def _check_cuts(query: str, asked: Mapping[Span, Mapping[str, Any]]) -> None:
    """Raise UserError for a query that the time of creation does not cut: it would be asked for ever."""
    for span, row in asked.items():
        if row["status"] == "split" and row["total"] > CAP and span.divisible:
            totals = [asked[half]["total"] for half in span.halves() if half in asked]
            if totals == [row["total"]] * 2:
                raise UserError(f"{query}: has {row['total']:,} hits whatever the time of creation: ask less at once")


def settle(discovery: Discovery, file: SourceFile) -> Sequence[Decision]:
    """Decide on what a search found, looking up and taking in until nothing new is needed; return the decisions."""
    rules = _rules(discovery, file)
    roots = rules.search.copies == "exclude"
    known = _looked_up(discovery) if discovery.refresh else {}
    while True:
        rows = candidates(discovery, rules.search.queries())
        decisions = decide(rows, rules)
        taken = [decision.row for decision in decisions if decision.taken]
        again = [row for row in rows if row["revision"] or row["failed"]] if discovery.refresh else []
        unknown = [_lookup(row, known, roots) for row in [*again, *(row for row in taken if not row["revision"])]]
        unknown = discovery.fresh("repositories", unknown)
        unmined = discovery.fresh("mine", _items(discovery, decisions))
        if discovery.dry or not (unknown or unmined):
            return decisions
        if unknown:
            discovery.run("repositories", unknown, redo=discovery.refresh)
        else:
            discovery.run("mine", unmined)


def _rules(discovery: Discovery, file: SourceFile) -> Rules:
    search, limit = file.search or Search(), discovery.options.limit
    if limit is not None:
        search = search.model_copy(update={"take": min(limit, search.take or limit)})
    left_out = optout.read(discovery.pipeline.workspace.root, file.deny, file.opt_out)
    return Rules(search, file.require, left_out)


def _lookup(row: Mapping[str, Any], known: Mapping[str, Any], roots: bool) -> dict[str, Any]:
    about = {"name": row["full_name"], "full_name": row["full_name"], "repository_id": row["repository_id"]}
    return {"item_id": row["item_id"], **about, "ref": None, "roots": roots, "known": known.get(row["item_id"])}


def _looked_up(discovery: Discovery) -> dict[str, dict[str, Any]]:
    """Return what is known of every repository of this GitHub that was looked up, by item."""
    about = "SELECT * FROM current_repositories WHERE host = $host"
    rows = discovery.rows(about, host=address().host)
    return {row["work_item"]: {name: row[name] for name in Repository.model_fields} for row in rows}


def candidates(discovery: Discovery, queries: Sequence[str]) -> Rows:
    """Return what is known of every repository that any of the queries has found."""
    wanted, only, host = set(queries), discovery.options.only, address().host
    found: Rows = []
    for row in discovery.rows(sql_text("mine/github/candidates.sql")):
        if (
            row["host"] != host
            or wanted.isdisjoint(row["queries"])
            or (only and not fnmatch.fnmatchcase(row["full_name"], f"*{only}*"))
        ):
            continue
        pin = request_of(row)
        tried = ("repositories", row["item_id"]) in discovery.tried or ("mine", pin) in discovery.tried
        row["failed"] = row["failure"] is not None
        if (row["failure_transient"] or discovery.refresh) and not tried:
            row |= {"failure": None, "failure_detail": None}
        found.append(row)
    return found


def _items(discovery: Discovery, decisions: Sequence[Decision]) -> Rows:
    """Return the items to mine for what was chosen and looked up."""
    taken = [decision.row for decision in decisions if decision.taken and decision.row["revision"]]
    numbers = {request: row["repository_id"] for row in taken if (request := request_of(row))}
    pinned = mine.items(list(numbers), discovery.pipeline.workspace, discovery.settings)
    return [{**item, "repository_id": numbers[item_id]} for item_id, item in pinned if isinstance(item, dict)]


def record(discovery: Discovery, name: str, decisions: Sequence[Decision]) -> None:
    """Write down what was chosen, and why the rest was not."""
    discovery.run("choose", [{"item_id": name, "name": name, "source_file": name, "decisions": decisions}], redo=True)


def known(pipeline: Pipeline, sources: Sequence[str]) -> tuple[str, ...]:
    """Return what the arguments of `curate mine` led to when it last ran, without asking GitHub."""
    discovery = Discovery(pipeline, Options(), dry=True)
    wanted = mine.requests(sources, pipeline.workspace)
    found = [item["item_id"] for item in explicit(discovery, wanted)]
    newest = sql_text("mine/github/chosen.sql")
    for name in mine.searches(sources, pipeline.workspace):
        found += [row["request"] for row in discovery.rows(newest, source_file=name)]
    return tuple(found)
