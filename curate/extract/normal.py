"""The normal form of a definition, and how many tokens it has."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from curate.extract.facts import Scope
from curate.splice import Definition, docstring_of

if TYPE_CHECKING:
    from collections.abc import Callable

_STRING = (
    r"""(?:[A-Za-z]{1,2})?(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
)
_NUMBER = r"(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*"
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%&|^@=!<>]=|[^\s\w]"
_TOKEN = re.compile(rf"{_STRING}|{_NUMBER}|\w+|{_OPERATOR}", re.DOTALL)


def drop_docstrings(module: Scope) -> None:
    """Take the docstrings out of every definition of a module's tree, in place."""
    for scope in module.below():
        node = scope.node
        if isinstance(node, (Definition, ast.ClassDef)):
            docstring = docstring_of(node)
            if docstring is not None:
                node.body = node.body[1:] or [ast.Pass()]


def canonical(node: Definition) -> str:
    """Return a definition as `ast.unparse` writes it: one text for all layouts, comments, quotes and parentheses."""
    text = ast.unparse(node)
    text = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    return text + "\n"


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
