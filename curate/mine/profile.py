"""What a project is like, read off its files when it is taken in: how much is documented and tested, and with what.

Only statements are looked at, which costs little beyond parsing. Files and functions are told to be tests by the rules
that extraction goes by, save that base classes are found by their names alone.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from curate.conventions import Conventions, conventions, is_skipped
from curate.errors import ItemError
from curate.mine import suites
from curate.mine.frameworks import KINDS
from curate.mine.modules import read
from curate.mine.statements import Class, Seen, look, look_for_loaders
from curate.records import Framework, Profile


def profile(root: Path, paths: Iterable[str], snapshot_id: str) -> Profile:
    """Return what the Python files and notebooks among `paths` are like; none of them can make it fail."""
    count = _Count(conventions(root))
    with _quietly():
        for path in sorted(path for path in paths if path.endswith((".py", ".ipynb")) and not _passed_over(root, path)):
            count.add(root / path, path)
    return Profile(
        snapshot_id=snapshot_id,
        python_files=count.files,
        unreadable=count.unreadable,
        functions=count.functions,
        stubs=count.stubs,
        documented=count.documented,
        documented_share=_share(count.documented, count.functions),
        tests=(found := suites.count(count.tests, count.classes, count.rules)),
        tests_per_function=_share(found, count.functions),
        frameworks=[_framework(name, uses) for name, uses in sorted(count.uses.items())],
    )


class _Count:
    """What has been seen of a project so far."""

    def __init__(self, rules: Conventions) -> None:
        self.rules = rules
        self.files = self.unreadable = self.functions = self.stubs = self.documented = 0
        self.tests: list[Seen] = []
        self.classes: list[Class] = []
        self.uses: dict[str, list[tuple[bool, str, int]]] = {}
        """Framework -> (whether in the tests, path, line) of each file that imports it, by path."""

    def add(self, file: Path, path: str) -> None:
        """Add a file."""
        self.files += 1
        in_tests = self.rules.belongs_to_tests(path)
        seen = Seen()
        self.unreadable += not _whole(file, seen)
        self.classes += seen.classes
        if not in_tests:
            self.functions += seen.functions
            self.stubs += seen.stubs
            self.documented += seen.documented
        elif path.endswith(".py"):
            self.tests.append(seen)
        for name in KINDS.keys() & seen.imports:
            self.uses.setdefault(name, []).append((in_tests, path, seen.imports[name]))


def _whole(file: Path, seen: Seen) -> bool:
    """Look through a file and say whether all of it could be read."""
    whole = True
    try:
        for module, loads in read(file):
            if module is None:
                whole = False
                continue
            look(module, seen)
            if loads:
                look_for_loaders(module, seen)
    except ItemError:
        return False
    return whole


def _passed_over(root: Path, path: str) -> bool:
    return any(map(is_skipped, PurePosixPath(path).parts[:-1])) or (root / path).is_symlink()


def _framework(name: str, uses: list[tuple[bool, str, int]]) -> Framework:
    in_tests = sum(there for there, _, _ in uses)
    _, path, line = min(uses)
    return Framework(
        name=name,
        kind=KINDS[name],
        files=len(uses) - in_tests,
        test_files=in_tests,
        first_path=path,
        first_line=line,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep warnings about odd literals back, and the cycle collector off trees, which hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was_on:
            gc.enable()
