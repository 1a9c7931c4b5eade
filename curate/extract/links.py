"""Static links: which functions of the project a test calls, as far as its text tells."""

from __future__ import annotations

from collections.abc import Iterator

from curate.extract.facts import Scope
from curate.extract.resolver import Resolver, Values

_HELPERS = 3
"""How many helpers of the test suite deep a call is followed; the project's own functions are not followed."""
_SET_UP = {"setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class", "setup"}


class Linker:
    """Finds what tests call, looking into their fixtures, set-up methods and helpers."""

    def __init__(self, resolver: Resolver, in_tests: set[str]) -> None:
        self.resolver = resolver
        self.in_tests = in_tests
        """Paths of the files that belong to the tests."""
        self._hits: dict[Scope, dict[Scope, None]] = {}

    def functions(self, test: Scope) -> list[Scope]:
        """Return the project's functions that a test exercises."""
        found: dict[Scope, None] = {}
        pending = [(scope, 0) for scope in (test, *self._set_up(test))]
        seen = {scope for scope, _ in pending}
        while pending:
            scope, depth = pending.pop()
            for hit in self.hits(scope):
                if hit.path not in self.in_tests:
                    found[hit] = None
                elif hit not in seen and depth < _HELPERS:
                    seen.add(hit)
                    pending.append((hit, depth + 1))
        return [scope for scope in found if scope.function_id]

    def _set_up(self, test: Scope) -> Iterator[Scope]:
        holder = test.holder()
        if holder is not None:
            for name in sorted(_SET_UP):
                yield from self.resolver.member(holder, name)

    def hits(self, scope: Scope) -> dict[Scope, None]:
        """Return the functions that one function uses itself, its nested functions and fixtures included."""
        if scope not in self._hits:
            self._hits[scope] = {}
            found = self._hits[scope] = dict.fromkeys(self._find(scope))
            for child in scope.below():
                found.update(dict.fromkeys(self._find(child)))
        return self._hits[scope]

    def _find(self, scope: Scope) -> Iterator[Scope]:
        for name in scope.arguments:
            yield from self.resolver.fixture(scope, name)
        values: dict[str | Scope, Values] = {}
        for dotted in scope.uses:
            values[dotted] = self.resolver.evaluate(scope, dotted)
            yield from self._used(scope, dotted, values[dotted])
        for call in scope.calls:
            # What is called is also used, but for nested functions.
            yield from self._called(values.get(call, ()))

    def _used(self, scope: Scope, dotted: str, values: Values) -> Iterator[Scope]:
        assigned = dotted.endswith("=")
        for value in values:
            found = value.scope
            is_function = value.kind == "object" and found is not None and found.kind == "function"
            if is_function and found is not None and assigned == (found.role == "setter"):
                yield found
        if not assigned:
            yield from self.resolver.accessed
        yield from self._group(scope, dotted)

    def _group(self, scope: Scope, dotted: str) -> Iterator[Scope]:
        """Yield the functions listed in a module-level name that a test uses, such as its table of cases."""
        module = scope
        while module.parent is not None:
            module = module.parent
        for listed in module.groups.get(dotted, ()) if scope is not module else ():
            for value in self.resolver.evaluate(module, listed):
                if value.kind == "object" and value.scope is not None and value.scope.kind == "function":
                    yield value.scope

    def _called(self, values: Values) -> Iterator[Scope]:
        for value in values:
            found = value.scope
            if found is None or found.kind != "class":
                continue
            names: tuple[str, ...] = ("__init__", "__new__") if value.kind == "object" else ("__call__",)
            members = [member for name in names for member in self.resolver.member(found, name)]
            if not members and value.kind == "instance":
                # What torch.nn.Module's own __call__ hands over to.
                members = self.resolver.member(found, "forward")
            yield from members
