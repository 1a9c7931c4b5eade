"""Cyclomatic complexity, as radon counts it."""

from __future__ import annotations

from collections.abc import Iterable

from radon.visitors import ComplexityVisitor

from curate.splice import Definition

Place = tuple[int, int]
"""Line and column of `def`."""


def complexities(definitions: Iterable[Definition]) -> dict[Place, int]:
    """Return the complexity of every definition; one that holds others has to come before them."""
    found: dict[Place, int] = {}
    for node in definitions:
        # radon counts nested functions on its way, but says nothing of those in classes in functions.
        pending = [] if (node.lineno, node.col_offset) in found else ComplexityVisitor.from_ast(node).functions
        while pending:
            function = pending.pop()
            found[function.lineno, function.col_offset] = function.complexity
            pending.extend(function.closures)
    return found
