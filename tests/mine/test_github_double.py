"""The double of GitHub, read by clients that know nothing of it: what it finds, and what it says of repositories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import github
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.github_double import GitHubDouble, Repository, World
from tests.github_double.clients import DAY, few, get, reader
from tests.github_double.queries import search
from tests.mine.projects import FILES, commit, git, repository, write

# --- the world


def test_a_made_up_world_is_always_the_same_and_as_uneven_as_the_real_one() -> None:
    one, other = World.simulated(2000, 7), World.simulated(2000, 7)
    assert one.by_id == other.by_id
    assert one.by_id != World.simulated(2000, 8).by_id
    every = list(one.by_id.values())
    seconds = {each.created_at for each in every}
    assert len(seconds) < len(every), "some were made in one second"
    assert sum(each.created_at.year >= 2020 for each in every) > 2 * sum(each.created_at.year < 2014 for each in every)
    forks = [each for each in every if each.fork_of]
    assert forks
    assert all(each.history()[-1].sha == one.by_id[each.fork_of or 0].history()[-1].sha for each in forks)
    assert {each.license for each in every} >= {"MIT", "NOASSERTION", None}
    assert any(each.archived for each in every)
    assert any(each.is_template for each in every)


def test_it_changes_while_it_serves() -> None:
    with GitHubDouble(few()) as double:
        first = reader(double).get_repo("team/p1")
        double.world.change(1, stars=7, archived=True)
        double.world.push(1, DAY)
        double.world.delete(2)
        double.world.add(Repository(9, "team", "new"))
        again = reader(double).get_repo("team/p1")
        assert (first.stargazers_count, again.stargazers_count, again.archived, again.pushed_at) == (500, 7, True, DAY)
        assert again.get_commits()[0].sha != first.get_commits()[1].sha
        assert get(double, "/repos/team/p2").status_code == 404
        assert {one.id for one in reader(double).search_repositories("user:team")} == {1, 3, 9}


# --- search


def test_a_search_ends_at_a_thousand() -> None:
    with GitHubDouble(World.simulated(1500)) as double:
        found = list(reader(double, per_page=100).search_repositories("project fork:true"))
        assert len({one.id for one in found}) == len(found) == 1000
        assert double.counts["search"] == 10, "the last page names no next one"
        place = "/search/repositories?q=project+fork:true&per_page=30&page="
        last = get(double, f"{place}34")
        assert (last.status_code, len(last.json()["items"]), last.json()["total_count"]) == (200, 10, 1500)
        beyond = get(double, f"{place}35")
        assert (beyond.status_code, beyond.json()["message"]) == (
            422, "Only the first 1000 search results are available"
        )  # fmt: skip


def test_pages_name_their_neighbours() -> None:
    with GitHubDouble(World.simulated(1500)) as double:

        def pages(path: str) -> dict[str, str]:
            links = get(double, path).links
            return {rel: link["url"].rpartition("page=")[2] for rel, link in links.items()}

        place = "/search/repositories?q=project+fork:true&per_page=100&page="
        assert pages(f"{place}1") == {"next": "2", "last": "10"}
        assert pages(f"{place}3") == {"prev": "2", "next": "4", "last": "10", "first": "1"}
        assert pages(f"{place}10") == {"prev": "9", "first": "1"}
        one = next(iter(double.world.by_id.values()))
        assert pages(f"/repos/{one.full_name}/commits?per_page=1") == {"next": "2", "last": "3"}
        link = get(double, f"/repos/{one.full_name}/commits?per_page=1").links["next"]["url"]
        assert link == f"{double.url}/repositories/{one.id}/commits?per_page=1&page=2"
        assert pages(f"/repos/{one.full_name}/commits") == {}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (" ", ""), ("created:yesterday", "not a recognized date/time format"), ("created:1918-01-01", "accepted range"),
        ("stars:many", "not a number"), ("stars:>1..2", "not a range"), ("x" * 257, "longer than 256 characters"),
        ("user:nobody", "cannot be searched"), ("satrs:>1", "not a search qualifier"),
        ("a NOT b NOT c NOT d NOT e NOT f NOT g", "More than five"),
    ],
)  # fmt: skip
def test_malformed_queries(query: str, message: str) -> None:
    with GitHubDouble(few()) as double:
        with pytest.raises(github.GithubException) as caught:
            list(reader(double).search_repositories(query))
        assert caught.value.status == 422
        assert caught.value.data["message"] == "Validation Failed"
        (error,) = caught.value.data["errors"]
        assert (error["resource"], error["field"]) == ("Search", "q")
        assert message in error.get("message", "")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("size:<200", [1]), ("size:*..200", [1, 2]), ("forks:>=2", [2, 3]), ("forks:1", [1]), ("stars:>20", [3]),
        ('language:"Jupyter Notebook"', [3]), ("language:python language:c", [1, 2]), ("-language:python", [2, 3]),
        ("created:>2020-01-02", [3]), ("created:>=2020-01-02", [2, 3]), ("created:<2020-01-02", [1]),
        ("created:<=2020-01-02", [1, 2]), ("created:2020-01-02T12:00:00Z..2020-01-03T11:59:59Z", [2]),
        ("created:2020-01-02T14:00:00+02:00", [2]), ("created:>2020-01-01 created:<2020-01-03", [2]),
        ("-created:2020-01-02", [1, 3]), ("pushed:2020-01-02..*", [2, 3]), ("created:*..*", [1, 2, 3]),
        ("quick in:name", []), ("quick in:description", [1, 2]), ("quick", [1, 2]), ("NOT quick", [3]),
        ('"quick fox"', [1]), ("quick -slow", [1]), ("archived:true", [3]), ("archived:false", [1, 2]),
        ("license:noassertion", [3]), ("license:mit license:noassertion", [1, 3]), ("topic:a topic:b", [2]),
        ("topics:>=2", [2]), ("repo:team/p2", [2]), ("user:team user:other", [1, 2, 3]), ("org:other", [3]),
        ("is:public", [1, 2, 3]), ("is:private", [4]), ("template:true", [2]), ("fork:only", [5]), ("mirror:true", []),
    ],
)  # fmt: skip
def test_qualifiers(query: str, found: list[int]) -> None:
    facts: list[dict[str, Any]] = [
        {"language": "Python", "license": "MIT", "topics": ("a",), "description": "the quick fox"},
        {"language": "C", "license": None, "topics": ("a", "b"), "description": "quick but slow", "is_template": True},
        {"language": "Jupyter Notebook", "license": "NOASSERTION", "owner": "other", "archived": True},
        {"private": True, "owner": "secret"}, {"fork_of": 1, "owner": "secret"},
    ]  # fmt: skip
    world = World([
        Repository(**{
            "id": n, "owner": "team", "name": f"p{n}", "size": 100 * n, "stars": 10 * n, "forks": n,
            "created_at": DAY + timedelta(days=n - 1), "pushed_at": DAY + timedelta(days=n - 1), **fact,
        })
        for n, fact in enumerate(facts, 1)
    ])  # fmt: skip
    private = query == "is:private"
    assert [one.id for one in search(world, query, private=private)] == found


WORLD = World.simulated(400)
SECONDS = st.integers(0, 18 * 365 * 86400).map(
    lambda seconds: datetime(2008, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


@settings(max_examples=50, deadline=None)
@given(SECONDS, SECONDS)
def test_a_span_finds_what_lies_in_it(first: datetime, last: datetime) -> None:
    said = f"fork:true created:{first:%Y-%m-%dT%H:%M:%SZ}..{last:%Y-%m-%dT%H:%M:%SZ}"
    expected = {one.id for one in WORLD.by_id.values() if first <= one.created_at <= last}
    assert {one.id for one in search(WORLD, said)} == expected


def test_hits_are_sorted_and_may_slip_between_pages() -> None:
    with GitHubDouble(World.simulated(300)) as double:
        found = reader(double).search_repositories("project fork:true", sort="stars", order="asc")
        stars = [one.stargazers_count for one in found]
        assert stars == sorted(stars)
        assert len(stars) == 300
    with GitHubDouble(World.simulated(300), drift=1.0) as double:
        ids = [one.id for one in reader(double).search_repositories("project fork:true")]
        assert (len(ids), len(set(ids))) == (300, 291), "one in each of the nine borders came twice"


# --- repositories


def test_a_repository_as_pygithub_reads_it() -> None:
    world = World([
        Repository(1, "a", "root", license="NOASSERTION", is_template=True, topics=("x", "y"), homepage="https://e.org"),
        Repository(2, "b", "fork", fork_of=1, license=None), Repository(3, "c", "forked-again", fork_of=2, template=1),
    ])  # fmt: skip
    with GitHubDouble(world) as double:
        client = reader(double)
        root, fork, again = (client.get_repo(number) for number in (1, 2, 3))
        assert (root.license.spdx_id, root.license.key, root.is_template, root.topics) == (
            "NOASSERTION", "other", True, ["x", "y"]
        )  # fmt: skip
        assert root.get_topics() == ["x", "y"]
        assert (root.visibility, root.owner.login, root.homepage, root.fork) == ("public", "a", "https://e.org", False)
        assert root.get_license().license.spdx_id == "NOASSERTION"
        assert b"NOASSERTION" in root.get_license().decoded_content
        assert fork.raw_data["license"] is None
        assert [one.id for one in (fork.parent, again.parent, again.source) if one] == [1, 2, 1]
        assert again.template_repository.full_name == "a/root"
        with pytest.raises(github.UnknownObjectException):
            fork.get_license()
        with pytest.raises(github.GithubException) as caught:
            client.get_user().login  # noqa: B018
        assert caught.value.status == 401
        assert reader(double, token="t").get_user().login == "user"


def test_renames_lead_on_with_all_that_was_asked() -> None:
    world = few()
    world.rename(1, "new/name")
    with GitHubDouble(world) as double:
        assert reader(double).get_repo("team/p1").full_name == "new/name"
        moved = get(double, "/repos/team/p1/commits?per_page=1")
        place = f"{double.url}/repositories/1/commits?per_page=1"
        assert (moved.status_code, moved.headers["Location"], moved.json()["url"]) == (301, place, place)
        assert moved.json()["message"] == "Moved Permanently"
        world.add(Repository(8, "team", "p1"))
        assert reader(double).get_repo("team/p1").id == 8, "the old name was taken by another"


@pytest.mark.parametrize(
    ("state", "path", "status", "message"),
    [("gone", "", 404, "Not Found"), ("blocked", "", 451, "Repository access blocked"), ("empty", "", 200, None),
     ("empty", "/commits", 409, "Git Repository is empty."), ("normal", "/nothing", 404, "Not Found"),
     ("normal", "/commits/none", 422, "No commit found for SHA: none")],
)  # fmt: skip
def test_what_cannot_be_had(state: str, path: str, status: int, message: str | None) -> None:
    world = few()
    world.change(1, state=state)
    with GitHubDouble(world) as double:
        for place in ("/repos/team/p1", "/repositories/1"):
            answer = get(double, place + path)
            assert (answer.status_code, answer.json().get("message")) == (status, message)
            assert ("block" in answer.json()) == (status == 451)
            assert int(answer.headers["x-ratelimit-remaining"]) > 0


def test_commits_are_those_of_the_repository(tmp_path: Path) -> None:
    first = repository(tmp_path / "r", FILES)
    write(tmp_path / "r", {"more.py": "x = 1\n"})
    head = commit(tmp_path / "r", "more")
    branch = git(tmp_path / "r", "symbolic-ref", "--short", "HEAD")
    git(tmp_path / "r", "tag", "v1", first)
    with GitHubDouble(World([Repository(1, "a", "b", folder=tmp_path / "r", default_branch=branch)])) as double:
        one = reader(double).get_repo("a/b")
        commits = list(one.get_commits())
        assert [each.sha for each in commits] == [head, first]
        assert [[parent.sha for parent in each.parents] for each in commits] == [[first], []]
        assert commits[0].commit.message == "more"
        assert commits[0].commit.tree.sha == git(tmp_path / "r", "rev-parse", "HEAD^{tree}")
        assert one.get_commits().totalCount == 2
        assert [each.sha for each in one.get_commits(sha="v1")] == [first]
        assert one.get_commit("v1").sha == first
        plain = get(double, f"/repositories/1/commits/{branch}", Accept="application/vnd.github.sha")
        assert (plain.text, plain.headers["Content-Type"].split(";")[0]) == (head, "application/vnd.github.sha")
        assert one.get_license().decoded_content.decode() == FILES["LICENSE"]
        assert get(double, "/repos/a/b/commits?sha=none").status_code == 404
