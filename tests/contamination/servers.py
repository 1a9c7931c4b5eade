"""Real servers on loopback: the read side of the Hub for one data set, and a package index with one project."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: dict[str, tuple[str, bytes]]
    """Path -> content type and content."""
    asked: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        kind, content = self.pages.get(path, ("application/json", b'{"error": "Not Found"}'))
        self.send_response(200 if path in self.pages else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        if path not in self.pages:
            self.send_header(
                "X-Error-Code", "RevisionNotFound" if "revision" in path or "tree" in path else "EntryNotFound"
            )
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(pages: dict[str, tuple[str, bytes]]) -> Iterator[tuple[str, list[str]]]:
    """Serve pages; gives the address and the list of paths asked for."""
    asked: list[str] = []
    handler = type("Handler", (_Quiet,), {"pages": pages, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def hub(name: str, files: dict[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Return the pages of a Hub that holds one data set at one commit."""
    listed = [
        {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
        for path, content in files.items()
    ]
    info = {
        "id": name,
        "sha": COMMIT,
        "siblings": [{"rfilename": path} for path in files],
        "private": False,
        "tags": [],
    }
    pages = {
        f"/api/datasets/{name}/revision/{COMMIT}": ("application/json", json.dumps(info).encode()),
        f"/api/datasets/{name}/tree/{COMMIT}": ("application/json", json.dumps(listed).encode()),
    }
    for path, content in files.items():
        pages[f"/datasets/{name}/resolve/{COMMIT}/{path}"] = ("application/octet-stream", content)
    return pages


def index(project: str, version: str, members: dict[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Return the pages of a package index that holds one wheel."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    wheel, file = buffer.getvalue(), f"{project.replace('-', '_')}-{version}-py3-none-any.whl"
    hashes = {"sha256": hashlib.sha256(wheel).hexdigest()}
    page = {
        "meta": {"api-version": "1.0"},
        "name": project,
        "files": [{"filename": file, "url": f"/files/{file}", "hashes": hashes}],
    }
    return {
        f"/simple/{project}/": ("application/vnd.pypi.simple.v1+json", json.dumps(page).encode()),
        f"/files/{file}": ("application/octet-stream", wheel),
    }
