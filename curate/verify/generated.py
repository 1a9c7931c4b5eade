"""What the build of a project makes beside its sources: compiled modules, generated files, its metadata.

The wheel is built in the sandbox; of it only those files are put into the working copy that the sources lack. So every
function keeps its file and line, and nothing installed shadows the sources.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from curate.verify import declared, wheel

COMPILING = {"cython", "pybind11", "nanobind", "cffi", "setuptools-rust", "scikit-build", "scikit-build-core",
             "cmake", "meson-python", "maturin", "py-build-cmake", "grpcio-tools", "mypy", "numpy",
             "torch"}  # fmt: skip
"""Build requirements of projects whose builds make files."""
SETUP_WORDS = re.compile(r"\b(ext_modules|ext_package|cythonize|cffi_modules|rust_extensions|cmdclass)\b")
IGNORED = ("__pycache__", "*.pyc", ".git", ".hg", ".tox", ".venv")


def reason(folder: Path) -> str:
    """Return why a project's build can be expected to make files that its sources lack; empty when it is not."""
    data = declared.pyproject(folder)
    for text in declared.dig(data, "build-system", "requires") or ():
        if (name := _name(text)) in COMPILING:
            return f"its build requires {name}"
    for table in _tables(data):
        return f"pyproject.toml has {table}"
    try:
        setup = (folder / "setup.py").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = SETUP_WORDS.search(setup.replace("cmdclass=versioneer.get_cmdclass()", ""))
    return f"setup.py has {found[1]}" if found else ""


def fill(snapshot: Path, base: Path) -> None:
    """Copy a snapshot to where it is built."""
    shutil.copytree(snapshot, base / "source", symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))


def add(made: Path, folder: Path, roots: Sequence[Path], apart: Path, metadata: Path) -> None:
    """Put what a wheel holds, and the project's folder lacks, beside the sources; its metadata into `metadata`.

    What belongs to no package below `roots` goes to the folder `apart`. Links of the project are not followed.
    """
    real = folder.resolve()
    for path, content in wheel.contents(made):
        parts = path.parts
        if parts[0].endswith(".dist-info"):
            target = metadata / path
        elif parts[0].endswith(".data"):
            continue
        else:
            target = _place(path, roots, apart)
            if target.is_symlink() or target.exists():
                continue
            if apart not in target.parents and not target.parent.resolve().is_relative_to(real):
                continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _place(path: PurePosixPath, roots: Sequence[Path], apart: Path) -> Path:
    top = path.parts[0]
    homes = [root for root in roots if len(path.parts) > 1 and (root / top).is_dir()]
    return (homes[0] if homes else apart) / path


def _tables(data: dict[str, Any]) -> list[str]:
    setuptools = declared.dig(data, "tool", "setuptools")
    hooks = declared.dig(data, "tool", "hatch", "build", "hooks")
    pdm = declared.dig(data, "tool", "pdm", "build")
    found = [f"tool.setuptools.{key}" for key in ("ext-modules", "cffi-modules", "cmdclass") if key in setuptools]
    found += [f"tool.hatch.build.hooks.{key}" for key in hooks if key not in {"vcs", "version"}]
    found += [f"tool.pdm.build.{key}" for key in ("custom-hook", "run-setuptools") if key in pdm]
    return found + (["tool.poetry.build"] if "build" in declared.dig(data, "tool", "poetry") else [])


def _name(text: object) -> str:
    try:
        return canonicalize_name(Requirement(str(text)).name)
    except InvalidRequirement:
        return ""
