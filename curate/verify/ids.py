"""Ids of rows that this room adds to tables of an earlier stage."""

from __future__ import annotations

import hashlib


def test_id(snapshot_id: str, node_id: str) -> str:
    """Return the id of a test."""
    return hashlib.sha256(f"{snapshot_id}\0{node_id}".encode()).hexdigest()[:16]
