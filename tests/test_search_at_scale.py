"""25,000 repositories, with failures at random and three kill -9 on the way: every one is found, exactly once."""

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
from tests.github_double.faults import Faults

COUNT = 25_000
SEARCH = 'title = "t"\n[search]\nqualifiers = "project"\nforks = "include"\nsize_mb = [0, 5000]\n'
# In a process of its own, which loses no time over pauses and can be killed.
RUN = """
import sys
from pathlib import Path
from curate.flow import Mining, mine, pipeline_for
from curate.pipeline import Options
from curate.workspace import Workspace
pipeline = pipeline_for(Workspace.at(Path(sys.argv[1])), None)
pipeline.settings["search"] = {"pause_seconds": 0.0, "retries": 20}
mine(pipeline, ["sources/all.toml"], Options(), lambda summary: None, Mining(dry_run=True))
"""


@pytest.mark.slow
def test_every_repository_is_found_once_whatever_happens(tmp_path: Path) -> None:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir()
    (tmp_path / "sources/all.toml").write_text(SEARCH)
    world = World.simulated(COUNT)
    faults = Faults(share=0.03, seed=1)
    faults.draw_from = [kind for kind in faults.draw_from if kind != "secondary-after"]  # it costs a second each
    with GitHubDouble(world, faults=faults) as github:
        environment = {**os.environ, "GITHUB_API_URL": github.url, "GITHUB_TOKEN": ""}
        command = [sys.executable, "-c", RUN, str(tmp_path)]
        for kill in range(3):
            process = subprocess.Popen(command, env=environment)
            seen = len(github.log), github.counts["search"]
            while process.poll() is None and github.counts["search"] < seen[1] + 60 + 40 * kill:
                time.sleep(0.01)
            assert process.poll() is None, "killed in the middle of it"
            process.send_signal(signal.SIGKILL)
            process.wait()
        before = github.counts["search"]
        subprocess.run(command, env=environment, check=True)
        finished = github.counts["search"] - before
        subprocess.run(command, env=environment, check=True)
        assert github.counts["search"] - before == finished, "a finished search asks nothing"
        total = github.counts["search"]
    rows = Store(tmp_path / ".curate/store.duckdb").rows(
        "SELECT repository_id, count(*) AS n FROM current_hits GROUP BY repository_id ORDER BY repository_id"
    )
    assert [row["repository_id"] for row in rows] == sorted(world.by_id)
    assert {row["n"] for row in rows} == {1}
    assert total < 3 * COUNT / 100, f"{total} questions for {COUNT // 100} full pages"
