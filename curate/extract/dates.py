"""The stage `date`: since when each function of a project has been there, from the project's whole history.

For claims of freshness a date may be too early, never too late; wherever there was a choice, the older answer is taken.

**When a commit was.** Author dates survive rebasing and say when a change was written; committer dates say when the
commit was made. Clocks are wrong at times. So: a commit was made no later than its committer date, no later than any
commit that has it as an ancestor, and no later than the history was fetched; it counts as of that moment or as of its
author date, whichever is earlier. Dates before 1991, when there was no Python, are no dates. Nothing can be said of
code that was older than the repository: the first commit is as far as one can see.

**What is compared.** `normalised_sha256`, the body as extraction normalises it: comments, docstrings, layout and quotes
have no part in it; name, parameters and decorators have. Where a function was renamed, its statements alone.

**What a function was before**, in a commit that changed its file. The first of these that there is:

1. the function of that qualified name in the same file, whatever it said; files are followed where git sees a renaming
   (half of the content kept, or all of it when more than a thousand files move at once);
2. one that the same commit took out, from any file, with the same body; with the same statements (if these are short
   ones, of the same file or name); of the same name (without that of its class), in another file with half of the lines
   in common; or of the same file under another name, with 60 % of them;
3. one of that name that was taken out of the same file earlier: it is brought back;
4. one that says the same, wherever it stands or stood, if its statements have 100 characters or more: it is a copy;
5. one of that qualified name that was taken out of another file earlier, with the same body, or half of its lines.

Without any, it begins here. A merge goes on from all its parents: a file as one of them has it is that one's; a
function that several have is as old as the oldest; what none of them has was written in the merge.

**The dates.** `first_seen_at` is the earliest date among the commits that began or changed the lineage. `body_seen_at`
is the earliest date of a commit that introduced exactly this body, anywhere in the project and under any lineage.
`changed_at` is the date of the commit that gave the function its present body: a change taken back is a change, moving
is not, nor is taking out and bringing back.

**What is not followed**: notebooks; code in files that do not end in .py, or in other repositories; a function that was
renamed, moved and rewritten at once. `complete` says whether the beginning can be known: it is false for all functions
of a history that is cut off, and for those that came up in a file of which the version before does not parse. Their
first date is the latest possible one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from curate.errors import ItemError
from curate.extract.lineage import Node
from curate.extract.replay import Replay, State
from curate.git.command import GitError, Limits, run
from curate.git.history import Commit, changes, commits
from curate.git.objects import Blobs
from curate.records import Appearance, Struct
from curate.work import Context, Done, Item
from curate.workspace import HISTORY_DROPPED

NO_PYTHON = 667_000_000
"""Seconds from 1970 to the first release of Python, in February 1991."""


class Settings(Struct):
    """How far back to look."""

    max_commits: int = Field(50_000, gt=0)
    """Of a longer history only so many commits are read, the last ones; no date of it counts as complete then."""
    timeout_seconds: float = Field(600.0, gt=0, exclude=True)
    """How long one git command may take."""


def work(rows: Iterable[Item], context: Context) -> Done:
    """Yield one Appearance for each function of each snapshot."""
    limits = Limits(timeout_seconds=context.settings.timeout_seconds)
    for row in rows:
        try:
            repository = context.workspace.history(row["snapshot_id"])
            _check(repository, row, limits)
            yield row["item_id"], list(appearances(repository, row, context.settings.max_commits, limits))
        except ItemError as error:
            yield row["item_id"], error


def _check(repository: Path, row: Item, limits: Limits) -> None:
    """Make sure that the history is there, and what it borrows from a repository of this machine too."""
    try:
        run(["cat-file", "-e", f"{row['revision']}^{{commit}}"], repository, limits)
    except (GitError, OSError):
        detail = f"the history of {row['name']} is gone, or the repository that it was read from: fetch it again"
        raise ItemError(HISTORY_DROPPED, detail, transient=True) from None


def appearances(repository: Path, row: Item, most: int, limits: Limits) -> Iterator[Appearance]:
    """Yield the dates of the functions `row['functions']` at `row['revision']`; raises ItemError."""
    from curate.extract import without_collector

    listed = commits(repository, row["revision"], limits, most)
    moments = when(listed, int(row["fetched_at"].replace(tzinfo=UTC).timestamp()))
    with without_collector(), Blobs(repository, limits) as blobs:
        replay = Replay(listed, moments, blobs.read)
        state = replay.run(changes(repository, listed, "*.py", limits))
    writer = _Writer(listed, moments, replay.memory.seen)
    nodes = _by_place(state)
    for function in row["functions"]:
        key = function["path"], function["qualname"], bytes.fromhex(function["normalised_sha256"])
        yield writer.row(function, nodes.get(key))


def when(listed: Sequence[Commit], latest: int) -> list[int]:
    """Return, for each commit, the moment that it counts as of, in seconds since 1970; `latest` bounds them all."""
    made = [latest] * len(listed)
    for place in range(len(listed) - 1, -1, -1):
        commit = listed[place]
        if commit.committed >= NO_PYTHON:
            made[place] = min(made[place], commit.committed)
        for parent in commit.parents:
            made[parent] = min(made[parent], made[place])
    return [
        min(moment, commit.authored) if commit.authored >= NO_PYTHON else moment
        for moment, commit in zip(made, listed, strict=True)
    ]


def _by_place(state: State) -> dict[tuple[str, str, bytes], Node]:
    return {
        (path, node.fact.qualname, node.fact.body): node for path, version in state.items() for node in version.nodes
    }


class _Writer:
    """Puts dates and words to what was found."""

    def __init__(self, listed: Sequence[Commit], moments: Sequence[int], seen: dict[bytes, int]) -> None:
        self.listed, self.moments, self.seen = listed, moments, seen
        self.cut = any(commit.cut for commit in listed)

    def row(self, function: dict[str, Any], node: Node | None) -> Appearance:
        """Return the row of one function; `node` is None for one that could not be followed."""
        last = len(self.listed) - 1
        first, changed = (node.first, node.changed) if node else (last, last)
        body = self.seen.get(bytes.fromhex(function["normalised_sha256"]), last)
        return Appearance(
            function_id=function["function_id"],
            first_seen_at=self._moment(first),
            first_seen_commit=self.listed[first].sha,
            first_seen_path=_shown(node.path if node else function["path"]),
            body_seen_at=self._moment(body),
            body_seen_commit=self.listed[body].sha,
            changed_at=self._moment(changed),
            changed_commit=self.listed[changed].sha,
            complete=node is not None and node.sure and not self.cut,
            how=self._how(function, node),
        )

    def _how(self, function: dict[str, Any], node: Node | None) -> str:
        if node is None:
            why = (
                "notebooks are not followed"
                if function["cell"] is not None
                else "it is not in a .py file of the commit"
            )
            return f"{why}: it was there at the latest in {self._name(len(self.listed) - 1)}"
        said = [f"began as {_shown(node.path)}:{node.qualname} in {self._name(node.first)}"]
        said += [
            f"{step.how} from {_shown(step.path)}:{step.qualname} in {self._name(step.commit)}" for step in node.steps
        ]
        if node.changed != node.first:
            said.append(f"has its present body since {self._name(node.changed)}")
        if self.cut:
            said.append("the history is cut off: it may be older")
        elif not node.sure:
            said.append("the version of the file before does not parse: it may be older")
        return "; ".join(said)

    def _moment(self, place: int) -> datetime:
        return datetime.fromtimestamp(self.moments[place], UTC)

    def _name(self, place: int) -> str:
        return self.listed[place].sha[:10]


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
