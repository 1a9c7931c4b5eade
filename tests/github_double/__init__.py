"""A double of GitHub on loopback: its REST API as far as curate uses it, its limits and its failures, and real clones.

with GitHubDouble(World.simulated(100)) as github:
    github.fault(r"/search/", "502", times=2)
    ... github.url ...

By hand: `python -m tests.github_double --simulate 300`, or `--repos FOLDER` with git repositories in OWNER/NAME.

world.py    the repositories      queries.py  what a search finds     answers.py  their JSON
limits.py   rates of tokens       faults.py   what goes wrong         server.py   HTTP, and clones
"""

from tests.github_double.server import GitHubDouble
from tests.github_double.world import Repository, World

__all__ = ["GitHubDouble", "Repository", "World"]
