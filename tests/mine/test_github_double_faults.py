"""The double of GitHub, read by clients that know nothing of it: limits, failures, clones."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import github
import pytest
import requests

from tests.github_double import Faults, GitHubDouble, Limits, Rate, Repository, World
from tests.github_double.clients import clone, few, get, reader
from tests.github_double.faults import KINDS
from tests.mine.projects import FILES, commit, git, repository, write

ROOT = Path(__file__).resolve().parent.parent.parent
PLENTY = Rate(1000, 3600)


# --- what an answer costs


def test_what_has_not_changed_is_free() -> None:
    limits = Limits(PLENTY, PLENTY, Rate(3, 3600), PLENTY)
    with GitHubDouble(few(), limits=limits) as double:
        first = get(double, "/repos/team/p1")
        for headers in (
            {"If_None_Match": first.headers["ETag"]}, {"If_None_Match": f'"x", {first.headers["ETag"][2:]}'},
            {"If_Modified_Since": first.headers["Last-Modified"]},
        ):  # fmt: skip
            same = get(double, "/repos/team/p1", **headers)
            assert (same.status_code, same.content, same.headers["x-ratelimit-used"]) == (304, b"", "1")
        double.world.push(1)
        changed = get(double, "/repos/team/p1", If_None_Match=first.headers["ETag"])
        assert (changed.status_code, changed.headers["x-ratelimit-used"]) == (200, "2")
        assert changed.headers["ETag"] != first.headers["ETag"]


def test_each_token_has_its_budget_for_each_resource_and_it_comes_back() -> None:
    limits = Limits(Rate(2, 3600), Rate(1, 1.0), Rate(1, 3600), PLENTY)
    with GitHubDouble(few(), limits=limits) as double:
        for token, good in (("one", 2), ("two", 2), ("", 1)):
            answers = [get(double, "/repos/team/p1", token) for _ in range(good + 1)]
            assert [answer.status_code for answer in answers] == [200] * good + [403]
            refused = answers[-1]
            assert "API rate limit exceeded" in refused.json()["message"]
            assert "Retry-After" not in refused.headers
            assert (refused.headers["x-ratelimit-remaining"], refused.headers["x-ratelimit-resource"]) == ("0", "core")
        said = get(double, "/rate_limit", "one").json()["resources"]
        assert (said["core"]["remaining"], said["search"]["remaining"]) == (0, 1), "asking for it is free"
        with pytest.raises(github.RateLimitExceededException):
            reader(double, token="one").get_repo("team/p1")
        codes = [get(double, "/search/repositories?q=p", "one").status_code for _ in range(2)]
        time.sleep(1.1)
        assert [*codes, get(double, "/search/repositories?q=p", "one").status_code] == [200, 403, 200]


def test_limits_are_told_in_every_way_and_by_the_servers_clock() -> None:
    limits = Limits(PLENTY, PLENTY, Rate(0, 60), PLENTY, mixed=True, skew=7200)
    with GitHubDouble(few(), limits=limits) as double:
        refused = [get(double, "/repos/team/p1") for _ in range(4)]
        assert [(one.status_code, "Retry-After" in one.headers) for one in refused] == [
            (403, False), (429, False), (403, True), (429, True)
        ]  # fmt: skip
        assert 0 < int(refused[-1].headers["Retry-After"]) <= 62
        date = parsedate_to_datetime(refused[0].headers["Date"]).timestamp()
        assert 7190 < date - time.time() < 7210
        assert 0 < int(refused[0].headers["x-ratelimit-reset"]) - date < 62


def test_who_asks_too_fast_meets_the_secondary_limit() -> None:
    limits = Limits(PLENTY, PLENTY, PLENTY, PLENTY, at_once=2, retry_after=True, secondary_seconds=9)
    with GitHubDouble(few(), limits=limits, faults=Faults(slow_seconds=0.6)) as double:
        double.fault("/repos/", "slow", times=3)
        found: list[requests.Response] = []
        threads = [threading.Thread(target=lambda: found.append(get(double, "/repos/team/p1"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(one.status_code for one in found) == [200, 200, 403]
        assert double.peak_concurrency == 3
        (refused,) = (one for one in found if one.status_code == 403)
        assert refused.json()["message"].startswith("You have exceeded a secondary rate limit")
        assert refused.headers["Retry-After"] == "9"
        limits.in_all = Rate(2, 3600)
        assert [get(double, "/repos/team/p1").status_code for _ in range(3)] == [200, 200, 403]
        with pytest.raises(github.RateLimitExceededException):
            reader(double).get_repo("team/p1")


def test_who_may_ask() -> None:
    world = few()
    world.change(1, private=True)
    with GitHubDouble(world, tokens=("good",)) as double:
        with pytest.raises(github.BadCredentialsException):
            reader(double, token="bad").get_repo("team/p2")
        assert get(double, "/repos/team/p1").status_code == 404
        assert reader(double, token="good").get_repo("team/p1").private
        assert {one.id for one in reader(double).search_repositories("user:team")} == {2, 3}
        assert {one.id for one in reader(double, token="good").search_repositories("user:team")} == {1, 2, 3}
        nobody = requests.get(f"{double.url}/repos/team/p2", headers={"User-Agent": ""}, timeout=5)
        assert nobody.status_code == 403
        assert "User-Agent" in nobody.text


# --- what goes wrong


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_shows_and_then_is_over(kind: str) -> None:
    place = "/search/repositories?q=p"
    with GitHubDouble(few(4), faults=Faults(slow_seconds=0.2, retry_after=7)) as double:
        sound = get(double, place).json()
        double.fault(r"/search/.*q=p", kind)
        assert get(double, "/repos/team/p1").status_code == 200, "another path"
        began = time.monotonic()
        broken = {"reset": "reset by peer", "truncated": "IncompleteRead"}
        if kind in broken:
            with pytest.raises(requests.RequestException, match=broken[kind]):
                get(double, place)
        else:
            _shows(kind, get(double, place), sound, time.monotonic() - began)
        assert get(double, place).json() == sound
        assert double.counts[f"fault {kind}"] == 1


def _shows(kind: str, answer: requests.Response, sound: Any, seconds: float) -> None:
    status, after = answer.status_code, answer.headers.get("Retry-After")
    if kind.isdecimal():
        assert (status, "<html>" in answer.text) == (int(kind), True)
    elif kind in {"html", "empty"}:
        assert (status, "<html>" in answer.text, len(answer.content) > 0) == (200, kind == "html", kind == "html")
    elif kind == "slow":
        assert (answer.json(), seconds >= 0.2) == (sound, True)
    elif kind in {"incomplete", "short"}:
        said = answer.json()
        assert (said["incomplete_results"], said["total_count"], len(said["items"])) == (kind == "incomplete", 4, 2)
    else:
        assert status == (429 if kind in {"secondary-429", "secondary-after", "primary-429"} else 403)
        assert after == ("7" if "after" in kind else None)
        assert ("secondary rate limit" in answer.json()["message"]) == kind.startswith("secondary")
        assert (answer.headers["x-ratelimit-remaining"] == "0") == kind.startswith("primary")


def test_faults_wait_for_their_turn_or_come_at_random_but_the_same() -> None:
    with GitHubDouble(few()) as double:
        double.fault("/repos/", "502", times=2, after=1)
        assert [get(double, "/repos/team/p1").status_code for _ in range(4)] == [200, 502, 502, 200]
        with pytest.raises(ValueError, match="unicorn: one of 500"):
            double.fault("/", "unicorn")

    def course(seed: int) -> list[str | None]:
        faults = Faults(share=0.3, seed=seed)
        return [faults.next("/x") for _ in range(100)]

    assert course(1) == course(1) != course(2)
    assert 15 < sum(kind is not None for kind in course(1)) < 45


def test_what_was_asked_is_known_but_no_token() -> None:
    with GitHubDouble(few(), keep=3) as double:
        for number in (1, 2, 3, 4):
            get(double, f"/repositories/{number}?x=1", "ghp_SECRET")
        get(double, "/search/repositories?q=p")
        seen = double.requests()
        assert [(one.method, one.path, one.query, one.resource, one.token, one.status) for one in seen] == [
            ("GET", "/repositories/3", "x=1", "core", True, 200), ("GET", "/repositories/4", "x=1", "core", True, 404),
            ("GET", "/search/repositories", "q=p", "search", False, 200),
        ]  # fmt: skip
        assert "SECRET" not in repr(seen)
        assert (double.counts["core"], double.counts["404"], double.counts["search"]) == (4, 1, 1)
        assert double.peak_concurrency == 1


def test_an_enterprise_lies_below_a_path() -> None:
    world = World.simulated(50)
    with GitHubDouble(world) as double:
        client = reader(double, "/api/v3")
        found = list(client.search_repositories("project fork:true"))
        assert len(found) == 50
        assert found[0].url.startswith(f"{double.url}/api/v3/repos/")
        assert found[0].clone_url == f"{double.url}/{found[0].full_name}.git"
        assert client.get_repo(found[0].id).get_commits().totalCount == 3
        assert all(one.path.startswith("/api/v3/") for one in double.requests())


# --- clones


def test_git_clones_no_more_than_it_wants(tmp_path: Path) -> None:
    old = repository(tmp_path / "r", {"a.py": "x = 1\n", "b/c.py": "y = 1\n"})
    write(tmp_path / "r", {"a.py": "x = 2\n"})
    head = commit(tmp_path / "r")
    with GitHubDouble(World([Repository(1, "a", "b", folder=tmp_path / "r")])) as double:
        url = reader(double).search_repositories("b")[0].clone_url
        done = clone(tmp_path, "--depth=1", "--filter=blob:none", "--no-checkout", url, "c")
        assert done.returncode == 0, done.stderr
        place = tmp_path / "c"
        assert git(place, "rev-parse", "HEAD") == head
        missing = git(place, "rev-list", "--objects", "--missing=print", "HEAD")
        assert missing.count("?") == 2, "no file has come yet"
        git(place, "fetch", "-q", "--depth=1", "origin", old)
        assert git(place, "rev-parse", "FETCH_HEAD") == old
        git(place, "checkout", "-q", head)
        assert (place / "a.py").read_text() == "x = 2\n"
        assert double.counts["git"] > 3
        double.fault(r"/info/refs", "503")
        assert "503" in clone(tmp_path, url, "d").stderr
        assert clone(tmp_path, url, "e").returncode == 0


def test_git_is_told_what_cannot_be_cloned(tmp_path: Path) -> None:
    head = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    names = ("secret", "blocked", "gone", "old")
    world = World([Repository(number, "a", name, folder=tmp_path / "r") for number, name in enumerate(names, 1)])
    world.change(1, private=True)
    world.change(2, state="blocked")
    world.change(3, state="gone")
    world.rename(4, "b/new")
    with GitHubDouble(world, tokens=("good",)) as double:

        def tried(name: str, login: str = "") -> str:
            address = f"http://{login}{double.host}/a/{name}.git"
            done = clone(tmp_path, address, f"{name}{len(list(tmp_path.iterdir()))}")
            return done.stderr if done.returncode else "cloned"

        assert "could not read Username" in tried("secret")
        assert "Authentication failed" in tried("secret", "x-access-token:bad@")
        assert tried("secret", "x-access-token:good@") == "cloned"
        assert "403" in tried("blocked")
        assert "not found" in tried("gone", "x-access-token:good@")
        assert tried("old") == "cloned"
        assert get(double, "/a/old.git/info/refs?service=git-upload-pack").headers["Location"] == (
            f"{double.url}/b/new.git/info/refs?service=git-upload-pack"
        )
        assert head in get(double, "/b/new/info/refs?service=git-upload-pack").text, "also without .git"


# --- by hand


def test_it_can_be_served_by_hand(tmp_path: Path) -> None:
    repository(tmp_path / "team/one", FILES)
    command = [sys.executable, "-m", "tests.github_double", "--repos", str(tmp_path), "--fault", "/repos/:502:1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip().removeprefix("export GITHUB_API_URL=")
            codes = [requests.get(f"{url}/repos/team/one", timeout=5).status_code for _ in range(2)]
            assert codes == [502, 200]
            assert clone(tmp_path, f"{url}/team/one.git", "c").returncode == 0
        finally:
            process.send_signal(signal.SIGINT)
        assert "1 repositories" in process.stdout.readline()
        assert "'502': 1" in process.stdout.readline()
