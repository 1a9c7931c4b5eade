"""Rates: so many requests in a window of time, for each token and resource, and no more at once than allowed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass
class Rate:
    """So many requests in so many seconds."""

    count: int
    seconds: float


@dataclass
class Limits:
    """The limits of the double; the defaults are GitHub's."""

    core: Rate = field(default_factory=lambda: Rate(5000, 3600))
    search: Rate = field(default_factory=lambda: Rate(30, 60))
    anonymous_core: Rate = field(default_factory=lambda: Rate(60, 3600))
    anonymous_search: Rate = field(default_factory=lambda: Rate(10, 60))
    at_once: int = 100
    """More requests than this at the same time meet the secondary limit."""
    status: int = 403
    """Status with which limits answer; GitHub uses 403 and 429."""
    retry_after: bool = False
    """Whether a primary limit also says when to come back."""
    skew: float = 0.0
    """Seconds by which the server's clock is ahead."""

    @classmethod
    def none(cls) -> Limits:
        """Return limits that nobody meets."""
        plenty = Rate(10**9, 3600)
        return cls(plenty, plenty, plenty, plenty)


class Meter:
    """Counts what each token has used."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.lock = threading.Lock()
        self.used: dict[tuple[str, str], tuple[float, int]] = {}

    def look(self, token: str, resource: str, cost: int) -> tuple[bool, dict[str, str]]:
        """Return whether a request is within the rate, using it up by `cost`, and the headers that tell so."""
        rate: Rate = getattr(self.limits, resource if token else f"anonymous_{resource}")
        now = time.time()
        with self.lock:
            start, count = self.used.get((token, resource), (now, 0))
            if now >= start + rate.seconds:
                start, count = now, 0
            allowed = count + cost <= rate.count
            if allowed:
                count += cost
            self.used[token, resource] = (start, count)
        headers = {
            "x-ratelimit-limit": str(rate.count),
            "x-ratelimit-remaining": str(rate.count - count),
            "x-ratelimit-used": str(count),
            "x-ratelimit-reset": f"{start + rate.seconds + self.limits.skew:.0f}",
            "x-ratelimit-resource": resource,
        }
        return allowed, headers
