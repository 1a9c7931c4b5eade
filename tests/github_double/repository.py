"""One repository of the double: its facts, and its commits, real or made up."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

FIRST = datetime(2008, 1, 1, tzinfo=UTC)
FORMAT = "%H%x1f%ct%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%s"
State = Literal["normal", "empty", "blocked", "gone"]


class Commit(NamedTuple):
    """A commit as the API tells of it."""

    sha: str
    date: datetime
    tree: str
    parents: tuple[str, ...] = ()
    author: str = "A. Uthor"
    email: str = "a@example.org"
    message: str = "change"


@dataclass
class Repository:
    """A repository, real (with a folder) or made up. Renames go through World.rename, which fills `former`."""

    id: int
    owner: str
    name: str
    stars: int = 500
    language: str | None = "Python"
    topics: tuple[str, ...] = ()
    license: str | None = "MIT"
    """SPDX name; NOASSERTION is a file that GitHub does not recognise, None no file at all."""
    size: int = 100
    """KB."""
    created_at: datetime = FIRST
    pushed_at: datetime = FIRST
    updated_at: datetime | None = None
    """As `pushed_at` when None."""
    fork_of: int | None = None
    template: int | None = None
    """The template that it was made from."""
    is_template: bool = False
    archived: bool = False
    disabled: bool = False
    private: bool = False
    forks: int = 0
    description: str = ""
    homepage: str | None = None
    default_branch: str = "main"
    folder: Path | None = None
    """A real git repository, bare or not."""
    root: str = ""
    """First commit of one that is made up; copies share it."""
    state: State = "normal"
    former: list[str] = field(default_factory=list)
    """Names that it had; they lead to it as long as no other repository takes them."""
    commits: int = 3
    """How many a made-up one has; a push adds to them."""

    @property
    def full_name(self) -> str:
        """OWNER/NAME."""
        return f"{self.owner}/{self.name}"

    @property
    def updated(self) -> datetime:
        """When anything about it changed last."""
        return self.updated_at or self.pushed_at

    def history(self, start: str | None = None) -> list[Commit]:
        """Return the commits that lead to `start` (the default branch when None), the newest first."""
        if self.folder is not None:
            said = _git(self.folder, "log", f"--format={FORMAT}", start or self.default_branch, "--")
            return [_read(line) for line in said.splitlines()]
        shas = [self.root or _sha(self.id, 0), *(_sha(self.id, number) for number in range(1, self.commits))]
        every = [
            Commit(sha, self.created_at + timedelta(days=day), _sha(self.id, -day - 1), tuple(shas[:day][-1:]))
            for day, sha in enumerate(shas)
        ]
        known = shas.index(start) if start in shas else len(shas) - 1
        return every[known::-1]

    def resolve(self, ref: str) -> str | None:
        """Return the commit that a branch, tag or hash names."""
        if self.folder is not None:
            wanted = self.default_branch if ref == "HEAD" else ref
            named = f"{wanted}^{{commit}}"
            return _git(self.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", named).strip() or None
        known = [commit.sha for commit in self.history()]
        if ref in {self.default_branch, "HEAD"}:
            return known[0]
        return next((sha for sha in known if len(ref) >= 7 and sha.startswith(ref)), None)

    def license_file(self) -> tuple[str, bytes] | None:
        """Return path and content of the licence file of the default branch."""
        if self.folder is None:
            return ("LICENSE", f"SPDX-License-Identifier: {self.license}\n".encode()) if self.license else None
        names = _git(self.folder, "ls-tree", "--name-only", self.default_branch).splitlines()
        for name in names:
            if name.lower().split(".")[0] in {"license", "licence", "copying", "unlicense"}:
                return name, _git(self.folder, "show", f"{self.default_branch}:{name}").encode()
        return None


def _read(line: str) -> Commit:
    sha, when, tree, parents, author, email, message = line.split("\x1f", 6)
    date = datetime.fromtimestamp(int(when), UTC)
    return Commit(sha, date, tree, tuple(parents.split()), author, email, message)


def _git(folder: Path, *words: str) -> str:
    """Return what git says, nothing when it fails: then there is no such thing."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def _sha(number: int, commit: int) -> str:
    return hashlib.sha1(f"{number}:{commit}".encode(), usedforsecurity=False).hexdigest()
