"""Which folders of a project are passed over, and which files and names are tests', by pytest's rules."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

TEST_FOLDERS = {"test", "tests", "unittest", "unittests", "unit_tests", "testsuite"}
_SKIPPED = {"__pycache__", "node_modules", "site-packages", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Conventions:
    """pytest's settings that say what a test is."""

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    classes: tuple[str, ...] = ("Test",)
    functions: tuple[str, ...] = ("test",)

    def is_test_file(self, path: str) -> bool:
        """Say whether pytest or unittest would look into a file."""
        pure = PurePosixPath(path)
        if pure.suffix != ".py":
            return False
        names = [pattern for pattern in self.files if not _matches_all(pattern) or in_test_folder(path)]
        by_name = any(
            fnmatch(path if "/" in name else pure.name, f"*/{name}" if "/" in name else name) for name in names
        )
        return by_name or pure.name == "tests.py"

    def belongs_to_tests(self, path: str) -> bool:
        """Say whether a file is a test file or helps the tests."""
        return self.is_test_file(path) or in_test_folder(path) or PurePosixPath(path).name == "conftest.py"


def is_skipped(folder: str) -> bool:
    """Say whether a folder of this name is passed over: hidden, or holding what others wrote or a program made."""
    return folder in _SKIPPED or folder.startswith(".")


def in_test_folder(path: str) -> bool:
    """Say whether a file lies under a folder for tests; `pkg/testing/` is a library's own code."""
    return any(part.lower() in TEST_FOLDERS for part in PurePosixPath(path).parts[:-1])


def named(name: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a name fits one of pytest's patterns: a beginning, or a glob."""
    return any(name.startswith(p) or (any(c in p for c in "*?[") and fnmatch(name, p)) for p in patterns)


def conventions(root: Path) -> Conventions:
    """Read python_files, python_classes and python_functions from a project's settings; pytest's defaults otherwise."""
    for read in (_from_ini("pytest.ini", "pytest"), _from_pyproject, _from_ini("tox.ini", "pytest"),
                 _from_ini("setup.cfg", "tool:pytest")):  # fmt: skip
        try:
            found = read(root)
        except (OSError, ValueError, configparser.Error):
            continue  # a broken settings file is pytest's to complain about
        if found:
            default = Conventions()
            return Conventions(
                files=_words(found.get("python_files")) or default.files,
                classes=_words(found.get("python_classes")) or default.classes,
                functions=_words(found.get("python_functions")) or default.functions,
            )
    return Conventions()


def _matches_all(pattern: str) -> bool:
    return fnmatch("module.py", pattern)


def _from_pyproject(root: Path) -> dict[str, Any]:
    with (root / "pyproject.toml").open("rb") as file:
        pytest = tomllib.load(file).get("tool", {}).get("pytest", {})
    options: dict[str, Any] = pytest.get("ini_options") or pytest
    return options


def _from_ini(name: str, section: str) -> Any:
    def read(root: Path) -> dict[str, Any]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string((root / name).read_text(encoding="utf-8"))
        return dict(parser[section]) if section in parser else {}

    return read


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(shlex.split(value))
    return tuple(map(str, value)) if isinstance(value, list) else ()
