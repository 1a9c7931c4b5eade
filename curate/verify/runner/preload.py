"""What a process may import before it forks: third-party packages, never the project."""

from __future__ import annotations

import importlib
import os
import sys
from importlib import metadata
from pathlib import Path

OURS = {"pytest", "_pytest", "py", "pluggy", "iniconfig", "coverage", "hypothesis"}
"""These see the import of the tests, or keep state that belongs to one session."""


def put_on_path(roots: list[str]) -> None:
    """Put the project before the installed packages, one of which may be an older copy of it, and after the library."""
    installed = (number for number, entry in enumerate(sys.path) if entry.endswith("site-packages"))
    position = next(installed, len(sys.path))
    sys.path[position:position] = [root for root in roots if root not in sys.path]


def third_party() -> list[str]:
    """Return the modules loaded from the environment, in the order in which they came."""
    skipped = OURS | plugins()
    prefix = sys.prefix + os.sep
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(prefix) and name.partition(".")[0] not in skipped:
            found.append(name)
    return found


def plugins() -> set[str]:
    """Return every module of the distributions that extend pytest: it rewrites them as it loads them."""
    found = set()
    for package in metadata.distributions(path=[entry for entry in sys.path if entry.endswith("site-packages")]):
        if any(entry.group == "pytest11" for entry in package.entry_points):
            found |= {file.parts[0].partition(".")[0] for file in package.files or ()}
    return found


def load(modules: list[str], project: str) -> bool:
    """Import modules; returns whether the process is still one that children can be forked from."""
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException:  # noqa: S112  (whatever a package raises: the child will import it itself)
            continue
    inside = project + os.sep
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    clean = not any(isinstance(file, str) and file.startswith(inside) for file in files)
    return clean and len(list(Path("/proc/self/task").iterdir())) == 1
