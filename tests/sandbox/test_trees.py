"""Folders lent to a command: what is refused, what comes back, what can be read without being fooled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curate.sandbox import SandboxError, read_result
from curate.sandbox.trees import lent, measure


def test_hard_links_to_outside_are_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "cache").write_text("shared")
    (work / "file").hardlink_to(tmp_path / "cache")
    with pytest.raises(SandboxError, match="hard links"), lent(work, None):
        pass


def test_hard_links_inside_are_fine(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("x")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    with lent(tmp_path, None) as used:
        assert used == 2 * 4096


def test_a_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(SandboxError, match="not a folder"), lent(tmp_path / "link", None):
        pass


def test_links_are_kept_and_not_followed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o400)
    with lent(work, None):
        (work / "link").symlink_to(secret)
    assert (work / "link").is_symlink()
    assert secret.stat().st_mode & 0o777 == 0o400


def test_measure_counts_empty_files_and_stops(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / str(i)).touch()
    assert measure(tmp_path, 1 << 30) == 20 * 4096
    assert measure(tmp_path, 4096) == 2 * 4096
    assert measure(tmp_path / "missing", 1) == 0


def test_read_result(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "below").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (work / "below" / "good").write_bytes(b"good")
    (work / "inner").symlink_to("below/good")
    (work / "outer").symlink_to(tmp_path / "secret")
    (work / "up").symlink_to("..")
    (work / "loop").symlink_to("loop")
    os.mkfifo(work / "pipe")
    assert read_result(work, "below/good") == read_result(work, "inner") == b"good"
    for name in ("outer", "up/secret", "../secret", "loop", "pipe", "below", "missing"):
        with pytest.raises(SandboxError):
            read_result(work, name)
    with pytest.raises(SandboxError, match="larger"):
        read_result(work, "inner", 3)
