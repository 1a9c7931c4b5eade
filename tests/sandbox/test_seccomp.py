"""The filter, run by a small interpreter of the BPF it is written in: other machines' tables are held here too."""

from __future__ import annotations

import errno
import platform
import struct

import pytest

from curate.sandbox import seccomp

_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
_NEW_USER, _SIGCHLD, _TIOCSTI, _TCGETS = 0x10000000, 17, 0x5412, 0x5401


def _verdict(code: bytes, arch: int, number: int, *arguments: int) -> int:
    """0 when allowed, an errno when refused, -1 when killed."""
    data = struct.pack("<iIQ6Q", number, arch, 0, *(arguments + (0,) * 6)[:6])
    at = 0
    value: int = 0
    while True:
        kind, if_true, if_false, operand = struct.unpack_from("=HBBI", code, at * 8)
        at += 1
        if kind == 0x20:
            value = struct.unpack_from("<I", data, operand)[0]
        elif kind == 0x06:
            return {0x7FFF0000: 0, 0x80000000: -1}.get(operand, int(operand) & 0xFFFF)
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[kind]
            at += if_true if holds else if_false


@pytest.mark.parametrize(
    ("x86", "other", "arguments", "expected"),
    [
        (0, 63, (), 0),  # read
        (59, 221, (), 0),  # execve
        (101, 117, (), errno.EPERM),  # ptrace
        (435, 435, (), errno.ENOSYS),  # clone3
        (56, 220, (_SIGCHLD,), 0),  # clone
        (56, 220, (_NEW_USER | _SIGCHLD,), errno.EPERM),
        (272, 97, (_NEW_USER,), errno.EPERM),  # unshare
        (272, 97, (0x400,), 0),
        *((41, 198, (family,), 0) for family in (1, 2, 10, 16)),  # socket: unix, inet, inet6, netlink
        *((41, 198, (family,), errno.EAFNOSUPPORT) for family in (0, 17, 38, 40)),  # packet, alg, vsock
        (53, 199, (1,), 0),  # socketpair
        (53, 199, (30,), errno.EAFNOSUPPORT),
        (16, 29, (0, _TIOCSTI), errno.EPERM),  # ioctl
        (16, 29, (0, _TIOCSTI | 1 << 32), errno.EPERM),  # the kernel looks at the lower half only
        (16, 29, (0, _TCGETS), 0),
    ],
)
@pytest.mark.parametrize("machine", list(_ARCHES))
def test_verdicts(
    monkeypatch: pytest.MonkeyPatch, machine: str, x86: int, other: int, arguments: tuple[int, ...], expected: int
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    number = x86 if machine == "x86_64" else other
    assert _verdict(seccomp.program(), _ARCHES[machine], number, *arguments) == expected


def test_other_tables_of_the_same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert _verdict(seccomp.program(), 0x40000003, 26) == -1  # i386
    assert _verdict(seccomp.program(), _ARCHES["x86_64"], 0x40000000 + 521) == errno.ENOSYS  # x32


def test_unknown_machines_are_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seccomp.supported() == (platform.machine() in _ARCHES)
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    assert not seccomp.supported()
