"""The double's HTTP side."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections import Counter, OrderedDict
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.github_double import answers
from tests.github_double.faults import PAGE, Faults
from tests.github_double.limits import Limits, Meter
from tests.github_double.queries import MalformedError, search
from tests.github_double.world import Repository, World
from tests.mine.git_server import backend

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
CAP = 1000
Reply = tuple[int, Any, dict[str, str]]


class GitHubDouble:
    """Serves a world; a context manager. With `tokens`, any other token is refused."""

    def __init__(
        self, world: World, *, limits: Limits | None = None, faults: Faults | None = None, tokens: tuple[str, ...] = (),
        port: int = 0,
    ) -> None:  # fmt: skip
        self.world, self.tokens, self.port = world, tokens, port
        self.meter = Meter(limits or Limits.none())
        self.faults = faults or Faults()
        self.counts: Counter[str] = Counter()
        """Resource or status -> requests."""
        self.log: list[str] = []
        """Path and query of the last requests."""
        self.at_once, self.peak = 0, 0
        self.lock = threading.Lock()
        self.found: OrderedDict[tuple[int, str], list[Repository]] = OrderedDict()

    def __enter__(self) -> GitHubDouble:
        handler = type("Handler", (_Handler,), {"owner": self})
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
        """Base URL of the API."""
        return f"http://{self.host}"

    def fault(self, pattern: str, kind: str, times: int = 1) -> None:
        """Let the next matching requests go wrong; see faults.py."""
        self.faults.add(pattern, kind, times)

    # --- answers

    def answer(self, path: str, query: dict[str, str], *, private: bool) -> Reply:
        """Return (status, body, headers) for an API request."""
        if path == "/search/repositories":
            return self._search(query)
        found = re.fullmatch(r"/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(?:/commits(?:/(.+))?)?", path)
        if found is None:
            return 404, answers.error("Not Found"), {}
        name, number, ref = found.groups()
        one = self.world.named(unquote(name)) if name else self.world.by_id.get(int(number))
        refused = self._refusal(one, name, private=private)
        if refused or one is None:
            return refused or (404, answers.error("Not Found"), {})
        if "/commits" not in path:
            return 200, answers.repository(self.world, one, self.host, whole=True), {}
        return self._commits(one, unquote(ref) if ref else None, path, query)

    def _refusal(self, one: Repository | None, name: str | None, *, private: bool) -> Reply | None:
        if one is None or one.state == "gone" or (one.private and not private):
            return 404, answers.error("Not Found"), {}
        if one.state == "blocked":
            block = {
                "reason": "dmca",
                "created_at": "2024-01-01T00:00:00Z",
                "html_url": "https://github.com/github/dmca",
            }
            return 451, answers.error("Repository access blocked", block=block), {}
        if name and name.lower() != one.full_name.lower():
            place = f"{self.url}/repositories/{one.id}"
            return 301, answers.error("Moved Permanently", url=place), {"Location": place}
        return None

    def _commits(self, one: Repository, ref: str | None, path: str, query: dict[str, str]) -> Reply:
        if one.state == "empty":
            return 409, answers.error("Git Repository is empty."), {}
        history = dict(one.history())
        if ref is not None:
            sha = one.resolve(ref)
            if sha is None or sha not in history:
                return 422, answers.error(f"No commit found for SHA: {ref}"), {}
            return 200, answers.commit(sha, history[sha], self.host, one.full_name), {}
        shas = list(history)
        start = one.resolve(query.get("sha", "HEAD"))
        if start not in history:
            return 404, answers.error("Not Found"), {}
        shas = shas[shas.index(start) :]
        page, size = int(query.get("page", 1)), min(100, int(query.get("per_page", 30)))
        part = shas[(page - 1) * size : page * size]
        said = [answers.commit(sha, history[sha], self.host, one.full_name) for sha in part]
        return 200, said, self._links(path, query, page, -(-len(shas) // size))

    def _search(self, query: dict[str, str]) -> Reply:
        text = query.get("q", "")
        page, size = int(query.get("page", 1)), min(100, int(query.get("per_page", 30)))
        if page * size > CAP and (page - 1) * size >= CAP:
            return 422, answers.error("Only the first 1000 search results are available"), {}
        key = (self.world.age, text)
        with self.lock:
            hits = self.found.get(key)
        if hits is None:
            try:
                hits = search(self.world, text)
            except MalformedError as error:
                message = "Validation Failed"
                detail = {"message": str(error), "resource": "Search", "field": "q", "code": "invalid"}
                return 422, answers.error(message, errors=[detail]), {}
            with self.lock:
                self.found[key] = hits
                while len(self.found) > 50:
                    self.found.popitem(last=False)
        part = hits[:CAP][(page - 1) * size : page * size]
        items = [answers.repository(self.world, one, self.host, whole=False) for one in part]
        said = {"total_count": len(hits), "incomplete_results": False, "items": items}
        return 200, said, self._links("/search/repositories", query, page, -(-min(len(hits), CAP) // size))

    def _links(self, path: str, query: dict[str, str], page: int, last: int) -> dict[str, str]:
        places = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        if page <= 1:
            del places["prev"], places["first"]
        if page >= last:
            places.pop("next"), places.pop("last")
        links = [f'<{self.url}{path}?{urlencode({**query, "page": to})}>; rel="{rel}"' for rel, to in places.items()]
        return {"Link": ", ".join(links)} if links else {}


class _Server(ThreadingHTTPServer):
    request_queue_size = 100

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that were killed hang up; that is no news."""


