"""How well and how fast the rules label: `python benchmarks/label.py LABELS.jsonl [--errors]`.

A line of the labels file names a function and says what people called it:

    {"package": "einops==0.8.2", "wheel": "einops-0.8.2-py3-none-any.whl", "path": "einops/einops.py",
     "qualname": "rearrange", "first_line": 568, "last_line": 630, "phase": "...", "task": "...", "data_type": "..."}

The wheels are downloaded and unpacked, never installed or run; their functions go through the same extraction, the
same items query and the same labeller as in the pipeline. Printed per axis: Cohen's kappa and accuracy against the
people, agreement per project, a confusion table, and a reliability table: how often the labels of each band of
confidence agree.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
from pypi_simple import PyPISimple

from curate.derive import arrow_table
from curate.extract import Settings as ExtractSettings
from curate.extract import extract
from curate.label import Settings
from curate.label.axes import Axis, load_axes
from curate.label.labeller import Opinion
from curate.label.rules import Rules
from curate.records import Function, Snapshot
from curate.store import query

ROOT = Path(__file__).resolve().parent.parent
BANDS = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Judged = tuple[dict[str, Any], dict[str, Opinion]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("labels", nargs="?", type=Path, help="file with one labelled function a line (JSON)")
    parser.add_argument("--errors", action="store_true", help="also list where people and rules differ")
    options = parser.parse_args(arguments)
    if options.labels is None:
        print(f"no labels file given\n\n{__doc__}", file=sys.stderr)
        return 1
    labelled = [json.loads(line) for line in options.labels.read_text(encoding="utf-8").splitlines() if line.strip()]
    axes = load_axes(ROOT / "schema" / "axes")
    with tempfile.TemporaryDirectory() as folder:
        items = {wheel: _items(package, wheel, Path(folder)) for package, wheel in _wheels(labelled)}
    pairs = [(label, _find(label, items[label["wheel"]])) for label in labelled]
    found = [(label, item) for label, item in pairs if item is not None]
    print(f"{len(found)} of {len(labelled)} labelled functions found\n")
    opinions = Rules(axes).opinions(item for _, item in found)
    judged = [(label, {o.axis: o for o in given}) for (label, _), given in zip(found, opinions, strict=True)]
    for axis in axes:
        if any(axis.axis in label for label, _ in judged):
            _report(axis, [pair for pair in judged if axis.axis in pair[0]], errors=options.errors)
    _speed(axes, [item for rows in items.values() for item in rows])
    return 0


def _wheels(labelled: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted({(label["package"].partition("==")[0], label["wheel"]) for label in labelled})


def _items(package: str, wheel: str, folder: Path) -> list[dict[str, Any]]:
    """Return what the stage would be given for the functions of a wheel."""
    print(f"reading {wheel}", file=sys.stderr)
    with PyPISimple() as index:
        file = next(file for file in index.get_project_page(package).packages if file.filename == wheel)
        index.download_package(file, folder / wheel)
    root = folder / package
    with zipfile.ZipFile(folder / wheel) as archive:
        archive.extractall(root, [name for name in archive.namelist() if name.endswith(".py")])
    rows = extract(root, package, package, ExtractSettings(black="none"))
    connection = duckdb.connect()
    connection.register("current_functions", arrow_table(Function, [r for r in rows if isinstance(r, Function)]))
    connection.register("current_snapshots", arrow_table(Snapshot, [_snapshot(package)]))
    sql = (ROOT / "curate" / "label" / "items.sql").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = query(connection, sql, **Settings().model_dump()).to_pylist()
    return found


def _snapshot(name: str) -> Snapshot:
    text = dict.fromkeys(("snapshot_id", "name", "url", "revision", "sha256"), name)
    empty = dict.fromkeys(("license_expression", "license_path", "license_from", "requires_python"))
    return Snapshot(source="pypi", committed_at=datetime(2024, 1, 1), files=0, bytes=0, **text, **empty)


def _find(label: dict[str, Any], items: list[dict[str, Any]]) -> dict[str, Any] | None:
    named = [item for item in items if (item["path"], item["qualname"]) == (label["path"], label["qualname"])]
    if not named:
        print(f"not found: {label['wheel']} {label['path']} {label['qualname']}", file=sys.stderr)
    return named[-1] if named else None


def kappa(truth: Sequence[str], said: Sequence[str]) -> float:
    """Return Cohen's kappa (1960): agreement beyond what the two frequencies alone would give."""
    total = len(truth)
    agreed = sum(a == b for a, b in zip(truth, said, strict=True)) / total
    left, right = Counter(truth), Counter(said)
    chance = sum(left[value] * right[value] for value in left) / total**2
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def _report(axis: Axis, judged: list[Judged], *, errors: bool) -> None:
    name = axis.axis
    truth = [label[name] for label, _ in judged]
    said = [opinions[name].value for _, opinions in judged]
    right = sum(a == b for a, b in zip(truth, said, strict=True))
    print(f"## {name}: kappa {kappa(truth, said):.3f}, accuracy {right / len(truth):.3f} (n = {len(truth)})")
    by_project: defaultdict[str, list[bool]] = defaultdict(list)
    for (label, _), a, b in zip(judged, truth, said, strict=True):
        by_project[label["package"]].append(a == b)
    print("   agreed by project: " + ", ".join(f"{p} {sum(r)}/{len(r)}" for p, r in sorted(by_project.items())))
    _confusion(axis, truth, said)
    _reliability([(opinions[name].confidence, opinions[name].value == label[name]) for label, opinions in judged])
    for label, opinions in judged if errors else ():
        said_here = opinions[name]
        if said_here.value != label[name]:
            print(f"   {label['path']}:{label['qualname']}: people {label[name]}, rules {said_here.value}")
            print(f"      {said_here.confidence:.2f} {said_here.evidence}")
    print()


def _confusion(axis: Axis, truth: Sequence[str], said: Sequence[str]) -> None:
    counts = Counter(zip(truth, said, strict=True))
    print("   people \\ rules        " + " ".join(f"{value[:9]:>9}" for value in axis.vocabulary))
    for value in axis.vocabulary:
        print(f"   {value:21} " + " ".join(f"{counts[value, other] or '.':>9}" for other in axis.vocabulary))


def _reliability(sure: list[tuple[float, bool]]) -> None:
    """Print agreement by band of confidence, and the mean gap between both (expected calibration error)."""
    gap = 0.0
    for low, high in pairwise(BANDS):
        band = [(c, right) for c, right in sure if low <= c < high or (high == 1 == c)]
        if band:
            mean, share = math.fsum(c for c, _ in band) / len(band), sum(right for _, right in band) / len(band)
            gap += abs(mean - share) * len(band) / len(sure)
            print(f"   confidence {low:.1f} to {high:.1f}: said {mean:.2f}, agreed {share:.2f} (n = {len(band)})")
    print(f"   expected calibration error {gap:.3f}")


def _speed(axes: Sequence[Axis], items: list[dict[str, Any]]) -> None:
    rules = Rules(axes)
    start = time.process_time()
    count = sum(1 for _ in rules.opinions(items))
    seconds = time.process_time() - start
    print(
        f"## speed: {count} functions in {seconds:.1f} CPU s, {count / seconds:,.0f} a second on one core, cold start"
    )


if __name__ == "__main__":
    sys.exit(main())
