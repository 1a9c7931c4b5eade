"""The repositories of the double; they can change while it serves."""

from __future__ import annotations

import random
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.github_double.repository import FIRST, Repository

TOPICS = ("deep-learning", "pytorch", "tensorflow", "keras", "nlp", "computer-vision", "machine-learning", "gpu")
LANGUAGES = ("Python", "Python", "Python", "Jupyter Notebook", "C++", None)
LICENSES = ("MIT", "Apache-2.0", "BSD-3-Clause", "GPL-3.0", "NOASSERTION", None)


class World:
    """All repositories, by number, by name and by age; any thread may change and read it."""

    def __init__(self, repositories: list[Repository]) -> None:
        self.by_id = {repository.id: repository for repository in repositories}
        self.age = 0
        """Raised with every change, so that answers are not taken from a cache."""
        self.lock = threading.RLock()
        self._indexed = -1
        self._names: dict[str, Repository] = {}
        self._by_date: list[Repository] = []
        self._dates: list[datetime] = []

    # --- reading

    def named(self, full_name: str) -> Repository | None:
        """Return the repository that has, or had, this name."""
        with self.lock:
            self._index()
            return self._names.get(full_name.lower())

    def by_date(self) -> tuple[list[Repository], list[datetime]]:
        """Return all repositories by their creation, and these dates for bisection."""
        with self.lock:
            self._index()
            return self._by_date, self._dates

    def owners(self) -> set[str]:
        """Return all owners, in small letters."""
        with self.lock:
            return {one.owner.lower() for one in self.by_id.values()}

    def line(self, one: Repository) -> Iterator[Repository]:
        """Yield what a fork was forked from, and so on to the source of all."""
        while one.fork_of is not None and one.fork_of in self.by_id:
            one = self.by_id[one.fork_of]
            yield one

    def _index(self) -> None:
        if self._indexed == self.age:
            return
        every = list(self.by_id.values())
        former = {name.lower(): one for one in every for name in one.former}
        self._names = former | {one.full_name.lower(): one for one in every}
        self._by_date = sorted(every, key=lambda one: (one.created_at, one.id))
        self._dates = [one.created_at for one in self._by_date]
        self._indexed = self.age

    # --- changing

    def add(self, one: Repository) -> None:
        """Add a repository."""
        with self.lock:
            self.by_id[one.id] = one
            self.age += 1

    def rename(self, number: int, full_name: str) -> None:
        """Give a repository another name; the old one leads to it."""
        with self.lock:
            one = self.by_id[number]
            one.former.append(one.full_name)
            one.owner, one.name = full_name.split("/")
            self.age += 1

    def change(self, number: int, **facts: object) -> None:
        """Change facts of a repository: `stars=7`, `archived=True`, `state="gone"`..."""
        with self.lock:
            for name, value in facts.items():
                setattr(self.by_id[number], name, value)
            self.age += 1

    def push(self, number: int, moment: datetime | None = None) -> None:
        """Tell of a push: the dates, and one commit more when the repository is made up."""
        with self.lock:
            one = self.by_id[number]
            one.pushed_at = one.updated_at = moment or one.pushed_at + timedelta(hours=1)
            one.commits += 1
            self.age += 1

    def delete(self, number: int) -> None:
        """Take a repository away as if it had never been; `change(number, state="gone")` leaves its number known."""
        with self.lock:
            del self.by_id[number]
            self.age += 1

    # --- making

    @classmethod
    def simulated(cls, count: int, seed: int = 0) -> World:
        """Make up so many repositories, always the same; most are young, and some were made in one second."""
        draw, more = random.Random(seed), random.Random(seed + 1)
        made: list[Repository] = []
        known: dict[int, Repository] = {}
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
            one = made[-1]
            one.forks = int(one.stars * more.random() / 3)
            one.is_template = more.random() < 0.02
            if origin is not None or more.random() < 0.03:
                # Forks start where their parents do; and so do some copies of which GitHub does not know.
                like = known[origin] if origin is not None else more.choice(made)
                one.root = like.history()[-1].sha
            known[one.id] = one
        return cls(made)

    @classmethod
    def of_folder(cls, folder: Path) -> World:
        """Take the git repositories in OWNER/NAME (or OWNER/NAME.git) below a folder, each with topic deep-learning."""
        found: list[Repository] = []
        for number, path in enumerate(sorted(path for path in folder.glob("*/*") if path.is_dir()), 1):
            head = ["git", "symbolic-ref", "--short", "HEAD"]
            done = subprocess.run(head, cwd=path, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                made = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)
                one = Repository(number, path.parent.name, path.name.removesuffix(".git"), created_at=made)
                one.topics, one.folder, one.default_branch = ("deep-learning",), path, done.stdout.strip()
                found.append(one)
        return cls(found)
