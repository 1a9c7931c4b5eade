"""The history of a repository: its commits, parents before children, and the files that each of them changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from curate.errors import ItemError
from curate.git.command import GitError, Limits, run
from curate.git.objects import entries

FILES = {"100644", "100755"}
RENAMES = ("-M", "-l1000")
"""git's own similarity, at its own 50%; in larger reorganisations only files that were moved unchanged."""
BLOCK = 1000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a history."""

    sha: str
    parents: tuple[int, ...]
    """Places of its parents in the list; those beyond the end of what is known are left out."""
    authored: int
    """Author date, in seconds since 1970; 0 when it cannot be read."""
    committed: int
    """Committer date."""
    cut: bool
    """Whether it has parents that are not known."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a commit changed, against its first parent."""

    path: str
    before: str
    """Path of the file in the parent, the same unless it was renamed."""
    blob: str | None
    """Its content now; None when it is no file any more."""


def commits(repository: Path, start: str, limits: Limits, most: int) -> list[Commit]:
    """Return `start` and at most so many of the commits before it, parents first; raises ItemError."""
    arguments = ["log", "--topo-order", f"--max-count={most}", "--format=%H%x09%at%x09%ct%x09%P", start, "--"]
    listed = _git(arguments, repository, limits).splitlines()
    shallow = _shallow(repository)
    place: dict[str, int] = {}
    found: list[Commit] = []
    for line in reversed(listed):
        sha, authored, committed, parents = line.split("\t")
        known = tuple(dict.fromkeys(place[parent] for parent in parents.split() if parent in place))
        cut = sha in shallow or any(parent not in place for parent in parents.split())
        place[sha] = len(found)
        found.append(Commit(sha, known, _seconds(authored), _seconds(committed), cut))
    return found


def changes(repository: Path, listed: Sequence[Commit], pattern: str, limits: Limits) -> Iterator[list[Change]]:
    """Yield, for each commit in order, the files matching a pathspec that it changed against its first known parent.

    A commit without one has all its files changed. Links and submodules are no files.
    """
    rest = iter(listed)
    while block := list(islice(rest, BLOCK)):
        asked = "".join(f"{each.sha} {listed[each.parents[0]].sha}\n" for each in block if each.parents)
        arguments = ["diff-tree", "--stdin", "-r", "--raw", "-z", "--no-abbrev", *RENAMES, "--", pattern]
        said = _parse(_git(arguments, repository, limits, asked.encode())) if asked else {}
        for each in block:
            yield said.get(each.sha, []) if each.parents else _all(repository, each.sha, pattern, limits)


def _all(repository: Path, commit: str, pattern: str, limits: Limits) -> list[Change]:
    ending = pattern.removeprefix("*")
    listed = (entry for entry in entries(repository, commit, limits) if entry.path.endswith(ending))
    return [Change(entry.path, entry.path, entry.sha) for entry in listed if entry.mode in FILES]


def _parse(said: str) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    parts = iter(said.split("\0"))
    inside: list[Change] = []
    for part in parts:
        if not part.startswith(":"):
            inside = found.setdefault(part, [])
            continue
        _, mode, _, blob, status = part.split(" ")
        before = next(parts)
        path = next(parts) if status[0] in "RC" else before
        if status[0] == "R" and mode not in FILES:
            inside.append(Change(before, before, None))
        inside.append(Change(path, before, blob if mode in FILES else None))
    return found


def _shallow(repository: Path) -> set[str]:
    file = repository / "shallow"
    return set(file.read_text().split()) if file.exists() else set()


def _seconds(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _git(arguments: list[str], repository: Path, limits: Limits, given: bytes | None = None) -> str:
    try:
        return run(arguments, repository, limits, given=given)
    except GitError as error:
        raise ItemError("damaged_repository", str(error)) from None
