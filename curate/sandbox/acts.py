"""What a command in a sandbox must not get away with: a program that tries each of it, run inside by `self_check`.

Runs on its own (`python - ROOM < acts.py`), where nothing but the standard library is in sight. An act that is
refused raises OSError; one that comes back has reached what it should not. ROOM is JSON: names of the host's things.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import pathlib
import resource
import socket
import sys
from collections.abc import Callable

Room = dict[str, str]

_libc = ctypes.CDLL(None, use_errno=True)
_PTRACE_ATTACH, _CLONE_NEWUSER = 16, 0x10000000
_TIOCSTI, _KEYCTL_GET, _MS_BIND = 0x5412, 0, 4096
_SYSCALLS = {"x86_64": {"keyctl": 250, "shmget": 29}}
_GENERIC = {"keyctl": 219, "shmget": 194}


def read_home(room: Room) -> None:
    """A file in the caller's HOME."""
    pathlib.Path(room["home_secret"]).read_text()


def read_outside(room: Room) -> None:
    """A file beside the folders that are shown."""
    pathlib.Path(room["outside"], "secret").read_text()


def list_outside(room: Room) -> None:
    """The folder that a shown folder lies in: what else is there?"""
    if len(list(pathlib.Path(room["outside"]).parent.iterdir())) <= 2:
        raise PermissionError("nothing but what is shown")


def read_through_link(room: Room) -> None:
    """By a link put into the writable folder."""
    link = pathlib.Path(room["work"], "link")
    link.symlink_to(pathlib.Path(room["outside"], "secret"))
    link.read_text()


def write_through_link(room: Room) -> None:
    """To a new file, by a link to the folder outside."""
    link = pathlib.Path(room["work"], "folder")
    link.symlink_to(room["outside"])
    (link / "planted").write_text("x")


def read_through_dots(room: Room) -> None:
    """Up and over from the writable folder."""
    pathlib.Path(room["work"], "..", "outside", "secret").read_text()


def read_through_proc(room: Room) -> None:
    """By every root and working directory that /proc has."""
    for pid in _pids():
        for place in ("root", "cwd"):
            path = f"/proc/{pid}/{place}{room['outside']}/secret"
            if os.access(path, os.R_OK):
                return
    raise PermissionError("none leads out")


def read_host_environment(room: Room) -> None:
    """The variables of a process of the host."""
    if b"curate-check" not in pathlib.Path(f"/proc/{room['pid']}/environ").read_bytes():
        raise PermissionError("another process")


def see_host_processes(room: Room) -> None:
    """More processes than the sandbox's own."""
    if len(_pids()) <= 5:
        raise PermissionError("only our own")


def signal_host_process(room: Room) -> None:
    """Is a process of the host there to be killed?"""
    os.kill(int(room["pid"]), 0)


def connect_tcp(room: Room) -> None:
    """To a server that listens on the host's loopback."""
    socket.create_connection(("127.0.0.1", int(room["tcp"])), 2).close()


def send_udp(room: Room) -> None:
    """A datagram to the host's loopback, which must answer it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.5)
        client.connect(("127.0.0.1", int(room["udp"])))
        client.send(b"x")
        client.recv(1)


def connect_outward(room: Room) -> None:
    """To any address of the world: is there even a route? (192.0.2.0/24 is reserved for examples.)"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("192.0.2.1", 9))


def see_interfaces(room: Room) -> None:
    """A network interface besides the sandbox's own loopback."""
    if [name for _, name in socket.if_nameindex()] == ["lo"]:
        raise PermissionError("only lo")


def resolve_name(room: Room) -> None:
    """The address of some host, by way of a name server."""
    if not pathlib.Path("/etc/resolv.conf").exists():
        raise PermissionError("no name server")


def connect_abstract(room: Room) -> None:
    """To an abstract Unix socket of the host."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + room["abstract"])


def connect_unix(room: Room) -> None:
    """To a Unix socket in a folder that is not shown."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(room["outside"] + "/socket")


def open_vsock(room: Room) -> None:
    """A socket to the host of a virtual machine; network namespaces do not hold it."""
    socket.socket(40, socket.SOCK_STREAM).close()


