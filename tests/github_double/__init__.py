"""A double of GitHub on loopback: its REST API as far as curate uses it, its limits and its failures, and real clones.

with GitHubDouble(World.simulated(100)) as github:
    github.fault(r"/search/", "502", times=2)
    ... github.url ...

By hand: `python -m tests.github_double --simulate 300`, or `--repos FOLDER` with git repositories in OWNER/NAME.

repository.py  one repository     world.py   all of them           queries.py   what a search finds
routes.py      who gets what      answers.py its JSON              limits.py    rates of tokens
faults.py      what goes wrong    handler.py HTTP                  git_side.py  clones
server.py      the double itself  clients.py readers for its tests
"""

from tests.github_double.faults import Faults
from tests.github_double.limits import Limits, Rate
from tests.github_double.repository import Repository
from tests.github_double.server import GitHubDouble
from tests.github_double.world import World

__all__ = ["Faults", "GitHubDouble", "Limits", "Rate", "Repository", "World"]
