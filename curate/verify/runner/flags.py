"""A flag for each function, raised whenever its body starts to run.

The flag is set by one statement put into the function when its module is compiled, which costs far less than tracing
lines and is seen in threads and forked children too. What is compiled from the source text itself (TorchScript) is not
touched; bodies that numba or torch compile from bytecode are left alone, as a foreign statement would break them.
"""

from __future__ import annotations

import ast
import builtins
import mmap
from importlib.machinery import SourceFileLoader
from typing import Any

NAME = "__curate_flags__"
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc", "compile", "kernel"}
"""Last part of decorators that compile bytecode or trace it themselves."""


class Flags:
    """One byte a function; shared memory, so that forked children raise the same ones."""

    def __init__(self, functions: list[tuple[str, int]]) -> None:
        """Give a flag to each (file, line of `def`)."""
        self.shared = mmap.mmap(-1, max(1, len(functions)))
        self.lines: dict[str, dict[int, int]] = {}
        for number, (path, line) in enumerate(functions):
            self.lines.setdefault(path, {})[line] = number
        self.clear_with = bytes(len(self.shared))

    def install(self) -> None:
        """Compile the modules imported from now on with flags in them."""
        setattr(builtins, NAME, self.shared)
        plain = SourceFileLoader.source_to_code
        lines = self.lines

        def source_to_code(loader: Any, data: Any, path: Any, *, _optimize: int = -1) -> Any:
            wanted = lines.get(str(path))
            if not wanted or not isinstance(data, (bytes, str)):
                return plain(loader, data, path, _optimize=_optimize)
            tree = with_flags(ast.parse(data, str(path)), wanted)
            return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

        SourceFileLoader.source_to_code = source_to_code  # type: ignore[assignment,method-assign]

    def take(self) -> list[int]:
        """Return the numbers of the flags that are up, and lower all."""
        seen = self.shared[:]
        if not any(seen):
            return []
        self.shared[:] = self.clear_with
        return [number for number, flag in enumerate(seen) if flag]


def with_flags(tree: ast.Module, wanted: dict[int, int]) -> ast.Module:
    """Return the tree with a statement that raises its flag at the start of each wanted function."""
    Inserter(wanted).visit(tree)
    return ast.fix_missing_locations(tree)


class Inserter(ast.NodeTransformer):
    """Puts the statements in."""

    def __init__(self, wanted: dict[int, int]) -> None:
        """Flag the functions whose `def` stands on these lines."""
        self.wanted = wanted

    def visit_FunctionDef(self, node: Any) -> Any:
        """Flag one function and those inside it."""
        if any(_last_name(decorator) in COMPILERS for decorator in node.decorator_list):
            return node
        self.generic_visit(node)
        number = self.wanted.get(node.lineno)
        if number is not None:
            first = node.body[0]
            documented = (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            )
            anchor = node.body[1] if documented and len(node.body) > 1 else first
            node.body.insert(1 if documented else 0, _raise_flag(number, anchor))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  (the name that ast calls)


def _raise_flag(number: int, anchor: ast.stmt) -> ast.stmt:
    """Return the statement, as if it stood where the body starts: tracebacks show lines."""
    statement = ast.parse(f"{NAME}[{number}] = 1").body[0]
    for node in ast.walk(statement):
        ast.copy_location(node, anchor)
    return statement


def _last_name(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute):
        return decorator.attr
    return decorator.id if isinstance(decorator, ast.Name) else ""
