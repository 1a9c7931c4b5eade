"""Clones: what the git side of GitHub answers, through a real `git http-backend`."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection
from email.message import Message

from tests.github_double.world import World
from tests.mine.git_server import backend

PLACE = re.compile(r"/([^/]+/[^/]+?)(?:\.git)?/(info/refs|git-upload-pack)")
Answer = tuple[int, dict[str, str], bytes]


def is_git(path: str) -> bool:
    """Return whether git asks for this, and not a client of the API."""
    return PLACE.fullmatch(path) is not None


def answer(
    world: World, tokens: Collection[str], site: str, method: str, path: str, query: str, headers: Message, body: bytes
) -> Answer:
    """Answer git. A private repository wants `x-access-token:TOKEN`, and no `tokens` mean that any will do."""
    found = PLACE.fullmatch(path)
    one = world.named(found[1]) if found else None
    token = token_of(headers)
    allowed = bool(token) and (token in tokens or not tokens)
    if token and not allowed:
        return 401, ASKING, b"Invalid username or token."
    # GitHub asks who wants to know, so as not to tell what exists.
    unseen: Answer = (404, {}, b"Repository not found.") if token else (401, ASKING, b"Repository not found.")
    if found is None or one is None or one.state == "gone" or (one.private and not allowed):
        return unseen
    if one.state == "blocked":
        return 403, {"Content-Type": "text/plain"}, b"Repository unavailable due to DMCA takedown.\n"
    if found[1].lower() != one.full_name.lower():
        asked = f"?{query}" if query else ""
        return 301, {"Location": f"{site}/{one.full_name}.git/{found[2]}{asked}"}, b""
    if one.folder is None:
        return unseen  # made up: it cannot be cloned
    return backend(one.folder, f"/{found[2]}", query, method, headers, body)


ASKING = {"WWW-Authenticate": 'Basic realm="GitHub"', "Content-Type": "text/plain"}


def token_of(headers: Message) -> str:
    """Return the token that comes as the password of a login, or as such."""
    scheme, _, text = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return text.strip()
    try:
        return base64.b64decode(text).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return "?"
