"""The text of a lock: a requirements file, and in marked comments how what has no wheel is built.

    six==1.17.0 \\
        --hash=sha256:...
    torchtestcase==2018.2 \\
        --hash=sha256:...        (of the source distribution)
    #: build torchtestcase==2018.2 with
    #: setuptools==67.8.0 \\
    #:     --hash=sha256:...

A built package is named by the hash of its source and by the lock of its build environment: the bytes of the wheel
differ from build to build, and would make equal environments look different.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

MARK = "#:"
PROJECT = "."
"""Name under which a lock holds how the project itself is built."""

_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)(?:.*\\\n)*.*(?:\n|$)", re.MULTILINE)
_BUILD = re.compile(rf"^{MARK} build (\S+?)(?:==(\S+))? with\n((?:{MARK} (?!build ).*(?:\n|$))*)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """Something that is built, and all it takes."""

    name: str
    """Of the package; `PROJECT` for the project itself."""
    version: str
    """Empty for the project."""
    sha256: str
    """Of the source distribution; empty for the project, whose snapshot says what it is."""
    requires: str
    """Lock of the build environment."""


def pins(text: str) -> dict[str, str]:
    """Return name -> version of all that a lock installs, names as uv writes them."""
    return {canonicalize_name(found[1]): found[2] for found in _PIN.finditer(text)}


def write(text: str, sources: Iterable[Source]) -> str:
    """Return uv's lock with every built package named by its source."""
    by_name = {source.name: source for source in sources}

    def named(found: re.Match[str]) -> str:
        source = by_name.get(canonicalize_name(found[1]))
        return f"{source.name}=={source.version} \\\n    --hash=sha256:{source.sha256}\n" if source else found[0]

    blocks = [_PIN.sub(named, text).rstrip("\n")]
    for _, source in sorted(by_name.items()):
        what = f"{source.name}=={source.version}" if source.version else source.name
        lines = [f"{MARK} build {what} with", *(f"{MARK} {line}" for line in source.requires.splitlines() if line)]
        blocks.append("\n".join(lines))
    return "\n".join(blocks) + "\n"


def sources(text: str) -> list[Source]:
    """Return what a lock says is built."""
    found = []
    for name, version, lines in _BUILD.findall(text):
        requires = "".join(line.removeprefix(f"{MARK} ") for line in lines.splitlines(keepends=True))
        sha256 = re.search(rf"^{re.escape(name)}=={re.escape(version)}.*\\\n\s+--hash=sha256:(\w+)", text, re.MULTILINE)
        found.append(Source(name, version, sha256[1] if sha256 else "", requires))
    return found


def installable(text: str, wheels: Mapping[str, tuple[Path, str]]) -> str:
    """Return the lock as uv can install it: built packages by their wheels, as name -> (file, sha256)."""

    def by_file(found: re.Match[str]) -> str:
        wheel = wheels.get(canonicalize_name(found[1]))
        return f"{found[1]} @ {wheel[0].as_uri()} \\\n    --hash=sha256:{wheel[1]}\n" if wheel else found[0]

    return _PIN.sub(by_file, "".join(line for line in text.splitlines(keepends=True) if not line.startswith(MARK)))


def identity(text: str) -> str:
    """Return the lines of a lock that tell it from others: all but ordinary comments."""
    lines = (line for line in text.splitlines() if line.strip())
    return "\n".join(line for line in lines if line.startswith(MARK) or not line.lstrip().startswith("#"))
