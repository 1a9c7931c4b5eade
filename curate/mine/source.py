"""What every source of projects offers, and the values that go in and out of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from pydantic import Field, SecretStr

from curate.git.command import Limits
from curate.mine.tree import Tree
from curate.records import Struct
from curate.workspace import Workspace


class Settings(Struct):
    """Limits on what is taken in, and how long the network may take; the latter shape no results (`exclude`)."""

    max_files: int = Field(50_000, gt=0)
    """A project with more files than this is refused."""
    max_bytes: int = Field(2 * 1024**3, gt=0)
    """A project, or an archive, of more bytes than this is refused."""
    max_file_bytes: int = Field(64 * 1024**2, gt=0)
    """A file larger than this is left out; the rest of its project is kept."""
    max_ratio: int = Field(200, gt=0)
    """An archive that unpacks to more than this many times its size is refused."""
    timeout_seconds: float = Field(600.0, gt=0, exclude=True)
    """How long one download or one git command may take."""
    silence_seconds: float = Field(30.0, gt=0, exclude=True)
    """How long a server may say nothing."""
    retries: int = Field(3, ge=0, exclude=True)
    """How often a download that broke off is tried again."""
    pause_seconds: float = Field(1.0, ge=0, exclude=True)
    """Pause before the first new try; it doubles with each further one."""

    def of_git(self) -> Limits:
        """Return the limits for git; what a server sends may be the files and their whole history."""
        return Limits(
            timeout_seconds=self.timeout_seconds,
            silence_seconds=self.silence_seconds,
            max_bytes=4 * self.max_bytes,
            retries=self.retries,
            pause_seconds=self.pause_seconds,
        )


@dataclass(frozen=True)
class Pin:
    """A request that leads to the same content on every machine, and what is needed to get at it from this one."""

    request: str
    """The exact request: `pypi:NAME==VERSION`, `git+URL@COMMIT`, `local:NAME@HASH`. No credentials."""
    name: str
    """Name of the project."""
    location: str = ""
    """Where it lies when the exact request does not say so: the folder."""
    secret: SecretStr | None = None
    """User and password that stood in the address; masked whenever it is shown or written as JSON."""


@dataclass(frozen=True)
class Origin:
    """Where the files of a snapshot came from."""

    identity: tuple[str, ...]
    """What identifies the content; the snapshot's id is the hash of it."""
    source: Literal["pypi", "git", "github", "local"]
    """Kind of source, as in `snapshots`."""
    name: str
    """Name of the project."""
    url: str
    """Address without credentials."""
    revision: str
    """Exact revision."""
    sha256: str = ""
    """Hash of the archive; empty for the hash of the files."""
    committed_at: datetime | None = None
    """When this revision was made (UTC)."""


@runtime_checkable
class Source(Protocol):
    """A kind of place that projects come from; met by a plain module."""

    FORM: str
    """How its requests are written, for messages."""

    def matches(self, request: str) -> bool:
        """Say whether a request is meant for this source, well formed or not."""
        ...

    def check(self, request: str, workspace: Workspace) -> str:
        """Return a request in its full form, without asking anybody; raises UserError when it is not well formed."""
        ...

    def resolve(self, request: str, settings: Settings) -> Pin:
        """Pin a checked request, without the network when it is exact already; raises ItemError."""
        ...

    def fetch(self, pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
        """Put the files into `tree`, running nothing of the project; `scratch` is free to use. Raises ItemError."""
        ...


def snapshot_id(identity: tuple[str, ...]) -> str:
    """Return the id of a snapshot, the same on every machine."""
    return hashlib.sha256("\0".join(identity).encode()).hexdigest()[:32]
