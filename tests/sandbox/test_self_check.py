"""Every sandbox passes the suite, as root and as a plain user; and what is no sandbox does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import curate
from curate.sandbox import Command, Completed, Sandbox
from curate.sandbox.acts import ACTS
from curate.sandbox.checks import BOUNDED, NORMAL
from curate.sandbox.self_check import check, refusals, run

_PLAIN_USER = 54321
_PROGRAM = """
import sys
from curate.sandbox import BUILT_IN
from curate.sandbox.self_check import check
sandbox = BUILT_IN[sys.argv[1]]
assert sandbox.unavailable() is None, sandbox.unavailable()
results = check(sandbox)
print(len(results), [result for result in results if not result.held])
"""


class OpenDoor:
    """Runs commands just so."""

    name = "open door"

    def unavailable(self) -> str | None:
        return None

    def run(self, command: Command) -> Completed:
        done = subprocess.run(command.argv, input=command.stdin, cwd=command.cwd, capture_output=True, check=False)
        return _completed(done.returncode, done.stdout, done.stderr)


class Asleep(OpenDoor):
    """Runs nothing, and says that all went well."""

    def run(self, command: Command) -> Completed:
        return _completed(0, b"", b"")


def _completed(code: int, stdout: bytes, stderr: bytes) -> Completed:
    return Completed("exited", code, stdout, stderr, False, 0.0, 0, "none")


def test_holds(sandbox: Sandbox) -> None:
    results = check(sandbox)
    assert [result for result in results if not result.held] == []
    assert len(results) == len(ACTS) + len(NORMAL) + len(BOUNDED) + 2


def test_an_open_door_is_noticed() -> None:
    reached = {result.name for result in refusals(OpenDoor()) if not result.held}
    assert reached >= {
        *("read_home", "read_outside", "list_outside", "read_through_link", "write_through_link", "read_through_dots"),
        *("read_through_proc", "read_host_environment", "see_host_processes", "signal_host_process"),
        *("connect_tcp", "send_udp", "connect_abstract", "connect_unix", "write_read_only", "change_read_only"),
    }


def test_a_sandbox_that_runs_nothing_is_noticed() -> None:
    assert [item.name for item in (*NORMAL, *BOUNDED) if run(Asleep(), item).held] == []
    assert not any(result.held for result in refusals(Asleep()))


@pytest.fixture
def plain_python() -> Iterator[list[str]]:
    """An interpreter run by a plain user who can read this package: root's folders are closed to others."""
    if os.geteuid() != 0:
        pytest.skip("these tests are run by a plain user already")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "lib", "curate")
        copy.mkdir(parents=True)
        source = Path(curate.__file__).parent
        shutil.copytree(source / "sandbox", copy / "sandbox")
        for name in ("__init__.py", "errors.py"):
            shutil.copy(source / name, copy)
        home = Path(folder, "home")
        home.mkdir()
        os.chown(home, _PLAIN_USER, _PLAIN_USER)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        user = ["setpriv", f"--reuid={_PLAIN_USER}", f"--regid={_PLAIN_USER}", "--clear-groups", "--"]
        variables = ["env", "-i", f"PATH={os.environ['PATH']}", f"PYTHONPATH={folder}/lib", f"HOME={home}"]
        for python in (sys.executable, "/usr/bin/python3"):
            argv = [*user, *variables, python, "-B"]
            new = [*argv, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            if subprocess.run(new, capture_output=True, check=False).returncode == 0:
                yield argv
                return
        pytest.skip("no Python 3.11 here that a plain user may run")


@pytest.mark.slow
def test_holds_for_a_plain_user(sandbox: Sandbox, plain_python: list[str]) -> None:
    done = subprocess.run(
        [*plain_python, "-c", _PROGRAM, sandbox.name], capture_output=True, text=True, cwd="/", check=False
    )
    if "AssertionError" in done.stderr:
        pytest.skip(f"this kernel lets no plain user: {done.stderr.splitlines()[-1]}")
    assert done.stdout == f"{len(ACTS) + len(NORMAL) + len(BOUNDED) + 2} []\n", done.stderr
