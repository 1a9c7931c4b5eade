"""A seccomp filter against what namespaces leave open.

Barred: sockets that no network namespace holds back (AF_VSOCK reaches the host of a virtual machine), new user
namespaces, tracing, kernel keyrings and System V memory, which outlive or escape the limits, and a few interfaces
that foreign code does not need and that had many holes. The program is classic BPF over `struct seccomp_data`, see
seccomp(2); the numbers are those of the kernel's syscall tables.
"""

from __future__ import annotations

import errno
import platform
import struct

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
_X32_BIT = 0x40000000
_CLONE_NEWUSER = 0x10000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: Linux's numbers, wherever this is imported

# name: (number on x86_64, number in the table shared by newer machines, errno)
_REFUSED = {
    "add_key": (248, 217, errno.EPERM),
    "bpf": (321, 280, errno.EPERM),
    "clone3": (435, 435, errno.ENOSYS),  # its flags lie in memory, out of a filter's reach; libc falls back to clone
    "io_uring_enter": (426, 426, errno.ENOSYS),
    "io_uring_register": (427, 427, errno.ENOSYS),
    "io_uring_setup": (425, 425, errno.ENOSYS),
    "keyctl": (250, 219, errno.EPERM),
    "msgget": (68, 186, errno.ENOSYS),
    "open_by_handle_at": (304, 265, errno.EPERM),
    "perf_event_open": (298, 241, errno.EPERM),
    "process_vm_readv": (310, 270, errno.EPERM),
    "process_vm_writev": (311, 271, errno.EPERM),
    "ptrace": (101, 117, errno.EPERM),
    "request_key": (249, 218, errno.EPERM),
    "shmget": (29, 194, errno.ENOSYS),
    "userfaultfd": (323, 282, errno.EPERM),
}
# name: (x86_64, others, argument, flags that are refused)
_REFUSED_FLAGS = {"clone": (56, 220, 0, _CLONE_NEWUSER), "unshare": (272, 97, 0, _CLONE_NEWUSER)}
_IOCTL = (16, 29)
_SOCKETS = ((41, 198), (53, 199))  # socket, socketpair

_PIVOT_ROOT = (155, 41)

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data


def supported() -> bool:
    """Whether the filter knows this machine's system calls."""
    return platform.machine() in _AUDIT_ARCH


def pivot_root() -> int:
    """The number of the one system call that the C library does not always have."""
    return _PIVOT_ROOT[0 if platform.machine() == "x86_64" else 1]


def program() -> bytes:
    """The filter for this machine, as an array of `struct sock_filter`."""
    machine = platform.machine()
    column = 0 if machine == "x86_64" else 1
    code = [
        _op(_LOAD, _ARCH),
        _op(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _op(_RETURN, _KILL_PROCESS),
        _op(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_op(_JUMP_GREATER_EQUAL, _X32_BIT, 0, 1), _refuse(errno.ENOSYS)]
    for entry in _REFUSED.values():
        code += [_op(_JUMP_EQUAL, entry[column], 0, 1), _refuse(entry[2])]
    for flagged in _REFUSED_FLAGS.values():
        code += _case(flagged[column], flagged[2], [_op(_JUMP_BITS, flagged[3], 0, 1), _refuse(errno.EPERM)])
    for number in (pair[column] for pair in _SOCKETS):
        known = [_op(_JUMP_EQUAL, family, len(_FAMILIES) - i, 0) for i, family in enumerate(_FAMILIES)]
        code += _case(number, 0, [*known, _refuse(errno.EAFNOSUPPORT)])
    keys = [_op(_JUMP_EQUAL, _TIOCSTI, 1, 0), _op(_JUMP_EQUAL, _TIOCLINUX, 0, 1), _refuse(errno.EPERM)]
    code += _case(_IOCTL[column], 1, keys)
    return b"".join([*code, _op(_RETURN, _ALLOW)])


def _case(number: int, argument: int, tests: list[bytes]) -> list[bytes]:
    """When the call is `number`: run tests on one argument, and allow it if none returned."""
    body = [_op(_LOAD, _ARGUMENTS + 8 * argument), *tests, _op(_RETURN, _ALLOW)]
    return [_op(_JUMP_EQUAL, number, 0, len(body)), *body]


def _refuse(code: int) -> bytes:
    return _op(_RETURN, _ERRNO | code)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
