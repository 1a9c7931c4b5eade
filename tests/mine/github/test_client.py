"""Asking a GitHub that has limits and failures."""

from __future__ import annotations

import time

import pytest

from curate.errors import ItemError
from tests.github_double import Repository, World
from tests.github_double.limits import Limits, Rate
from tests.mine.github.conftest import Serve, client

PLENTY = Rate(1000, 3600)


def world(count: int = 3) -> World:
    return World([Repository(number, "team", f"p{number}") for number in range(1, count + 1)])


@pytest.mark.parametrize("kind", ["500", "502", "503", "504", "html", "empty", "truncated", "reset"])
def test_a_failure_is_asked_again_and_never_data(serve: Serve, kind: str) -> None:
    github = serve(world())
    github.fault(r"/repos/", kind, times=2)
    assert client().get("/repos/team/p1").json()["id"] == 1
    assert len(github.log) == 3


@pytest.mark.parametrize(
    ("kind", "reason"), [("502", "network"), ("reset", "network"), ("html", "bad_answer"), ("truncated", "network")]
)
def test_it_gives_up_in_the_end_and_a_later_run_tries_again(serve: Serve, kind: str, reason: str) -> None:
    github = serve(world())
    github.fault(r"/repos/", kind, times=1000)
    with pytest.raises(ItemError) as caught:
        client(retries=3).get("/repos/team/p1")
    assert (caught.value.reason, caught.value.transient) == (reason, True)
    assert len(github.log) == 4


def test_a_server_that_stalls(serve: Serve) -> None:
    github = serve(world())
    github.faults.slow_seconds = 1.5
    github.fault(r"/repos/", "slow", times=1)
    assert client(timeout=1).get("/repos/team/p1").status == 200


@pytest.mark.parametrize(
    ("state", "path", "reason"),
    [("gone", "/repos/team/p1", "not_found"), ("blocked", "/repos/team/p1", "blocked"),
     ("empty", "/repos/team/p1/commits", "empty_repository")],
)  # fmt: skip
def test_what_cannot_be_had_is_not_asked_twice(serve: Serve, state: str, path: str, reason: str) -> None:
    github = serve(world())
    github.world.change(1, state=state)
    with pytest.raises(ItemError) as caught:
        client().get(path)
    assert (caught.value.reason, caught.value.transient) == (reason, False)
    assert len(github.log) == 1


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("retry_after", [False, True])
@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
def test_a_budget_that_is_used_up_is_waited_for(serve: Serve, status: int, retry_after: bool, skew: float) -> None:
    limits = Limits(PLENTY, PLENTY, PLENTY, Rate(2, 1.0), status=status, retry_after=retry_after, skew=skew)
    serve(world(), limits=limits)
    said: list[str] = []
    asking = client(notice=said.append)
    began = time.monotonic()
    for _ in range(5):
        assert asking.get("/search/repositories", {"q": "stars:>1"}).json()["total_count"] == 3
    assert 1.0 < time.monotonic() - began < 15
    assert all("search budget is used up; waiting" in line for line in said)


def test_the_budgets_of_search_and_core_are_apart(serve: Serve) -> None:
    serve(world(), limits=Limits(PLENTY, PLENTY, PLENTY, Rate(1, 3600)))
    asking = client(max_wait=1)
    asking.get("/search/repositories", {"q": "stars:>1"})
    with pytest.raises(ItemError, match="rate_limited"):
        asking.get("/search/repositories", {"q": "stars:>1"})
    assert asking.get("/repos/team/p1").status == 200


def test_a_wait_that_is_too_long_ends_at_once_and_says_until_when(serve: Serve) -> None:
    github = serve(world(), limits=Limits(PLENTY, PLENTY, Rate(1, 3600), PLENTY))
    asking = client(max_wait=5)
    asking.get("/repos/team/p1")
    began = time.monotonic()
    for _ in range(3):
        with pytest.raises(
            ItemError, match=r"the core budget is used up, until \d\d:\d\d:\d\d UTC.*--max-wait"
        ) as caught:
            asking.get("/repos/team/p2")
        assert caught.value.transient
    assert time.monotonic() - began < 1
    assert len(github.log) == 1, "what is known to be in vain is not asked"


def test_several_tokens_add_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKENS", "token-one-1 token-two-2 token-three-3")
    tokens = ("token-one-1", "token-two-2", "token-three-3")
    serve(world(), limits=Limits(Rate(4, 3600), PLENTY, Rate(1, 3600), PLENTY), tokens=tokens)
    asking = client(max_wait=1)
    for _ in range(12):
        assert asking.get("/repos/team/p1").status == 200
    with pytest.raises(ItemError, match="rate_limited"):
        asking.get("/repos/team/p1")


def test_a_secondary_limit_is_respected(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    github = serve(world())
    github.fault(r"/repos/", "secondary-after", times=1)
    said: list[str] = []
    began = time.monotonic()
    assert client(notice=said.append).get("/repos/team/p1").status == 200
    assert time.monotonic() - began >= 1.0
    monkeypatch.setattr("curate.mine.github.client.time.sleep", said.append)
    github.fault(r"/repos/", "secondary", times=2)
    monkeypatch.setattr("curate.mine.github.limits.SECONDARY_SECONDS", 3.0)
    with pytest.raises(ItemError, match="rate_limited"):
        client(notice=said.append, max_wait=5).get("/repos/team/p1")
    assert "too many requests in a short time; waiting 3 s" in said[0]


def test_an_unchanged_answer_costs_nothing(serve: Serve) -> None:
    github = serve(world(), limits=Limits(PLENTY, PLENTY, Rate(2, 3600), PLENTY))
    asking = client(max_wait=1)
    first = asking.get("/repositories/1")
    for _ in range(5):
        assert asking.get("/repositories/1", etag=first.headers["etag"]).status == 304
    github.world.change(1, stars=7)
    assert asking.get("/repositories/1", etag=first.headers["etag"]).json()["stargazers_count"] == 7


def test_a_wrong_token_and_no_token_are_told_without_showing_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_SECRETSECRETSECRETSECRET")
    caplog.set_level("DEBUG")
    serve(world(), tokens=("another-token",))
    with pytest.raises(ItemError, match=r"not_allowed.*GITHUB_TOKEN") as caught:
        client().get("/repos/team/p1")
    assert caught.value.transient, "it says nothing of the repository"
    assert "SECRET" not in str(caught.value)
    assert "SECRET" not in caplog.text


def test_a_token_that_expired_does_not_spoil_the_others(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKENS", "good-token expired-token")
    serve(world(), tokens=("good-token",))
    said: list[str] = []
    asking = client(notice=said.append)
    assert [asking.get("/repos/team/p1").status for _ in range(4)] == [200] * 4
    assert len(said) <= 1


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    with pytest.raises(ItemError, match="network") as caught:
        client(retries=1).get("/repos/team/p1")
    assert caught.value.transient


def test_enterprise_lies_below_a_path(serve: Serve) -> None:
    github = serve(world(), prefix="/api/v3")
    assert client().get("/repos/team/p1").json()["full_name"] == "team/p1"
    assert github.log == ["/api/v3/repos/team/p1"]
