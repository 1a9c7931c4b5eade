# Without pathlib: importing it takes milliseconds, and this runs for every command.
# ruff: noqa: PTH102, PTH103, PTH110, PTH112, PTH115, PTH123, PTH211
"""The first process of a sandbox made by `namespaces`: builds its root, starts the command, reaps, reports.

Runs on its own (`python -I -S stage.py TASK_FD STATUS_FD`) in fresh namespaces, with all capabilities over them,
so it imports nothing of curate and only what starts fast. It stays the first process: when it dies the kernel ends
all others.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import sys
import warnings  # noqa: F401  (execvpe wants it, and by then this interpreter's library is out of sight)
from collections.abc import Mapping
from typing import Any

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC = 1, 2, 4, 8, 4096, 16384
_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_SETATTR = 442
_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _CAPBSET_DROP, _NO_NEW_PRIVS, _AMBIENT = 1, 4, 22, 24, 38, 47
_AMBIENT_CLEAR_ALL = 4
_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_LO_UP = (b"lo", 0x8914, 0x1)  # interface, SIOCSIFFLAGS, IFF_UP
_INET_DATAGRAM = (2, 2)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_PROC_COVERED = ("sys", "sysrq-trigger", "irq", "bus")  # as root's these would reach the machine's settings

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Read the task, carry it out, give its exit code."""
    with open(int(sys.argv[1]), "rb") as file:
        task = json.load(file)
    status = int(sys.argv[2])
    os.set_inheritable(status, False)
    # The host's /proc is still mounted: in it this is the number that the host knows us by.
    _tell(status, {"child-pid": int(os.readlink("/proc/self"))})
    try:
        _prctl(_PDEATHSIG, signal.SIGKILL)
        _prctl(_SET_DUMPABLE, 0)  # or the command, if of the same user, could take us over
        _call(_libc.sethostname, task["hostname"].encode(), len(task["hostname"]))
        _loopback_up()
        _new_root(task)
    except OSError as error:
        print(f"cannot build the sandbox: {error}", file=sys.stderr)
        return 1
    failed, fail = os.pipe()  # closed by exec, or by the end of the child
    child = os.fork()
    if child == 0:
        _become(task, fail)
    for number in (0, 1, 2, fail):
        os.close(number)
    if os.read(failed, 1):  # it said why on stderr
        return 1
    _tell(status, {"exit-code": _reap(child)})
    return 0


def _new_root(task: Mapping[str, Any]) -> None:
    """A root of its own in memory; everything of the host's that the task does not name is gone afterwards."""
    os.umask(0o022)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "mode=755")  # noqa: S108  (a folder that is there)
    os.chdir("/tmp")  # noqa: S108
    os.mkdir("old")
    os.mkdir("new")
    _call(_libc.syscall, ctypes.c_long(task["pivot_root"]), b".", b"old")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", _NOSUID | _NODEV, "mode=755,size=1m")
    size = task["scratch_bytes"]
    options = f"mode=1777,size={size},nr_inodes={max(64, size // 4096)}"
    _devices(options)
    _proc()
    _folder("/new" + task["scratch"])
    _mount("tmpfs", "/new" + task["scratch"], "tmpfs", _NOSUID | _NODEV, options)
    for folder in task["folders"]:
        _folder("/new" + folder)
    for entry in task["entries"]:
        _place(entry)
    os.chdir("/new")
    _call(_libc.syscall, ctypes.c_long(task["pivot_root"]), b".", b".")
    _call(_libc.umount2, b".", _DETACH)
    os.chdir("/")
    _attributes("/", _RDONLY | _NOSUID | _NODEV, 0)


def _place(entry: Mapping[str, Any]) -> None:
    target = "/new" + entry["target"]
    if "points_to" in entry:
        os.symlink(entry["points_to"], target)
    elif "text" in entry:
        with open(target, "w", encoding="utf-8") as file:
            file.write(entry["text"])
    else:
        source = "/old" + entry["source"]
        if os.path.isdir(source):
            _folder(target)
        elif not os.path.lexists(target):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        _mount(source, target, None, _BIND | _REC)
        _attributes(target, _NOSUID | _NODEV | (0 if entry["writable"] else _RDONLY), _AT_RECURSIVE)


