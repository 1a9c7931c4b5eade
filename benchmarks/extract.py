"""Extraction against bare parsing: functions a second on one core, and how often the time of `ast.parse` and a walk.

    python benchmarks/extract.py [--package scikit-learn==1.5.2] [--rounds 5]

The package is installed into a temporary folder and only read, never run. Rounds are interleaved in one process, CPU
time is counted, medians are printed. Peak memory covers the whole run.
"""

from __future__ import annotations

import argparse
import ast
import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from curate.extract import Settings, extract
from curate.records import Function


def main() -> None:
    """Install a package, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--package", default="scikit-learn==1.5.2", help="what to read, as a requirement")
    parser.add_argument("--folder", type=Path, help="read this folder instead of installing a package")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or install(options.package, Path(made))
        report(folder, options.rounds)


def install(package: str, target: Path) -> Path:
    """Install a package without its dependencies, as a wheel, so that none of its code runs."""
    command = [sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--only-binary", ":all:", "--quiet"]
    subprocess.run([*command, "--target", str(target), package], check=True)
    return target


def bare(folder: Path) -> None:
    """Parse and walk every file, and keep nothing."""
    for path in sorted(folder.rglob("*.py")):
        for _ in ast.walk(ast.parse(path.read_bytes())):
            pass


def describe(folder: Path) -> int:
    """Print what there is to read, and return the number of functions; keeps no rows for the collector to walk over."""
    rows = extract(folder, "bench", "bench", Settings(black="none"))
    functions = [row for row in rows if isinstance(row, Function)]
    candidates = sum(bool(row.docstring) and not (row.in_tests or row.is_stub or row.is_nested) for row in functions)
    size = sum(path.stat().st_size for path in folder.rglob("*.py")) / 1e6
    print(f"{len(functions):,} functions ({candidates:,} candidates), {len(rows):,} rows, {size:.1f} MB of Python")
    return len(functions)


def report(folder: Path, rounds: int) -> None:
    """Print functions a second and the ratio to bare parsing for each setting."""
    warnings.simplefilter("ignore")
    functions = describe(folder)
    ways: dict[str, Callable[[], object]] = {
        "ast.parse and ast.walk": lambda: bare(folder),
        "extract, black on none": lambda: extract(folder, "bench", "bench", Settings(black="none")),
        "extract, black on candidates": lambda: extract(folder, "bench", "bench", Settings()),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            gc.collect()
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    ratios = {name: statistics.median(a / b for a, b in zip(t, seconds["ast.parse and ast.walk"], strict=True))
              for name, t in seconds.items()}  # fmt: skip
    print(f"{'way':32}{'CPU s':>8}{'functions/s':>13}{'ratio':>8}")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"{name:32}{median:8.2f}{functions / median:13,.0f}{ratios[name]:8.2f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
