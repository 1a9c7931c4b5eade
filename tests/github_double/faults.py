"""What goes wrong with GitHub, on demand or at random: the table KINDS."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

KINDS = {
    "500": "an error page of HTML",
    "502": "the same",
    "503": "the same",
    "504": "the same",
    "html": "200, but the body is an error page",
    "empty": "200 without a body",
    "truncated": "the body breaks off in the middle, and the connection is closed",
    "reset": "the connection is reset before any answer",
    "slow": "the answer takes `slow_seconds`",
    "incomplete": "a search that says incomplete_results, and lacks every other hit",
    "short": "a search that lacks every other hit and does not say so",
    "secondary": "403 with a secondary limit that names no time",
    "secondary-429": "429 with a secondary limit that names no time",
    "secondary-after": "429 with a secondary limit and Retry-After: `retry_after`",
    "secondary-403-after": "403 with a secondary limit and Retry-After: `retry_after`",
    "primary": "403: the budget is used up, until the reset that the headers name",
    "primary-429": "the same with 429",
}
AT_RANDOM = ("500", "502", "503", "html", "empty", "truncated", "reset", "incomplete", "short", "secondary-after")
SECONDARY = {"secondary": (403, False), "secondary-429": (429, False), "secondary-after": (429, True),
             "secondary-403-after": (403, True)}  # fmt: skip
PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body>We had issues.</body></html>\n"
)


@dataclass
class Wanted:
    """A fault that was asked for."""

    pattern: re.Pattern[str]
    kind: str
    times: int
    after: int
    """So many matching requests go well before."""


@dataclass
class Faults:
    """Which requests go wrong, and how."""

    share: float = 0.0
    """Share of requests that go wrong at random."""
    seed: int = 0
    slow_seconds: float = 1.0
    draw_from: Sequence[str] = AT_RANDOM
    """Kinds that happen at random."""
    retry_after: float = 1.0
    wanted: list[Wanted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.lock = threading.Lock()

    def add(self, pattern: str, kind: str, times: int = 1, after: int = 0) -> None:
        """Let the next requests whose path and query match go wrong, but for the first `after` of them."""
        if kind not in KINDS:
            raise ValueError(f"{kind}: one of {', '.join(KINDS)}")
        with self.lock:
            self.wanted.append(Wanted(re.compile(pattern), kind, times, after))

    def next(self, path: str, *, at_random: bool = True) -> str | None:
        """Return what goes wrong with this request."""
        with self.lock:
            for one in self.wanted:
                if not one.times or not one.pattern.search(path):
                    continue
                if one.after:
                    one.after -= 1
                    continue
                one.times -= 1
                return one.kind
            if at_random and self.share and self.draw.random() < self.share:
                return self.draw.choice(self.draw_from)
        return None
