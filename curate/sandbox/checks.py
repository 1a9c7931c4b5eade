"""Programs that a sandbox must run as any machine would, and programs that it must bound: what each is to give.

Part of `self_check`. The sources run inside, with `work` as the name of their writable folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curate.sandbox.command import Completed
from curate.sandbox.view import BASE_ENV, HOSTNAME

_GIVEN = {"CHECK": "a=b c\n", "LD_PRELOAD": "/nowhere.so"}
_MIB = 1 << 20

Expected = Callable[[Completed, Path], bool]
"""Whether what came of it, and what it left in its folder, is as it should be."""


@dataclass(frozen=True)
class Check:
    """One program and what must come of it."""

    name: str
    source: str
    expected: Expected
    limits: Mapping[str, Any] = field(default_factory=dict)
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)


def _prints(stdout: bytes) -> Expected:
    return lambda done, work: (done.ended, done.returncode, done.stdout) == ("exited", 0, stdout)


def _ends(*reasons: str) -> Expected:
    return lambda done, work: done.ended in reasons and done.seconds < 8


def _refuses(done: Completed, work: Path) -> bool:
    return _prints(b"refused\n")(done, work) or done.ended in ("out_of_memory", "disk_limit", "process_limit")


def _given_to_it_alone(done: Completed, work: Path) -> bool:
    """The loader complains of the library once: no program of the sandbox's own was told to load it."""
    seen = _prints(f"{sorted({**BASE_ENV, **_GIVEN}.items())}\n".encode())(done, work)
    return seen and done.stderr.count(_GIVEN["LD_PRELOAD"].encode()) <= 1


def _flooded(done: Completed, work: Path) -> bool:
    return done.ended == "output_limit" and done.truncated and len(done.stdout) == len(done.stderr) == 1000


def _small_file(done: Completed, work: Path) -> bool:
    return _refuses(done, work) and (work / "big").stat().st_size <= _MIB


def _came_back(done: Completed, work: Path) -> bool:
    kept = (work / "closed" / "result").read_bytes() == b"done" and (work / "setuid").stat().st_mode & 0o7000 == 0
    mine = (work / "closed").stat().st_uid == os.geteuid()
    return done.returncode == 0 and kept and mine and not (work / "pipe").exists() and not (work / "socket").exists()


def _quiet_afterwards(done: Completed, work: Path) -> bool:
    """The daemon wrote while the command ran; nobody writes now."""
    beats = work / "beats"
    wrote = beats.stat().st_size
    time.sleep(0.15)
    return done.ended == "exited" and done.seconds < 8 and 0 < wrote == beats.stat().st_size


_FORK = """
import os, signal, time
def fork(act):
    if os.fork() == 0:
        act()
        os._exit(0)
"""
_TRY = """
import os, time
def attempt(act):
    try:
        act()
        print("reached")
    except (OSError, MemoryError):
        print("refused")
"""
_FILL = """
def fill(folder, size):
    for i in range(4000):
        with open(f"{folder}/{i}", "wb") as file:
            file.write(bytes(size))
"""

NORMAL = [
    Check("exit_code", "raise SystemExit(7)", lambda done, work: (done.ended, done.returncode) == ("exited", 7)),
    Check("streams", "import sys; sys.stdout.write(sys.stdin.read()); sys.stderr.write('to stderr')",
          lambda done, work: (done.stdout, done.stderr) == (b"x" * 300_000, b"to stderr"), stdin=b"x" * 300_000),
    Check("any_bytes", "import sys; sys.stdout.buffer.write(bytes(range(256)) + b'\\x1b]0;title\\x07\\xff')",
          _prints(bytes(range(256)) + b"\x1b]0;title\x07\xff")),
    Check("environment", "import os; print(sorted(os.environ.items()))",
          _given_to_it_alone, env=_GIVEN),
    Check("working_directory", "import os; print(os.getcwd() == work)", _prints(b"True\n")),
    Check("user_and_host", "import os, pwd, socket; print(pwd.getpwuid(os.getuid())[0], socket.gethostname())",
          _prints(f"sandbox {HOSTNAME}\n".encode())),
    Check("not_root", "import os; print(0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()))",
          _prints(b"False\n")),
    Check("death_by_signal", "import os; os.kill(os.getpid(), 15)",
          lambda done, work: (done.ended, done.returncode) == ("killed", 143)),
    Check("own_loopback", "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
          "socket.create_connection(s.getsockname()); print('connected')", _prints(b"connected\n")),
    Check("processes_and_locks", "import multiprocessing as m, tempfile, os\nq = m.get_context('fork').Queue()\n"
          "p = m.get_context('fork').Process(target=q.put, args=(5,)); p.start(); print(q.get()); p.join()\n"
          "tempfile.TemporaryFile().write(b'x'); os.openpty()", _prints(b"5\n")),
    Check("results_come_back", "import os, socket\nos.mkdir('closed'); open('closed/result', 'w').write('done')\n"
          "open('setuid', 'w').close(); os.chmod('setuid', 0o4755); os.mkfifo('pipe')\n"
          "socket.socket(socket.AF_UNIX).bind('socket')\nos.chmod('closed/result', 0); os.chmod('closed', 0)",
          _came_back),
    Check("deep_folders", "import os\nfor _ in range(1100): os.mkdir('d'); os.chdir('d')",
          lambda done, work: done.returncode == 0 and (work / "d/d").is_dir()),
]  # fmt: skip

