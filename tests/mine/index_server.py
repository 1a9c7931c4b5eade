"""A package index on loopback: the JSON and HTML forms of the simple API, and what goes wrong with real ones.

with Index() as index:
    index.add("demo-1.0.tar.gz", data, uploaded="2024-05-01T00:00:00Z")
    index.fault("/files/demo-1.0.tar.gz", "truncated", times=1)
    ... index.url ...
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
ERROR_PAGE = b"<!DOCTYPE html><html><body><h1>Sign in to continue</h1><a href='/login'>Log in</a></body></html>"


@dataclass
class File:
    """A file of the index, with what its page says about it."""

    data: bytes
    sha256: str | None
    yanked: bool | str = False
    uploaded: str | None = None
    requires_python: str | None = None
    url: str | None = None


@dataclass
class Index:
    """The index; a context manager. `projects` is name -> file name -> File."""

    html_only: bool = False
    login: str | None = None
    """user:password that every request has to bring."""
    projects: dict[str, dict[str, File]] = field(default_factory=dict)
    log: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """(path, headers) of every request."""
    faults: dict[str, deque[str]] = field(default_factory=dict)

    def __enter__(self) -> Index:
        index = self

        class Handler(_Handler):
            pass

        Handler.index = index
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.released = threading.Event()
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def host(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def url(self) -> str:
        """Address of the simple API."""
        return f"http://{self.host}/simple"

    def add(
        self, filename: str, data: bytes, *, name: str | None = None, digest: str | None = "", **facts: Any
    ) -> File:
        """Put a file into the index; `digest`: another sha256 than its own, or None for none."""
        project = name or _project(filename)
        file = File(data, hashlib.sha256(data).hexdigest() if digest == "" else digest, **facts)
        self.projects.setdefault(project, {})[filename] = file
        return file

    def fault(self, path: str, kind: str, times: int = 1000) -> None:
        """Answer the next requests for a path with a status, truncated, error_page, garbage, stall or hang_up."""
        self.faults[path] = deque([kind] * times)

    def asked(self, path: str) -> int:
        """Return how often a path was asked for."""
        return sum(seen == path for seen, _ in self.log)


def _project(filename: str) -> str:
    if filename.endswith(".whl"):
        return parse_wheel_filename(filename)[0]
    if filename.endswith((".tar.gz", ".zip")):
        return parse_sdist_filename(filename)[0]
    return canonicalize_name(filename.rsplit("-", 1)[0])


class _Handler(BaseHTTPRequestHandler):
    index: Index
    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.index.log.append((path, {name.lower(): value for name, value in self.headers.items()}))
        faults = self.index.faults.get(path)
        if self.index.login and not self._may():
            self._answer(401, b"who are you?", "text/plain")
        elif faults:
            self._fail(faults.popleft(), path)
        elif path.startswith("/simple/"):
            self._page(path.split("/")[2])
        else:
            self._file(path)

    def _may(self) -> bool:
        login = base64.b64encode((self.index.login or "").encode()).decode()
        return self.headers.get("Authorization") == f"Basic {login}"

    def _page(self, name: str) -> None:
        files = self.index.projects.get(name)
        if files is None:
            self._answer(404, b"no such project", "text/plain")
        elif self.index.html_only or JSON_TYPE not in self.headers.get("Accept", ""):
            self._answer(200, _html(name, files).encode(), "text/html")
        else:
            self._answer(200, json.dumps(_json(name, files)).encode(), JSON_TYPE)

    def _file(self, path: str) -> None:
        name = path.rpartition("/")[2]
        found = [files[name] for files in self.index.projects.values() if name in files]
        if found:
            self._answer(200, found[0].data, "application/octet-stream")
        else:
            self._answer(404, b"no such file", "text/plain")

    def _fail(self, kind: str, path: str) -> None:
        if kind.isdigit():
            self._answer(int(kind), ERROR_PAGE, "text/html", {"Retry-After": "0"})
        elif kind == "error_page":
            self._answer(200, ERROR_PAGE, "text/html")
        elif kind == "garbage":
            self._answer(200, b'{"meta": {"api-version": "1.1"}, "fil', JSON_TYPE)
        elif kind == "hang_up":
            self.close_connection = True
        else:
            self._break_off(path, stall=kind == "stall")

    def _break_off(self, path: str, *, stall: bool) -> None:
        name = path.rpartition("/")[2]
        data = next(files[name].data for files in self.index.projects.values() if name in files)
        self._answer(200, data, "application/octet-stream", sent=len(data) // 2)
        if stall:
            self.index.released.wait(60)

    def _answer(
        self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None, sent: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:sent])
        self.wfile.flush()


def _address(filename: str, file: File) -> str:
    return file.url or f"../../files/{filename}"


def _json(name: str, files: dict[str, File]) -> dict[str, Any]:
    entries = []
    for filename, file in files.items():
        entry: dict[str, Any] = {
            "filename": filename,
            "url": _address(filename, file),
            "hashes": {"sha256": file.sha256} if file.sha256 else {},
            "yanked": file.yanked,
            "size": len(file.data),
        }
        if file.uploaded:
            entry["upload-time"] = file.uploaded
        if file.requires_python:
            entry["requires-python"] = file.requires_python
        entries.append(entry)
    return {"meta": {"api-version": "1.1"}, "name": name, "files": entries, "versions": []}


def _html(name: str, files: dict[str, File]) -> str:
    lines = []
    for filename, file in files.items():
        address = _address(filename, file) + (f"#sha256={file.sha256}" if file.sha256 else "")
        extra = f' data-yanked="{html.escape(str(file.yanked))}"' if file.yanked else ""
        if file.requires_python:
            extra += f' data-requires-python="{html.escape(file.requires_python)}"'
        lines.append(f'<a href="{html.escape(address)}"{extra}>{html.escape(filename)}</a><br>')
    return f"<!DOCTYPE html><html><body><h1>Links for {name}</h1>{''.join(lines)}</body></html>"