class _Handler(BaseHTTPRequestHandler):
    owner: GitHubDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate((timestamp or time.time()) + self.owner.meter.limits.skew, usegmt=True)

    def do_POST(self) -> None:
        self._git()

    def do_GET(self) -> None:
        owner = self.owner
        with owner.lock:
            owner.at_once += 1
            owner.peak = max(owner.peak, owner.at_once)
        try:
            if re.search(r"/info/refs(\?|$)", self.path):
                self._git()
            else:
                self._api()
        finally:
            with owner.lock:
                owner.at_once -= 1

    # --- the API

    def _api(self) -> None:
        owner, parts = self.owner, urlsplit(self.path)
        path = parts.path.removeprefix("/api/v3")
        owner.log = [*owner.log[-999:], self.path]
        resource = "search" if path.startswith("/search/") else "core"
        token = self.headers.get("Authorization", "").partition(" ")[2]
        fault = owner.faults.next(self.path)
        if fault == "reset":
            self.close_connection = True
            self.connection.close()
            return
        if fault == "slow":
            time.sleep(owner.faults.slow_seconds)
        status, body, headers = self._reply(path, dict(parse_qsl(parts.query)), resource, token, fault)
        self._send(status, body, headers, fault)

    def _reply(self, path: str, query: dict[str, str], resource: str, token: str, fault: str | None) -> Reply:  # noqa: PLR0911
        owner, limits = self.owner, self.owner.meter.limits
        if not self.headers.get("User-Agent"):
            return 403, answers.error("Request forbidden by administrative rules."), {}
        if token and owner.tokens and token not in owner.tokens:
            return 401, answers.error("Bad credentials"), {}
        if fault == "secondary" or owner.at_once > limits.at_once:
            return 403, answers.error(SECONDARY), {}
        if fault == "secondary-after":
            return 429, answers.error(SECONDARY), {"Retry-After": "1"}
        if fault in {"500", "502", "503", "504"}:
            return int(fault), PAGE, {}
        if fault in {"html", "empty"}:
            return 200, PAGE if fault == "html" else b"", {}
        status, body, headers = owner.answer(path, query, private=bool(token))
        if fault in {"incomplete", "short"} and resource == "search" and status == 200:
            body = {**body, "incomplete_results": fault == "incomplete", "items": body["items"][::2]}
        etag = f'W/"{hashlib.sha256(json.dumps(body).encode()).hexdigest()}"'
        same = status == 200 and self.headers.get("If-None-Match") == etag
        allowed, rate = owner.meter.look(token, resource, 0 if same else 1)
        if not allowed:
            after = {"Retry-After": str(round(float(rate["x-ratelimit-reset"]) - time.time() - limits.skew) + 1)}
            message = f"API rate limit exceeded for {'user' if token else '127.0.0.1'}."
            return limits.status, answers.error(message), {**rate, **(after if limits.retry_after else {})}
        return (304 if same else status), (b"" if same else body), {**headers, **rate, "ETag": etag}

    def _send(self, status: int, body: Any, headers: dict[str, str], fault: str | None) -> None:
        page = isinstance(body, bytes)
        data = body if page else json.dumps(body).encode()
        self.owner.counts[str(status)] += 1
        self.owner.counts[headers.get("x-ratelimit-resource", "none")] += 1
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if page else "application/json; charset=utf-8")
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if fault == "truncated":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif status != 304:
            self.wfile.write(data)

    # --- clones

    def _git(self) -> None:
        parts = urlsplit(self.path)
        found = re.fullmatch(r"/([^/]+/[^/]+?)(?:\.git)?/(info/refs|git-upload-pack)", parts.path)
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if length else self._chunks()
        one = self.owner.world.named(found[1]) if found else None
        login = self.headers.get("Authorization", "")
        token = base64.b64decode(login.partition(" ")[2]).decode().partition(":")[2] if login else ""
        if one is None or one.state == "gone" or one.folder is None or (one.private and token not in self.owner.tokens):
            # GitHub asks who wants to know, so as not to tell what exists.
            self._plain(
                401 if not token else 404, b"Repository not found.", {"WWW-Authenticate": 'Basic realm="GitHub"'}
            )
        elif one.state == "blocked":
            self._plain(403, b"Access to this repository has been disabled by GitHub staff.", {})
        elif found and found[1].lower() != one.full_name.lower():
            self._plain(301, b"", {"Location": f"{self.owner.url}/{one.full_name}.git/{found[2]}?{parts.query}"})
        elif found:
            status, headers, content = backend(
                one.folder, f"/{found[2]}", parts.query, self.command, self.headers, body
            )
            self._plain(status, content, headers)

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().strip() or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
        return b"".join(parts)

    def _plain(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.owner.counts["git"] += 1
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