BOUNDED = [
    Check("timeout", "import time; time.sleep(60)", _ends("timeout"), {"wall_seconds": 0.3}),
    Check("ignores_signals", _FORK + "def stay():\n for s in set(signal.Signals) - {9, 19}: signal.signal(s, 1)\n"
          " time.sleep(60)\nfork(lambda: (os.setsid(), stay())); stay()", _ends("timeout"), {"wall_seconds": 0.3}),
    Check("leaves_daemon", _FORK + "def beat():\n os.setsid()\n"
          " while True: open('beats', 'a').write('x'); time.sleep(.01)\n"
          "fork(lambda: fork(beat)); time.sleep(.2)", _quiet_afterwards),
    Check("cpu_of_one", "while True: pass", _ends("cpu_limit"), {"cpu_seconds": 1}),
    Check("cpu_of_many", _FORK + "def burn():\n while True: pass\nfork(burn); fork(burn); burn()", _ends("cpu_limit"),
          {"cpu_seconds": 0.4}),
    Check("fork_bomb", _FORK + "n = 0\ntry:\n while n < 3000: fork(lambda: time.sleep(60)); n += 1\n"
          "except OSError: pass\nprint('refused' if n < 64 else 'reached')", _refuses, {"processes": 64}),
    Check("thread_bomb", "import threading, time\nn = 0\ntry:\n while n < 3000:\n"
          "  threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\n"
          "except RuntimeError: pass\nprint('refused' if n < 64 else 'reached')", _refuses, {"processes": 64}),
    Check("memory_of_one", _TRY + "attempt(lambda: bytearray(1 << 30))", _refuses, {"memory_bytes": 256 * _MIB}),
    Check("memory_of_many", _FORK + "def hog(): x = bytearray(b'x') * (100 << 20); time.sleep(60)\n"
          "for _ in range(8): fork(hog)\ntime.sleep(60)", _ends("out_of_memory"), {"memory_bytes": 256 * _MIB}),
    Check("shared_memory", "import mmap, time\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1\n"
          "time.sleep(60)", _ends("out_of_memory"), {"memory_bytes": 256 * _MIB}),
    Check("memory_files", "import os, time\nfor i in range(64):\n f = os.memfd_create('x')\n"
          " os.write(f, bytes(4 << 20))\ntime.sleep(60)", _ends("disk_limit", "out_of_memory"),
          {"disk_bytes": 64 * _MIB}),
    Check("disk", _FILL + "fill(work, 1 << 20)\nprint('reached')", _ends("disk_limit"), {"disk_bytes": 32 * _MIB}),
    Check("many_files", _FILL + "fill(work, 0)", _ends("disk_limit"), {"disk_bytes": _MIB // 2}),
    Check("deleted_files", "import os, time\nfor i in range(64):\n f = open('x', 'wb', 0); f.write(bytes(1 << 20))\n"
          " os.dup(f.fileno()); os.unlink('x')\ntime.sleep(60)", _ends("disk_limit"), {"disk_bytes": 32 * _MIB}),
    Check("scratch", _TRY + _FILL + "attempt(lambda: fill('/tmp', 1 << 20))", _refuses, {"scratch_bytes": 16 * _MIB}),
    Check("scratch_in_shm", _TRY + _FILL + "attempt(lambda: fill('/dev/shm', 1 << 20))", _refuses,
          {"scratch_bytes": 16 * _MIB}),
    Check("many_scratch_files", _TRY + _FILL + "attempt(lambda: (fill('/tmp', 0), time.sleep(60)))",
          _refuses, {"scratch_bytes": 8 * _MIB}),
    Check("large_file", _TRY + "attempt(lambda: open('big', 'wb').write(bytes(2 << 20)))", _small_file,
          {"file_bytes": _MIB}),
    Check("output", "import os\nwhile True: os.write(1, bytes(65536)); os.write(2, bytes(65536))", _flooded,
          {"output_bytes": 64 * _MIB, "kept_bytes": 1000}),
]  # fmt: skip
