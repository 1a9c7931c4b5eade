"""The normal form of a definition, and how many tokens it has."""

from __future__ import annotations

import ast
import gc
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from curate.extract.facts import Scope
from curate.splice import Definition, docstring_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from curate.records import Function

_STRING = (
    r"""(?:[A-Za-z]{1,2})?(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
)
_NUMBER = r"(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*"
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%&|^@=!<>]=|[^\s\w]"
_NAME = r"""[^\W\d]\w*+(?!["'])"""
_TOKEN = re.compile(rf"{_NAME}|[()\[\],]|{_STRING}|{_NUMBER}|{_OPERATOR}", re.DOTALL)  # the most frequent first


def drop_docstrings(module: Scope, cell: int | None = None) -> None:
    """Take the docstrings out of every definition of a module's tree (of one cell of a notebook), in place."""
    for scope in module.below():
        if scope.cell == cell and isinstance(scope.node, (Definition, ast.ClassDef)):
            drop_docstring(scope.node)


def drop_docstring(node: Definition | ast.ClassDef) -> None:
    """Take the docstring out of one definition, in place."""
    if docstring_of(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]


def canonical(node: Definition) -> str:
    """Return a definition as `ast.unparse` writes it: one text for all layouts, comments, quotes and parentheses."""
    text = ast.unparse(node)
    text = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    return text + "\n"


def laid_out(rows: Iterable[Function], black: Literal["candidates", "all", "none"]) -> Iterator[Function]:
    """Yield rows, in those that the setting names `normalised` as black lays it out.

    To be used when no syntax tree is left, with the cycle collector off: see below.
    """
    lay_out = cache(formatted)  # projects hold copies of their own functions
    for row in rows:
        candidate = row.docstring and not (row.in_tests or row.is_stub or row.is_nested)
        if black == "all" or (black == "candidates" and candidate):
            yield row.model_copy(update={"normalised": lay_out(row.normalised)})
            # black's trees hold cycles. Collected one by one, while little else is new, they cost a third of what
            # those of a whole file do together with its own tree.
            gc.collect(0)
        else:
            yield row


def formatted(text: str) -> str:
    """Return canonical text as black lays it out; the text itself where black cannot read it."""
    from black.parsing import InvalidInput

    try:
        return _formatter()(text, mode=_mode())
    except (InvalidInput, RecursionError):
        return text


@cache
def _mode() -> Any:
    from black.mode import Mode, TargetVersion

    # A stated version spares black the search for the newest feature used, and keeps the result from depending on it.
    return Mode(target_versions={TargetVersion.PY311})


@cache
def _formatter() -> Callable[..., str]:
    import black

    # format_str runs twice, for the sake of trailing commas that the first pass adds. What comes from ast.unparse has
    # none before, and the first pass is already stable (the tests hold that), so half of the time can be spared.
    once: Callable[..., str] = getattr(black, "_format_str_once", black.format_str)
    return once


def count_tokens(text: str) -> int:
    """Count the Python tokens of canonical text, layout left out; a formatted string is one token."""
    return len(_TOKEN.findall(text))
