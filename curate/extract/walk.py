"""The one walk over a file's syntax tree.

It costs about what `ast.walk` does, since it skips the nodes that carry nothing (contexts, operators).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from curate.extract.facts import Import, Scope, parameters
from curate.splice import Definition

_EMPTY = {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "type_ignores", "conversion"}


def _renamed(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def ast_name(node: ast.AST) -> str | None:
    """Return `a.b.c` for a name or a chain of attributes, None for anything else."""
    attributes = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else None


class Walker:
    """Fills a module's scope from its statements; several cells of a notebook may share one scope."""

    def __init__(self, module: Scope, package: str, cell: int | None = None) -> None:
        self.module = self.scope = module
        self.package = package
        """Package that relative imports start from."""
        self.cell = cell
        self.fields: dict[type, tuple[str, ...]] = {}
        self.handlers: dict[type, Callable[..., object]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.JoinedStr: self._joined,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._klass,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Assign: self._assign,
            ast.AnnAssign: self._assign,
            ast.withitem: self._withitem,
            ast.Return: self._result,
            ast.Yield: self._result,
            ast.Lambda: self._lambda,
            ast.Global: self._declare,
            ast.Nonlocal: self._declare,
            ast.ExceptHandler: self._binding,
            ast.MatchAs: self._binding,
            ast.MatchStar: self._binding,
            ast.MatchMapping: self._binding,
        }

    def visit(self, node: ast.AST) -> None:
        """Visit a node and what is below it."""
        handler = self.handlers.get(node.__class__)
        if handler is not None:
            handler(node)
        else:
            self._generic(node)

    def all(self, nodes: Iterable[ast.AST | None]) -> None:
        """Visit several nodes; a missing one is passed over."""
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _generic(self, node: ast.AST) -> None:
        """Visit the children of a node."""
        kind = node.__class__
        fields = self.fields.get(kind)
        if fields is None:
            fields = self.fields[kind] = tuple(name for name in kind._fields if name not in _EMPTY)
        handlers = self.handlers
        for name in fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for inner in value:
                    if isinstance(inner, ast.AST):
                        handlers.get(inner.__class__, self._generic)(inner)
            elif isinstance(value, ast.AST):
                handlers.get(value.__class__, self._generic)(value)

    # --- expressions

    def _name(self, node: ast.Name) -> None:
        if node.ctx.__class__ is ast.Load:
            self.scope.uses[node.id] = None
        else:
            self.scope.bound.add(node.id)

    def _attribute(self, node: ast.Attribute) -> None:
        name = self._chain(node)
        if name is not None:
            self.scope.uses[name if node.ctx.__class__ is ast.Load else name + "="] = None

    def _call(self, node: ast.Call) -> str | None:
        func = node.func
        name = self._chain(func)
        if name is not None:
            self.scope.uses[name] = None
            self.scope.calls[name] = None
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)
        # Fluent code would otherwise grow quadratically.
        return None if name is None or name.count("()") > 2 else name + "()"

    def _chain(self, node: ast.AST) -> str | None:
        """Return the dotted form of an expression, `()` for a call's arguments; what is inside has been visited."""
        attributes = []
        while node.__class__ is ast.Attribute:
            attributes.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            base: str | None = node.id
        elif isinstance(node, ast.Call):
            base = self._call(node)
        else:
            self.visit(node)
            return None
        if base is None or not attributes:
            return base
        return ".".join([base, *reversed(attributes)])

    def _value(self, node: ast.expr) -> str | None:
        """Visit an expression and return its dotted form."""
        if isinstance(node, ast.Call):
            return self._call(node)
        self.visit(node)
        return ast_name(node)

    def _constant(self, node: ast.Constant) -> None:
        if node.end_lineno != node.lineno:
            self.module.strings.append((node.lineno, node.end_lineno or 0))

    def _joined(self, node: ast.JoinedStr) -> None:
        if node.end_lineno != node.lineno:
            self.module.strings.append((node.lineno, node.end_lineno or 0))
        self._generic(node)

    def _lambda(self, node: ast.Lambda) -> None:
        # Its parameters count as the function's own names: good enough to keep them from being taken for imports.
        args = node.args
        self.scope.bound.update(a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))
        self._defaults(args)
        self.visit(node.body)

    # --- statements

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        scope = self.scope
        uses, scope.uses = scope.uses, {} if scope is self.module else scope.uses
        if isinstance(node, ast.AnnAssign):
            self.visit(node.annotation)
        value = None if node.value is None else self._value(node.value)
        for target in targets:
            name = self._value(target)
            if name and value:
                scope.values.setdefault(name, []).append(value)
            if name == "__test__" and isinstance(node.value, ast.Constant):
                scope.values[name] = [str(node.value.value)]
            if name and scope is self.module:
                scope.groups[name] = list(scope.uses)
        if scope is self.module:
            uses.update(scope.uses)
            scope.uses = uses

    def _withitem(self, node: ast.withitem) -> None:
        value = self._value(node.context_expr)
        if node.optional_vars is not None:
            name = self._value(node.optional_vars)
            if name and value:
                self.scope.values.setdefault(name, []).append(value)

    def _result(self, node: ast.Return | ast.Yield) -> None:
        if node.value is not None:
            value = self._value(node.value)
            if value:
                self.scope.returns.append(value)

    def _declare(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.free.update(node.names)

    def _binding(self, node: ast.AST) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name:
            self.scope.bound.add(name)
        self._generic(node)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            target = alias.name if alias.asname else name
            self.scope.imports[name] = Import(target, "import ", _renamed(alias))

    def _import_from(self, node: ast.ImportFrom) -> None:
        source = self._absolute(node.module, node.level)
        written = f"from {'.' * node.level}{node.module or ''} import "
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(source)
            else:
                target = f"{source}.{alias.name}" if source else alias.name
                self.scope.imports[alias.asname or alias.name] = Import(target, written, _renamed(alias))

    def _absolute(self, module: str | None, level: int) -> str:
        """Return the full dotted name of the module that an import names."""
        if level == 0:
            return module or ""
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - level + 1]
        return ".".join([*kept, module] if module else kept)

    # --- definitions

    def _enter(self, node: Definition | ast.ClassDef, kind: str) -> Scope:
        parent = self.scope
        parent.bound.add(node.name)
        prefix = parent.qualname + (".<locals>." if parent.kind == "function" else "." if parent.qualname else "")
        scope = Scope(node.name, kind, parent, node, prefix + node.name, self.cell)
        scope.path, scope.module = self.module.path, self.module.module
        calls, uses = parent.calls, parent.uses
        if kind == "function":
            # Decorators, defaults and annotations are evaluated outside, but are part of the definition.
            parent.calls, parent.uses = {}, scope.uses
        for decorator in node.decorator_list:
            called = isinstance(decorator, ast.Call)
            name = self._value(decorator)
            scope.decorators.append((name.removesuffix("()") if name else "", called))
        if isinstance(node, Definition):
            self._defaults(node.args)
            self.all([node.returns])
        else:
            scope.bases = [name for base in node.bases if (name := self._value(base))]
            self.all(keyword.value for keyword in node.keywords)
        parent.calls, parent.uses = calls, uses
        parent.children.append(scope)
        parent.named.setdefault(node.name, []).append(scope)
        return scope

    def _function(self, node: Definition) -> None:
        scope = self._enter(node, "function")
        outer, self.scope = self.scope, scope
        if outer.kind == "function":
            outer.calls[scope] = None
        scope.arguments = parameters(node)
        scope.bound.update(scope.arguments)
        self.all(node.body)
        self.scope = outer

    def _klass(self, node: ast.ClassDef) -> None:
        scope = self._enter(node, "class")
        outer, self.scope = self.scope, scope
        self.all(node.body)
        self.scope = outer

    def _defaults(self, args: ast.arguments) -> None:
        self.all(args.defaults)
        self.all(args.kw_defaults)
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None and arg.annotation is not None:
                self.visit(arg.annotation)
