"""`python -m tests.github_double`: serve the double by hand, so that `curate mine` can be tried as a user would."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tests.github_double import Faults, GitHubDouble, Limits, World


def main() -> None:
    """Serve until Ctrl-C."""
    given = _parser().parse_args()
    world = World.of_folder(given.repos.resolve()) if given.repos else World.simulated(given.simulate, given.seed)
    limits = Limits() if given.limits else Limits.none()
    limits.mixed, limits.skew = given.mixed, given.skew
    faults = Faults(given.faults, given.seed)
    for text in given.fault:
        pattern, kind, times = text.rsplit(":", 2)
        faults.add(pattern, kind, int(times))
    double = GitHubDouble(
        world, limits=limits, faults=faults, tokens=tuple(given.token), port=given.port, drift=given.drift,
        seed=given.seed,
    )  # fmt: skip
    with double as github:
        print(f"export GITHUB_API_URL={github.url}", flush=True)
        print(f"# {len(world.by_id)} repositories; as an Enterprise {github.url}/api/v3; Ctrl-C ends it", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print(f"# answered: {dict(github.counts)}; at most {github.peak_concurrency} at once")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.github_double", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--simulate", type=int, metavar="N", help="so many made-up repositories; they cannot be cloned")
    what.add_argument("--repos", type=Path, metavar="FOLDER", help="git repositories in FOLDER/OWNER/NAME")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", action="append", default=[], help="refuse any other token; may be repeated")
    parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="share of requests that go wrong")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="PATTERN:KIND:TIMES", help="such as /search/:502:3"
    )
    parser.add_argument("--seed", type=int, default=0, help="of what is made up, goes wrong and drifts")
    parser.add_argument("--drift", type=float, default=0.0, metavar="SHARE", help="share of pages where a hit slips")
    parser.add_argument("--limits", action="store_true", help="GitHub's own limits instead of none")
    parser.add_argument("--mixed", action="store_true", help="limits answer 403 and 429, with and without Retry-After")
    parser.add_argument("--skew", type=float, default=0.0, metavar="SECONDS", help="the server's clock is ahead")
    return parser


if __name__ == "__main__":
    main()
