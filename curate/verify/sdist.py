"""Source distributions: where one lies, and fetching it. It is looked into only inside the sandbox."""

from __future__ import annotations

import hashlib
import os
import shutil
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from curate.errors import ItemError
from curate.index import TIMEOUT, VARIABLES
from curate.verify import uv

INDEXES = (*VARIABLES, "UV_INDEX", "UV_EXTRA_INDEX_URL")
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Sdist:
    """A source distribution of an index, or of a folder of distributions."""

    name: str
    version: str
    address: str
    sha256: str
    uploaded: datetime | None


def find(name: str, version: str, python: Path) -> Sdist:
    """Ask uv for the source distribution of a version; raises uv.Refusal, or ItemError when there is none."""
    text = uv.lock(
        [f"{name}=={version}"], python, None, sourced=[name], output=["--no-deps", "--format", "pylock.toml"]
    )
    (package,) = tomllib.loads(text)["packages"]
    file = package.get("sdist")
    if not file or "url" not in file or "sha256" not in file.get("hashes", {}):
        raise ItemError("needs_build", f"no source distribution of {name} {version} with a sha256 is to be had")
    return Sdist(name, package["version"], file["url"], file["hashes"]["sha256"], file.get("upload-time"))


def fetch(found: Sdist, to: Path) -> Path:
    """Put it into a folder as `archive.*` and check its hash; raises ItemError, worth another try."""
    name = unquote(urlsplit(found.address).path).rpartition("/")[2]
    file = to / ("archive.zip" if name.endswith(".zip") else "archive.tar" + name.rpartition(".tar")[2])
    if found.address.startswith("file:"):
        shutil.copyfile(unquote(urlsplit(found.address).path), file)
    else:
        _download(found, file)
    if hashlib.sha256(file.read_bytes()).hexdigest() != found.sha256:
        raise ItemError("network", f"{name} is not what the index says it is: another sha256", transient=True)
    return file


def _download(found: Sdist, file: Path) -> None:
    from requests import RequestException, get

    try:
        with get(found.address, stream=True, timeout=TIMEOUT, auth=_login(found.address)) as answer:
            answer.raise_for_status()
            with file.open("wb") as target:
                for chunk in answer.iter_content(1 << 20):
                    target.write(chunk)
                    if target.tell() > MOST_BYTES:
                        raise ItemError("build_failed", f"{found.name} {found.version}: larger than {MOST_BYTES} bytes")
    except RequestException as error:
        # Not the message: it may hold a password.
        raise ItemError("network", f"{found.name} {found.version}: {type(error).__name__}", transient=True) from error


def _login(address: str) -> tuple[str, str] | None:
    """Return the user and password that the environment names for the index at this host; uv's answer holds none."""
    host = urlsplit(address).netloc
    for text in (text for name in INDEXES for text in os.environ.get(name, "").split()):
        parts = urlsplit("http" + text.partition("http")[2])
        if parts.username and parts.netloc.rpartition("@")[2] == host:
            return unquote(parts.username), unquote(parts.password or "")
    return None
