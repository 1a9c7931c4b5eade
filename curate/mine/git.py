"""Projects of git repositories, at one commit; the files come out of the object store as they were committed."""

from __future__ import annotations

import io
import posixpath
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from curate.errors import ItemError, UserError
from curate.git.command import PROTOCOLS, GitError, Remote, ask, meaning, run
from curate.git.objects import Blobs, entries, sizes
from curate.git.repository import commit_of, commits_of
from curate.mine.place import scratch
from curate.mine.source import Origin, Pin, Settings
from curate.mine.tree import Tree
from curate.redact import redact
from curate.workspace import Workspace, cache

FORM = "git+URL[@REF]"
PREFIX = "git+"
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
ABBREVIATED = re.compile(r"[0-9a-f]{4,63}")
NOT_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|^[-/.]|\.lock$|\.$")
"""What no branch or tag may hold, after git-check-ref-format; a leading dash would be read as an option."""


def matches(request: str) -> bool:
    """Say whether the request begins with `git+`."""
    return request.startswith(PREFIX)


def check(request: str, workspace: Workspace) -> str:
    """Return the request as it is; raises UserError when it cannot be one. The first @ after the host begins REF."""
    del workspace
    try:
        url, ref, _ = split(request)
        parts = urlsplit(url)
    except ValueError:
        raise UserError(f"{redact(request)}: write {FORM}; this is not the URL of a repository") from None
    shown = f"{PREFIX}{url}" + (f"@{ref}" if ref is not None else "")
    if parts.scheme not in PROTOCOLS:
        allowed = ", ".join(f"git+{name}://" for name in PROTOCOLS)
        raise UserError(f"{shown}: write {FORM}, where URL begins with one of {allowed}")
    if parts.query or parts.fragment or "#" in request or re.search(r"[\x00-\x20]", url):
        raise UserError(f"{shown}: write {FORM}; the URL takes no ?query, #fragment or spaces")
    if parts.netloc.startswith("-") or not parts.path.strip("/") or (parts.scheme != "file") != bool(parts.netloc):
        raise UserError(f"{shown}: write {FORM}; this is not the URL of a repository")
    if ref is not None and (not ref or NOT_IN_REF.search(ref)):
        raise UserError(f"{shown}: {ref!r} is not a branch, a tag or a commit")
    if shutil.which("git") is None:
        raise UserError(f"{shown}: git is not installed, or not on the PATH")
    return request


def resolve(request: str, settings: Settings) -> Pin:
    """Pin to a commit: asks the server what a branch or tag points at; a full hash is taken as it is."""
    url, ref, secret = split(request)
    commit = look_up(Remote(url, secret), ref, settings)
    return Pin(f"{PREFIX}{url}@{commit}", _name(url), url, secret)


