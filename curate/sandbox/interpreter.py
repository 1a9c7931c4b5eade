"""Which paths a Python interpreter needs in order to run where nothing else is visible."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SYSTEM = tuple(Path(p) for p in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"))
"""What every sandbox shows of the system, read-only."""


def python_paths(python: Path) -> tuple[Path, ...]:
    """The read-only paths needed to run `python`: its environment, the installation under it, the links between.

    Reads links and `pyvenv.cfg` only; nothing is run. What `.pth` files point to (editable installs) is not included.
    Raises FileNotFoundError when there is no such interpreter.
    """
    found = list(_needed(Path(os.path.abspath(python)), set()))  # noqa: PTH100  (Path.resolve would follow the links)
    hidden = sorted({p for p in found if not _below(p, SYSTEM)})
    return tuple(p for p in hidden if not _below(p, [q for q in hidden if q != p]))


def hops(path: Path) -> Iterator[Path]:
    """The path, then where it links to, step by step, down to what is not a link.

    Raises OSError for a loop or a link to nothing.
    """
    path.stat()
    yield path
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent.resolve() / path.readlink()))
        yield path


def _needed(python: Path, seen: set[Path]) -> Iterator[Path]:
    for hop in hops(python):
        if hop in seen:
            return
        seen.add(hop)
        prefix = hop.parent.parent
        config = prefix / "pyvenv.cfg"
        if config.is_file():
            yield prefix
            home = _home(config)
            if home is not None:
                bases = (home / name for name in (hop.name, "python3", "python"))
                for base in [base for base in bases if base.exists()][:1]:
                    yield from _needed(base, seen)
        elif any(prefix.glob("lib/python3*/os.py")):
            yield prefix
            yield prefix.resolve()
        else:
            yield hop  # a lone link, say in ~/.local/bin: its prefix holds what is nobody's business


def _home(config: Path) -> Path | None:
    for line in config.read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return Path(value.strip())
    return None


def _below(path: Path, tops: list[Path] | tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(top) for top in tops)
