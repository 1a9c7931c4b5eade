"""Rates: so many requests in a window of time, for each token and resource, and no more at once than allowed."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.github_double import answers

PRIMARY = "API rate limit exceeded for {}."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
RESOURCES = ("core", "search")
Refusal = tuple[int, dict[str, Any], dict[str, str]]


@dataclass
class Rate:
    """So many requests in so many seconds."""

    count: int
    seconds: float


@dataclass
class Limits:
    """The limits of the double; the defaults are GitHub's. They may be changed while it serves."""

    core: Rate = field(default_factory=lambda: Rate(5000, 3600))
    search: Rate = field(default_factory=lambda: Rate(30, 60))
    anonymous_core: Rate = field(default_factory=lambda: Rate(60, 3600))
    anonymous_search: Rate = field(default_factory=lambda: Rate(10, 60))
    at_once: int = 100
    """More requests than this at the same time meet the secondary limit."""
    status: int = 403
    """Status with which limits answer; GitHub uses 403 and 429."""
    retry_after: bool = False
    """Whether a limit also says when to come back."""
    skew: float = 0.0
    """Seconds by which the server's clock is ahead."""
    in_all: Rate | None = None
    """More requests than this, of whatever kind and token, meet the secondary limit."""
    secondary_seconds: float = 60.0
    """What a secondary limit asks for when it says when to come back."""
    mixed: bool = False
    """Limits answer in turn with 403 and 429, with and without Retry-After."""

    @classmethod
    def none(cls) -> Limits:
        """Return limits that nobody meets."""
        plenty = Rate(10**9, 3600)
        return cls(plenty, plenty, plenty, plenty, at_once=10**9)


class Meter:
    """Counts what each token has used."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.lock = threading.Lock()
        self.used: dict[tuple[str, str], tuple[float, int]] = {}
        """(token, resource) -> start of the window, requests in it."""
        self.ways: Iterator[tuple[int, bool]] = itertools.cycle([(403, False), (429, False), (403, True), (429, True)])

    def now(self) -> float:
        """Return the time by the server's clock."""
        return time.time() + self.limits.skew

    def look(self, token: str, resource: str, cost: int = 1) -> tuple[bool, dict[str, str]]:
        """Return whether a request is within the rate, and the headers that tell so; it uses up `cost`.

        A request that turns out to be free is given back with a cost of -1.
        """
        rate = self._rate(token, resource)
        allowed, start, count = self._count((token, resource), rate, cost)
        return allowed, {
            "x-ratelimit-limit": str(rate.count),
            "x-ratelimit-remaining": str(max(0, rate.count - count)),
            "x-ratelimit-used": str(count),
            "x-ratelimit-reset": f"{start + rate.seconds + self.limits.skew:.0f}",
            "x-ratelimit-resource": resource,
        }

    def is_too_fast(self, at_once: int) -> bool:
        """Return whether the secondary limit is met, counting this request."""
        if at_once > self.limits.at_once:
            return True
        return self.limits.in_all is not None and not self._count(("", "all"), self.limits.in_all, 1)[0]

    def overview(self, token: str) -> dict[str, Any]:
        """Return what /rate_limit says."""
        said = {}
        for resource in RESOURCES:
            headers = self.look(token, resource, 0)[1]
            numbers = {name: int(headers[f"x-ratelimit-{name}"]) for name in ("limit", "used", "remaining", "reset")}
            said[resource] = {**numbers, "resource": resource}
        return {"resources": said, "rate": said["core"]}

    def primary(self, token: str, headers: dict[str, str]) -> Refusal:
        """Return the answer to a request beyond the rate."""
        status, after = next(self.ways) if self.limits.mixed else (self.limits.status, self.limits.retry_after)
        wait = max(1, round(float(headers["x-ratelimit-reset"]) - self.now()) + 1)
        who = "user ID 1" if token else "127.0.0.1"
        body = answers.error(PRIMARY.format(who), status, "/using-the-rest-api/rate-limits-for-the-rest-api")
        return status, body, {**headers, **({"Retry-After": str(wait)} if after else {})}

    def secondary(self, status: int | None = None, after: float | None = None) -> Refusal:
        """Return the answer to requests that come too fast; the arguments override the limits' own way."""
        if status is None:
            status, says = next(self.ways) if self.limits.mixed else (self.limits.status, self.limits.retry_after)
            after = self.limits.secondary_seconds if says else None
        place = "/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
        return status, answers.error(SECONDARY, status, place), {} if after is None else {"Retry-After": f"{after:.0f}"}

    def _rate(self, token: str, resource: str) -> Rate:
        rate: Rate = getattr(self.limits, resource if token else f"anonymous_{resource}")
        return rate

    def _count(self, key: tuple[str, str], rate: Rate, cost: int) -> tuple[bool, float, int]:
        now = time.time()
        with self.lock:
            start, count = self.used.get(key, (now, 0))
            if now >= start + rate.seconds:
                start, count = now, 0
            allowed = cost <= 0 or count + cost <= rate.count
            if allowed:
                count = max(0, count + cost)
            self.used[key] = (start, count)
        return allowed, start, count
