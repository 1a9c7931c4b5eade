"""How many of the functions in a project's test files are tests, told by names alone: of functions, classes, bases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curate.conventions import Conventions, named
from curate.mine.statements import Class, Seen


def count(files: Sequence[Seen], classes: Iterable[Class], rules: Conventions) -> int:
    """Return the number of tests in test files; `classes` are all of the project, among them bases of test classes."""
    above = _Bases(classes)
    groups: dict[Class | None, tuple[str, ...]] = {None: rules.functions}
    for seen in files:
        for cls in seen.classes:  # outer ones come before those inside
            if cls.parent in groups:
                patterns = _patterns(cls, rules, above)
                if patterns:
                    groups[cls] = patterns
    return sum(named(name, groups.get(owner, ())) for seen in files for owner, name in seen.callables)


def _patterns(cls: Class, rules: Conventions, above: _Bases) -> tuple[str, ...]:
    """Return how tests are named in a class; nothing for one that is no group of tests."""
    known, outside = above.of(cls)
    said = [cls.tested, *(above.tested.get(name) for name in known)]
    if next((value for value in said if value is not None), True) is False:
        return ()
    if any(name.endswith("TestCase") for name in outside):
        return ("test",)
    return rules.functions if cls.plain and named(cls.name, rules.classes) else ()


class _Bases:
    """Base classes by name: which is enough for the shared TestCase of a project, and costs no look at its imports."""

    def __init__(self, classes: Iterable[Class]) -> None:
        self.bases: dict[str, dict[str, None]] = {}
        self.tested: dict[str, bool | None] = {}
        for cls in classes:
            self.bases.setdefault(cls.name, {}).update(dict.fromkeys(cls.bases))
            if cls.tested is not None:
                self.tested[cls.name] = cls.tested

    def of(self, cls: Class) -> tuple[Mapping[str, None], list[str]]:
        """Return the names of the base classes that the project defines, nearest first, and of those it does not."""
        known: dict[str, None] = {}
        outside: list[str] = []
        pending = [(cls.name, base) for base in cls.bases]
        for name, base in pending:
            if base in self.bases and base != name:  # a class of its base's name is not its own base
                if base not in known:
                    known[base] = None
                    pending.extend((base, further) for further in self.bases[base])
            else:
                outside.append(base)
        return known, outside
