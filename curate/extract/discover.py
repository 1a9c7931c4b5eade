"""Which files are test files, and which functions in them are tests, by pytest's and unittest's conventions."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from curate.extract.facts import Scope
from curate.extract.resolver import Resolver

TEST_FOLDERS = {"test", "tests", "unittest", "unittests", "unit_tests", "testsuite"}


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


def in_test_folder(path: str) -> bool:
    """Say whether a file lies under a folder for tests; `pkg/testing/` is a library's own code."""
    return any(part.lower() in TEST_FOLDERS for part in PurePosixPath(path).parts[:-1])


def _matches_all(pattern: str) -> bool:
    return fnmatch("module.py", pattern)


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


def tests(module: Scope, rules: Conventions, resolver: Resolver) -> Iterator[tuple[Scope, str, str]]:
    """Yield (function, node id, framework) for the tests defined in a file; of several with one name, the last."""
    found: dict[str, tuple[Scope, str, str]] = {}
    for scope, framework in _collected(module, rules, resolver, ""):
        node_id = "::".join([scope.path, *scope.qualname.split(".")])
        found[node_id] = (scope, node_id, framework)
    yield from sorted(found.values(), key=lambda entry: entry[1])


def _collected(scope: Scope, rules: Conventions, resolver: Resolver, inside: str) -> Iterator[tuple[Scope, str]]:
    for child in scope.children:
        if child.kind == "class":
            framework = _test_class(child, rules, resolver)
            if framework:
                yield from _collected(child, rules, resolver, framework)
        elif child.role in {"function", "method"}:
            names = ("test",) if inside == "unittest" else rules.functions
            if _named(child.name, names):
                yield child, inside or "pytest"


def _test_class(scope: Scope, rules: Conventions, resolver: Resolver) -> str:
    """Return the framework that takes a class for a group of tests, or ''."""
    if _switched_off(scope, resolver):
        return ""
    if resolver.is_test_case(scope):
        return "unittest"
    plain = not (scope.methods("__init__") or scope.methods("__new__"))
    return "pytest" if plain and _named(scope.name, rules.classes) else ""


def _switched_off(scope: Scope, resolver: Resolver, depth: int = 0) -> bool:
    """Say whether a class or the nearest base that speaks of it sets `__test__ = False`."""
    if "__test__" in scope.values:
        return scope.values["__test__"] == ["False"]
    return depth < 10 and any(_switched_off(base, resolver, depth + 1) for base in resolver.bases(scope))


def _named(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.startswith(p) or (any(c in p for c in "*?[") and fnmatch(name, p)) for p in patterns)
