"""Which functions of a test file are tests, by pytest's and unittest's conventions."""

from __future__ import annotations

from collections.abc import Iterator

from curate.conventions import Conventions, named
from curate.extract.facts import Scope
from curate.extract.resolver import Resolver


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
            if named(child.name, names):
                yield child, inside or "pytest"


def _test_class(scope: Scope, rules: Conventions, resolver: Resolver) -> str:
    """Return the framework that takes a class for a group of tests, or ''."""
    if _switched_off(scope, resolver):
        return ""
    if resolver.is_test_case(scope):
        return "unittest"
    plain = not (scope.methods("__init__") or scope.methods("__new__"))
    return "pytest" if plain and named(scope.name, rules.classes) else ""


def _switched_off(scope: Scope, resolver: Resolver, depth: int = 0) -> bool:
    """Say whether a class or the nearest base that speaks of it sets `__test__ = False`."""
    if "__test__" in scope.values:
        return scope.values["__test__"] == ["False"]
    return depth < 10 and any(_switched_off(base, resolver, depth + 1) for base in resolver.bases(scope))
