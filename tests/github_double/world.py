"""The repositories of the double; they can change while it serves."""

from __future__ import annotations

import hashlib
import random
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

TOPICS = ("deep-learning", "pytorch", "tensorflow", "keras", "nlp", "computer-vision", "machine-learning", "gpu")
LANGUAGES = ("Python", "Python", "Python", "Jupyter Notebook", "C++", None)
LICENSES = ("MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0", "NOASSERTION", None)
FIRST = datetime(2008, 1, 1, tzinfo=UTC)


@dataclass
class Repository:
    """A repository, real (with a folder) or made up."""

    id: int
    owner: str
    name: str
    stars: int = 500
    language: str | None = "Python"
    topics: tuple[str, ...] = ()
    license: str | None = "MIT"
    size: int = 100
    created_at: datetime = FIRST
    pushed_at: datetime = FIRST
    fork_of: int | None = None
    template: int | None = None
    is_template: bool = False
    archived: bool = False
    private: bool = False
    description: str = ""
    default_branch: str = "main"
    folder: Path | None = None
    root: str = ""
    """First commit of one that is made up; copies share it."""
    state: Literal["normal", "empty", "blocked", "gone", "moved"] = "normal"
    former: list[str] = field(default_factory=list)
    commits: int = 3
    """How many a made-up one has."""

    @property
    def full_name(self) -> str:
        """OWNER/NAME."""
        return f"{self.owner}/{self.name}"

    def history(self) -> list[tuple[str, datetime]]:
        """Return (hash, date) of every commit of the default branch, the newest first."""
        if self.folder is not None:
            log = ["git", "log", "--format=%H %ct", self.default_branch, "--"]
            done = subprocess.run(log, cwd=self.folder, capture_output=True, text=True, check=False).stdout
            pairs = (line.split() for line in done.splitlines())
            return [(sha, datetime.fromtimestamp(int(when), UTC)) for sha, when in pairs]
        shas = [self.root or _sha(self.id, 0), *(_sha(self.id, number) for number in range(1, self.commits))]
        dated = [(sha, self.created_at + timedelta(days=day)) for day, sha in enumerate(shas)]
        return dated[::-1]

    def resolve(self, ref: str) -> str | None:
        """Return the commit that a branch, tag or hash names."""
        if self.folder is None:
            known = [sha for sha, _ in self.history()]
            return known[0] if ref in {self.default_branch, "HEAD"} else ref if ref in known else None
        wanted = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
        done = subprocess.run(wanted, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.stdout.strip() or None


class World:
    """All repositories, by number and by name."""

    def __init__(self, repositories: list[Repository]) -> None:
        self.by_id = {repository.id: repository for repository in repositories}
        self.age = 0
        """Raised with every change, so that answers are not taken from a cache."""

    @classmethod
    def simulated(cls, count: int, seed: int = 0) -> World:
        """Make up so many repositories, always the same; most are young, and some were made in one second."""
        draw = random.Random(seed)
        made: list[Repository] = []
        moment = FIRST
        for number in range(1, count + 1):
            if draw.random() > 0.02:
                share = draw.random() ** 0.4
                moment = FIRST + timedelta(seconds=int(share * 18 * 365 * 86400))
            origin = draw.choice(made).id if made and draw.random() < 0.05 else None
            made.append(
                Repository(
                    id=1000 + 7 * number,
                    owner=f"team{draw.randrange(count // 3 + 1)}",
                    name=f"project-{number}",
                    stars=400 + int(draw.paretovariate(1.2)),
                    language=draw.choice(LANGUAGES),
                    topics=tuple(sorted(draw.sample(TOPICS, draw.randrange(1, 4)))),
                    license=draw.choice(LICENSES),
                    size=draw.randrange(10, 500_000),
                    created_at=moment,
                    pushed_at=moment + timedelta(days=draw.randrange(1000)),
                    fork_of=origin,
                    archived=draw.random() < 0.1,
                )
            )
        return cls(made)

    @classmethod
    def of_folder(cls, folder: Path) -> World:
        """Take the git repositories in OWNER/NAME (or OWNER/NAME.git) below a folder, each with topic deep-learning."""
        found: list[Repository] = []
        for number, path in enumerate(sorted(path for path in folder.glob("*/*") if path.is_dir()), 1):
            head = ["git", "symbolic-ref", "--short", "HEAD"]
            done = subprocess.run(head, cwd=path, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                owner, name = path.parent.name, path.name.removesuffix(".git")
                branch = done.stdout.strip()
                made = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)
                found.append(
                    Repository(
                        number,
                        owner,
                        name,
                        topics=("deep-learning",),
                        folder=path,
                        default_branch=branch,
                        created_at=made,
                    )
                )
        return cls(found)

    def named(self, full_name: str) -> Repository | None:
        """Return the repository that has, or had, this name."""
        wanted = full_name.lower()
        every = list(self.by_id.values())
        now = next((one for one in every if one.full_name.lower() == wanted), None)
        return now or next((one for one in every if wanted in map(str.lower, one.former)), None)

    def rename(self, number: int, full_name: str) -> None:
        """Give a repository another name; the old one leads to it."""
        repository = self.by_id[number]
        repository.former.append(repository.full_name)
        repository.owner, repository.name = full_name.split("/")
        self.age += 1

    def change(self, number: int, **facts: object) -> None:
        """Change facts of a repository."""
        for name, value in facts.items():
            setattr(self.by_id[number], name, value)
        self.age += 1


def _sha(number: int, commit: int) -> str:
    return hashlib.sha1(f"{number}:{commit}".encode(), usedforsecurity=False).hexdigest()
