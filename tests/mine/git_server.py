"""Git repositories over HTTP on loopback, served by git's own `git http-backend`."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


class GitServer:
    """Serves the repositories below a folder; a context manager.

    `login`: user:password that every request has to bring. `old`: speaks protocol version 0, in which a server hands
    out only what its branches and tags point at. `status`: answers everything with this.
    """

    def __init__(self, root: Path, *, login: str | None = None, old: bool = False) -> None:
        self.root, self.login, self.old = root, login, old
        self.status: int | None = None

    def __enter__(self) -> GitServer:
        owner = self

        class Handler(_Handler):
            pass

        Handler.owner = owner
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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


class _Handler(BaseHTTPRequestHandler):
    owner: GitServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            self._serve(self._chunks())
        else:
            self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _serve(self, body: bytes) -> None:
        login = base64.b64encode((self.owner.login or "").encode()).decode()
        if self.owner.status:
            self.send_error(self.owner.status)
        elif self.owner.login and self.headers.get("Authorization") != f"Basic {login}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._backend(body)

    def _backend(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        status, headers, content = backend(
            self.owner.root, parts.path, parts.query, self.command, self.headers, body, old=self.owner.old
        )
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(parts)


def backend(
    root: Path, path: str, query: str, method: str, headers: Message, body: bytes, *, old: bool = False
) -> tuple[int, dict[str, str], bytes]:
    """Run `git http-backend` for the repository `root` + `path`; return status, headers and content."""
    allowed = ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant")
    variables = {
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
        "CONTENT_LENGTH": str(len(body)),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": os.environ["PATH"],
    }
    if not old:
        variables["GIT_PROTOCOL"] = headers.get("Git-Protocol", "")
        variables["GIT_CONFIG_COUNT"] = str(len(allowed))
        for place, key in enumerate(allowed):
            variables |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": "true"}
    done = subprocess.run(["git", "http-backend"], input=body, env=variables, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    found = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    return int(found.pop("Status", "200").split()[0]), found, content
