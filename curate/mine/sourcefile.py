"""`sources/*.toml`: reviewed lists of the projects to mine, and of what to look for on GitHub."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from curate.config import load_toml
from curate.errors import UserError
from curate.mine.github.criteria import Search
from curate.mine.require import Require
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
    """A list of projects, a search for them, or both."""

    title: str
    """What the list is, in a line."""
    search: Search | None = None
    """What to look for on GitHub."""
    require: Require = Field(default_factory=Require)
    """What the projects that were found have to be like; known once they are taken in."""
    deny: list[str] = Field(default_factory=list)
    """OWNER/NAME (with * and ?) or numbers of repositories that are not taken."""
    opt_out: str = "sources/opt-out.txt"
    """File with the repositories of authors who asked to be left out, one a line."""
    project: list[Project] = Field(default_factory=list)
    """Projects that are taken in any case, unless they opted out."""


def load(path: Path) -> SourceFile:
    """Return a list of sources; raises UserError that names file, key and what is allowed."""
    listed = load_toml(path, SourceFile)
    if not listed.project and listed.search is None:
        raise UserError(f"{path}: nothing to take in: it has neither a [search] nor a [[project]]")
    for number, project in enumerate(listed.project, 1):
        if _has_secret(project.request):
            raise UserError(f"{path}: project {number}, request: a file that is shared holds no password; use ~/.netrc")
    return listed


def _has_secret(request: str) -> bool:
    parts = urlsplit(request)
    return bool(parts.password or (parts.username and parts.scheme in {"git+http", "git+https"}))
