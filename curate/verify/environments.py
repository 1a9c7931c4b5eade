"""Virtual environments in the shared cache, one for each interpreter and lock."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from curate.errors import ItemError
from curate.verify import lockfile, uv
from curate.workspace import cache

COMPLETE = ".curate-complete"


def environment_id(python: str, lock: str) -> str:
    """Return the id of the environment for an interpreter version and a lock, on this kind of machine."""
    what = "\n".join([python, f"{platform.system()}-{platform.machine()}", lockfile.identity(lock)])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


Wheels = Callable[[], Mapping[str, tuple[Path, str]]]
"""Builds what a lock names by its source, or finds it built: name -> (wheel, sha256)."""


def ensure(identity: str, python: str, lock: str, wheels: Wheels = dict) -> Path:
    """Return the interpreter of an environment, which is made when it is not there yet; raises ItemError."""
    folder = cache() / "environments" / identity
    interpreter = folder / "bin" / "python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{identity}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        # A base interpreter may have gone since: the link then leads nowhere.
        if (folder / COMPLETE).exists() and interpreter.exists():
            return interpreter
        shutil.rmtree(folder, ignore_errors=True)
        base = interpreter_of(python)
        try:
            uv.install(lockfile.installable(lock, wheels()), base, folder)
        except uv.Refusal as refusal:
            raise refusal.error() from None
        _compile(base, folder)
        (folder / COMPLETE).write_text(lock)
    return interpreter


def interpreter_of(python: str) -> Path:
    """Return an interpreter of a version, or of another patch release of it; raises ItemError."""
    base = uv.find_python(f"=={python}") or uv.find_python(f"=={python.rpartition('.')[0]}.*")
    if base is None:
        raise ItemError("interpreter", f"no Python {python} on this machine")
    return base[0]


def _compile(base: Path, folder: Path) -> None:
    """Compile the packages once: in the sandbox the environment is read-only, and every process would do it again.

    Compiling runs nothing, and the interpreter is not the environment's own, whose `.pth` files would run.
    """
    places = [str(place) for place in folder.glob("lib/python*/site-packages")]
    argv = [str(base), "-I", "-S", "-m", "compileall", "-q", "-j", "2", "-x", "/tests/", *places]
    with contextlib.suppress(subprocess.TimeoutExpired):  # it only saves time
        subprocess.run(argv, check=False, capture_output=True, timeout=600)
