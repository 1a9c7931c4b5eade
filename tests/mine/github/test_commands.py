"""`curate mine` as people run it: waiting is seen, can be stopped, and what was found stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from curate.store import Store
from tests.github_double import GitHubDouble, World
from tests.github_double.limits import Limits, Rate

PLENTY = Rate(1000, 3600)
SEARCH = 'title = "t"\n[search]\ntopics = ["pytorch", "keras", "nlp"]\nsize_mb = [0, 5000]\n'


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir()
    (tmp_path / "sources/s.toml").write_text(SEARCH)
    return tmp_path


def start(here: Path, github: GitHubDouble, *options: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "GITHUB_API_URL": github.url, "GITHUB_TOKEN": "", "CURATE_CACHE": str(here / "cache")}
    command = [sys.executable, "-m", "curate", "-C", str(here), "mine", "sources/s.toml", "--dry-run", *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_wait_is_seen_and_ends_with_ctrl_c(here: Path) -> None:
    limits = Limits(PLENTY, PLENTY, PLENTY, Rate(2, 600))
    with GitHubDouble(World.simulated(60), limits=limits) as github:
        process = start(here, github)
        line = process.stderr.readline()  # type: ignore[union-attr]
        assert "the search budget is used up; waiting" in line
        assert " UTC" in line
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=20)
        assert time.monotonic() - began < 10
        assert (process.returncode, "interrupted" in rest, "Traceback" in rest) == (130, True, False)
        github.meter.limits.anonymous_search = PLENTY
        out, rest = start(here, github).communicate(timeout=60)
        assert "repositories found" in out
        assert github.counts["200"] == 3, "what was asked before is not asked again"


def test_a_wait_that_is_too_long_is_left_for_a_later_run(here: Path) -> None:
    limits = Limits(PLENTY, PLENTY, PLENTY, Rate(2, 3600))
    with GitHubDouble(World.simulated(60), limits=limits) as github:
        out, rest = start(here, github, "--max-wait", "2s").communicate(timeout=60)
        assert "rate_limited 1, such as topic:nlp" in out
        assert "--max-wait" in out
        assert "set GITHUB_TOKEN for more" in out
        assert "parts of the search not had in full: 1" in out
        assert rest == ""
    rows = Store(here / ".curate/store.duckdb").rows("SELECT status, count(*) AS n FROM work GROUP BY ALL ORDER BY ALL")
    assert rows == [{"status": "done", "n": 2}, {"status": "retry", "n": 1}]


@pytest.mark.parametrize(("option", "value"), [("--max-wait", "soon"), ("--max-disk", "much"), ("--max-disk", "-1GB")])
def test_what_is_no_time_and_no_size(here: Path, option: str, value: str) -> None:
    with GitHubDouble(World([])) as github:
        process = start(here, github, option, value)
        _, rest = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "write" in rest
