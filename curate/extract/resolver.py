"""Names of a whole project: which definition an expression in one of its files stands for.

Nothing is guessed from a bare name: every step goes through an import, a definition, an assignment or a base class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from curate.extract.facts import Scope, lookup

_DEPTH = 30
_SAME = {"to", "cuda", "cpu", "eval", "train", "float", "double", "half", "requires_grad_"}
"""Methods of a torch module that return the module itself."""


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression may stand for."""

    kind: Literal["module", "object", "instance", "same"]
    """A module, a function or class, an instance of a class, or a method that returns the instance itself."""
    scope: Scope | None
    name: str = ""
    """Dotted name of a module."""


Values = tuple[Value, ...]


class Resolver:
    """Follows names through the files of one project."""

    def __init__(self, modules: Iterable[Scope]) -> None:
        self.modules: dict[str, Scope] = {}
        self.by_path: dict[str, Scope] = {}
        self.prefixes: set[str] = set()
        self.accessed: dict[Scope, None] = {}
        """Property getters that the last evaluation passed through."""
        self._memo: dict[tuple[object, ...], Values] = {}
        self._depth = 0
        for module in sorted(modules, key=lambda scope: (scope.path.count("/"), scope.path)):
            # Of two files with one name, such as a copy under build/lib, the one nearest to the root counts.
            self.modules.setdefault(module.module, module)
            self.by_path[module.path] = module
            parts = module.module.split(".")
            self.prefixes.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))

    def evaluate(self, scope: Scope, dotted: str) -> Values:
        """Return what a dotted expression in a scope stands for; nothing when that is outside the project."""
        self.accessed = {} if self._depth == 0 else self.accessed
        first, *rest = dotted.split(".")
        name, times = _split(first)
        values = _super(scope, self) if first == "super()" else self._called(self._root(scope, name), times)
        for part in rest:
            if not values:
                break
            name, times = _split(part)
            values = self._called(_unique(v for value in values for v in self._attribute(value, name)), times)
        return values

    def member(self, cls: Scope, name: str) -> list[Scope]:
        """Return the functions and classes that a class has under a name, its bases in the project included."""
        own = cls.methods(name)
        if own:
            return own
        inherited = self._once(("member", cls, name), lambda: self._inherited(cls, name))
        return [value.scope for value in inherited if value.scope is not None]

    def bases(self, cls: Scope) -> list[Scope]:
        """Return the base classes that the project defines."""
        found = self._once(("bases", cls), lambda: (v for b in cls.bases for v in self.evaluate(cls.parent or cls, b)))
        return [v.scope for v in found if v.kind == "object" and v.scope is not None and v.scope.kind == "class"]

    def is_test_case(self, cls: Scope) -> bool:
        """Say whether a class derives, perhaps through the project's own classes, from some framework's TestCase."""
        seen: dict[Scope, None] = {cls: None}
        for current in iter(pending := [cls]):
            for base in current.bases:
                root, dot, rest = base.partition(".")
                _, imported = lookup(current.parent, root)
                full = imported.target + dot + rest if imported else base
                if full.endswith("TestCase") and imported and not self.evaluate(current.parent or current, base):
                    return True
            new = [scope for scope in self.bases(current) if scope not in seen]
            seen.update(dict.fromkeys(new))
            pending.extend(new)
        return False

    def fixture(self, scope: Scope, name: str) -> list[Scope]:
        """Return the pytest fixture that a parameter asks for: in the class, the file, the conftest files around it."""
        module = _module_of(scope)
        holders = [*([scope.parent] if scope.parent else []), module, *self._conftests(module.path)]
        for holder in holders:
            found = [child for child in holder.methods(name) if child.role == "fixture" and child is not scope]
            if not found and name in holder.imports:
                values = self._imported(holder, name, holder.imports[name].target)
                found = [v.scope for v in values if v.scope is not None and v.scope.role == "fixture"]
            if found:
                return found
        return []

    def _conftests(self, path: str) -> Iterator[Scope]:
        while path:
            path, slash, _ = path.rpartition("/")
            conftest = self.by_path.get(f"{path}{slash}conftest.py")
            if conftest is not None:
                yield conftest

    def _once(self, key: tuple[object, ...], find: Callable[[], Iterable[Value]]) -> Values:
        """Look something up once; what leads back to itself, or too deep, leads nowhere."""
        if key not in self._memo:
            if self._depth > _DEPTH:
                return ()
            self._memo[key] = ()
            self._depth += 1
            self._memo[key] = _unique(find())
            self._depth -= 1
        return self._memo[key]

    # --- the first part of a name

    def _root(self, scope: Scope, name: str) -> Values:
        holder, imported = lookup(scope, name)
        if holder is None:
            return self._starred(_module_of(scope), name)
        if imported is not None:
            return self._imported(holder, name, imported.target)
        return self._once(("local", holder, name), lambda: self._local(holder, name))

    def _local(self, holder: Scope, name: str) -> Iterator[Value]:
        found = holder.methods(name)
        owner = holder.holder()
        if found:
            yield from (Value("object", child) for child in found)
        elif holder.kind == "function" and owner is not None and holder.arguments[:1] == [name]:
            decorators = {decorator for decorator, _ in holder.decorators}
            if "staticmethod" not in decorators:
                yield Value("object" if "classmethod" in decorators else "instance", owner)
        elif holder.kind == "function" and name in holder.arguments:
            yield from self._called(tuple(Value("object", fixture) for fixture in self.fixture(holder, name)), 1)
        for value in () if found else holder.values.get(name, ()):
            yield from self.evaluate(holder, value)

    def _imported(self, holder: Scope, name: str, target: str) -> Values:
        return self._once(("import", holder, name, target), lambda: self._followed(target, holder.path))

    def _followed(self, target: str, path: str) -> Values:
        # `from a.b import c` looks for c in the module a.b, even where the package a has another b.
        module, _, last = target.rpartition(".")
        if module in self.prefixes:
            return self._attribute(Value("module", self.modules.get(module), module), last)
        first, *rest = target.split(".")
        values: Values = (Value("module", self.modules.get(first), first),) if first in self.prefixes else ()
        if not values:
            # What a script or a test module imports from its own folder.
            folder = PurePosixPath(path).parent
            beside = self.by_path.get((folder / f"{first}.py").as_posix()) or self.by_path.get(
                (folder / first / "__init__.py").as_posix()
            )
            values = (Value("module", beside, beside.module),) if beside else ()
        for part in rest:
            values = tuple(v for value in values for v in self._attribute(value, part))
        return values

    def _starred(self, module: Scope, name: str) -> Values:
        return tuple(v for star in module.stars for v in self._imported(module, name, f"{star}.{name}"))

    # --- attributes and calls

    def _attribute(self, value: Value, name: str) -> Values:
        scope = value.scope
        if value.kind == "module":
            found = self._global(scope, name) if scope is not None else ()
            inner = f"{value.name}.{name}"
            return found or ((Value("module", self.modules.get(inner), inner),) if inner in self.prefixes else ())
        if scope is None or scope.kind != "class":
            return ()
        members = self.member(scope, name)
        if not members:
            assigned = self._once(("self", scope, name), lambda: self._assigned(scope, name))
            return assigned or ((Value("same", scope),) if value.kind == "instance" and name in _SAME else ())
        found = tuple(Value("object", member) for member in members)
        getters = [member for member in members if member.role == "getter"]
        if getters and value.kind == "instance":
            if self._depth == 0:
                self.accessed.update(dict.fromkeys(getters))
            setters = tuple(v for v in found if v.scope is not None and v.scope.role == "setter")
            return setters + self._called(tuple(Value("object", getter) for getter in getters), 1)
        return found

    def _global(self, module: Scope, name: str) -> Values:
        if module.methods(name) or name in module.values:
            return self._once(("local", module, name), lambda: self._local(module, name))
        if name in module.imports:
            return self._imported(module, name, module.imports[name].target)
        return self._starred(module, name)

    def _inherited(self, cls: Scope, name: str) -> Iterator[Value]:
        for base in self.bases(cls):
            found = self.member(base, name)
            if found:
                yield from (Value("object", member) for member in found)
                return

    def _assigned(self, cls: Scope, name: str) -> Iterator[Value]:
        """Yield what the methods of a class assign to `self.name`."""
        empty = True
        for method in cls.children:
            for value in method.values.get(f"{method.arguments[0]}.{name}", ()) if method.arguments else ():
                empty = False
                yield from self.evaluate(method, value)
        for base in self.bases(cls) if empty else ():
            yield from self._once(("self", base, name), lambda base=base: self._assigned(base, name))  # type: ignore[misc]

    def _called(self, values: Values, times: int) -> Values:
        for _ in range(times):
            values = _unique(v for value in values for v in self._result(value))
        return values

    def _result(self, value: Value) -> Values:
        scope = value.scope
        if scope is None:
            return ()
        if value.kind == "same" or (value.kind == "object" and scope.kind == "class"):
            return (Value("instance", scope),)
        if value.kind != "object":
            return ()
        return self._once(("result", scope), lambda: (v for form in scope.returns for v in self.evaluate(scope, form)))


def _super(scope: Scope, resolver: Resolver) -> Values:
    owner = scope
    while owner.kind != "class" and owner.parent is not None:
        owner = owner.parent
    return tuple(Value("instance", base) for base in resolver.bases(owner)) if owner.kind == "class" else ()


def _unique(values: Iterable[Value]) -> Values:
    return tuple(dict.fromkeys(values))


def _split(part: str) -> tuple[str, int]:
    """Return a part of a dotted form without its calls, and how many there are."""
    if "(" not in part:
        return part.rstrip("="), 0
    name = part.rstrip("()=")
    return name, part.count("()")


def _module_of(scope: Scope) -> Scope:
    while scope.parent is not None:
        scope = scope.parent
    return scope