def _devices(scratch: str) -> None:
    _folder("/new/dev/pts")
    _folder("/new/dev/shm")
    _mount("tmpfs", "/new/dev/shm", "tmpfs", _NOSUID | _NODEV, scratch)
    _mount("devpts", "/new/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    for name in _DEVICES:
        os.close(os.open(f"/new/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
        _mount(f"/old/dev/{name}", f"/new/dev/{name}", None, _BIND)
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links |= {name: f"/proc/self/fd/{i}" for i, name in enumerate(("stdin", "stdout", "stderr"))}
    for name, points_to in links.items():
        os.symlink(points_to, f"/new/dev/{name}")


def _proc() -> None:
    _folder("/new/proc")
    _mount("proc", "/new/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for name in _PROC_COVERED:
        place = f"/new/proc/{name}"
        if os.path.exists(place):
            _mount(place, place, None, _BIND | _REC)
            _attributes(place, _RDONLY | _NOSUID | _NODEV | _NOEXEC, _AT_RECURSIVE)


def _become(task: Mapping[str, Any], fail: int) -> None:
    """In the child: limits, no privileges, the filter, then the command. Never returns."""
    try:
        os.setsid()
        os.chdir(task["cwd"])
        for kind, limits in task["rlimits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{kind.upper()}"), tuple(limits))
        _drop_privileges(task["user"])
        _filter(base64.b64decode(task["seccomp"]))
    except Exception as error:
        print(f"cannot start the command: {error}", file=sys.stderr, flush=True)
        os.write(fail, b"!")
        os._exit(1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # Python changed these
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(task["argv"][0], task["argv"], task["env"])  # noqa: S606
    except OSError as error:
        print(f"{task['argv'][0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _drop_privileges(user: list[int] | None) -> None:
    _prctl(_AMBIENT, _AMBIENT_CLEAR_ALL)
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _prctl(_CAPBSET_DROP, capability)
    if user is not None:
        os.setgroups([])
        os.setresgid(user[1], user[1], user[1])
        os.setresuid(user[0], user[0], user[0])
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call(_libc.capset, header, (ctypes.c_uint32 * 6)())
    _prctl(_NO_NEW_PRIVS, 1)
    _prctl(_SET_DUMPABLE, 1)


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _filter(code: bytes) -> None:
    program = _Program(len(code) // 8, code)
    _prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(program))


def _loopback_up() -> None:
    """The sandbox's own 127.0.0.1: tests start servers there."""
    interface, set_flags, up = _LO_UP
    handle = _call(_libc.socket, *_INET_DATAGRAM, 0)
    request = ctypes.create_string_buffer(interface.ljust(16, b"\0") + up.to_bytes(2, sys.byteorder), 40)
    _call(_libc.ioctl, handle, ctypes.c_ulong(set_flags), request)
    os.close(handle)


def _reap(child: int) -> int:
    """Wait for everyone who comes to us, until it is the command; 128 + n for signal n."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    arguments = (None if text is None else text.encode() for text in (source, target, kind, options))
    first, second, third, data = arguments
    _call(_libc.mount, first, second, third, ctypes.c_ulong(flags), data, about=target)


def _attributes(target: str, attributes: int, flags: int) -> None:
    """mount_setattr(2): unlike a remount it reaches the mounts below, and keeps what is locked."""
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    number, size = ctypes.c_long(_MOUNT_SETATTR), ctypes.c_size_t(ctypes.sizeof(wanted))
    _call(_libc.syscall, number, _AT_FDCWD, target.encode(), flags, wanted, size, about=target)


def _prctl(option: int, *arguments: int) -> None:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    _call(_libc.prctl, option, *(ctypes.c_ulong(argument) for argument in padded))


def _call(function: Any, *arguments: Any, about: str = "") -> int:
    """A C function, with its failure as OSError."""
    result: int = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__} {about}: {os.strerror(number)}")
    return result


def _folder(path: str) -> None:
    os.makedirs(path, exist_ok=True)


def _tell(status: int, news: Mapping[str, int]) -> None:
    os.write(status, json.dumps(news).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
