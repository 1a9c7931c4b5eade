"""The double's HTTP side: who asks, whether they may, and what goes wrong."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import time
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from tests.github_double import answers, git_side
from tests.github_double.answers import Site
from tests.github_double.faults import PAGE, SECONDARY
from tests.github_double.routes import Reply

if TYPE_CHECKING:
    from tests.github_double.server import GitHubDouble

ENTERPRISE = "/api/v3"
NO_AGENT = (
    b"\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header "
    b"(https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).\r\n"
)
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGES = {"500": 500, "502": 502, "503": 503, "504": 504, "html": 200, "empty": 200}
NO_LINGER = (1, 0)
Answer = tuple[int, bytes, dict[str, str]]
"""Status (0: none at all), body and headers."""


@dataclass(frozen=True)
class Asked:
    """One request; the token itself is kept nowhere."""

    method: str
    path: str
    query: str
    resource: str
    """core, search or git."""
    token: bool
    status: int
    """0 when the connection was reset."""
    at_once: int
    """Requests under way with this one."""


@dataclass(frozen=True)
class Request:
    """What is asked, and what is known of it."""

    resource: str
    path: str
    query: str
    token: str
    fault: str | None
    at_once: int
    content: bytes

    @property
    def is_free(self) -> bool:
        """Whether it costs nothing."""
        return self.path.removeprefix(ENTERPRISE) == "/rate_limit"


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    double: GitHubDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body in one packet

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def version_string(self) -> str:
        return "GitHub.com"

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate(timestamp or self.double.meter.now(), usegmt=True)

    def do_GET(self) -> None:
        double, parts = self.double, urlsplit(self.path)
        resource = _resource(parts.path)
        side = "git" if resource == "git" else "api"
        content = self._content()
        fault = double.faults.next(self.path, at_random=side == "api")
        token = git_side.token_of(self.headers)
        with double.lock:
            double.at_once[side] += 1
            at_once = double.at_once[side]
            double.peak[side] = max(double.peak[side], at_once)
        try:
            if fault == "slow":
                time.sleep(double.faults.slow_seconds)
            known = Request(resource, parts.path, parts.query, token, fault, at_once, content)
            status, data, headers = self._answer(known)
        finally:
            # Written down before the client can read the answer: a test that has it looks at once.
            with double.lock:
                double.at_once[side] -= 1
        asked = Asked(self.command, parts.path, parts.query, resource, bool(token), status, at_once)
        with double.lock:
            double.asked.append(asked)
            double.counts.update([resource, str(status), *([f"fault {fault}"] if fault else [])])
        if status:
            self._send(status, data, headers, cut=fault == "truncated")
        else:
            self._reset()

    def do_POST(self) -> None:
        self.do_GET()

    def do_HEAD(self) -> None:
        self.do_GET()

    # --- answering

    def _answer(self, known: Request) -> Answer:
        double, fault = self.double, known.fault
        if fault == "reset":
            return 0, b"", {}
        if fault in PAGES:
            return PAGES[fault], b"" if fault == "empty" else PAGE, HTML
        if known.resource == "git":
            status, headers, data = git_side.answer(
                double.world, double.tokens, double.url, self.command, known.path, known.query, self.headers,
                known.content,
            )  # fmt: skip
            return status, data, headers
        if not self.headers.get("User-Agent"):
            return 403, NO_AGENT, HTML
        status, body, headers = self._api(known)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if status == 200:
            headers = {"ETag": self._etag(data), "Cache-Control": "private, max-age=60, s-maxage=60", **headers}
            if self._is_known(headers):
                cost = 0 if known.is_free else -1
                return 304, b"", headers | double.meter.look(known.token, known.resource, cost)[1]
        return status, data, {"Content-Type": "application/json; charset=utf-8", **headers}

    def _api(self, known: Request) -> Reply:
        """Answer as far as limits allow; the headers tell of them."""
        double, meter, token, resource = self.double, self.double.meter, known.token, known.resource
        if token and double.tokens and token not in double.tokens:
            return 401, answers.error("Bad credentials", 401), meter.look("", resource, 0)[1]
        if known.is_free:
            return 200, meter.overview(token), meter.look(token, "core", 0)[1]
        if meter.is_too_fast(known.at_once) or known.fault in SECONDARY:
            status, says = SECONDARY.get(known.fault or "", (None, False))
            status, body, more = meter.secondary(status, double.faults.retry_after if says else None)
            return status, body, meter.look(token, resource, 0)[1] | more
        allowed, rate = meter.look(token, resource)
        if known.fault in {"primary", "primary-429"}:
            reset = str(round(meter.now() + double.faults.retry_after))
            rate |= {"x-ratelimit-remaining": "0", "x-ratelimit-used": rate["x-ratelimit-limit"]}
            _, body, more = meter.primary(token, rate | {"x-ratelimit-reset": reset})
            return 429 if known.fault == "primary-429" else 403, body, more
        if not allowed:
            return meter.primary(token, rate)
        status, body, headers = self._found(known)
        return status, body, rate | headers

    def _found(self, known: Request) -> Reply:
        double, path = self.double, known.path.removeprefix(ENTERPRISE)
        if self.command == "POST":
            return 404, answers.error("Not Found", 404), {}
        site = Site(double.url + (ENTERPRISE if known.path.startswith(ENTERPRISE) else ""), double.url)
        accept = self.headers.get("Accept", "")
        query = dict(parse_qsl(known.query))
        status, body, headers = double.routes.answer(site, path, query, private=bool(known.token), accept=accept)
        if known.fault in {"incomplete", "short"} and status == 200 and "items" in body:
            body = {**body, "incomplete_results": known.fault == "incomplete", "items": body["items"][::2]}
        return status, body, headers

    def _etag(self, data: bytes) -> str:
        digest = hashlib.sha256(data + self.headers.get("Accept", "").encode()).hexdigest()
        return f'W/"{digest}"'

    def _is_known(self, headers: dict[str, str]) -> bool:
        if wanted := self.headers.get("If-None-Match"):
            known = {one.strip().removeprefix("W/") for one in wanted.split(",")}
            return "*" in known or headers["ETag"].removeprefix("W/") in known
        return "Last-Modified" in headers and self.headers.get("If-Modified-Since") == headers["Last-Modified"]

    # --- the wire

    def _send(self, status: int, data: bytes, headers: dict[str, str], *, cut: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if cut:
            data = data[: len(data) // 2]
            self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(data)

    def _reset(self) -> None:
        # Closed with unsent data thrown away, the kernel tells the client "connection reset by peer".
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", *NO_LINGER))
        self.close_connection = True

    def _content(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)


def _resource(path: str) -> str:
    if git_side.is_git(path):
        return "git"
    return "search" if path.removeprefix(ENTERPRISE).startswith("/search/") else "core"
