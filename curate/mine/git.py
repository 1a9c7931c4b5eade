"""Projects of git repositories, at one commit; the files come out of the object store as they were committed."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from curate.errors import ItemError, UserError
from curate.mine.git_command import PROTOCOLS, GitError, meaning, run
from curate.mine.git_objects import export
from curate.mine.place import scratch
from curate.mine.source import Origin, Pin, Settings, redact
from curate.mine.tree import Tree
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
        url, ref, _ = _split(request)
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
    url, ref, secret = _split(request)
    pin = Pin(request=url, name=_name(url), location=url, secret=secret)
    exact = ref is not None and COMMIT.fullmatch(ref.lower())
    commit = exact[0] if exact else _look_up(pin, ref, settings)
    return Pin(f"{PREFIX}{url}@{commit}", pin.name, url, secret)


def fetch(pin: Pin, tree: Tree, scratch: Path, settings: Settings) -> Origin:
    """Fetch exactly the commit, or everything where a server does not hand out single commits, and export it."""
    wanted = pin.request.rpartition("@")[2]
    repository = _empty_repository(scratch, wanted, settings)
    try:
        run(["fetch", "--depth=1", "--no-tags", "--quiet", "--", pin.location, wanted], repository, settings, pin)
    except GitError as error:
        refused = r"not our ref|unadvertised object|remote ref|no such remote|Server does not allow"
        if not re.search(refused, str(error)):
            raise meaning(error, pin.location) from None
        _fetch_all(pin, repository, settings)
    try:
        shown = run(["log", "-1", "--format=%H %ct", wanted + "^{commit}", "--"], repository, settings)
    except GitError:
        raise ItemError("commit_not_found", f"{pin.location} has no commit {wanted} on a branch or tag") from None
    commit, seconds = shown.split()
    export(repository, commit, tree, settings)
    return Origin(
        identity=("git", commit),
        source="git",
        name=pin.name,
        # A path of this machine means nothing to others.
        url=pin.name if pin.location.startswith("file:") else pin.location,
        revision=commit,
        committed_at=_moment(seconds),
    )


def _look_up(pin: Pin, ref: str | None, settings: Settings) -> str:
    patterns = [ref, f"{ref}^{{}}"] if ref else []
    with scratch(cache() / "downloads") as nowhere:
        try:
            listed = run(["ls-remote", "--", pin.location, *patterns], nowhere, settings, pin)
        except GitError as error:
            raise meaning(error, pin.location) from None
    points = {name: commit for commit, name in (line.split("\t") for line in listed.splitlines())}
    if ref is None:
        return _default(pin, points)
    # In the order of gitrevisions(7); for an annotated tag the commit that it names.
    for name in (ref, f"refs/{ref}", f"refs/tags/{ref}", f"refs/heads/{ref}"):
        found = points.get(name + "^{}") or points.get(name)
        if found:
            return found
    if ABBREVIATED.fullmatch(ref.lower()):
        return _complete(pin, ref.lower(), settings)
    raise ItemError("ref_not_found", f"{pin.location} has no branch or tag {ref}")


def _default(pin: Pin, points: dict[str, str]) -> str:
    if "HEAD" in points:
        return points["HEAD"]
    branches = sorted(name.removeprefix("refs/heads/") for name in points if name.startswith("refs/heads/"))
    if branches:
        raise ItemError(
            "no_default_branch", f"{pin.location} has no default branch; add @REF, such as @{', @'.join(branches[:5])}"
        )
    raise ItemError("empty_repository", f"{pin.location} has no commit")


def _complete(pin: Pin, start: str, settings: Settings) -> str:
    """Return the one commit whose hash starts like this; servers only know full hashes, so all commits are fetched."""
    with scratch(cache() / "downloads") as temporary:
        repository = _empty_repository(temporary, start, settings)
        _fetch_all(pin, repository, settings, "--filter=tree:0")
        try:
            return run(["rev-parse", "--verify", "--quiet", f"{start}^{{commit}}"], repository, settings).strip()
        except GitError as error:
            if "ambiguous" in str(error):
                raise ItemError("ambiguous_ref", f"{pin.location} has several commits {start}...") from None
            raise ItemError("ref_not_found", f"{pin.location} has no branch, tag or commit {start}") from None


def _empty_repository(folder: Path, commit: str, settings: Settings) -> Path:
    form = "sha256" if len(commit) == 64 else "sha1"
    run(["init", "--quiet", "--bare", "--template=", f"--object-format={form}", "repository"], folder, settings)
    return folder / "repository"


def _fetch_all(pin: Pin, repository: Path, settings: Settings, *options: str) -> None:
    everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
    try:
        run(["fetch", "--no-tags", "--quiet", *options, "--", pin.location, *everything], repository, settings, pin)
    except GitError as error:
        raise meaning(error, pin.location) from None


def _split(request: str) -> tuple[str, str | None, SecretStr | None]:
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
