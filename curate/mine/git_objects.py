"""Files out of a repository's object store, byte for byte.

`git archive` and `git checkout` rewrite files after .gitattributes (line ends, export-subst, filters such as lfs);
`git cat-file` does not know of them.
"""

from __future__ import annotations

import io
import posixpath
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from curate.errors import ItemError
from curate.mine.git_command import GitError, environment, run
from curate.mine.source import Settings
from curate.mine.tree import CHUNK, Tree


@dataclass(frozen=True)
class Entry:
    """A line of `git ls-tree`."""

    mode: str
    sha: str
    size: int
    path: str


def export(repository: Path, commit: str, tree: Tree, settings: Settings) -> None:
    """Put the files of a commit into `tree`; submodules are left out. Raises ItemError."""
    try:
        listed = run(["ls-tree", "-r", "-z", "-l", "--full-tree", commit], repository, settings)
    except GitError as error:
        raise ItemError("damaged_repository", str(error)) from None
    with _Blobs(repository, settings) as blobs:
        for entry in (_entry(line) for line in listed.split("\0") if line):
            if entry.mode == "160000":
                tree.count()
                tree.leave_out(entry.path, "submodule", f"commit {entry.sha} of another repository")
            elif entry.mode == "120000":
                target = blobs.read(entry.sha).decode("utf-8", "surrogateescape")
                tree.link(entry.path, target if posixpath.isabs(target) else _beside(entry.path, target))
            elif entry.size > settings.max_file_bytes:
                tree.add(entry.path, io.BytesIO(), size=entry.size)  # noted as left out, not read
            else:
                content = io.BytesIO(blobs.read(entry.sha))
                tree.add(entry.path, content, size=entry.size, executable=entry.mode == "100755")
    tree.finish()
    if not tree.files:
        raise ItemError("empty", f"commit {commit} holds no file that can be kept")


def _entry(line: str) -> Entry:
    facts, _, path = line.partition("\t")
    mode, _, sha, size = facts.split()
    return Entry(mode, sha, 0 if size == "-" else int(size), path)


def _beside(path: str, target: str) -> str:
    return posixpath.join(posixpath.dirname(path), target)


class _Blobs:
    """One `git cat-file --batch` that is asked for one object after the other."""

    def __init__(self, repository: Path, settings: Settings) -> None:
        self.process = subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=repository,
            env=environment(repository, settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> _Blobs:
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
