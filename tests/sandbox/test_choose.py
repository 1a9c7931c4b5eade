"""Which sandbox is taken, and what is said when there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from curate.sandbox import BUILT_IN, Command, SandboxUnavailable, choose, sandboxes


@pytest.fixture(autouse=True)
def _no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURATE_SANDBOX", raising=False)


def _only(folder: Path, *programs: str) -> str:
    for program in programs:
        found = shutil.which(program)
        if found is None:
            pytest.skip(f"{program} is not installed")
        (folder / program).symlink_to(found)
    return str(folder)


def test_bubblewrap_comes_first() -> None:
    if BUILT_IN["bubblewrap"].unavailable() is not None:
        pytest.skip(str(BUILT_IN["bubblewrap"].unavailable()))
    assert choose().name == "bubblewrap"


def test_without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if BUILT_IN["namespaces"].unavailable() is not None:
        pytest.skip(str(BUILT_IN["namespaces"].unavailable()))
    monkeypatch.setenv("PATH", _only(tmp_path, "unshare"))
    chosen = choose()
    assert chosen.name == "namespaces"
    assert chosen.run(Command(("echo", "ran"))).stdout == b"ran\n"


def test_without_any(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable) as refused:
        choose()
    message = str(refused.value)
    assert "install the package bubblewrap" in message
    assert "install the package util-linux" in message
    assert "\n" not in message


def test_one_that_does_not_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = BUILT_IN["bubblewrap"].unavailable()
    assert reason is not None
    assert "No permissions to create new namespace" in reason
    assert "user namespaces" in reason


def test_by_name_and_by_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    if BUILT_IN["namespaces"].unavailable() is not None:
        pytest.skip(str(BUILT_IN["namespaces"].unavailable()))
    assert choose("namespaces").name == "namespaces"
    monkeypatch.setenv("CURATE_SANDBOX", "namespaces")
    assert choose().name == "namespaces"
    monkeypatch.setenv("CURATE_SANDBOX", "nothing")
    with pytest.raises(SandboxUnavailable, match="bubblewrap, namespaces"):
        choose()


def test_another_packages_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "their_sandbox.py").write_text(
        "name = 'theirs'\ndef unavailable(): return None\ndef run(command): return name\n"
    )
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curate.sandboxes]\ntheirs = their_sandbox\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(sandboxes()) == ["bubblewrap", "namespaces", "theirs"]
    assert choose("theirs").name == "theirs"
