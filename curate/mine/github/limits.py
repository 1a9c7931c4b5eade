"""What GitHub's limits ask of a client: how long to wait after an answer, and why.

After GitHub's documentation, "Rate limits for the REST API" and "Best practices": `retry-after` first, then the reset
of a budget that is used up, and at least a minute after a secondary limit that says nothing. A 403 that names no limit
is a refusal, not a limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from curate.redact import printable

SECONDARY_SECONDS = 60.0
"""GitHub asks for at least a minute after a secondary limit without a time, and for more after each further one."""
MARGIN_SECONDS = 1.0
"""Resets are told in whole seconds."""
TRANSIENT = frozenset({0, 200, 408, 425})
"""Other statuses that say nothing of what was asked for; 200 with a body that is none."""


@dataclass(frozen=True)
class Answer:
    """What a server sent back; header names in lower case. Status 0: the connection broke."""

    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        """Return the body as JSON; raises ValueError when it is something else, such as an error page."""
        return json.loads(self.text)

    @property
    def message(self) -> str:
        """What the server says about it, on one line."""
        try:
            said = self.json()
            text = str(said.get("message", "")) if isinstance(said, dict) else ""
        except ValueError:
            text = re.sub(r"<[^>]*>", " ", self.text)
        return printable(text)[:200]


@dataclass(frozen=True)
class Pause:
    """A time to wait before asking again."""

    seconds: float
    kind: Literal["budget", "secondary", "fault"]
    """budget: used up for a token and a resource; secondary: too much at once; fault: of the server or the network."""
    why: str


def pause_after(answer: Answer, attempt: int, now: float, pause_seconds: float) -> Pause | None:
    """Return how long to wait after a failed answer, or None when asking again is of no use.

    `attempt` counts from 0; `now` is this machine's time in seconds since 1970, used where the server tells no time.
    """
    if answer.status in {403, 429}:
        return _limited(answer, attempt, now)
    if answer.status >= 500 or answer.status in TRANSIENT:
        told = _seconds(answer.headers.get("retry-after"))
        why = f"an answer {answer.status}" if answer.status else "a broken connection"
        return Pause(told if told is not None else pause_seconds * 2**attempt, "fault", why)
    return None


def _limited(answer: Answer, attempt: int, now: float) -> Pause | None:
    told = _seconds(answer.headers.get("retry-after"))
    resource = answer.headers.get("x-ratelimit-resource", "core")
    message = answer.message.lower()
    secondary = "secondary" in message or "abuse" in message
    if answer.headers.get("x-ratelimit-remaining") == "0" and not secondary:
        wait = told if told is not None else until_reset(answer, now)
        return Pause(wait, "budget", f"the {resource} budget is used up")
    if told is not None:
        return Pause(told, "secondary", "too many requests in a short time")
    if secondary or answer.status == 429 or "rate limit" in message:
        return Pause(SECONDARY_SECONDS * 2**attempt, "secondary", "too many requests in a short time")
    return None


def until_reset(answer: Answer, now: float) -> float:
    """Return the seconds until the budget is full again, by the server's own clock where it tells the time."""
    reset = _seconds(answer.headers.get("x-ratelimit-reset"))
    if reset is None:
        return SECONDARY_SECONDS
    try:
        server = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError, TypeError):
        server = now
    return max(0.0, reset - server) + MARGIN_SECONDS


def _seconds(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < 1e12 else None
