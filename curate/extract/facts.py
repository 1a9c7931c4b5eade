"""What one walk over a file collects: scopes with what they use, call, bind and import."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from curate.splice import Definition

ACCESSORS = {"getter", "setter", "deleter"}
_GETTERS = {"property", "cached_property", "abstractproperty"}


@dataclass(frozen=True, slots=True)
class Import:
    """A name bound by an import statement."""

    target: str
    """Full dotted name of what it is bound to."""
    source: str
    """What stands before the imported name: `from .a import `, or `import `."""
    name: str
    """What stands after it: `b as c`."""


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class or function, and what stands directly in it."""

    name: str
    kind: str
    """module, class or function."""
    parent: Scope | None
    node: ast.AST | None = None
    """Its definition; let go when the file has been dealt with."""
    qualname: str = ""
    cell: int | None = None
    path: str = ""
    module: str = ""
    role: str = ""
    """A function's kind as published, `overload`, or `fixture`."""
    function_id: str = ""
    """Set when it has become a row."""
    test_id: str = ""
    """Set when it is a test."""
    uses: dict[str, None] = field(default_factory=dict)
    """Dotted names read, in order; `f().g` for an attribute of what a call returns, `a.b=` for an assignment."""
    calls: dict[str | Scope, None] = field(default_factory=dict)
    """Dotted names called, in order of appearance, nested functions in their place."""
    imports: dict[str, Import] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    """Modules of which everything is imported."""
    bound: set[str] = field(default_factory=set)
    """Names assigned here."""
    free: set[str] = field(default_factory=set)
    """Names declared global or nonlocal."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """`x` or `self.x` -> dotted forms of what is assigned to it."""
    groups: dict[str, list[str]] = field(default_factory=dict)
    """Module-level name -> dotted names in the expression assigned to it, such as a list of cases."""
    returns: list[str] = field(default_factory=list)
    """Dotted forms of what is returned or yielded."""
    children: list[Scope] = field(default_factory=list)
    """Classes and functions defined directly in it."""
    named: dict[str, list[Scope]] = field(default_factory=dict)
    """The same by name."""
    decorators: list[tuple[str, bool]] = field(default_factory=list)
    """Dotted names of the decorators ('' when they have none), and whether they are called there."""
    bases: list[str] = field(default_factory=list)
    """Base classes as written."""
    arguments: list[str] = field(default_factory=list)
    """Names of a function's parameters, in order."""
    strings: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of multi-line strings; only kept by the module."""

    def functions(self) -> list[Scope]:
        """Return every function below, in order of appearance."""
        return [scope for scope in self.below() if scope.kind == "function"]

    def below(self) -> list[Scope]:
        """Return every class and function below, in order of appearance."""
        found: list[Scope] = []
        for child in self.children:
            found.append(child)
            found.extend(child.below())
        return found

    def holder(self) -> Scope | None:
        """Return the class that this is a method of."""
        return self.parent if self.parent is not None and self.parent.kind == "class" else None

    def nested(self) -> bool:
        """Say whether it is defined inside a function."""
        scope = self.parent
        while scope is not None:
            if scope.kind == "function":
                return True
            scope = scope.parent
        return False

    def methods(self, name: str) -> list[Scope]:
        """Return what is defined under a name directly in this scope."""
        return [child for child in self.named.get(name, ()) if child.role != "overload"]


def parameters(node: Definition) -> list[str]:
    """Return the names of a definition's parameters, in order."""
    args = node.args
    star = [args.vararg.arg] if args.vararg else []
    last = [args.kwarg.arg] if args.kwarg else []
    return [*(a.arg for a in (*args.posonlyargs, *args.args)), *star, *(a.arg for a in args.kwonlyargs), *last]


def set_roles(module: Scope) -> None:
    """Tell functions from methods, property accessors, overload stubs and pytest fixtures, by their decorators."""
    for scope in module.functions():
        scope.role = _role(scope)


def _role(scope: Scope) -> str:
    in_class = scope.holder() is not None
    for name, called in scope.decorators:
        full = resolve(scope.parent, name) if name else ""
        last = full.rpartition(".")[2]
        if last == "overload" and not called:
            return "overload"
        if last == "fixture" and (full.startswith(("pytest", "_pytest")) or full == "fixture"):
            return "fixture"
        if in_class and not called and last in _GETTERS:
            return "getter"
        if in_class and not called and "." in name and last in ACCESSORS:
            return last
    return "method" if in_class else "function"


def lookup(scope: Scope | None, name: str) -> tuple[Scope | None, Import | None]:
    """Return the scope in which a name is bound, seen from `scope`, and its import when it was imported there."""
    first = scope
    while scope is not None:
        # A class body's names are seen by the body itself, not by its methods.
        if scope.kind != "class" or scope is first:
            if name in scope.imports:
                return scope, scope.imports[name]
            if name in scope.bound and name not in scope.free:
                return scope, None
        scope = scope.parent
    return None, None


def resolve(scope: Scope | None, dotted: str) -> str:
    """Return a dotted name with its first part replaced by what that was imported as or where it is defined.

    Names of local variables, builtins and unknown names stay as written; `self.f` becomes the class's `f` where there
    is one.
    """
    root, dot, rest = dotted.partition(".")
    name = root.rstrip("()")
    holder, imported = lookup(scope, name)
    if imported is not None:
        return imported.target + root[len(name) :] + dot + rest
    if holder is None:
        return dotted
    if holder.kind == "module":
        return f"{holder.module}.{dotted}"
    owner = holder.holder()
    if owner is not None and holder.kind == "function" and holder.arguments[:1] == [root] and rest:
        method = rest.partition(".")[0].rstrip("()")
        if owner.methods(method):
            return f"{owner.module}.{owner.qualname}.{rest}"
    return dotted


def imported_names(scope: Scope) -> dict[str, Import]:
    """Return full dotted name -> import, for every imported thing that a function uses, nested functions included."""
    found: dict[str, Import] = {}
    for dotted in scope.uses:
        root, _, rest = dotted.removesuffix("=").partition(".")
        name = root.rstrip("()")
        _, imported = lookup(scope, name)
        if imported is not None:
            rest = "" if name != root else rest.partition("()")[0]
            found[f"{imported.target}.{rest}" if rest else imported.target] = imported
    for child in scope.children:
        found.update(imported_names(child))
    return found


def called_names(scope: Scope) -> dict[str, None]:
    """Return what a function calls, resolved, in order of first appearance, nested functions included."""
    found: dict[str, None] = {}
    for call in scope.calls:
        if isinstance(call, Scope):
            found.update(called_names(call))
        else:
            found[resolve(scope, call)] = None
    return found
