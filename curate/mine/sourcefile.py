"""`sources/*.toml`: reviewed lists of the projects to mine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from curate.config import load_toml
from curate.errors import UserError
from curate.records import Struct


class Project(Struct):
    """A project to mine."""

    request: str = Field(min_length=1)
    """What to mine, written as on the command line."""
    name: str = ""
    """What to call it when talking about the list."""
    note: str = ""
    """Why it is in the list."""


class SourceFile(Struct):
    """A list of projects."""

    title: str
    """What the list is, in a line."""
    project: list[Project] = Field(min_length=1)
    """The projects."""


def load(path: Path) -> SourceFile:
    """Return a list of sources; raises UserError that names file, key and what is allowed."""
    listed = load_toml(path, SourceFile)
    for number, project in enumerate(listed.project, 1):
        if _has_secret(project.request):
            raise UserError(f"{path}: project {number}, request: a file that is shared holds no password; use ~/.netrc")
    return listed


def _has_secret(request: str) -> bool:
    parts = urlsplit(request)
    return bool(parts.password or (parts.username and parts.scheme in {"git+http", "git+https"}))
