"""Which GitHub to ask, and as whom: from the environment, never from a file that others wrote."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from curate.errors import UserError

DEFAULT = "https://api.github.com"
TOKENS = ("GITHUB_TOKENS", "GITHUB_TOKEN", "GH_TOKEN")
"""Variables with tokens; several in one are parted by commas or spaces."""


@dataclass(frozen=True)
class Address:
    """A GitHub: its API, its pages, and the tokens for it."""

    api: str
    """Base URL of the API, without a slash at the end."""
    web: str
    """Base URL of pages and clones."""
    tokens: tuple[SecretStr, ...]
    """Tokens, in the order in which they were named; none is fine."""

    @property
    def host(self) -> str:
        """Host (and port) of the pages, which tells one GitHub from another."""
        return urlsplit(self.web).netloc


def address() -> Address:
    """Return the GitHub that the environment names: `GITHUB_API_URL`, else github.com; raises UserError."""
    api = (os.environ.get("GITHUB_API_URL") or DEFAULT).strip().rstrip("/")
    parts = urlsplit(api)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if parts.scheme not in ({"https", "http"} if local else {"https"}) or not parts.netloc or "@" in parts.netloc:
        raise UserError("GITHUB_API_URL: write it as https://HOST/api/v3 (or https://api.github.com), without a login")
    if parts.hostname == "api.github.com":
        return Address(api, "https://github.com", _tokens())
    # GitHub Enterprise has its API below the pages, or (with data residency) on a host api.NAME beside them.
    host = re.sub(r"^api\.", "", parts.netloc) if not parts.path else parts.netloc
    return Address(api, f"{parts.scheme}://{host}", _tokens())


def _tokens() -> tuple[SecretStr, ...]:
    found: dict[str, None] = {}
    for variable in TOKENS:
        for token in re.split(r"[,\s]+", os.environ.get(variable, "")):
            if token and not re.fullmatch(r"[\x21-\x7e]{8,255}", token):
                raise UserError(f"{variable}: this is not a token")
            if token:
                found[token] = None
    return tuple(map(SecretStr, found))
