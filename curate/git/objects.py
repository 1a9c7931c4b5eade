"""Files out of a repository's object store, byte for byte.

`git archive` and `git checkout` rewrite files after .gitattributes (line ends, export-subst, filters such as lfs);
`git cat-file` does not know of them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from curate.errors import ItemError
from curate.git.command import GitError, Limits, environment, run

CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A file, link or submodule of a commit."""

    mode: str
    sha: str
    path: str

    @property
    def is_submodule(self) -> bool:
        """Whether it stands for a commit of another repository."""
        return self.mode == "160000"

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.mode == "120000"


def entries(repository: Path, commit: str, limits: Limits) -> list[Entry]:
    """Return what a commit holds, in git's order; raises ItemError."""
    try:
        listed = run(["ls-tree", "-r", "-z", "--full-tree", commit], repository, limits)
    except GitError as error:
        raise ItemError("damaged_repository", str(error)) from None
    return [_entry(line) for line in listed.split("\0") if line]


def sizes(repository: Path, shas: Iterable[str], limits: Limits) -> dict[str, int]:
    """Return the size in bytes of each object that is there; those that were not fetched are not in the answer."""
    asked = "".join(f"{sha}\n" for sha in dict.fromkeys(shas)).encode()
    try:
        answers = run(["cat-file", "--batch-check"], repository, limits, given=asked)
    except GitError as error:
        raise ItemError("damaged_repository", str(error)) from None
    found = (line.split() for line in answers.splitlines())
    return {parts[0]: int(parts[2]) for parts in found if len(parts) == 3}


def _entry(line: str) -> Entry:
    facts, _, path = line.partition("\t")
    mode, _, sha = facts.split()
    return Entry(mode, sha, path)


class Blobs:
    """One `git cat-file --batch` that is asked for one object after the other; a context manager."""

    def __init__(self, repository: Path, limits: Limits) -> None:
        self.process = subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=repository,
            env=environment(repository, limits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self, sha: str) -> bytes:
        """Return the content of an object; raises ItemError when the repository lacks it."""
        asked, answers = cast("BinaryIO", self.process.stdin), cast("BinaryIO", self.process.stdout)
        try:
            asked.write(f"{sha}\n".encode())
            asked.flush()
            header = answers.readline().split()
        except BrokenPipeError:
            header = []
        if len(header) != 3:
            raise ItemError("damaged_repository", f"object {sha} cannot be read")
        size = int(header[2])
        parts: list[bytes] = []
        while size and (part := answers.read(min(size, CHUNK))):
            parts.append(part)
            size -= len(part)
        if size or answers.read(1) != b"\n":
            raise ItemError("damaged_repository", f"object {sha} cannot be read")
        return b"".join(parts)
