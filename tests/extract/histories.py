"""Small git repositories whose commits have the dates that a test wants, and what the stages say of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from curate.errors import ItemError
from curate.extract import Settings, dates, extract
from curate.mine import history
from curate.records import Appearance, Function, History
from curate.work import Context
from curate.workspace import Workspace

START = datetime(2020, 1, 1, 12, tzinfo=UTC)
Files = Mapping[str, str | bytes | None]


def day(number: float) -> datetime:
    """Return the moment that a commit of that day has."""
    return START + timedelta(days=number)


def long(name: str, number: int = 1, *, doc: str = "") -> str:
    """Return a function with more than a handful of statements, other ones for each number."""
    lines = [f"    value_{step} = compute(values, {number}, step={step + number})" for step in range(4)]
    says = f'    """{doc}"""\n' if doc else ""
    return f"def {name}(values):\n{says}" + "\n".join(lines) + f"\n    return combine(value_0, value_3, {number})\n"


class Repository:
    """A repository being made."""

    def __init__(self, folder: Path, form: str = "sha1") -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", f"--object-format={form}")

    def git(self, *arguments: str, authored: datetime = START, committed: datetime | None = None) -> str:
        """Run git at the given dates."""
        who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        at = {
            "GIT_AUTHOR_DATE": f"@{int(authored.timestamp())} +0000",
            "GIT_COMMITTER_DATE": f"@{int((committed or authored).timestamp())} +0000",
        }
        variables = {**os.environ, **who, **at, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Files) -> None:
        """Write files; None takes one away."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, number: float, files: Files, *, committed: float | None = None) -> str:
        """Commit changes as of a day, and return the commit."""
        self.write(files)
        self.git("add", "-A")
        moments = {"authored": day(number), "committed": day(number if committed is None else committed)}
        self.git("commit", "-q", "--allow-empty", "-m", "change", **moments)
        return self.git("rev-parse", "HEAD")

    def merge(self, number: float, *branches: str, files: Files | None = None) -> str:
        """Merge branches into the one that is checked out, with these files on top."""
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=b", "merge", "-q", "--no-ff", "--no-commit", *branches],
            cwd=self.folder, capture_output=True, check=False,
        )  # fmt: skip
        return self.commit(number, files or {})


class Dated:
    """What the stages `history`, `extract` and `date` say of the repository as it is."""

    def __init__(self, made: Repository, place: Path, **settings: int) -> None:
        for part in ("sources", "schema", "releases"):
            (place / part).mkdir(parents=True, exist_ok=True)
        workspace = Workspace.at(place)
        revision = made.git("rev-parse", "HEAD")
        snapshot = {"item_id": "snap", "snapshot_id": "snap", "name": "toy", "revision": revision}
        request = {"request": f"git+{made.folder.as_uri()}@{revision}", "url": "toy"}
        ((_, found),) = history.work([snapshot | request], Context(workspace, history.Settings(retries=0)))
        assert not isinstance(found, ItemError), found
        (self.history,) = (row for row in found if isinstance(row, History))
        root = place / "files"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(made.folder, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        rows = extract(root, "snap", "toy", Settings(black="none"))
        self.functions = [row for row in rows if isinstance(row, Function)]
        listed = [row.model_dump() for row in self.functions]
        item = snapshot | {"functions": listed, "fetched_at": self.history.fetched_at}
        ((_, dated),) = dates.work([item], Context(workspace, dates.Settings(**settings)))
        assert not isinstance(dated, ItemError), dated
        self.rows = {row.function_id: row for row in dated if isinstance(row, Appearance)}
        assert set(self.rows) == {row.function_id for row in self.functions}

    def __getitem__(self, name: str) -> Appearance:
        """Return the row of a function, given as its qualified name or as path:name."""
        path, _, qualname = name.rpartition(":")
        (found,) = [f for f in self.functions if f.qualname == qualname and path in {"", f.path}]
        return self.rows[found.function_id]

    def days(self, name: str) -> tuple[float, float, float]:
        """Return the days of first_seen_at, body_seen_at and changed_at."""
        row = self[name]
        moments = (row.first_seen_at, row.body_seen_at, row.changed_at)
        first, body, changed = ((moment - START) / timedelta(days=1) for moment in moments)
        return first, body, changed
