"""Hashes that say what a release holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from curate.records import Problem


def problem_hash(problem: Problem) -> str:
    """Return a hash of what a problem says, whatever version of the set it is in."""
    data = problem.model_dump(mode="json", exclude={"version"})
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def rows_hash(problems: Mapping[str, Sequence[Problem]]) -> str:
    """Return the logical hash of all rows: the same whatever wrote the Parquet files."""
    digest = hashlib.sha256()
    for split in sorted(problems):
        for problem in problems[split]:
            digest.update(f"{split} {problem.problem_id} {problem_hash(problem)}\n".encode())
    return digest.hexdigest()


def checksums(folder: Path, *, listed_too: bool = False) -> str:
    """Return the lines of SHA256SUMS, in the form that `sha256sum --check` reads."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = [path.relative_to(folder).as_posix() for path in files]
    return "".join(
        f"{file_sha256(path)}  {name}\n"
        for path, name in zip(files, names, strict=True)
        if listed_too or name != "SHA256SUMS"
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
