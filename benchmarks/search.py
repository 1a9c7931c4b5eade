"""A simulated search of GitHub: throughput and memory of a whole search, beside PyGithub's own paging.

The double of GitHub answers on loopback, without its limits of 30 questions a minute, so what is measured is the client
and the store. Memory has to stay flat however many repositories there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.github_double import GitHubDouble, World

SIZES = (5_000, 25_000)
OURS = """
import json, resource, sys
from pathlib import Path
from curate.discover import Discovery, search
from curate.flow import pipeline_for
from curate.mine.github.criteria import Search
from curate.pipeline import Options
from curate.workspace import Workspace
found = Discovery(pipeline_for(Workspace.at(Path(sys.argv[1])), None), Options())
search(found, Search(qualifiers="project", forks="include", size_mb=(0, 5000)))
unique = found.rows("SELECT count(DISTINCT repository_id) AS n FROM current_hits")[0]["n"]
print(json.dumps([unique, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]))
"""
PEER = """
import json, os, resource
from github import Github
client = Github(base_url=os.environ["GITHUB_API_URL"], per_page=100, seconds_between_requests=0)
unique = len({one.id for one in client.search_repositories("project fork:true size:0..5120000")})
print(json.dumps([unique, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]))
"""


def main() -> None:
    """Print, for each size of the world and each client: repositories found, questions, seconds, peak memory."""
    print(f"{'client':<10}{'there are':>10}{'found':>8}{'questions':>11}{'seconds':>9}{'found/s':>9}{'peak MB':>9}")
    for size in SIZES:
        with GitHubDouble(World.simulated(size)) as github, tempfile.TemporaryDirectory() as place:
            for part in ("sources", "schema", "releases"):
                (Path(place) / part).mkdir()
            for name, program in (("PyGithub", PEER), ("curate", OURS)):
                asked, began = github.counts["search"], time.perf_counter()
                command = [sys.executable, "-c", program, place]
                environment = {**os.environ, "GITHUB_API_URL": github.url}
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                seconds = time.perf_counter() - began
                found, peak = json.loads(done.stdout)
                questions = github.counts["search"] - asked
                print(f"{name:<10}{size:>10,}{found:>8,}{questions:>11}{seconds:>9.1f}{found / seconds:>9.0f}{peak:>9}")


if __name__ == "__main__":
    main()
