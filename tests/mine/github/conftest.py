from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from curate.mine.github.address import address
from curate.mine.github.client import Client
from tests.github_double import GitHubDouble, World


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_API_URL", "GITHUB_TOKEN", "GITHUB_TOKENS", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


Serve = Callable[..., GitHubDouble]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve a world, and let the environment name the double."""
    with ExitStack() as stack:

        def start(world: World, prefix: str = "", **given: Any) -> GitHubDouble:
            github = stack.enter_context(GitHubDouble(world, **given))
            monkeypatch.setenv("GITHUB_API_URL", github.url + prefix)
            return github

        yield start


def client(**given: Any) -> Client:
    """Return a client that loses no time."""
    return Client(address(), **{"pause_seconds": 0.01, "timeout": 5, **given})
