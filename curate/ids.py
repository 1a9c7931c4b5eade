"""Ids of rows: hashes of what a row is about, the same on every machine."""

from __future__ import annotations

import hashlib


def stable_id(*parts: object) -> str:
    """Return 16 hexadecimal digits that stand for a tuple of ids, paths, names and numbers."""
    joined = "\0".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]
