"""Projects of GitHub, or of a GitHub Enterprise: `github:OWNER/NAME[@REF]`, and searches for them.

address.py       which GitHub, and the tokens for it        limits.py   what its limits ask for (pure)
client.py        one question, whatever it takes            facts.py    its words in ours
search.py        stage: one span of one query               queries.py  spans of time, and what is still to be asked
repositories.py  stage: one repository as it is now         criteria.py what a source file asks for
choose.py        stage: which are taken, and why the rest are not
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pydantic import SecretStr

from curate.errors import UserError
from curate.git.command import Remote
from curate.mine.git import NOT_IN_REF, take_commit
from curate.mine.github.address import address
from curate.mine.github.facts import NAME
from curate.mine.source import Origin, Pin, Settings
from curate.mine.tree import Tree
from curate.workspace import Workspace

FORM = "github:OWNER/NAME[@REF]"
PREFIX = "github:"
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def matches(request: str) -> bool:
    """Say whether the request begins with `github:`."""
    return request.startswith(PREFIX)


def check(request: str, workspace: Workspace) -> str:
    """Return the request, a commit in lower case; raises UserError when it is not well formed."""
    del workspace
    name, ref = split(request)
    if not NAME.fullmatch(name):
        raise UserError(f"{request}: write {FORM}, such as github:pytorch/ignite@v0.5.1")
    if ref is not None and (not ref or NOT_IN_REF.search(ref)):
        raise UserError(f"{request}: {ref!r} is not a branch, a tag or a commit")
    if shutil.which("git") is None:
        raise UserError(f"{request}: git is not installed, or not on the PATH")
    address()
    return f"{PREFIX}{name}@{ref.lower()}" if ref is not None and COMMIT.fullmatch(ref.lower()) else request


def split(request: str) -> tuple[str, str | None]:
    """Return (OWNER/NAME, REF or None) of a request."""
    name, at, ref = request.removeprefix(PREFIX).partition("@")
    return name.removesuffix(".git"), ref if at else None


def is_exact(request: str) -> bool:
    """Say whether a request names a commit."""
    return COMMIT.fullmatch(split(request)[1] or "") is not None


def resolve(request: str, settings: Settings) -> Pin:
    """Pin to a commit; asks GitHub unless the request names one. A repository that was renamed gets its new name."""
    name, ref = split(request)
    if not is_exact(request):
        from curate.mine.github import session
        from curate.mine.github.repositories import look_up

        patience = session.Settings(
            silence_seconds=settings.silence_seconds, retries=settings.retries, pause_seconds=settings.pause_seconds
        )
        found = look_up(session.client(patience), name, ref=ref)
        name, ref = found.full_name, found.revision
    where = remote(name)
    return Pin(f"{PREFIX}{name}@{ref}", name, where.url, where.secret)


def remote(name: str) -> Remote:
    """Return where OWNER/NAME is cloned from, with the first token if there is one; raises UserError."""
    where = address()
    login = SecretStr(f"x-access-token:{where.tokens[0].get_secret_value()}") if where.tokens else None
    return Remote(f"{where.web}/{name}.git", login)


def fetch(pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
    """Fetch exactly the commit and put its files into `tree`."""
    where = Remote(pin.location, pin.secret)
    commit, moment = take_commit(where, pin.request.rpartition("@")[2], tree, scratch, settings)
    url = pin.location.removesuffix(".git")
    return Origin(("git", commit), "github", pin.name, url, commit, committed_at=moment)
