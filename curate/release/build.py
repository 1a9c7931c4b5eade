"""From selected functions to a folder that `load_dataset` reads: Parquet, card, lock, changelog, checksums."""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curate import __version__, derive
from curate.recipe import Recipe
from curate.records import Evidence, Problem, ProblemLabel, ProblemTest
from curate.release.funnel import Step
from curate.release.hashes import checksums, file_sha256, problem_hash, rows_hash
from curate.release.prompt import function_prompt

ROWS_A_FILE = 20_000


@dataclass(frozen=True)
class Content:
    """All that a release is made of."""

    name: str
    version: str
    recipe: Recipe
    problems: Mapping[str, Sequence[Problem]]
    """Split -> problems, sorted by id."""
    funnel: Sequence[Step]
    snapshots: Sequence[Mapping[str, Any]]
    corpora: Sequence[Mapping[str, Any]]
    environments: Mapping[str, Mapping[str, Any]]
    """Environment id -> its lock, interpreter, the date it was resolved for and the steps that led to it."""
    licenses: Sequence[Mapping[str, Any]]
    """The texts that the problems' licences ask to be passed on, with project, revision and files."""
    stages: Mapping[str, str]
    """Stage -> version of its results."""


def to_problem(
    row: Mapping[str, Any], version: str, labels: Iterable[Mapping[str, Any]], corpora: Sequence[Mapping[str, Any]]
) -> Problem:
    """Return the published form of a selected function."""
    own = [ProblemLabel(**{name: label[name] for name in ProblemLabel.model_fields}) for label in labels]
    value = {label.axis: label.value for label in own}
    evidence = Evidence(
        runs=row["runs"],
        tests=row["tests_run"],
        tests_failing_on_stub=row["tests_failing_on_stub"],
        mutants=row["mutants"],
        mutants_killed=row["mutants_killed"],
        python=row["python"] or "",
        sandbox=row["sandbox"] or "",
        cluster_size=row["cluster_size"],
        corpora_checked=[f"{one['corpus']}@{one['revision']}" for one in corpora if one["status"] == "checked"],
        license_path=row["license_path"] or "",
        license_from=row["license_how"] or "",
    )
    return Problem(
        problem_id=row["problem_id"],
        version=version,
        kind="function",
        prompt=function_prompt(row),
        entry_point=row["qualname"],
        reference=row["source"],
        tests=[ProblemTest(**test) for test in row["proven_tests"] or ()],
        license=row["license_expression"],
        phase=value.get("phase"),
        task=value.get("task"),
        data_type=value.get("data_type"),
        label_source="+".join(sorted({label.labeller for label in own})),
        label_confidence=min((label.confidence for label in own), default=0.0),
        labels=own,
        mutation_score=row["mutants_killed"] / row["mutants"] if row["mutants"] else None,
        created_at=row["committed_at"],
        environment=row["environment_id"],
        evidence=evidence,
        **{name: row[name] for name in _AS_IS},
    )


_AS_IS = (
    "signature", "docstring", "context", "project", "url", "revision", "path", "first_line", "last_line",
    "cyclomatic_complexity", "lines", "first_seen_at",
)  # fmt: skip


def write(content: Content, folder: Path) -> bool:
    """Write the release into `folder`; return False when it held these very bytes already.

    The folder appears, or is replaced, as a whole: a run that is killed leaves the old one or the new one.
    """
    from curate.release.card import card
    from curate.release.changelog import changelog

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new = Path(scratch) / "new"
        new.mkdir(mode=0o755)
        for split, rows in content.problems.items():
            _write_parquet(rows, new / "data" / "function", split)
        for environment_id, environment in content.environments.items():
            _write_text(new / "environments" / f"{environment_id}.txt", environment["lock"])
        for name, text in license_texts(content.licenses).items():
            _write_text(new / "LICENSES" / name, text)
        _write_text(new / "README.md", card(content, new))
        _write_text(new / "CHANGELOG.md", changelog(content, folder.parent))
        _write_text(new / "lock.json", json.dumps(lock_of(content, new), indent=2, ensure_ascii=False) + "\n")
        _write_text(new / "SHA256SUMS", checksums(new))
        if folder.exists() and checksums(folder, listed_too=True) == checksums(new, listed_too=True):
            return False
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        new.rename(folder)
    return True


def license_texts(licenses: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return file name -> what a project says of its licences; most of them ask to be passed on with the code."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in licenses:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{row['name']}-{row['revision'][:12]}") + ".txt"
        if not found[name]:
            found[name].append(f"{row['name']} {row['revision']}, {row['url']}\n")
        shown, more = row["files"][:10], len(row["files"]) - 10
        files = ", ".join([*shown, f"{more} more"] if more > 0 else shown)
        found[name].append(f"--- {files}\n\n{row['text'].strip()}\n")
    return {name: "\n".join(parts) for name, parts in found.items()}


def lock_of(content: Content, folder: Path) -> dict[str, Any]:
    """Return what pins a release down: revisions, versions, counts, and a hash that says which rows it holds."""
    return {
        "name": content.name,
        "version": content.version,
        "curate": __version__,
        "stages": dict(content.stages),
        "recipe": content.recipe.model_dump(mode="json"),
        "projects": [
            {key: row[key] for key in ("name", "url", "revision", "sha256", "license_expression")}
            for row in content.snapshots
        ],
        "corpora": [
            {key: row[key] for key in ("corpus", "origin", "revision", "status", "items", "reason")}
            for row in content.corpora
        ],
        "environments": {
            name: {
                "python": row["python"],
                "resolved_as_of": row["resolved_as_of"].isoformat() if row["resolved_as_of"] else None,
                "steps": sorted(row["steps"] or ()),
            }
            for name, row in sorted(content.environments.items())
        },
        "libraries": _libraries(),
        "funnel": [{"step": step.name, "count": step.count, "left": step.left} for step in content.funnel],
        "counts": {split: len(rows) for split, rows in content.problems.items()},
        "rows_sha256": rows_hash(content.problems),
        "problems": {
            problem.problem_id: problem_hash(problem) for rows in content.problems.values() for problem in rows
        },
        "files": {
            path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
            for path in sorted(folder.rglob("*.parquet"))
        },
    }


def _write_parquet(rows: Sequence[Problem], folder: Path, split: str) -> None:
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    parts = max(1, -(-len(rows) // ROWS_A_FILE))
    for part in range(parts):
        table = derive.arrow_table(Problem, rows[part * ROWS_A_FILE : (part + 1) * ROWS_A_FILE])
        name = f"{split}-{part:05d}-of-{parts:05d}.parquet"
        pq.write_table(table, folder / name, compression="zstd", row_group_size=1000)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _libraries() -> dict[str, str]:
    """Return the versions of the libraries whose output is part of the rows."""
    from importlib.metadata import version

    return {name: version(name) for name in ("black", "pyarrow", "radon")}


def group(rows: Iterable[tuple[str, Problem]]) -> dict[str, list[Problem]]:
    """Return split -> problems, sorted by id."""
    found: dict[str, list[Problem]] = defaultdict(list)
    for split, problem in rows:
        found[split].append(problem)
    return {split: sorted(found[split], key=lambda problem: problem.problem_id) for split in sorted(found)}
