"""The stage `history`: the whole history of a snapshot's repository, for the dates of its functions.

It lies as a bare repository under `.curate/histories/` and may be deleted at any time; who needs it then says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from curate.errors import ItemError
from curate.git.command import GitError, Limits, run
from curate.git.repository import history_of
from curate.mine.place import place, scratch
from curate.mine.remote import remote_of
from curate.records import History, Row, Struct
from curate.work import Context, Done, Item


class Settings(Struct):
    """What is fetched, and how long the network may take; the latter shapes no results (`exclude`)."""

    max_blob: int = Field(2_000_000, gt=0)
    """Files of more bytes than this are left out where the server can do that; extraction does not read them."""
    timeout_seconds: float = Field(1800.0, gt=0, exclude=True)
    """How long one git command may take."""
    silence_seconds: float = Field(30.0, gt=0, exclude=True)
    """How long a server may say nothing."""
    max_bytes: int = Field(8 * 1024**3, gt=0, exclude=True)
    """A history that takes more bytes than this is not fetched."""
    retries: int = Field(3, ge=0, exclude=True)
    """How often a download that broke off is tried again."""
    pause_seconds: float = Field(1.0, ge=0, exclude=True)
    """Pause before the first new try; it doubles with each further one."""

    def of_git(self) -> Limits:
        """Return the limits for git."""
        return Limits(**{name: getattr(self, name) for name in Limits.__dataclass_fields__})


def work(rows: Iterable[Item], context: Context) -> Done:
    """Fetch the history of each snapshot and yield a History, or the ItemError."""
    for row in rows:
        try:
            yield row["item_id"], [_history(row, context)]
        except GitError as error:
            yield row["item_id"], ItemError("damaged_repository", str(error))
        except ItemError as error:
            yield row["item_id"], error


def _history(row: Item, context: Context) -> Row:
    settings: Settings = context.settings
    limits = settings.of_git()
    target = context.workspace.history(row["snapshot_id"])
    if not _holds(target, row["revision"], limits):
        with scratch(target.parent) as temporary:
            remote = remote_of(row["request"], row["url"])
            made = history_of(remote, row["revision"], temporary, limits, max_blob=settings.max_blob)
            place(made, target, temporary)
    return _described(target, row, limits)


def _holds(repository: Path, revision: str, limits: Limits) -> bool:
    """Say whether a history is there, and what it borrows from a repository of this machine too."""
    if not repository.is_dir():
        return False
    try:
        run(["cat-file", "-e", f"{revision}^{{commit}}"], repository, limits)
    except GitError:
        return False
    return True


def _described(repository: Path, row: Item, limits: Limits) -> History:
    revision = row["revision"]
    count = int(run(["rev-list", "--count", revision, "--"], repository, limits))
    listed = run(["log", "--max-parents=0", "--format=%H%x09%ct", revision, "--"], repository, limits)
    ends = dict(line.split("\t") for line in listed.splitlines())
    shallow = repository / "shallow"
    cut = set(shallow.read_text().split()) if shallow.exists() else set()
    roots = sorted(set(ends) - cut)
    first = min(roots or sorted(ends), key=lambda sha: (_moment(ends[sha]) or datetime.max.replace(tzinfo=UTC), sha))
    return History(
        snapshot_id=row["snapshot_id"],
        commits=count,
        first_commit=first,
        first_commit_at=_moment(ends[first]),
        root_commits=roots,
        complete=not cut,
        reason="the repository itself holds no more than its last commits" if cut else "",
        bytes=sum(path.stat().st_size for path in repository.rglob("*") if path.is_file()),
        fetched_at=datetime.now(UTC).replace(microsecond=0),
    )


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
