"""The changes that make mutants: what each operator does to which nodes of a function's tree.

The general operators are those that studies of mutation testing keep as sufficient (Offutt et al., "An experimental
determination of sufficient mutant operators", 1996): relations, arithmetic, logic, constants, and on top of these
dropped statements and returned values. The others change what deep-learning code is often wrong in: axes, kept
dimensions, reductions, element types, broadcasting, the order of arguments.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

from curate.splice import Definition, docstring_of

RELATIONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
AXES = {"axis", "dim", "axes", "dims"}
KEPT = {"keepdim", "keepdims"}
NAMES = {
    "mean": "sum", "sum": "mean", "max": "min", "min": "max", "amax": "amin", "amin": "amax", "argmax": "argmin",
    "argmin": "argmax", "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like", "ones_like": "zeros_like",
    "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "maximum": "minimum", "minimum": "maximum",
    "sin": "cos", "cos": "sin", "var": "std", "std": "var", "cumsum": "cumprod", "cumprod": "cumsum",
    "vstack": "hstack", "hstack": "vstack", "triu": "tril", "tril": "triu", "append": "extend",
    "float32": "float16", "float64": "float32", "int64": "int32", "int32": "int64", "float": "int",
}  # fmt: skip
"""Names of functions and element types that are mistaken for each other."""
WORDS = {
    "mean": "sum", "sum": "mean", "none": "mean", "max": "min", "min": "max", "same": "valid", "valid": "same",
    "bilinear": "nearest", "nearest": "bilinear", "constant": "reflect", "reflect": "constant", "ij": "xy", "xy": "ij",
    "replicate": "reflect", "left": "right", "right": "left", "sqrt": "log",
}  # fmt: skip
"""The same of words that are handed over as strings."""
SILENT = {"print", "warn", "debug", "info", "warning", "error", "exception", "log"}
"""What is said to people is not what a function does."""

Edit = tuple[str, ast.AST, Callable[[], None], Callable[[], None]]
"""Operator, node as it was, and how to make and to undo the change."""


def edits(function: Definition) -> Iterator[Edit]:
    """Yield every change of a function's own body; nested definitions belong to it."""
    docstring = docstring_of(function)
    pending: list[ast.AST] = [node for node in function.body if node is not docstring]
    for statement in function.body:
        yield from _statement(function.body, statement)
    while pending:
        node = pending.pop()
        yield from _of(node)
        pending += _below(node)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is looked at below a node: no annotations, no f-strings, nothing that is only said to people."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and _speaks(node)):
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        if isinstance(node, Definition | ast.ClassDef) and name == "body" and docstring_of(node) is not None:
            value = value[1:]  # noqa: PLW2901
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _speaks(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in SILENT


def _of(node: ast.AST) -> Iterator[Edit]:
    for kind, operators in OPERATORS.items():
        if isinstance(node, kind):
            for operator in operators:
                yield from operator(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and not isinstance(node, ast.ClassDef):
            for statement in block:
                yield from _statement(block, statement)


def _set(operator: str, node: ast.AST, name: str, new: Any) -> Edit:
    old = getattr(node, name)
    return operator, node, lambda: setattr(node, name, new), lambda: setattr(node, name, old)


# --- operators of any code


def _relation(node: Any) -> Iterator[Edit]:
    for place, relation in enumerate(node.ops):
        for other in RELATIONS[type(relation)]:
            yield _set("relation", node, "ops", [*node.ops[:place], other(), *node.ops[place + 1 :]])


def _arithmetic(node: Any) -> Iterator[Edit]:
    left = getattr(node, "left", None)
    is_text = isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str))
    if type(node.op) in ARITHMETIC and not is_text:
        yield _set("arithmetic", node, "op", ARITHMETIC[type(node.op)]())


