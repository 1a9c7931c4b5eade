"""Talking to a package index: bounded, with new tries, and never taking an error page for data."""

from __future__ import annotations

import hashlib
import re
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import pypi_simple
import requests
from pypi_simple.errors import DigestMismatchError
from requests.auth import AuthBase, _basic_auth_str

from curate.errors import ItemError
from curate.mine.address import address
from curate.mine.place import scratch
from curate.mine.source import Settings
from curate.mine.tree import CHUNK, disk_error
from curate.redact import redact
from curate.workspace import cache

LONGEST_PAUSE = 60.0
"""A server may ask for a longer pause, but then the next run will do."""
STRONG = ("sha256", "sha512", "sha384", "sha3_256", "blake2b", "sha1", "md5")
"""Digests that are checked, the one that is checked when there are several first."""
Answer = TypeVar("Answer")


class Index:
    """A session with the index."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.timeout = (settings.silence_seconds, settings.silence_seconds)
        named = address()
        self.client = pypi_simple.PyPISimple(redact(named)) if named else pypi_simple.PyPISimple()
        parts = urlsplit(named or "")
        if parts.username or parts.password:
            self.client.s.auth = _OneHost(parts.netloc.rpartition("@")[2], parts.username or "", parts.password or "")

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.s.close()

    def files(self, name: str) -> list[pypi_simple.DistributionPackage]:
        """Return the files of a project; raises ItemError: `not_found`, or transient when there is no usable answer."""

        def ask() -> list[pypi_simple.DistributionPackage]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pypi_simple.UnexpectedRepoVersionWarning)
                page = self.client.get_project_page(name, timeout=self.timeout)
            found = [package for package in page.packages if package.version is not None]
            if not found and page.repository_version is None:
                # A proxy's log-in page or an error page parses as HTML, too.
                raise ItemError("unusable_answer", f"the index's page for {name} lists no file of it", transient=True)
            return found

        return self._try(ask, f"the index's page for {name}", missing=f"the index has no project {name}")

    def download(self, package: pypi_simple.DistributionPackage) -> Path:
        """Return the file, from the cache when it is there, checked against the index's hash; raises ItemError."""
        expected = package.digests.get("sha256", "").lower()
        folder = cache() / "downloads"
        name = package.filename.rpartition("/")[2]
        if re.fullmatch(r"[0-9a-f]{64}", expected) and _sha256(folder / expected / name) == expected:
            return folder / expected / name
        with scratch(folder) as temporary:
            made = temporary / "file"
            missing = f"the index lists {name}, but has no such file"
            self._try(lambda: self._download(package, made), name, missing=missing)
            kept = folder / _sha256(made) / name
            try:
                kept.parent.mkdir(exist_ok=True)
                made.replace(kept)
            except OSError as error:
                raise disk_error(error) from None
            return kept

    def _download(self, package: pypi_simple.DistributionPackage, target: Path) -> None:
        strongest = next((name for name in STRONG if name in package.digests), None)
        package.digests = {strongest: package.digests[strongest].lower()} if strongest else {}
        guard = _Guard(self.settings)
        self.client.download_package(
            package, target, verify=bool(strongest), progress=guard.start, timeout=self.timeout
        )

    def _try(self, action: Callable[[], Answer], what: str, missing: str) -> Answer:
        """Do something over the network, again when that may help; what it raises is an ItemError without secrets."""
        for tries_left in range(self.settings.retries, -1, -1):
            try:
                return action()
            except ItemError as error:
                failed, asked = error, 0.0
            except (
                requests.RequestException,
                DigestMismatchError,
                ValueError,
                pypi_simple.NoSuchProjectError,
            ) as error:
                failed, asked = _meaning(error, what, missing), _asked_pause(error)
            except pypi_simple.UnsupportedRepoVersionError as error:
                failed, asked = ItemError("unsupported_index", str(error)), 0.0
            except OSError as error:
                failed, asked = disk_error(error), 0.0
            if not failed.transient or not tries_left or asked > LONGEST_PAUSE:
                raise failed from None
            time.sleep(max(asked, self.settings.pause_seconds * 2 ** (self.settings.retries - tries_left)))
        raise AssertionError("the last try returns or raises")


class _OneHost(AuthBase):
    """Sends user and password to the index's own host, and to no other that its pages name."""

    def __init__(self, host: str, user: str, password: str) -> None:
        self.host = host
        self.header = _basic_auth_str(unquote(user), unquote(password))

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if urlsplit(request.url or "").netloc.rpartition("@")[2] == self.host:
            request.headers["Authorization"] = self.header
        return request


class _Guard:
    """Ends a download that is too large or takes too long, in the library's form of a progress bar."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ends = time.monotonic() + settings.timeout_seconds
        self.size = 0

    def start(self, announced: int | None) -> _Guard:
        self.update(announced or 0)
        self.size = 0
        return self

    def update(self, size: int) -> None:
        self.size += size
        if self.size > self.settings.max_bytes:
            raise ItemError("too_large", f"a download of more than {self.settings.max_bytes:,} bytes (max_bytes)")
        if time.monotonic() > self.ends:
            raise ItemError("timeout", f"not done after {self.settings.timeout_seconds:g} s", transient=True)

    def __enter__(self) -> _Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def _meaning(error: Exception, what: str, missing: str) -> ItemError:
    """Return what an exception of the client means for the item."""
    if isinstance(error, pypi_simple.NoSuchProjectError):
        return ItemError("not_found", missing)
    if isinstance(error, DigestMismatchError):
        detail = f"{what}: {error.algorithm} is {error.actual_digest}, the index says {error.expected_digest}"
        return ItemError("wrong_hash", detail, transient=True)
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return _status_meaning(error.response.status_code, what, missing)
    if isinstance(error, requests.RequestException) and not isinstance(error, ValueError):
        return ItemError("network", f"{what}: {redact(str(error))}", transient=True)
    first = redact(str(error)).splitlines()[:1]
    return ItemError("unusable_answer", f"{what}: {''.join(first)}", transient=True)


def _status_meaning(status: int, what: str, missing: str) -> ItemError:
    if status in {404, 410}:
        return ItemError("not_found", missing)
    said = f"{what}: the index answered {status}"
    if status in {401, 403, 407}:
        return ItemError("not_allowed", said)
    return ItemError("server_error", said, transient=status >= 500 or status in {408, 429})


def _asked_pause(error: Exception) -> float:
    response = getattr(error, "response", None)
    value = response.headers.get("Retry-After", "") if response is not None else ""
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _sha256(path: Path) -> str:
    """Return the hash of a file; empty when there is none."""
    hasher = hashlib.sha256()
    try:
        with path.open("rb") as content:
            while chunk := content.read(CHUNK):
                hasher.update(chunk)
    except FileNotFoundError:
        return ""
    return hasher.hexdigest()
