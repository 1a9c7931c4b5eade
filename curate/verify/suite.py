"""Jobs for the runner, one sandbox for all of them, and what came of each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curate.errors import ItemError, UserError
from curate.verify.project import Copy

RUNNER = Path(__file__).parent / "runner"
WORST = ("crashed", "timeout", "error", "failed", "not_run", "passed", "xpassed", "xfailed", "skipped")
"""What items of one test come to together: the first of these that any of them has."""

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA")
QUIET = {
    "PYTHONNOUSERSITE": "1",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "JAX_PLATFORMS": "cpu",
    **{f"{library}_NUM_THREADS": "1" for library in THREADS},
}
"""What would make two runs of one suite differ, or start threads that no fork survives."""


@dataclass(frozen=True)
class Job:
    """One run of some tests in a process of its own; the fields are described in `runner/serve.py`."""

    id: str
    files: Sequence[str] = ()
    tests: Sequence[str] | None = None
    replace: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    links: bool = False
    once: bool = False
    order: str = "collected"
    item_seconds: float = 60.0
    collect_seconds: float = 120.0
    seconds: float = 900.0
    restarts: int = 10
    variants: Sequence[Mapping[str, Any]] = ()
    """The result of each is found under its own `id`."""


@dataclass
class Seen:
    """What came of one test function: its items together."""

    items: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)
    hits: set[int] = field(default_factory=set)
    flags: bool = True
    """False for what was seen in a repetition without flags."""

    @property
    def outcome(self) -> str:
        """The worst outcome of any item; a test of which only some items were skipped has passed."""
        return next((one for one in WORST if self.outcomes[one]), "skipped")

    @property
    def detail(self) -> str:
        """First report behind the outcome."""
        return self.details.get(self.outcome, "")


@dataclass
class JobResult:
    """What came of one job."""

    collected: dict[str, int] = field(default_factory=dict)
    tests: dict[str, Seen] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    at_import: set[int] = field(default_factory=set)
    status: int | None = None
    """pytest's exit code; None when it did not come to its end."""
    stopped: str = ""
    """Why it ended early, in one word; empty when it did not."""
    detail: str = ""


@dataclass(frozen=True)
class Place:
    """Where jobs run."""

    python: Path
    copy: Copy
    variables: Mapping[str, str]
    sandbox: str | None
    memory_bytes: int
    hash_seed: int = 0


def run(place: Place, jobs: Sequence[Job], functions: Sequence[tuple[str, int]] = (), *, warm: bool = False) -> Results:
    """Run jobs in one sandbox; raises ItemError when the sandbox fails, UserError when there is none.

    `functions` are (path, line of `def`) and get the flags of jobs with links; `warm` lets the later jobs start with
    the packages that the first one has loaded.
    """
    from curate.sandbox import Command, Limits, SandboxError, SandboxUnavailable, choose, python_paths

    folder = place.copy.folder
    spec = {
        "project": str(folder),
        "roots": [str(root) for root in place.copy.roots],
        "results": str(place.copy.base / "results.jsonl"),
        "log": str(place.copy.base / "log.txt"),
        "stacks": str(place.copy.base / "stacks.txt"),
        "functions": [[str(folder / path), line] for path, line in functions],
        "warm": warm,
        "jobs": [dict(vars(job)) for job in jobs],
    }
    file = place.copy.base / "jobs.json"
    file.write_text(json.dumps(spec))
    wall = sum(job.seconds for job in jobs) + 60
    # Many short processes are worth compiled modules; one whole suite is not, and flags must go in afresh.
    bytecode = {} if warm else {"PYTHONDONTWRITEBYTECODE": "1"}
    command = Command(
        argv=(str(place.python), str(RUNNER), str(file)),
        cwd=folder,
        env={**QUIET, **bytecode, "PYTHONHASHSEED": str(place.hash_seed), **place.variables},
        read_only=(RUNNER, *python_paths(place.python)),
        writable=(place.copy.base,),
        limits=Limits(wall_seconds=wall, cpu_seconds=4 * wall, memory_bytes=place.memory_bytes),
    )
    try:
        completed = choose(place.sandbox).run(command)
    except SandboxUnavailable as error:
        raise UserError(str(error)) from error
    except SandboxError as error:
        raise ItemError("sandbox_failed", str(error), transient=True) from error
    said = completed.stderr.decode("utf-8", "replace").replace(str(place.copy.base), "")
    clean = completed.ended == "exited" and completed.returncode == 0
    return Results(
        _read(place, jobs), completed.sandbox, "" if clean else completed.ended, "\n".join(said.splitlines()[-12:])
    )


@dataclass(frozen=True)
class Results:
    """What came of the jobs of one sandbox."""

    jobs: dict[str, JobResult]
    sandbox: str
    ended: str
    """How the sandbox ended, where it did not do so by itself after the last job; else empty."""
    said: str
    """Last lines of the runner's own standard error."""


def _read(place: Place, jobs: Iterable[Job]) -> dict[str, JobResult]:
    from curate.sandbox import SandboxError, read_result

    results = {job.id: JobResult() for job in jobs}
    results |= {str(variant["id"]): JobResult() for job in jobs for variant in job.variants}
    try:
        raw = read_result(place.copy.base, "results.jsonl")
    except SandboxError:
        raw = b""
    hidden = (f"{place.copy.base}/", f"{place.python.parent.parent}/")
    for line in raw.splitlines():
        try:
            event = json.loads(line)
            result = results[event["job"]]
        except (ValueError, KeyError, TypeError):
            continue  # the last line of a run that was cut off
        _take(result, event, hidden)
    for job in jobs:
        _complete(results[job.id])
    return results


def _take(result: JobResult, event: dict[str, Any], hidden: tuple[str, ...]) -> None:
    """Add one event; details lose what differs from machine to machine and from run to run."""
    detail = str(event.get("detail", ""))
    for folder in hidden:
        detail = detail.replace(folder, "")
    detail = ADDRESS.sub("0x...", detail)
    match event["event"]:
        case "collected":
            result.collected = event["tests"]
            result.at_import |= set(event["at_import"])
        case "broken":
            result.broken[event["path"]] = detail
        case "end":
            test = result.tests.setdefault(event["test"], Seen())
            test.items += 1
            test.seconds += event["seconds"]
            test.outcomes[event["outcome"]] += 1
            test.details.setdefault(event["outcome"], detail)
            test.hits |= set(event["hits"])
        case "finish":
            result.status = event["status"]
            result.detail = result.detail or detail
        case "stopped":
            result.stopped, result.detail = event["reason"], detail


def _complete(result: JobResult) -> None:
    """Mark tests of which not every item was run: what did not run has not passed."""
    for name, items in result.collected.items():
        test = result.tests.setdefault(name, Seen())
        if test.items < items:
            test.outcomes["not_run"] += 1
            why = result.stopped or "the run ended before"
            test.details.setdefault("not_run", f"only {test.items} of {items} items were run: {why}")
