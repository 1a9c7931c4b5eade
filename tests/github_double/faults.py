"""What goes wrong with GitHub, on demand or at random.

500, 502, 503, 504   an error page of HTML
html                 200, but the body is an error page
empty                200 without a body
truncated            the body breaks off in the middle
reset                the connection is closed before any answer
slow                 the answer takes `slow_seconds`
incomplete           a search that says so, and lacks hits
short                a search that lacks hits and does not say so
secondary            403 with a secondary limit that names no time
secondary-after      429 with a secondary limit and Retry-After: 1
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

KINDS = (
    "500", "502", "503", "504", "html", "empty", "truncated", "reset", "slow", "incomplete", "short", "secondary",
    "secondary-after",
)  # fmt: skip
AT_RANDOM = ("500", "502", "503", "html", "empty", "truncated", "reset", "incomplete", "short", "secondary-after")
PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body>We had issues.</body></html>\n"
)


@dataclass
class Faults:
    """Which requests go wrong, and how."""

    share: float = 0.0
    """Share of requests that go wrong at random."""
    seed: int = 0
    slow_seconds: float = 1.0
    draw_from: Sequence[str] = AT_RANDOM
    """Kinds that happen at random."""
    wanted: list[list[object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.lock = threading.Lock()

    def add(self, pattern: str, kind: str, times: int = 1) -> None:
        """Let the next requests whose path and query match go wrong."""
        if kind not in KINDS:
            raise ValueError(f"{kind}: one of {', '.join(KINDS)}")
        with self.lock:
            self.wanted.append([re.compile(pattern), kind, times])

    def next(self, path: str) -> str | None:
        """Return what goes wrong with this request."""
        with self.lock:
            for entry in self.wanted:
                if entry[2] and entry[0].search(path):  # type: ignore[attr-defined]
                    entry[2] -= 1  # type: ignore[operator]
                    return str(entry[1])
            if self.share and self.draw.random() < self.share:
                return self.draw.choice(self.draw_from)
        return None
