"""What an interpreter needs to run inside, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from curate.sandbox import Command, Sandbox, python_paths


def _installation(prefix: Path) -> Path:
    (prefix / "lib" / "python3.11").mkdir(parents=True)
    (prefix / "lib" / "python3.11" / "os.py").touch()
    (prefix / "bin").mkdir()
    python = prefix / "bin" / "python3.11"
    python.touch()
    return python


def _environment(folder: Path, home: Path, name: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11\n")
    (folder / "bin" / "python").symlink_to(home / name)
    return folder / "bin" / "python"


def test_environment_over_an_installation(tmp_path: Path) -> None:
    base = _installation(tmp_path / "base")
    python = _environment(tmp_path / "venv", base.parent, "python3.11")
    assert python_paths(python) == (tmp_path / "base", tmp_path / "venv")


def test_installation_by_a_linked_folder(tmp_path: Path) -> None:
    _installation(tmp_path / "cpython-3.11.7")
    (tmp_path / "cpython-3.11").symlink_to("cpython-3.11.7")
    python = _environment(tmp_path / "venv", tmp_path / "cpython-3.11" / "bin", "python3.11")
    assert python_paths(python) == tuple(tmp_path / name for name in ("cpython-3.11", "cpython-3.11.7", "venv"))


def test_a_lone_link_does_not_show_the_folders_around_it(tmp_path: Path) -> None:
    base = _installation(tmp_path / "base")
    local = tmp_path / "home" / ".local"
    (local / "bin").mkdir(parents=True)
    (local / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (local / "bin" / "python").symlink_to(base)
    assert python_paths(local / "bin" / "python") == (tmp_path / "base", local / "bin" / "python")


def test_the_systems_own_needs_nothing() -> None:
    if not Path("/usr/bin/python3").exists():
        pytest.skip("no system Python here")
    assert python_paths(Path("/usr/bin/python3")) == ()


def test_an_environment_over_itself_ends(tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    _installation(folder)
    (folder / "pyvenv.cfg").write_text(f"home = {folder / 'bin'}\n")
    assert python_paths(folder / "bin" / "python3.11") == (folder,)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        python_paths(tmp_path / "python")


def test_an_environment_runs_inside(sandbox: Sandbox, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    tmp_path.chmod(0o755)
    python = tmp_path / "venv" / "bin" / "python"
    packages = next((tmp_path / "venv" / "lib").glob("python3*/site-packages"))
    (packages / "thing.py").write_text("value = 5\n")
    argv = (str(python), "-c", "import ctypes, ssl, sys, thing; print(sys.prefix, thing.value)")
    completed = sandbox.run(Command(argv, read_only=python_paths(python)))
    assert completed.stdout.decode() == f"{tmp_path / 'venv'} 5\n", completed.stderr
