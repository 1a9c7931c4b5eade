"""What the tests import, for projects that do not say what their tests need."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = {
    "attr": "attrs", "Bio": "biopython", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil", "docx": "python-docx", "faiss": "faiss-cpu", "fitz": "pymupdf",
    "git": "gitpython", "google": "protobuf", "hydra": "hydra-core", "igraph": "python-igraph", "jwt": "pyjwt",
    "mpl_toolkits": "matplotlib", "OpenSSL": "pyopenssl", "PIL": "pillow", "pkg_resources": "setuptools",
    "pylab": "matplotlib", "pytorch_lightning": "pytorch-lightning", "serial": "pyserial",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "skopt": "scikit-optimize", "umap": "umap-learn",
    "yaml": "pyyaml", "zmq": "pyzmq",
}  # fmt: skip
"""Import name -> distribution, where they differ."""

_SKIPPED = {".git", "__pycache__", "node_modules", "build", "dist"}


def packages(folder: Path) -> dict[str, str]:
    """Return distribution -> how it was found, for what test files import at module level without a guard.

    `pytest.importorskip` at module level counts: a suite that skips itself proves nothing. Imports inside a function,
    `try` or `if` do not, as the tests can do without.
    """
    files = [path for path in sorted(folder.rglob("*.py")) if not _SKIPPED & set(path.relative_to(folder).parts)]
    own = _own_modules(folder, files)
    found: dict[str, str] = {}
    for path in files:
        if is_test(path.relative_to(folder)):
            for module in _imported(path):
                top = module.partition(".")[0]
                if top not in own and top not in sys.stdlib_module_names:
                    found.setdefault(PACKAGES.get(top, top.replace("_", "-")), f"tests import {top}")
    return dict(sorted(found.items()))


def is_test(path: Path) -> bool:
    """Whether a file belongs to the tests by its name or its folder's."""
    return bool(re.fullmatch(r"test_.*|.*_test|conftest", path.stem)) or bool({"test", "tests"} & set(path.parts[:-1]))


def _own_modules(folder: Path, files: list[Path]) -> set[str]:
    """Every name that a file or folder of the project could be imported by: helpers beside tests are, in many ways."""
    own = set()
    for path in files:
        relative = path.relative_to(folder)
        own |= {relative.stem, *relative.parts[:-1]}
    return own


def _imported(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
            yield statement.module
        elif isinstance(statement, ast.Assign | ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            name = getattr(call.args[0], "value", None) if call.args else None
            if "importorskip" in ast.unparse(call.func) and isinstance(name, str):
                yield name
