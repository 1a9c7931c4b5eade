"""Runs beside each other, runs cut short, conversations, and errors of the caller."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import curate
from curate.sandbox import Command, Completed, Limits, Sandbox, SandboxError, python_paths

_BOMB = "import os, time\ntry:\n while True:\n  if os.fork() == 0: time.sleep(60)\nexcept OSError: time.sleep(1.5)"
_FORKS = "import os, time\nfor _ in range(20):\n if os.fork() == 0: time.sleep(.3); os._exit(0)\n time.sleep(.02)\n"
_FORKS += "print('done')"


def _python(source: str, **settings: object) -> Command:
    shown = python_paths(Path(sys.executable))
    argv = (sys.executable, "-I", "-S", "-c", source)
    return Command(argv, **{"read_only": shown, "limits": Limits(wall_seconds=20), **settings})  # type: ignore[arg-type]


def test_two_at_once_do_not_disturb_each_other(sandbox: Sandbox) -> None:
    few = Limits(processes=32, wall_seconds=10)
    with ThreadPoolExecutor(2) as pool:
        bomb = pool.submit(sandbox.run, _python(_BOMB, limits=few))
        time.sleep(0.3)
        quiet = pool.submit(sandbox.run, _python(_FORKS, limits=few))
        assert (quiet.result().returncode, quiet.result().stdout) == (0, b"done\n")
        assert not bomb.done()
        assert bomb.result().ended == "exited"


def test_a_folder_is_lent_to_one_run_at_a_time(sandbox: Sandbox, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(sandbox.run, Command(("sleep", "0.5"), writable=(tmp_path,)))
        time.sleep(0.2)
        with pytest.raises(SandboxError, match="in use by another run"):
            sandbox.run(Command(("true",), writable=(tmp_path,)))
        assert first.result().returncode == 0
    assert sandbox.run(Command(("true",), writable=(tmp_path,))).returncode == 0


def test_dies_with_its_caller(sandbox: Sandbox, tmp_path: Path) -> None:
    source = (
        "import sys\nfrom pathlib import Path\nfrom curate.sandbox import BUILT_IN, Command\n"
        "work = Path(sys.argv[2])\n"
        "BUILT_IN[sys.argv[1]].run(Command(('sh', '-c', 'while true; do echo x >> beats; sleep 0.02; done'),"
        " cwd=work, writable=(work,)))\n"
    )
    root = str(Path(curate.__file__).parent.parent)
    argv = [sys.executable, "-c", source, sandbox.name, str(tmp_path)]
    beats = tmp_path / "beats"
    with subprocess.Popen(argv, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": root}) as caller:
        until = time.monotonic() + 10
        while not beats.exists() and time.monotonic() < until:
            time.sleep(0.05)
        caller.send_signal(signal.SIGKILL)
    time.sleep(0.2)
    size = beats.stat().st_size
    time.sleep(0.3)
    assert 0 < size == beats.stat().st_size


def test_conversation(sandbox: Sandbox) -> None:
    heard: list[bytes] = []

    def answer(line: bytes) -> bytes | None:
        heard.append(line)
        return b"%d\n" % (int(line) + 1) if len(heard) < 5 else None

    source = "import sys\nfor line in sys.stdin: print(int(line) * 2, flush=True)\nprint('over')"
    completed = sandbox.run(_python(source, stdin=b"1\n", on_line=answer))
    assert heard == [b"2", b"6", b"14", b"30", b"62"]
    assert (completed.returncode, completed.stdout) == (0, b"2\n6\n14\n30\n62\nover\n")


def test_a_listener_that_fails_ends_the_command(sandbox: Sandbox) -> None:
    begun = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        sandbox.run(_python("import time\nprint(1, flush=True)\ntime.sleep(60)", on_line=lambda line: b"%d" % (1 // 0)))
    assert time.monotonic() - begun < 5


def test_input_nobody_reads(sandbox: Sandbox) -> None:
    assert sandbox.run(Command(("true",), stdin=bytes(10 << 20))).returncode == 0


def test_a_flood_of_output_stays_small_here(sandbox: Sandbox) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = Limits(output_bytes=1 << 30, kept_bytes=1 << 16)
    completed = sandbox.run(Command(("sh", "-c", "head -c 500000000 /dev/zero; printf end"), limits=limits))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (completed.ended, completed.truncated, len(completed.stdout)) == ("exited", True, 1 << 16)
    assert completed.stdout.endswith(b"\0end")
    assert grown < 20_000  # KiB


def test_peak_memory(sandbox: Sandbox) -> None:
    completed = sandbox.run(_python("import time\nx = b'x' * (200 << 20)\ntime.sleep(.3)"))
    assert 200 << 20 < completed.peak_memory_bytes < 300 << 20


def test_memory_shared_by_forks_counts_once(sandbox: Sandbox) -> None:
    source = "import os, time\nx = b'x' * (100 << 20)\nfor _ in range(5):\n if os.fork() == 0: break\ntime.sleep(.5)"
    completed = sandbox.run(_python(source, limits=Limits(memory_bytes=300 << 20)))
    assert completed.ended == "exited"


def test_read_only_inside_writable(sandbox: Sandbox, tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test.py").write_text("kept")
    source = "echo new > made; echo changed > tests/test.py; rm -rf tests; mv tests gone; true"
    sandbox.run(Command(("sh", "-c", source), cwd=tmp_path, writable=(tmp_path,), read_only=(tests,)))
    assert (tmp_path / "made").read_text() == "new\n"
    assert (tests / "test.py").read_text() == "kept"


def test_returns_soon_whatever_the_thread(sandbox: Sandbox) -> None:
    """The sandbox dies with the thread that started it, which must therefore not be another one."""
    results: list[Completed] = []
    thread = threading.Thread(target=lambda: results.append(sandbox.run(Command(("echo", "x")))))
    thread.start()
    thread.join(10)
    assert results[0].stdout == b"x\n"


def test_overhead(sandbox: Sandbox) -> None:
    seconds = sorted(sandbox.run(Command(("true",))).seconds for _ in range(5))
    assert seconds[0] < 0.2


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Command(()), "not a program"),
        (Command(("a=b",)), "not a program"),
        (Command(("true", "a\0b")), "NUL"),
        (Command(("true",), env={"a=b": "c"}), "not a variable"),
        (Command(("true",), read_only=(Path("relative"),)), "not an absolute path"),
        (Command(("true",), read_only=(Path("/usr/../etc"),)), "not an absolute path"),
        (Command(("true",), read_only=(Path("/"),)), "never shown"),
        (Command(("true",), read_only=(Path("/proc/1"),)), "never shown"),
        (Command(("true",), read_only=(Path("/no/such/path"),)), "no such path"),
        (Command(("true",), writable=(Path("/no/such/path"),)), "not a folder"),
        (Command(("true",), writable=(Path.home(),)), "not a folder to hand"),
        (Command(("true",), writable=(Path("/"),)), "not a folder to hand"),
    ],
)
def test_what_cannot_be_asked(sandbox: Sandbox, command: Command, message: str) -> None:
    with pytest.raises(SandboxError, match=message):
        sandbox.run(command)
