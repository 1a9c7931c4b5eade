"""`python -m tests.github_double`: serve the double by hand, so that `curate mine` can be tried as a user would."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tests.github_double import GitHubDouble, World
from tests.github_double.faults import Faults
from tests.github_double.limits import Limits


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.github_double", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--simulate", type=int, metavar="N", help="so many made-up repositories; they cannot be cloned")
    what.add_argument("--repos", type=Path, metavar="FOLDER", help="git repositories in FOLDER/OWNER/NAME")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="share of requests that go wrong")
    parser.add_argument("--seed", type=int, default=0, help="of what is made up and of what goes wrong")
    parser.add_argument("--limits", action="store_true", help="GitHub's own limits instead of none")
    given = parser.parse_args()
    world = World.of_folder(given.repos.resolve()) if given.repos else World.simulated(given.simulate, given.seed)
    limits = Limits() if given.limits else Limits.none()
    with GitHubDouble(world, limits=limits, faults=Faults(given.faults, given.seed), port=given.port) as github:
        print(f"export GITHUB_API_URL={github.url}", flush=True)
        print(f"# {len(world.by_id)} repositories; Ctrl-C ends it", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print(f"# answered: {dict(github.counts)}")


if __name__ == "__main__":
    main()