def _logic(node: Any) -> Iterator[Edit]:
    yield _set("logic", node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _negation(node: Any) -> Iterator[Edit]:
    """Take a minus away, or turn a `not` around."""
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield _set("negation", node, "op", ast.UAdd())
    elif isinstance(node.op, ast.Not):
        yield _set("negation", node, "operand", ast.UnaryOp(ast.Not(), node.operand))


def _condition(node: Any) -> Iterator[Edit]:
    test = node.test
    opposite = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    yield _set("condition", node, "test", opposite or ast.UnaryOp(ast.Not(), test))


def _constant(node: Any) -> Iterator[Edit]:
    value = node.value
    if isinstance(value, bool):
        yield _set("constant", node, "value", not value)
    elif isinstance(value, int):
        for other in (value + 1, value - 1) if value else (1,):
            yield _set("constant", node, "value", other)
    elif isinstance(value, float) and math.isfinite(value):
        yield _set("constant", node, "value", value + 1.0 if abs(value) < 1 else value * 2)
    elif isinstance(value, str) and value in WORDS:
        yield _set("word", node, "value", WORDS[value])


def _returned(node: Any) -> Iterator[Edit]:
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return
    yield _set("returned", node, "value", ast.Constant(None))
    if isinstance(value, ast.Tuple) and len(value.elts) > 1 and not any(isinstance(e, ast.Starred) for e in value.elts):
        yield _set("returned", node, "value", ast.Tuple(value.elts[::-1], ast.Load()))


def _statement(block: list[Any], statement: Any) -> Iterator[Edit]:
    """Put `pass` in place of a statement that does something, and `break` and `continue` in place of each other."""
    instead: ast.stmt
    if isinstance(statement, ast.Break | ast.Continue):
        operator, instead = "jump", ast.Continue() if isinstance(statement, ast.Break) else ast.Break()
    elif isinstance(statement, ast.Assign | ast.AugAssign | ast.Delete | ast.Raise) or _acts(statement):
        operator, instead = "dropped", ast.Pass()
    else:
        return
    place = next(number for number, one in enumerate(block) if one is statement)
    yield operator, statement, lambda: block.__setitem__(place, instead), lambda: block.__setitem__(place, statement)


def _acts(statement: ast.stmt) -> bool:
    """Say whether a statement is a call that is there for what it does."""
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
    return isinstance(value, ast.Call) and not _speaks(value)


# --- operators that deep-learning code is often wrong in


def _call(node: Any) -> Iterator[Edit]:
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    if len(plain) == len(node.args) >= 2 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
        yield _set("argument_order", node, "args", [node.args[1], node.args[0], *node.args[2:]])
    for place, keyword in enumerate(node.keywords):
        if keyword.arg in AXES:
            yield from _axis(keyword)
        elif keyword.arg in KEPT and isinstance(keyword.value, ast.Constant):
            yield _set("keepdim", keyword, "value", ast.Constant(not keyword.value.value))
        elif keyword.arg is not None:
            rest = [*node.keywords[:place], *node.keywords[place + 1 :]]
            yield _set("dropped_argument", node, "keywords", rest)


def _axis(keyword: ast.keyword) -> Iterator[Edit]:
    value = keyword.value
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        yield _set("axis", keyword, "value", ast.Constant(0 if value.value else 1))
    elif isinstance(value, ast.UnaryOp):
        yield _set("axis", keyword, "value", ast.Constant(0))
    elif isinstance(value, ast.Tuple) and len(value.elts) > 1:
        yield _set("axis", keyword, "value", ast.Tuple(value.elts[:-1], ast.Load()))


def _name(node: Any) -> Iterator[Edit]:
    if isinstance(node.ctx, ast.Load) and node.attr in NAMES:
        yield _set("mistaken_name", node, "attr", NAMES[node.attr])


def _subscript(node: Any) -> Iterator[Edit]:
    """Let a new axis or a slice stand at another place, and leave the edges of slices out."""
    if not isinstance(node.ctx, ast.Load):
        return
    index = node.slice
    if isinstance(index, ast.Tuple) and len(index.elts) > 1 and ast.dump(index.elts[0]) != ast.dump(index.elts[-1]):
        yield _set("broadcast", node, "slice", ast.Tuple(index.elts[::-1], ast.Load()))
    if isinstance(index, ast.Slice):
        for edge in ("lower", "upper", "step"):
            if getattr(index, edge) is not None:
                yield _set("slice", index, edge, None)


def _matrix(node: Any) -> Iterator[Edit]:
    if isinstance(node.op, ast.MatMult):
        operator, left, right = "argument_order", node.left, node.right

        def swap() -> None:
            node.left, node.right = right, left

        def back() -> None:
            node.left, node.right = left, right

        yield operator, node, swap, back


OPERATORS: dict[type[ast.AST], tuple[Callable[[Any], Iterator[Edit]], ...]] = {
    ast.Compare: (_relation,),
    ast.BinOp: (_arithmetic, _matrix),
    ast.AugAssign: (_arithmetic,),
    ast.BoolOp: (_logic,),
    ast.UnaryOp: (_negation,),
    ast.If: (_condition,),
    ast.IfExp: (_condition,),
    ast.Constant: (_constant,),
    ast.Return: (_returned,),
    ast.Call: (_call,),
    ast.Attribute: (_name,),
    ast.Subscript: (_subscript,),
}
