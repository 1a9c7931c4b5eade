"""A repository somewhere else, as far as it is needed here: one commit, or the whole history."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from curate.errors import ItemError
from curate.git.command import REFUSED, GitError, Limits, Remote, ask, meaning, run

BRANCHES_AND_TAGS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


def commit_of(remote: Remote, wanted: str, folder: Path, limits: Limits, *, max_blob: int) -> Path:
    """Return a bare repository below `folder` that holds the commit `wanted`; raises ItemError.

    Without its history where the server hands out single commits, and without files of more than `max_blob` bytes where
    it can leave these out. A repository of this machine is not copied: its objects are read where they lie.
    """
    return _take(remote, wanted, folder, limits, max_blob, ["--depth=1"])


def commits_of(remote: Remote, start: str, folder: Path, limits: Limits) -> Path:
    """Return a bare repository with every commit of the remote, but no files; for a hash that begins with `start`."""
    repository = new(folder, start, limits)
    with _plain_configuration(repository):
        _fetch_everything(remote, repository, limits, ["--no-tags", "--quiet", "--filter=tree:0"])
    return repository


def history_of(remote: Remote, wanted: str, folder: Path, limits: Limits, *, max_blob: int) -> Path:
    """Return a bare repository with the commit `wanted` and all that came before it; raises ItemError.

    Files of more than `max_blob` bytes are left out where the server can do that. Where the server itself lacks the
    beginning, the repository is a shallow one.
    """
    return _take(remote, wanted, folder, limits, max_blob, ["--update-shallow"])


def _take(remote: Remote, wanted: str, folder: Path, limits: Limits, max_blob: int, how: list[str]) -> Path:
    repository = new(folder, wanted, limits)
    if _borrow(remote, repository) and _holds(repository, wanted, limits):
        return repository
    options = ["--no-tags", "--quiet", f"--filter=blob:limit={max_blob + 1}"]
    with _plain_configuration(repository):
        try:
            ask(["fetch", *how, *options, "--", remote.url, wanted], repository, limits, remote)
        except GitError as error:
            if not REFUSED.search(str(error)):
                raise meaning(error, remote.url) from None
            _fetch_everything(remote, repository, limits, options)
    if not _holds(repository, wanted, limits):
        raise ItemError("commit_not_found", f"{remote.url} has no commit {wanted} on a branch or tag")
    return repository


def new(folder: Path, commit: str, limits: Limits) -> Path:
    """Make an empty bare repository for commits whose hashes are as long as this one."""
    form = "sha256" if len(commit) == 64 else "sha1"
    run(["init", "--quiet", "--bare", "--template=", f"--object-format={form}", "repository"], folder, limits)
    return folder / "repository"


def _fetch_everything(remote: Remote, repository: Path, limits: Limits, options: list[str]) -> None:
    try:
        ask(["fetch", *options, "--", remote.url, *BRANCHES_AND_TAGS], repository, limits, remote)
    except GitError as error:
        raise meaning(error, remote.url) from None


def _borrow(remote: Remote, repository: Path) -> bool:
    """Let a repository read the objects of one of this machine; say whether there is one.

    Only objects are borrowed: its configuration and hooks stay out of it, and what it lacks (a mirror without large
    files) is merely not there.
    """
    parts = urlsplit(remote.url)
    if parts.scheme != "file":
        return False
    place = Path(unquote(parts.path))
    objects = next((path for path in (place / "objects", place / ".git" / "objects") if path.is_dir()), None)
    if objects is None or "\n" in str(objects) or (objects.parent / "shallow").exists():
        return False
    (repository / "objects" / "info").mkdir(exist_ok=True)
    (repository / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    return True


def _holds(repository: Path, commit: str, limits: Limits) -> bool:
    try:
        run(["cat-file", "-e", f"{commit}^{{commit}}"], repository, limits)
    except GitError:
        return False
    return True


class _plain_configuration:  # noqa: N801 reads as a verb
    """Forget afterwards that a server promised to hand out what was left out: what is missing is simply missing."""

    def __init__(self, repository: Path) -> None:
        self.file = repository / "config"
        self.before = self.file.read_bytes()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        self.file.write_bytes(self.before)