def fetch(pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
    """Fetch exactly the commit and put its files into `tree`."""
    commit, moment = take_commit(
        Remote(pin.location, pin.secret), pin.request.rpartition("@")[2], tree, scratch, settings
    )
    # A path of this machine means nothing to others.
    url = pin.name if pin.location.startswith("file:") else pin.location
    return Origin(("git", commit), "git", pin.name, url, commit, committed_at=moment)


def take_commit(
    remote: Remote, wanted: str, tree: Tree, scratch: Path, settings: Settings
) -> tuple[str, datetime | None]:
    """Put the files of a commit into `tree`; return its full hash and its date. Raises ItemError."""
    limits = settings.of_git()
    repository = commit_of(remote, wanted, scratch, limits, max_blob=settings.max_file_bytes)
    commit, seconds = run(["log", "-1", "--format=%H %ct", wanted + "^{commit}", "--"], repository, limits).split()
    _export(repository, commit, tree, settings)
    return commit, _moment(seconds)


def _export(repository: Path, commit: str, tree: Tree, settings: Settings) -> None:
    """Put the files of a commit into `tree`; submodules and what was not fetched are left out."""
    limits = settings.of_git()
    listed = entries(repository, commit, limits)
    size = sizes(repository, (entry.sha for entry in listed if not entry.is_submodule), limits)
    with Blobs(repository, limits) as blobs:
        for entry in listed:
            if entry.is_submodule:
                tree.count()
                tree.leave_out(entry.path, "submodule", f"commit {entry.sha} of another repository")
            elif entry.sha not in size:
                tree.count()
                tree.leave_out(entry.path, "file_too_large", f"more than {settings.max_file_bytes:,} bytes, or missing")
            elif entry.is_link:
                target = blobs.read(entry.sha).decode("utf-8", "surrogateescape")
                tree.link(entry.path, target if posixpath.isabs(target) else _beside(entry.path, target))
            elif size[entry.sha] > settings.max_file_bytes:
                tree.add(entry.path, io.BytesIO(), size=size[entry.sha])  # noted as left out, not read
            else:
                content = io.BytesIO(blobs.read(entry.sha))
                tree.add(entry.path, content, size=size[entry.sha], executable=entry.mode == "100755")
    tree.finish()
    if not tree.files:
        raise ItemError("empty", f"commit {commit} holds no file that can be kept")


def _beside(path: str, target: str) -> str:
    return posixpath.join(posixpath.dirname(path), target)


def look_up(remote: Remote, ref: str | None, settings: Settings) -> str:
    """Return the commit that a branch, a tag or the beginning of a hash names; raises ItemError."""
    exact = COMMIT.fullmatch(ref.lower()) if ref is not None else None
    return exact[0] if exact else _ask(remote, ref, settings)


def _ask(remote: Remote, ref: str | None, settings: Settings) -> str:
    patterns = [ref, f"{ref}^{{}}"] if ref else []
    with scratch(cache() / "downloads") as nowhere:
        try:
            listed = ask(["ls-remote", "--", remote.url, *patterns], nowhere, settings.of_git(), remote)
        except GitError as error:
            raise meaning(error, remote.url) from None
    points = {name: commit for commit, name in (line.split("\t") for line in listed.splitlines())}
    if ref is None:
        return _default(remote, points)
    # In the order of gitrevisions(7); for an annotated tag the commit that it names.
    for name in (ref, f"refs/{ref}", f"refs/tags/{ref}", f"refs/heads/{ref}"):
        found = points.get(name + "^{}") or points.get(name)
        if found:
            return found
    if ABBREVIATED.fullmatch(ref.lower()):
        return _complete(remote, ref.lower(), settings)
    raise ItemError("ref_not_found", f"{remote.url} has no branch or tag {ref}")


def _default(remote: Remote, points: dict[str, str]) -> str:
    if "HEAD" in points:
        return points["HEAD"]
    branches = sorted(name.removeprefix("refs/heads/") for name in points if name.startswith("refs/heads/"))
    if branches:
        raise ItemError(
            "no_default_branch", f"{remote.url} has no default branch; add @REF, such as @{', @'.join(branches[:5])}"
        )
    raise ItemError("empty_repository", f"{remote.url} has no commit")


def _complete(remote: Remote, start: str, settings: Settings) -> str:
    """Return the one commit whose hash starts like this; servers only know full hashes, so all commits are fetched."""
    with scratch(cache() / "downloads") as temporary:
        repository = commits_of(remote, start, temporary, settings.of_git())
        try:
            return run(
                ["rev-parse", "--verify", "--quiet", f"{start}^{{commit}}"], repository, settings.of_git()
            ).strip()
        except GitError as error:
            if "ambiguous" in str(error):
                raise ItemError("ambiguous_ref", f"{remote.url} has several commits {start}...") from None
            raise ItemError("ref_not_found", f"{remote.url} has no branch, tag or commit {start}") from None


def split(request: str) -> tuple[str, str | None, SecretStr | None]:
    """Return URL without credentials, REF or None, and the credentials."""
    parts = urlsplit(request.removeprefix(PREFIX))
    path, at, ref = parts.path.partition("@")
    login, _, host = parts.netloc.rpartition("@")
    secret = SecretStr(_login(login)) if login and parts.scheme in {"http", "https"} else None
    if login and parts.scheme == "ssh":
        host = f"{login.partition(':')[0]}@{host}"  # the user of an ssh address is no secret
    url = urlunsplit((parts.scheme, host, path, parts.query, parts.fragment))
    return url, ref if at else None, secret


def _login(login: str) -> str:
    user, _, password = login.partition(":")
    return f"{unquote(user)}:{unquote(password)}"


def _name(url: str) -> str:
    """Return OWNER/NAME, or only the last part for a path of this machine."""
    parts = urlsplit(url)
    names = [unquote(part) for part in parts.path.split("/") if part]
    names[-1] = names[-1].removesuffix(".git") or names[-1]
    return "/".join(names[-1:] if parts.scheme == "file" else names[-2:])


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
