"""Clients that know nothing of the double, to read it with: PyGithub, requests and git."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import github
import requests

from tests.github_double.repository import Repository
from tests.github_double.server import GitHubDouble
from tests.github_double.world import World

DAY = datetime(2020, 1, 1, 12, tzinfo=UTC)
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def few(count: int = 3) -> World:
    """Return a world of team/p1, team/p2..."""
    return World([Repository(number, "team", f"p{number}", created_at=DAY) for number in range(1, count + 1)])


def reader(double: GitHubDouble, prefix: str = "", token: str = "", **given: Any) -> github.Github:
    """Return PyGithub's client, which neither pauses nor asks again."""
    auth = github.Auth.Token(token) if token else None
    return github.Github(base_url=double.url + prefix, auth=auth, seconds_between_requests=0, retry=0, **given)


def get(double: GitHubDouble, path: str, token: str = "", **headers: str) -> requests.Response:
    """Ask once, following nothing; `If_None_Match` is the header If-None-Match."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    said = {"Authorization": f"Bearer {token}"} if token else {}
    return requests.get(double.url + path, headers=said | named, timeout=5, allow_redirects=False)


def clone(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git clone in a folder, without the user's settings and questions."""
    command = ["git", "-c", "credential.helper=", "clone", "-q", *words]
    return subprocess.run(
        command, cwd=place, env=os.environ | QUIET, capture_output=True, text=True, check=False
    )  # fmt: skip
