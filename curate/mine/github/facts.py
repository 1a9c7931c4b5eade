"""What GitHub says of a repository, in our words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from curate.errors import ItemError
from curate.redact import printable

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
"""OWNER/NAME; Enterprise allows _ in owners."""


def shared(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that a hit and a repository have in common; raises ItemError when one is missing."""
    try:
        return {
            "repository_id": _number(found["id"]),
            "full_name": _name(found["full_name"]),
            "stars": _number(found["stargazers_count"]),
            "archived": bool(found["archived"]),
            "private": bool(found.get("private")),
            "size_kb": _number(found["size"]),
            "language": _word(found.get("language")),
            "topics": sorted(map(_plain, found.get("topics") or ())),
            "license": license_of(found.get("license")),
            "created_at": moment(found["created_at"]),
            "pushed_at": moment(found["pushed_at"]) if found.get("pushed_at") else None,
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ItemError("bad_answer", f"a repository without {error}", transient=True) from None


def _number(value: Any) -> int:
    number = int(value)
    if not 0 <= number < 2**53:
        raise ValueError(f"a number: {value!r}")
    return number


def _word(value: Any) -> str | None:
    return None if value is None else _plain(value)


def _plain(text: Any) -> str:
    if not isinstance(text, str) or len(text) > 200:
        raise ValueError(f"a word: {text!r:.50}")
    return printable(text)


def _name(text: Any) -> str:
    if not isinstance(text, str) or not NAME.fullmatch(text):
        raise ValueError(f"a name: {text!r}")
    return text


def license_of(found: Any) -> str | None:
    """Return the SPDX id of a licence; NOASSERTION says that there is a text nobody recognised, which is no licence."""
    spdx = found.get("spdx_id") if isinstance(found, dict) else None
    return None if spdx in {None, "", "NOASSERTION"} else printable(str(spdx))


def moment(text: str) -> datetime:
    """Return a time as GitHub writes it."""
    return datetime.fromisoformat(text).astimezone(UTC)
