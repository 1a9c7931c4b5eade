"""Unpack a source distribution, or call its build backend (PEP 517): `python hooks.py unpack|requires|wheel FOLDER`.

FOLDER holds `archive` or `source`; what comes out is `requires.json` or a wheel in `dist`. Runs by itself, inside the
sandbox, with the interpreter of the build environment.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any


def main(act: str, place: str) -> None:
    """Carry out one step."""
    base = Path(place)
    os.dup2(1, 2)  # one stream: what was said last stands last
    if act == "unpack":
        unpack(base)
        return
    system = json.loads((base / "backend.json").read_text())
    os.chdir(base / "source")
    # The folder of this file is not the backend's business.
    sys.path[:] = [*(str(base / "source" / path) for path in system["path"]), *sys.path[1:]]
    backend = load(system["backend"])
    if act == "requires":
        hook = getattr(backend, "get_requires_for_build_wheel", None)
        (base / "requires.json").write_text(json.dumps([str(one) for one in hook(None)] if hook else []))
    else:
        (base / "dist").mkdir(exist_ok=True)
        backend.build_wheel(str(base / "dist"), None, None)


def load(name: str) -> Any:
    """Return the backend: a module, or an object in it after a colon."""
    module, _, path = name.partition(":")
    backend: Any = importlib.import_module(module)
    for part in filter(None, path.split(".")):
        backend = getattr(backend, part)
    return backend


def unpack(base: Path) -> None:
    """Unpack `archive*` to `source`; a source distribution holds one folder."""
    (archive,) = base.glob("archive*")
    filters: dict[str, Any] = {"filter": "data"} if sys.version_info >= (3, 12) and archive.suffix != ".zip" else {}
    shutil.unpack_archive(str(archive), str(base / "unpacked"), **filters)
    entries = list((base / "unpacked").iterdir())
    top = entries[0] if len(entries) == 1 and entries[0].is_dir() else base / "unpacked"
    top.rename(base / "source")
    archive.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
