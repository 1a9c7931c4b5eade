"""The whole line on a project made here: from a git repository to `load_dataset`, killed on the way, repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

CODE = '''"""Small sums."""

import math


def mean(values):
    """Return the arithmetic mean of a list of numbers.

    Raises ValueError when the list is empty.
    """
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)


def norm(values):
    """Return the Euclidean norm of a list of numbers, a float."""
    total = 0.0
    for value in values:
        if not math.isnan(value):
            total += value * value
    return math.sqrt(total)


def length(numbers):
    """Return the Euclidean norm of a list of numbers, a float."""
    result = 0.0
    for number in numbers:
        if not math.isnan(number):
            result += number * number
    return math.sqrt(result)


def forgotten(values):
    """Return the largest of a list of numbers; no test looks at it."""
    return max(values)


def plain(values):
    return min(values)


def wrong(value):
    """Return the double of a number, and does not: its test fails."""
    return value * 3


def unnoticed(value):
    """Return a number unchanged; its test would not notice otherwise."""
    return value


class Counter:
    """Counts."""

    def __init__(self):
        self.seen = 0

    @property
    def count(self):
        """Return how many were seen so far, an integer."""
        return self.seen

    @count.setter
    def count(self, value):
        self.seen = value

    def add(self, number=1):
        """Add a number to what was seen and return the new count."""
        self.seen += number
        return self.seen
'''

TESTS = """import pytest

from tiny.core import Counter, length, mean, norm, unnoticed, wrong


@pytest.mark.parametrize("values,expected", [([1, 3], 2), ([5], 5)])
def test_mean(values, expected):
    assert mean(values) == expected


def test_mean_of_nothing():
    with pytest.raises(ValueError):
        mean([])


def test_norm():
    assert norm([3, 4]) == 5
    assert length([3, 4]) == 5


def test_wrong():
    assert wrong(2) == 4


def test_unnoticed():
    try:
        unnoticed(1)
    except Exception:
        pass


def test_counter():
    counter = Counter()
    counter.add(2)
    assert counter.count == 2


@pytest.mark.skip(reason="never")
def test_skipped():
    assert mean([1]) == 7
"""

PROJECT = """[project]
name = "tiny"
version = "1.0"
license = "MIT"
requires-python = ">=3.9"
"""

RECIPE = """title = "tiny"
sources = ["{source}"]
"""


def git(folder: Path, *arguments: str) -> str:
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "2026-02-03T04:05:06Z",
        "GIT_COMMITTER_DATE": "2026-02-03T04:05:06Z",
    }
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.check_output(["git", *who, *arguments], cwd=folder, env=env, text=True).strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tiny")
    for name, text in {
        "tiny/__init__.py": "",
        "tiny/core.py": CODE,
        "tiny/old.py": "print 'python 2'\n",
        "tests/test_core.py": TESTS,
        "pyproject.toml": PROJECT,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "tiny" / "core.py").write_text(CODE + "\n# later\n")
    git(folder, "commit", "-q", "-a", "-m", "second")
    return f"git+file://{folder}@{git(folder, 'rev-parse', 'HEAD~1')}"


def curate(*arguments: str, start: bool = False) -> Any:
    command = [sys.executable, "-m", "curate", *arguments]
    if start:
        return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def lay_out(folder: Path, source: str) -> Path:
    assert curate("init", str(folder)).returncode == 0
    (folder / "releases" / "tiny.toml").write_text(RECIPE.format(source=source))
    (folder / "sources" / "corpora.toml").write_text("")
    return folder


@pytest.fixture(scope="module")
def finished(repository: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = lay_out(tmp_path_factory.mktemp("whole") / "ws", repository)
    ended = curate("-C", str(folder), "run", "tiny", "--json")
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return folder, json.loads(ended.stdout)


def test_every_function_is_released_or_explained(finished: tuple[Path, dict[str, Any]]) -> None:
    _, report = finished
    left = {reason: count for step in report["funnel"] for reason, count in step["left"].items()}
    assert left.pop("test_code") == 7
    assert left == {"no_docstring": 3, "no_tests": 1, "tests_fail": 1, "stub_passes": 1, "renamed_duplicate": 1}
    assert report["splits"] == {"test": 4}


def test_load_dataset_reads_it(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    from datasets import load_dataset

    folder, _ = finished
    path = str(folder / "releases" / "tiny" / "0.1.0")
    rows = list(load_dataset(path, "function", split="test", cache_dir=str(tmp_path)))
    assert sorted(row["entry_point"] for row in rows) == ["Counter.add", "Counter.count", "mean", "norm"]
    mean = next(row for row in rows if row["entry_point"] == "mean")
    assert mean["reference"] in CODE
    assert (mean["first_line"], mean["last_line"]) == (6, 13)
    assert {test["node_id"] for test in mean["tests"]} == {
        "tests/test_core.py::test_mean",
        "tests/test_core.py::test_mean_of_nothing",
    }
    assert mean["license"] == "MIT"
    assert str(mean["created_at"]).startswith("2026-02-03 04:05:06")
    assert mean["version"] == "0.1.0"
    assert mean["evidence"]["runs"] >= 2


def test_failures_are_rows(finished: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = finished
    found = json.loads(curate("-C", str(folder), "status", "tiny", "--json").stdout)
    assert [(row["stage"], row["count"]) for row in found["failures"]] == [("extract", 1)]
    assert "tiny/old.py" in found["failures"][0]["example"]


def test_show_prints_the_evidence(finished: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = finished
    shown = curate("-C", str(folder), "show", "tiny/core.py:unnoticed").stdout
    assert "stub_passes" in shown
    assert "test_core.py::test_unnoticed" in shown


def test_a_second_run_does_nothing_and_changes_nothing(finished: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = finished
    before = (folder / "releases" / "tiny" / "0.1.0" / "SHA256SUMS").read_bytes()
    report = json.loads(curate("-C", str(folder), "run", "tiny", "--json").stdout)
    assert [stage["pending"] for stage in report["stages"]] == [0] * len(report["stages"])
    assert report["changed"] is False
    assert (folder / "releases" / "tiny" / "0.1.0" / "SHA256SUMS").read_bytes() == before


def test_killed_again_and_again_it_ends_with_the_same_bytes(
    finished: tuple[Path, dict[str, Any]], repository: str, tmp_path: Path
) -> None:
    whole, _ = finished
    folder = lay_out(tmp_path / "ws", repository)
    for delay in (1.2, 2.0, 3.1, 4.3):
        run = curate("-C", str(folder), "run", "tiny", start=True)
        time.sleep(delay)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    ended = curate("-C", str(folder), "run", "tiny", "--json")
    assert ended.returncode == 0, ended.stderr
    sums = Path("releases", "tiny", "0.1.0", "SHA256SUMS")
    assert (folder / sums).read_bytes() == (whole / sums).read_bytes()
    script = (
        "import duckdb, sys\n"
        "c = duckdb.connect(sys.argv[1], read_only=True)\n"
        "twice = c.sql(\"SELECT item_id FROM work WHERE item_id <> '' GROUP BY stage, item_id HAVING count(*) > 1\")\n"
        "print(twice.fetchall())"
    )
    store = str(folder / ".curate" / "store.duckdb")
    assert subprocess.check_output([sys.executable, "-c", script, store], text=True).strip() == "[]"


def test_interrupted_it_says_how_to_go_on(repository: str, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "ws", repository)
    command = [sys.executable, "-m", "curate", "-C", str(folder), "run", "tiny"]
    run = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
    )
    time.sleep(2.5)
    os.kill(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert said.strip() == "curate: interrupted; run the same command again to go on"
