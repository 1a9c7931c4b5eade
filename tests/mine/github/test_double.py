"""The double speaks GitHub's language, as two clients that know nothing of it find: PyGithub and git."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import github
import pytest
import requests

from tests.github_double import GitHubDouble, Repository, World
from tests.github_double.limits import Limits, Rate
from tests.github_double.queries import search
from tests.mine.projects import repository

PLENTY = Rate(1000, 3600)


def reader(double: GitHubDouble, **given: Any) -> github.Github:
    return github.Github(base_url=double.url, seconds_between_requests=0, retry=0, **given)


def test_a_search_ends_at_a_thousand_and_claims_more() -> None:
    with GitHubDouble(World.simulated(3000)) as double:
        found = reader(double, per_page=100).search_repositories("project", sort="stars", order="desc")
        assert len({one.id for one in found}) == 1000
        assert double.answer("/search/repositories", {"q": "project"}, private=False)[1]["total_count"] > 2000
        beyond = requests.get(f"{double.url}/search/repositories?q=project&page=11&per_page=100", timeout=5)
        assert (beyond.status_code, "first 1000" in beyond.json()["message"]) == (422, True)


def test_renames_forks_and_errors() -> None:
    world = World([Repository(1, "a", "b"), Repository(2, "c", "d", fork_of=1), *(
        Repository(number, "a", state, state=state) for number, state in ((3, "gone"), (4, "empty"), (5, "blocked"))  # type: ignore[arg-type]
    )])  # fmt: skip
    world.rename(1, "new/name")
    with GitHubDouble(world) as double:
        client = reader(double)
        assert client.get_repo("a/b").full_name == "new/name"
        assert client.get_repo("c/d").parent.full_name == "new/name"
        assert client.get_repo("c/d").get_commits().totalCount == 3
        for name, status in (("a/gone", 404), ("a/blocked", 451)):
            with pytest.raises(github.GithubException) as caught:
                client.get_repo(name)
            assert caught.value.status == status
        with pytest.raises(github.GithubException) as caught:
            list(client.get_repo("a/empty").get_commits())
        assert caught.value.status == 409


def test_limits_are_told_as_github_tells_them() -> None:
    limits = Limits(PLENTY, PLENTY, Rate(1, 3600), PLENTY)
    with GitHubDouble(World([Repository(1, "a", "b")]), limits=limits) as double:
        reader(double).get_repo("a/b")
        with pytest.raises(github.RateLimitExceededException):
            reader(double).get_repo("a/b")
        double.fault("/search", "secondary")
        with pytest.raises(github.RateLimitExceededException):
            list(reader(double).search_repositories("b"))
        assert next(iter(reader(double).search_repositories("b"))).full_name == "a/b"


def test_git_clones_parts_of_it(tmp_path: Path) -> None:
    head = repository(tmp_path / "r", {"a.py": "x = 1\n", "big.bin": "0" * 5000})
    world = World([Repository(1, "a", "b", folder=tmp_path / "r"), Repository(2, "a", "secret", private=True)])
    with GitHubDouble(world) as double:
        command = ["git", "clone", "-q", "--depth=1", "--filter=blob:limit=1k", "--bare", f"{double.url}/a/b.git", "c"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert head in subprocess.run(
            ["git", "log", "--format=%H"], cwd=tmp_path / "c", check=True, capture_output=True, text=True
        ).stdout  # fmt: skip
        assert (
            requests.get(f"{double.url}/a/secret.git/info/refs?service=git-upload-pack", timeout=5).status_code == 401
        )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("topic:x", [1, 3]), ("topic:x language:python", [1]), ("stars:>=20", [2, 3]), ("stars:10..20", [1, 2]),
        ("stars:<20", [1]), ("created:2020-01-02", [2]), ("created:2020-01-01..2020-01-02", [1, 2]),
        ("created:>=2020-01-02T12:00:01Z", [3]), ("created:*..2020-01-01", [1]), ("fork:true", [1, 2, 3, 4]),
        ("fork:only", [4]), ("-topic:x", [2]), ("license:mit", [1, 2, 3]), ("name1", [1]), ("user:team", [1, 2, 3]),
    ],
)  # fmt: skip
def test_what_qualifiers_find(query: str, found: list[int]) -> None:
    world = World(
        [
            Repository(
                number,
                "team",
                f"name{number}",
                stars=10 * number,
                topics=("x",) if number % 2 else (),
                language="Python" if number < 3 else "C++",
                created_at=datetime(2020, 1, number, 12, tzinfo=UTC),
                fork_of=1 if number == 4 else None,
            )
            for number in range(1, 5)
        ]
    )
    assert [one.id for one in search(world, query)] == found
