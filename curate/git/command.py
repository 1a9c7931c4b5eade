"""Running git on other people's repositories, without their or the user's configuration having a say."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from curate.errors import ItemError
from curate.redact import redact

PROTOCOLS = ("file", "git", "http", "https", "ssh")
CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.askPass": "",
    "core.fsmonitor": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "transfer.bundleURI": "false",
}
KEPT_VARIABLES = re.compile(r"(?!GIT_)|GIT_(SSL|SSH|PROXY)")
"""Others that begin with GIT_ would point git at another repository or other settings."""
MEANINGS = (
    ("blocked", False, r"access to this repository has been disabled|unavailable due to|DMCA"),
    ("not_found", False, r"repository .* (not found|does not exist)|does not appear to be a git repository|error: 404"),
    ("not_allowed", False, r"could not read (Username|Password)|Authentication failed|Permission denied|error: 40[13]"),
    ("not_allowed", False, r"dubious ownership|Host key verification failed|transport .* not allowed"),
    ("gone", False, r"error: (410|451)"),
    ("moved", False, r"error: 30[1278]|redirection"),
    ("too_large", False, r"File too large|died of signal 25"),
    ("disk_full", True, r"No space left"),
)
"""What git says, and what it means for the item: (reason, transient, pattern). Anything else may be the network.

Signal 25 ends a process that writes more than `_bound` allows.
"""
REFUSED = re.compile(r"not our ref|unadvertised object|remote ref|no such remote|Server does not allow")
"""A server that does not hand out what was asked for."""


@dataclass(frozen=True)
class Remote:
    """A repository somewhere else."""

    url: str
    """Its address, without credentials."""
    secret: SecretStr | None = None
    """user:password."""


@dataclass(frozen=True)
class Limits:
    """How long git may take, and how much it may write."""

    timeout_seconds: float = 600.0
    """For one command."""
    silence_seconds: float = 30.0
    """How long a server may say nothing."""
    max_bytes: int = 8 * 1024**3
    """Size of one file that git writes, which for a download is the pack."""
    retries: int = 3
    """How often a download that broke off is tried again."""
    pause_seconds: float = 1.0
    """Pause before the first new try; it doubles with each further one."""


class GitError(Exception):
    """A git command that failed; holds what it said, without credentials."""


def environment(folder: Path, limits: Limits, remote: Remote | None = None) -> dict[str, str]:
    """Return the environment for git in a folder; a secret travels in it, since all can read a command line."""
    kept = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.match(name)}
    config = {
        **CONFIG,
        # A server that stalls, as opposed to one that is slow.
        "http.lowSpeedLimit": "1",
        "http.lowSpeedTime": str(int(max(1, limits.silence_seconds))),
    }
    if remote is not None and remote.secret is not None:
        token = base64.b64encode(remote.secret.get_secret_value().encode()).decode()
        # git would take the header along to wherever a server sends it.
        config["http.followRedirects"] = "false"
        config[f"http.{_host(remote.url)}.extraHeader"] = f"Authorization: Basic {token}"
    if "GIT_SSH" not in kept:
        kept.setdefault("GIT_SSH_COMMAND", f"ssh -oBatchMode=yes -oConnectTimeout={config['http.lowSpeedTime']}")
    return {
        **kept,
        "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent),  # a repository around the workspace has no say
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS) if remote else "none",  # nothing is fetched by the way
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
        **_as_variables(config),
    }


def run(
    arguments: list[str], folder: Path, limits: Limits, remote: Remote | None = None, given: bytes | None = None
) -> str:
    """Run git and return what it prints; raises GitError when it fails, ItemError when it takes too long."""
    process = subprocess.Popen(
        ["git", *arguments],
        cwd=folder,
        env=environment(folder, limits, remote),
        stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # its helpers end with it
    )
    _bound(process, limits)
    try:
        out, err = process.communicate(given, timeout=limits.timeout_seconds)
    except subprocess.TimeoutExpired:
        detail = f"git {arguments[0]} was not done after {limits.timeout_seconds:g} s"
        raise ItemError("timeout", detail, transient=True) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        raise GitError(redact(err.decode("utf-8", "replace")).strip() or f"git ended with {process.returncode}")
    return out.decode("utf-8", "surrogateescape")


def ask(arguments: list[str], folder: Path, limits: Limits, remote: Remote) -> str:
    """Run a command that talks to a server, again when the network may be to blame.

    Raises GitError when the server says no, the ItemError of `meaning` when it could not be reached.
    """
    for attempt in range(limits.retries + 1):
        try:
            return run(arguments, folder, limits, remote)
        except GitError as error:
            found = meaning(error, remote.url)
            if found.reason != "network" or REFUSED.search(str(error)):
                raise
            if attempt == limits.retries:
                raise found from None
        time.sleep(limits.pause_seconds * 2**attempt)
    raise AssertionError("unreachable")


def _bound(process: subprocess.Popen[bytes], limits: Limits) -> None:
    """Keep what a server sends from filling the disk; from some it is the files and their whole history."""
    if hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError, ValueError):  # ended already, or under a lower limit
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limits.max_bytes, limits.max_bytes))


def meaning(error: GitError, url: str) -> ItemError:
    """Return what a failed conversation with a server means for the item."""
    said = " ".join(str(error).split())[-500:]
    for reason, transient, pattern in MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            return ItemError(reason, f"{url}: {said}", transient=transient)
    return ItemError("network", f"{url}: {said}", transient=True)


def _host(url: str) -> str:
    return re.match(r"[a-z]+://[^/]*/?", url)[0]  # type: ignore[index]


def _as_variables(config: Mapping[str, str]) -> dict[str, str]:
    named = {"GIT_CONFIG_COUNT": str(len(config))}
    for place, (key, value) in enumerate(config.items()):
        named[f"GIT_CONFIG_KEY_{place}"] = key
        named[f"GIT_CONFIG_VALUE_{place}"] = value
    return named
