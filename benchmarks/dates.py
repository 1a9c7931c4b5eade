"""Dates of functions on a made history: seconds, commits a second and peak memory, beside two floors.

    taskset -c 0 python benchmarks/dates.py [--commits 3000] [--repository PATH]

The history is the same on every machine: 300 files of 20 functions each, every commit changes three of them in some
way, moves some, and every tenth comes by way of a branch. The floors are git's own (`git log -p`, which only writes the
differences) and what it would take to parse every version of every file as a whole. Each way runs in a process of its
own; CPU time includes that of git.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from curate.errors import ItemError
from curate.extract import without_collector
from curate.extract.dates import when
from curate.extract.pieces import whole
from curate.extract.replay import Replay
from curate.git.command import Limits
from curate.git.history import changes, commits
from curate.git.objects import Blobs

LIMITS = Limits()
FILES, FUNCTIONS, CHANGED = 300, 20, 3
START = 1_500_000_000


def main() -> None:
    """Make the history, measure each way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--commits", type=int, default=3000, help="how long the made history is")
    parser.add_argument("--repository", type=Path, help="read this bare repository's HEAD instead of a made one")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(WAYS[options.way](options.repository))
        return
    with tempfile.TemporaryDirectory() as made:
        repository = options.repository or make(Path(made), options.commits)
        count = len(commits(repository, "HEAD", LIMITS, 10**9))
        print(f"{count:,} commits\n{'way':32}{'CPU s':>8}{'wall s':>8}{'commits/s':>11}{'peak MB':>9}")
        for way in WAYS:
            cpu, wall, peak = measure(way, repository)
            print(f"{way:32}{cpu:8.1f}{wall:8.1f}{count / wall:11,.0f}{peak:9.0f}", flush=True)


def measure(way: str, repository: Path) -> tuple[float, float, float]:
    """Run one way in a process of its own; return CPU and wall seconds and its peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, __file__, "--way", way, "--repository", str(repository)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, int(said) / 1024


def dating(repository: Path) -> int:
    """Date every function; return the peak memory in KB."""
    listed = commits(repository, "HEAD", LIMITS, 10**9)
    with without_collector(), Blobs(repository, LIMITS) as blobs:
        replay = Replay(listed, when(listed, 2**40), blobs.read)
        state = replay.run(changes(repository, listed, "*.py", LIMITS))
    assert sum(len(version.nodes) for version in state.values())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def differences(repository: Path) -> int:
    """Let git write the whole history as differences."""
    command = ["git", "log", "-p", "-M", "--format=%H", "HEAD", "--", "*.py"]
    subprocess.run(command, cwd=repository, stdout=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def parsing(repository: Path) -> int:
    """Parse every version of every file as a whole, and normalise its functions."""
    listed = commits(repository, "HEAD", LIMITS, 10**9)
    changed = changes(repository, listed, "*.py", LIMITS)
    blobs = {change.blob for each in changed for change in each if change.blob is not None}
    with without_collector(), Blobs(repository, LIMITS) as store:
        for blob in sorted(blobs):
            try:
                whole(store.read(blob))
            except ItemError:
                continue
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


WAYS = {"git log -p": differences, "dates": dating, "parsing every version whole": parsing}


def make(folder: Path, count: int) -> Path:
    """Make a bare repository through `git fast-import`."""
    subprocess.run(["git", "init", "-q", "--bare", "repo"], cwd=folder, check=True)
    repository = folder / "repo"
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=repository, stdin=subprocess.PIPE) as taking:
        assert taking.stdin is not None
        for part in _stream(count):  # piece by piece: a child's peak memory is never below its parent's
            taking.stdin.write(part.encode())
    assert taking.returncode == 0
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=repository, check=True)
    return repository


def _stream(count: int) -> Iterator[str]:
    chance = random.Random(0)
    files = {f"pkg/m{n}.py": {f"f{n}_{k}": chance.random() for k in range(FUNCTIONS)} for n in range(FILES)}
    written = {path: _text(path, functions) for path, functions in files.items()}
    yield _commit(1, 0, written)
    for number in range(1, count):
        changed: dict[str, str] = {}
        for path in chance.sample(sorted(files), CHANGED):
            name = chance.choice(sorted(files[path]))
            value = files[path].pop(name)
            other = chance.choice(sorted(files)) if chance.random() < 0.1 else path
            files[other][name] = value if other != path else chance.random()
            changed |= {one: _text(one, files[one]) for one in (path, other)}
        aside = number % 10 == 0
        yield _commit(number + 1, number, changed, merged=aside)


def _commit(mark: int, parent: int, files: dict[str, str], *, merged: bool = False) -> str:
    who = f"<a@b.c> {START + mark * 3600} +0000\n"
    head = f"author a {who}committer a {who}data 1\nx\n"
    body = "".join(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items())
    before = f"from :{parent}\n" if parent else ""
    if not merged:
        return f"commit refs/heads/main\nmark :{mark}\n{head}{before}{body}\n"
    side = 1_000_000 + mark
    return (
        f"commit refs/heads/side{mark}\nmark :{side}\n{head}{before}{body}\n"
        f"commit refs/heads/main\nmark :{mark}\n{head}{before}merge :{side}\n{body}\n"
    )


def _text(path: str, functions: dict[str, float]) -> str:
    return f'"""Module {path}."""\n\nimport math\n' + "".join(
        f'\n\ndef {name}(values, scale={value:.6f}):\n    """Return what {name} makes of values."""\n'
        f"    total = 0.0\n    for place, value in enumerate(values):\n        if value > {value:.4f} and place % 3:\n"
        f"            total += math.sqrt(abs(value * scale - {value:.5f}))\n        else:\n"
        f"            total -= math.log1p(abs(value)) * {value:.3f}\n    return round(total / max(len(values), 1), 6)\n"
        for name, value in functions.items()
    )


if __name__ == "__main__":
    main()