def write_read_only(room: Room) -> None:
    """To a folder shown read-only."""
    pathlib.Path(room["shown"], "planted").write_text("x")


def change_read_only(room: Room) -> None:
    """The mode of a file shown read-only."""
    pathlib.Path(room["shown"], "file").chmod(0o777)


def write_system(room: Room) -> None:
    """To the system's folders, the root and the devices."""
    for folder in ("/", "/usr", "/etc", "/dev", "/var", "/sys"):
        path = pathlib.Path(folder, ".curate-check")
        try:
            path.write_text("x")
        except OSError:
            continue
        path.unlink()
        return
    raise PermissionError("none can be written")


def write_kernel_settings(room: Room) -> None:
    """Open what would change the machine, were it written to."""
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return
    raise PermissionError("none can be opened")


def mount(room: Room) -> None:
    """Anything; tried with a source that is not there, so that it does no harm where it may."""
    _reached_unless(_libc.mount(b"/nowhere", b"/", None, _MS_BIND, None), errno.EPERM)


def new_user_namespace(room: Room) -> None:
    """All capabilities anew, over a part of the kernel that had many holes; in a child, which does not come back."""
    child = os.fork()
    if child == 0:
        os._exit(1 if _libc.unshare(_CLONE_NEWUSER) else 0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise PermissionError("no new user namespace")


def trace(room: Room) -> None:
    """The sandbox's own first process."""
    number = ctypes.c_long(_PTRACE_ATTACH)
    _reached_unless(_libc.ptrace(number, 1, None, None), errno.EPERM)


def use_keyring(room: Room) -> None:
    """Keys that would still be there for the next command."""
    _reached_unless(_syscall("keyctl", _KEYCTL_GET, -4, 1), errno.EPERM, errno.ENOSYS)


def use_system_v_memory(room: Room) -> None:
    """Memory that belongs to no process, so that no limit counts it."""
    _reached_unless(_syscall("shmget", 0, 4096, 0o1600), errno.EPERM, errno.ENOSYS)


def type_into_terminal(room: Room) -> None:
    """Push a key into whatever terminal there is."""
    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), _TIOCSTI, b"x")


def become_root(room: Room) -> None:
    """By asking, by capabilities held, or by a setuid program."""
    lines = pathlib.Path("/proc/self/status").read_text("utf-8").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    if int(status["CapEff"], 16) or int(status["CapPrm"], 16) or status["NoNewPrivs"] != "1":
        return
    os.setuid(0)


def make_device(room: Room) -> None:
    """A device of the host's disk or memory."""
    os.mknod(pathlib.Path(room["work"], "device"), 0o020600, os.makedev(1, 3))


def raise_limits(room: Room) -> None:
    """More processes than were allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if hard == resource.RLIM_INFINITY:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard + 1, hard + 1))
    except ValueError as error:
        raise PermissionError(str(error)) from None


def _pids() -> list[str]:
    return [path.name for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]


def _syscall(name: str, *arguments: int) -> int:
    number = _SYSCALLS.get(os.uname().machine, _GENERIC)[name]
    return int(_libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments)))


def _reached_unless(result: int, *refusals: int) -> None:
    if result < 0 and ctypes.get_errno() in refusals:
        raise OSError(ctypes.get_errno(), "refused")


ACTS: dict[str, Callable[[Room], None]] = {
    act.__name__: act
    for act in (
        *(read_home, read_outside, list_outside, read_through_link, write_through_link, read_through_dots),
        *(read_through_proc, read_host_environment, see_host_processes, signal_host_process, connect_tcp, send_udp),
        *(connect_outward, see_interfaces, resolve_name, connect_abstract, connect_unix, open_vsock),
        *(write_read_only, change_read_only, write_system, write_kernel_settings, mount, new_user_namespace, trace),
        *(use_keyring, use_system_v_memory, type_into_terminal, become_root, make_device, raise_limits),
    )
}


def main() -> None:
    """Try everything; print what came of each as JSON."""
    room: Room = json.loads(sys.argv[1])
    outcomes: dict[str, str] = {}
    for name, act in ACTS.items():
        try:
            act(room)
            outcomes[name] = "reached"
        except OSError as error:
            outcomes[name] = f"refused: {error}"
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
