"""Cyclomatic complexity, by the rules of radon's ComplexityVisitor.

The table is ours so that the one walk over a file can count on its way: radon's visitor would walk each tree again, at
the price of parsing it. The tests hold the two equal. The walk adds the rules that are about scope: an assertion counts
one whatever is in it, and neither decorators, defaults, nested functions nor nested classes count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any


def _catches_all(case: ast.match_case) -> bool:
    # radon also takes a bare capture pattern for the else branch.
    return getattr(case.pattern, "pattern", False) is None


def _loop(node: Any) -> int:
    return 1 + bool(node.orelse)


def _one(node: Any) -> int:
    return 1


DECISIONS: dict[type[ast.AST], Callable[[Any], int]] = {
    ast.Try: lambda node: len(node.handlers) + bool(node.orelse),
    ast.BoolOp: lambda node: len(node.values) - 1,
    ast.If: _one,
    ast.IfExp: _one,
    ast.For: _loop,
    ast.While: _loop,
    ast.AsyncFor: _loop,
    ast.comprehension: lambda node: 1 + len(node.ifs),
    ast.Match: lambda node: max(0, len(node.cases) - any(map(_catches_all, node.cases))),
}
"""Kind of node -> how much it adds."""
