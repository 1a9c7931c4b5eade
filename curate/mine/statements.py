"""What the statements of a module tell of it: imports, definitions, tests. Expressions are not looked into."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from curate.mine.modules import LOADERS
from curate.splice import Definition, docstring_of, does_nothing

_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
_SIMPLE = frozenset(
    (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Pass,
     ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
)  # fmt: skip
_NOT_TESTS = {"fixture", "overload", "property", "cached_property", "abstractproperty", "setter", "getter", "deleter"}


@dataclass(eq=False, slots=True)
class Class:
    """A class, as far as it matters to tests."""

    name: str
    bases: list[str]
    """Last parts of the names of its bases."""
    parent: Class | None
    plain: bool = True
    """Whether it has neither `__init__` nor `__new__`."""
    tested: bool | None = None
    """What it sets `__test__` to."""


@dataclass(slots=True)
class Seen:
    """What stands in one file."""

    imports: dict[str, int] = field(default_factory=dict)
    """Top-level module -> first line that imports it."""
    functions: int = 0
    documented: int = 0
    stubs: int = 0
    classes: list[Class] = field(default_factory=list)
    callables: dict[tuple[Class | None, str], None] = field(default_factory=dict)
    """(class, name) of the functions that may be tests; of several with one name, one."""


def look(module: ast.Module, seen: Seen) -> None:
    """Add what a module's statements tell; however deep they are nested, this does not run out of stack."""
    new: dict[str, int] = {}
    pending: list[tuple[list[ast.stmt], Class | None, bool]] = [(module.body, None, False)]
    while pending:
        body, owner, nested = pending.pop()
        for node in body:
            kind = node.__class__
            if kind in _SIMPLE:
                if owner is not None and kind is ast.Assign:
                    _assigned(node, owner)
            elif isinstance(node, Definition):
                if not nested:
                    _function(node, owner, seen)
                pending.append((node.body, None, True))
            elif isinstance(node, ast.ClassDef):
                pending.append((node.body, _class(node, owner, nested, seen), nested))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for name in _imported(node):
                    new[name] = min(node.lineno, new.get(name, node.lineno))
            else:
                pending.extend((getattr(node, block), owner, nested) for block in _BLOCKS.get(kind, ()))
    seen.imports = new | seen.imports


def look_for_loaders(module: ast.Module, seen: Seen) -> None:
    """Add what is imported by calls such as `importlib.import_module("torch")`."""
    loaders = {name.decode() for name in LOADERS}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node.args and _last(node.func) in loaders:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                name = first.value.partition(".")[0]
                seen.imports[name] = min(node.lineno, seen.imports.get(name, node.lineno))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name.partition(".")[0]
    elif not node.level and node.module:
        yield node.module.partition(".")[0]


def _function(node: Definition, owner: Class | None, seen: Seen) -> None:
    decorators = {_last(decorator) for decorator in node.decorator_list}
    if "overload" in decorators or all(map(does_nothing, node.body)):
        seen.stubs += 1
    else:
        seen.functions += 1
        seen.documented += docstring_of(node) is not None
    if owner is not None and node.name in {"__init__", "__new__"}:
        owner.plain = False
    if not decorators & _NOT_TESTS:
        seen.callables[owner, node.name] = None


def _class(node: ast.ClassDef, owner: Class | None, nested: bool, seen: Seen) -> Class:
    found = Class(node.name, [_last(base) for base in node.bases], owner)
    if not nested:
        seen.classes.append(found)
    return found


def _assigned(node: ast.stmt, owner: Class) -> None:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == "__test__":
                owner.tested = node.value.value is not False


def _last(node: ast.expr) -> str:
    """Return the last part of a dotted name, called or not; '' for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
