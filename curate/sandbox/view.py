"""What a command sees of the file system: one plan, carried out by every sandbox in its own way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from curate.sandbox.command import Command, SandboxError
from curate.sandbox.interpreter import SYSTEM, hops

SCRATCH = Path("/tmp")  # noqa: S108  (the place inside; each run has its own)
BASE_ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(SCRATCH), "TMPDIR": str(SCRATCH)}
HOSTNAME = "sandbox"

_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "mime.types", "fonts"),
    *("services", "protocols", "ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs"),
)
_HARDWARE = (Path("/sys/devices/system/cpu"), Path("/sys/devices/system/node"))  # OpenMP and torch count cores there
_OURS = tuple(Path(p) for p in ("/proc", "/dev", "/sys", "/etc"))


@dataclass(frozen=True)
class Bind:
    """Shows a file or folder of the host."""

    target: Path
    source: Path
    writable: bool = False


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: Path
    points_to: str


@dataclass(frozen=True)
class Text:
    """A small read-only file that the host does not have."""

    target: Path
    text: str


Entry = Bind | Link | Text


def plan(command: Command, uid: int, gid: int) -> list[Entry]:
    """What to put into the new root besides `/proc`, `/dev` and the scratch folder, in this order.

    Raises SandboxError for a path that is not there or that must not be shown.
    """
    shown = [*_system(), *_texts(uid, gid), Link(Path("/var/tmp"), str(SCRATCH))]  # noqa: S108
    asked: list[Entry] = []
    for path in command.read_only:
        asked += _show(_checked(path))
    asked += [Bind(_checked(path), path.resolve(), writable=True) for path in command.writable]
    return _without_repeats([*shown, *sorted(asked, key=lambda entry: len(entry.target.parts))])


def folders(entries: list[Entry]) -> list[Path]:
    """The folders to make in the new root so that each entry has its place, outermost first."""
    shown = {entry.target for entry in entries if isinstance(entry, Bind)} | {Path("/"), SCRATCH}
    made: set[Path] = set()
    for entry in entries:
        parents = entry.target.parents
        if not any(parent in shown and parent not in (Path("/"), SCRATCH) for parent in parents):
            made.update(parent for parent in parents if parent not in shown)
    return sorted(made)


def environment(command: Command) -> dict[str, str]:
    """Every variable the command sees. Raises SandboxError for a name or value that no environment can hold."""
    for name, value in command.env.items():
        if not name or "=" in name or "\0" in name + value:
            raise SandboxError(f"not a variable that can be set: {name!r}")
    return {**BASE_ENV, **command.env}


def _system() -> Iterator[Entry]:
    for path in SYSTEM:
        if path.is_symlink():
            yield Link(path, str(path.readlink()))
        elif path.is_dir():
            yield Bind(path, path)
    etc = Path("/etc")
    for path in [*(etc / name for name in _ETC), *sorted(etc.glob("python3*"))]:
        if path.exists():
            yield Bind(path, path.resolve())
    yield from (Bind(path, path) for path in _HARDWARE if path.is_dir())


def _texts(uid: int, gid: int) -> Iterator[Text]:
    etc = Path("/etc")
    yield Text(etc / "passwd", f"root:x:0:0:root:/:/bin/false\nsandbox:x:{uid}:{gid}::{SCRATCH}:/bin/sh\n")
    yield Text(etc / "group", f"root:x:0:\nsandbox:x:{gid}:\n")
    yield Text(etc / "hosts", f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n")
    yield Text(etc / "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n")


def _show(path: Path) -> Iterator[Entry]:
    """A path that is a link is shown as one, together with all it leads to: interpreters find their home by it."""
    *links, last = hops(path)
    yield from (Link(link, str(link.readlink())) for link in links)
    yield Bind(_checked(last), last.resolve())


def _checked(path: Path) -> Path:
    if not path.is_absolute() or ".." in path.parts:
        raise SandboxError(f"not an absolute path: {path}")
    if path == Path("/") or path == SCRATCH or any(path.is_relative_to(own) for own in _OURS):
        raise SandboxError(f"{path} of this machine is never shown in a sandbox")
    if not path.exists():
        raise SandboxError(f"no such path to show in the sandbox: {path}")
    return path


def _without_repeats(entries: Iterable[Entry]) -> list[Entry]:
    """Without what an earlier entry already shows at the same place, in the same way."""
    kept: list[Entry] = []
    places: dict[Path, Bind] = {}
    for entry in entries:
        above = next((places[p] for p in (entry.target, *entry.target.parents) if p in places), None)
        if above is not None and _same(above, entry):
            continue
        if isinstance(entry, Bind):
            places[entry.target] = entry
        if entry not in kept:
            kept.append(entry)
    return kept


def _same(above: Bind, entry: Entry) -> bool:
    if isinstance(entry, Bind) and entry.writable != above.writable:
        return False
    inside = above.source / entry.target.relative_to(above.target)
    source = entry.source if isinstance(entry, Bind) else entry.target
    return os.path.lexists(inside) and inside.resolve() == source.resolve()
