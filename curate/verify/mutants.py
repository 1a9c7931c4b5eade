"""Mutants of a function: small changes of its body, each of which a good test should notice."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from curate.splice import Definition
from curate.verify.operators import edits

INSTEAD: dict[tuple[str, type[ast.AST]], str] = {("jump", ast.Break): "continue", ("jump", ast.Continue): "break"} | {
    ("dropped", kind): "pass" for kind in (ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Expr)
}
"""What stands in place of statements that are replaced as a whole."""


@dataclass(frozen=True)
class Mutant:
    """A function with one small change."""

    operator: str
    """Kind of change."""
    line: int
    """Line of the change, counted from the line of `def` (1-based)."""
    before: str
    """What stood there, in one spelling."""
    after: str
    """What stands there now."""
    source: str
    """The whole definition with the change, as `ast.unparse` lays it out."""


def mutants(source: str, most: int) -> list[Mutant]:
    """Return at most so many mutants of a definition, spread over operators and lines, always the same ones.

    Left out are those that say the same as another or as the original: the same code once compiled. An empty list for
    text that is no definition.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return []
        if len(tree.body) != 1 or not isinstance(tree.body[0], Definition):
            return []
        seen = {_compiled(source)}
        found: list[Mutant] = []
        for mutant in _all(tree.body[0]):
            code = _compiled(mutant.source)
            if code is not None and code not in seen:
                seen.add(code)
                found.append(mutant)
    return _spread(found, most)


def _all(function: Definition) -> Iterator[Mutant]:
    for operator, node, make, undo in list(edits(function)):
        before = _shown(node)
        line = getattr(node, "lineno", function.lineno) - function.lineno + 1
        make()
        try:
            after = INSTEAD.get((operator, type(node))) or _shown(node)
            yield Mutant(operator, line, before, after, _text(function))
        except (ValueError, RecursionError):
            pass
        finally:
            undo()


def _spread(found: list[Mutant], most: int) -> list[Mutant]:
    """Take from each operator in turn, in an order that says nothing about the places; return them by line."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in sorted(found, key=lambda one: hashlib.sha256(one.source.encode("utf-8", "replace")).digest()):
        groups.setdefault(mutant.operator, []).append(mutant)
    taken: list[Mutant] = []
    for place in range(max(map(len, groups.values()), default=0)):
        taken += [group[place] for _, group in sorted(groups.items()) if place < len(group)]
    return sorted(taken[:most], key=lambda one: (one.line, one.operator, one.before, one.after))


def _compiled(source: str) -> Any:
    try:
        code = compile(ast.parse(source), "m", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, OverflowError):
        return None
    return _essence(code)


def _essence(code: Any) -> Any:
    constants = tuple(
        _essence(one) if hasattr(one, "co_code") else (type(one).__name__, repr(one)) for one in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable


def _shown(node: ast.AST) -> str:
    try:
        text = _text(node)
    except (ValueError, RecursionError, AttributeError):
        return type(node).__name__
    return text if len(text) <= 200 else text[:197] + "..."


def _text(node: ast.AST) -> str:
    """Return a tree as text that can be stored: docstrings come with lone surrogates as they are."""
    return ast.unparse(node).encode("utf-8", "backslashreplace").decode()
