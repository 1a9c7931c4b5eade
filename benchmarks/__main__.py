"""All measurements that need no data of the user's: `make bench`."""

from __future__ import annotations

import runpy
import statistics
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Print the time of `curate --help`, extraction and dates beside bare parsing, and a simulated search of GitHub."""
    help_time()
    print(flush=True)
    for name in ("extract", "dates", "search"):
        runpy.run_path(str(Path(__file__).parent / f"{name}.py"), run_name="__main__")
        print(flush=True)


def help_time(rounds: int = 10) -> None:
    """Print the median wall time of `curate --help` beside that of an empty Python program, interleaved."""
    commands = {"python -c pass": ["-c", "pass"], "curate --help": ["-m", "curate", "--help"]}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, arguments in commands.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - began)
    for name, taken in times.items():
        print(f"{name:<16}{statistics.median(taken) * 1000:6.0f} ms (median of {rounds})")


if __name__ == "__main__":
    main()
