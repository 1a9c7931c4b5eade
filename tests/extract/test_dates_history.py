"""The shapes that a history can have: merges, roots, wrong clocks, what cannot be read, what is missing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate.errors import ItemError
from curate.extract import dates
from curate.extract.dates import NO_PYTHON, when
from curate.git.history import Commit
from curate.work import Context
from curate.workspace import Workspace
from tests.extract.histories import START, Dated, Repository, day, long

Dating = Callable[..., Dated]


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


@pytest.fixture
def dated(tmp_path: Path, repo: Repository) -> Dating:
    return lambda **settings: Dated(repo, tmp_path / "workspace", **settings)


def branched(repo: Repository) -> None:
    repo.commit(1, {"a.py": long("f") + long("between", 9) + long("g", 2)})
    repo.git("branch", "side")


def test_a_branch_merged_late_has_the_dates_of_its_commits(repo: Repository, dated: Dating) -> None:
    branched(repo)
    repo.git("checkout", "-q", "side")
    repo.commit(2, {"new.py": long("h", 3), "a.py": long("f") + long("between", 9) + long("g", 5)})
    repo.git("checkout", "-q", "main")
    repo.commit(8, {"a.py": long("f", 4) + long("between", 9) + long("g", 2)})
    repo.merge(9, "side")
    found = dated()
    assert found.days("h") == (2, 2, 2)
    assert found.days("g") == (1, 2, 2)
    assert found.days("f") == (1, 8, 8)
    assert found.days("between") == (1, 1, 1)


def test_what_a_merge_writes_itself_is_its_own(repo: Repository, dated: Dating) -> None:
    branched(repo)
    repo.git("checkout", "-q", "side")
    repo.commit(2, {"a.py": long("f", 5)})
    repo.git("checkout", "-q", "main")
    repo.commit(3, {"a.py": long("f", 6)})
    repo.merge(4, "side", files={"a.py": long("f", 7) + long("evil", 8)})
    found = dated()
    assert found.days("f") == (1, 4, 4)
    assert found.days("evil") == (4, 4, 4)


def test_a_commit_picked_to_two_branches_counts_from_the_first(repo: Repository, dated: Dating) -> None:
    branched(repo)
    repo.commit(6, {"new.py": long("h", 3)})
    repo.git("checkout", "-q", "side")
    repo.commit(5, {"new.py": long("h", 3)})
    repo.git("checkout", "-q", "main")
    repo.merge(7, "side")
    assert dated().days("h") == (5, 5, 5)
    repo.commit(8, {"new.py": long("h", 4)})
    assert dated().days("h") == (5, 8, 8)


def test_a_file_renamed_on_one_branch_and_changed_on_the_other(repo: Repository, dated: Dating) -> None:
    branched(repo)
    text = long("f") + long("between", 9) + long("g", 2)
    repo.git("checkout", "-q", "side")
    repo.commit(2, {"a.py": long("f", 5) + long("between", 9) + long("g", 2)})
    repo.git("checkout", "-q", "main")
    repo.commit(3, {"a.py": None, "b.py": text})
    repo.merge(4, "side")
    assert dated().days("f") == (1, 2, 2)


def test_an_octopus_joins_all_its_parents(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f")})
    for number, name in enumerate(("one", "two", "three"), 2):
        repo.git("checkout", "-q", "-b", name, "main")
        repo.commit(number, {f"{name}.py": long(name, number)})
    repo.git("checkout", "-q", "main")
    repo.merge(9, "one", "two", "three")
    assert len(repo.git("log", "-1", "--format=%P").split()) == 4
    found = dated()
    assert [found.days(name)[0] for name in ("f", "one", "two", "three")] == [1, 2, 3, 4]


def test_another_project_is_joined_with_its_own_root(repo: Repository, dated: Dating) -> None:
    repo.commit(5, {"a.py": long("f")})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("rm", "-rfq", ".")
    repo.commit(2, {"vendored/b.py": long("g", 2)})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--allow-unrelated-histories", "--no-edit", "other", authored=day(7))
    found = dated()
    assert found.days("g") == (2, 2, 2)
    assert found.days("f") == (5, 5, 5)
    assert (len(found.history.root_commits), found.history.first_commit_at) == (2, day(2))


def test_what_stood_elsewhere_before_a_squash_is_old(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"draft/f.py": long("f")})
    repo.commit(2, {"draft/f.py": None})
    repo.commit(9, {f"pkg/{name}.py": long(name, number) for number, name in enumerate(("f", "g"), 1)})
    found = dated()
    assert found.days("f") == (1, 1, 1)
    assert found.days("g") == (9, 9, 9)


def test_a_rebased_commit_counts_from_when_it_was_written(repo: Repository, dated: Dating) -> None:
    repo.commit(5, {"a.py": long("f")})
    repo.commit(3, {"b.py": long("g", 2)}, committed=6)
    found = dated()
    assert found.days("g") == (3, 3, 3)
    assert found.days("f") == (5, 5, 5)


def test_a_clock_in_the_future_is_set_right_by_the_next_commit(repo: Repository, dated: Dating) -> None:
    repo.commit(9000, {"a.py": long("f")})
    repo.commit(4, {"b.py": long("g", 2)})
    assert dated().days("f") == (4, 4, 4)


def test_the_last_commit_is_no_younger_than_its_fetching(repo: Repository, dated: Dating) -> None:
    repo.commit(36500, {"a.py": long("f")})
    found = dated()
    assert found["f"].first_seen_at == found.history.fetched_at


def test_a_clock_that_stood_at_1970_says_nothing(repo: Repository, dated: Dating) -> None:
    epoch = (datetime(1970, 1, 2, tzinfo=UTC) - START).days
    repo.commit(1, {"a.py": long("f")})
    repo.commit(epoch, {"b.py": long("g", 2)})
    repo.commit(3, {"c.py": long("h", 3)})
    found = dated()
    assert found.days("f") == (1, 1, 1)
    assert found.days("g") == (3, 3, 3)


def test_a_parent_is_no_younger_than_its_child() -> None:
    base = NO_PYTHON

    def commit(parents: tuple[int, ...], authored: int, committed: int) -> Commit:
        return Commit("", parents, base + authored, base + committed, False)

    listed = [commit((), 50, 50), commit((0,), 10, 40), commit((0,), 60, 99), commit((1, 2), 80, 80)]
    assert [moment - base for moment in when(listed, base + 90)] == [40, 10, 60, 80]


def test_what_came_up_in_a_file_that_could_not_be_read_may_be_older(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f")})
    repo.commit(2, {"a.py": "<<<<<<< ours\n" + long("f") + long("g", 2)})
    repo.commit(3, {"a.py": long("f") + long("g", 2)})
    repo.commit(4, {"a.py": long("f") + long("g", 2) + long("h", 3)})
    repo.commit(5, {"old.py": "print 'two'\n" + long("two", 6)})
    repo.commit(6, {"old.py": "print('two')\n" + long("two", 6)})
    found = dated()
    assert (found.days("f"), found["f"].complete) == ((1, 1, 1), True)
    assert (found.days("g"), found["g"].complete) == ((3, 3, 3), False)
    assert "may be older" in found["g"].how
    assert (found.days("h"), found["h"].complete) == ((4, 4, 4), True)
    assert found["two"].complete is False


def test_of_a_history_beyond_the_limit_no_beginning_is_known(repo: Repository, dated: Dating) -> None:
    for number in range(1, 6):
        repo.commit(number, {f"m{number}.py": long(f"f{number}", number)})
    found = dated(max_commits=3)
    assert [found.days(f"f{number}")[0] for number in range(1, 6)] == [3, 3, 3, 4, 5]
    assert not any(row.complete for row in found.rows.values())
    assert all(row.complete for row in dated(max_commits=5).rows.values())


def test_of_a_shallow_repository_no_beginning_is_known(repo: Repository, tmp_path: Path) -> None:
    for number in range(1, 5):
        repo.commit(number, {f"m{number}.py": long(f"f{number}", number)})
    shallow = Repository(tmp_path / "shallow")
    shallow.git("fetch", "-q", "--depth=2", repo.folder.as_uri(), "main")
    shallow.git("checkout", "-q", "-b", "main", "FETCH_HEAD")
    found = Dated(shallow, tmp_path / "workspace")
    assert (found.history.complete, found.history.commits, found.history.root_commits) == (False, 2, [])
    assert [found.days(f"f{number}")[0] for number in range(1, 5)] == [3, 3, 3, 4]
    assert not any(row.complete for row in found.rows.values())


def test_links_submodules_odd_names_and_empty_commits(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f"), os.fsdecode(b"caf\xe9.py"): long("odd", 4)})
    (repo.folder / "link.py").symlink_to("a.py")
    head = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub.py")
    repo.git("commit", "-q", "-m", "submodule", authored=day(2))
    repo.git("rm", "-q", "--cached", "sub.py")
    repo.commit(3, {})
    repo.commit(4, {})
    (repo.folder / "link.py").unlink()
    repo.commit(5, {"link.py": long("g", 2), os.fsdecode(b"caf\xe9.py"): None, "plain.py": long("odd", 4)})
    found = dated()
    assert found.days("f") == (1, 1, 1)
    assert found.days("g") == (5, 5, 5)
    assert found.days("odd") == (1, 1, 1)
    assert found["odd"].first_seen_path == "caf\ufffd.py"


def test_longer_hashes(tmp_path: Path) -> None:
    repo = Repository(tmp_path / "repo", "sha256")
    first = repo.commit(1, {"a.py": long("f")})
    repo.commit(2, {"b.py": long("f")})
    assert len(first) == 64
    found = Dated(repo, tmp_path / "workspace")
    assert (found["b.py:f"].first_seen_commit, found.days("b.py:f")) == (first, (1, 1, 1))


def test_notebooks_are_not_followed(repo: Repository, dated: Dating) -> None:
    cell = {"cell_type": "code", "source": "def f(x):\n    return x\n", "outputs": [], "metadata": {}}
    repo.commit(1, {"n.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})})
    repo.commit(2, {"a.py": long("g")})
    row = dated()["f"]
    assert (row.complete, row.first_seen_at) == (False, day(2))
    assert "notebooks are not followed" in row.how


def test_a_history_that_is_gone_is_asked_for_again(repo: Repository, tmp_path: Path) -> None:
    repo.commit(1, {"a.py": long("f")})
    Dated(repo, tmp_path / "workspace")
    workspace = Workspace.at(tmp_path / "workspace")
    subprocess.run(["rm", "-rf", str(workspace.history("snap"))], check=True)
    item = {"item_id": "snap", "snapshot_id": "snap", "name": "toy", "revision": "0" * 40, "functions": []}
    ((_, error),) = dates.work([item], Context(workspace, dates.Settings()))
    assert isinstance(error, ItemError)
    assert (error.reason, error.transient) == ("history_dropped", True)
