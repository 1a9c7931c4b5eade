"""Small projects in every form in which they come: sdist, wheel, git repository, folder."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

MIT = """MIT License

Copyright (c) 2024 A. Uthor

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
"""
FILES = {
    "LICENSE": MIT,
    "PKG-INFO": "Metadata-Version: 2.4\nName: demo\nVersion: 1.0\nLicense-Expression: MIT\nRequires-Python: >=3.9\n",
    "demo/__init__.py": "def double(x):\n    '''Return twice x.'''\n    return 2 * x\n",
    "tests/test_demo.py": "from demo import double\n\ndef test_double():\n    assert double(2) == 4\n",
}
WHEN = 1_700_000_000


def tar_gz(members: Mapping[str, str | bytes], top: str = "demo-1.0/") -> bytes:
    """Return a .tar.gz with these files below `top`."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, text in members.items():
            data = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(top + name)
            info.size, info.mtime = len(data), WHEN
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=WHEN)


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Return a .tar.gz with exactly these members."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members:
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=WHEN)


def zipped(members: Mapping[str, str | bytes], top: str = "") -> bytes:
    """Return a zip file, as for a wheel."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in members.items():
            bundle.writestr(zipfile.ZipInfo(top + name), text, zipfile.ZIP_DEFLATED)
    return raw.getvalue()


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed author and date, so that commits have the same hash everywhere."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
    variables = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments], cwd=folder, env=variables, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


_WHO = {"NAME": "A. Uthor", "EMAIL": "a@example.org", "DATE": f"{WHEN} +0200"}


def repository(folder: Path, files: Mapping[str, str | bytes] | None = None) -> str:
    """Make a git repository with one commit, and return the commit."""
    write(folder, FILES if files is None else files)
    git(folder, "init", "-q")
    return commit(folder)


def commit(folder: Path, message: str = "change") -> str:
    """Commit everything, and return the commit."""
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", message, "--allow-empty")
    return git(folder, "rev-parse", "HEAD")
