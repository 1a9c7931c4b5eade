"""The double itself: a world, its limits and failures, served, and what was asked of it."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections import Counter, deque
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.github_double.answers import Site
from tests.github_double.faults import Faults
from tests.github_double.handler import NO_LINGER, Asked, Handler
from tests.github_double.limits import Limits, Meter
from tests.github_double.routes import Reply, Routes
from tests.github_double.world import World


class GitHubDouble:
    """Serves a world; a context manager. With `tokens`, any other token is refused.

    `drift`: share of search pages after which a hit slips over to the next page. `keep`: so many requests are
    remembered one by one; `counts` knows all.
    """

    def __init__(
        self, world: World, *, limits: Limits | None = None, faults: Faults | None = None, tokens: tuple[str, ...] = (),
        port: int = 0, drift: float = 0.0, seed: int = 0, keep: int = 1000,
    ) -> None:  # fmt: skip
        self.world, self.tokens, self.port = world, tokens, port
        self.meter = Meter(limits or Limits.none())
        self.faults = faults or Faults()
        self.routes = Routes(world, drift=drift, seed=seed)
        self.counts: Counter[str] = Counter()
        """Resource, status or fault -> requests."""
        self.asked: deque[Asked] = deque(maxlen=keep)
        self.at_once: Counter[str] = Counter()
        """Requests under way, to the API (`api`) and for clones (`git`)."""
        self.peak: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __enter__(self) -> GitHubDouble:
        handler = type("Serving", (Handler,), {"double": self})
        self.server = _Server(("127.0.0.1", self.port), handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def host(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def url(self) -> str:
        """Base URL of the API and of the clones; as GitHub Enterprise its API is also below /api/v3."""
        return f"http://{self.host}"

    @property
    def peak_concurrency(self) -> int:
        """Most requests to the API that were ever under way together."""
        return self.peak["api"]

    @property
    def log(self) -> list[str]:
        """Path and query of the last requests to the API."""
        return [f"{one.path}?{one.query}" if one.query else one.path for one in self.requests("core", "search")]

    def requests(self, *resources: str) -> list[Asked]:
        """Return the last requests, of some resources or of all."""
        with self.lock:
            return [one for one in self.asked if not resources or one.resource in resources]

    def fault(self, pattern: str, kind: str, times: int = 1, after: int = 0) -> None:
        """Let the next matching requests go wrong; see faults.py."""
        self.faults.add(pattern, kind, times, after)

    def answer(self, path: str, query: dict[str, str], *, private: bool) -> Reply:
        """Return (status, body, headers) as the API would, free of limits and failures."""
        return self.routes.answer(Site(self.url, self.url), path, query, private=private)


class _Server(ThreadingHTTPServer):
    request_queue_size = 100

    def shutdown_request(self, request: Any) -> None:
        """Close a connection; one that lingers for no time (Handler._reset) without the goodbye."""
        lingers = struct.unpack("ii", request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))
        if lingers == NO_LINGER:
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that were killed hang up; that is no news. Anything else is a mistake of the double."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
