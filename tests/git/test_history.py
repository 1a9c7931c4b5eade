"""Commits come parents first, each with the files that it changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.errors import ItemError
from curate.git.command import Limits
from curate.git.history import changes, commits
from tests.extract.histories import Repository, day

LIMITS = Limits()


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def test_commits_come_after_their_parents(repo: Repository) -> None:
    first = repo.commit(1, {"a.py": "1"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(2, {"b.py": "2"}, committed=3)
    repo.git("checkout", "-q", "main")
    repo.commit(4, {"c.py": "3"})
    last = repo.merge(5, "side")
    listed = commits(repo.folder, "HEAD", LIMITS, 100)
    assert (listed[0].sha, listed[-1].sha) == (first, last)
    assert all(parent < place for place, commit in enumerate(listed) for parent in commit.parents)
    assert len(listed[-1].parents) == 2
    dates = {(commit.authored, commit.committed) for commit in listed}
    assert (int(day(2).timestamp()), int(day(3).timestamp())) in dates
    assert not any(commit.cut for commit in listed)
    assert [commit.cut for commit in commits(repo.folder, "HEAD", LIMITS, 3)].count(True) >= 1


def test_changes_say_what_became_of_each_file(repo: Repository) -> None:
    text = "\n".join(f"line {number}" for number in range(30))
    repo.commit(1, {"a.py": text, "b.py": "b", "n.txt": "n"})
    repo.commit(2, {"a.py": None, "lib/c.py": text + "\nmore", "b.py": None})
    repo.commit(3, {})
    (repo.folder / "link.py").symlink_to("lib/c.py")
    repo.commit(4, {})
    listed = commits(repo.folder, "HEAD", LIMITS, 100)
    found = [
        sorted((one.before, one.path, one.blob is not None) for one in changed)
        for changed in changes(repo.folder, listed, "*.py", LIMITS)
    ]
    assert found == [
        [("a.py", "a.py", True), ("b.py", "b.py", True)],
        [("a.py", "lib/c.py", True), ("b.py", "b.py", False)],
        [],
        [("link.py", "link.py", False)],
    ]


def test_a_repository_without_the_commit_is_a_damaged_one(repo: Repository) -> None:
    repo.commit(1, {"a.py": "1"})
    with pytest.raises(ItemError, match="damaged_repository"):
        commits(repo.folder, "0" * 40, LIMITS, 10)
