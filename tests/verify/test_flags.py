"""Flags tell which bodies ran and change nothing else."""

from __future__ import annotations

import ast
import inspect
import linecache
from typing import Any

import pytest

from curate.verify.runner.flags import NAME, with_flags

SOURCE = '''from __future__ import annotations
def plain(x):
    """Say x."""
    return [x, plain.__doc__]
def only_doc():
    """Nothing else."""
@staticmethod
def decorated(): return 1
class A:
    def method(self): return __class__
    async def waits(self): return 2
def outer():
    def inner(): return 3
    return inner
def one_line(): return 4
@numba.njit(parallel=True)
def compiled(): return 5
def lines(): return __import__("inspect").currentframe().f_lineno
'''


def load(source: str, wanted: dict[int, int]) -> tuple[dict[str, Any], bytearray]:
    flags = bytearray(len(wanted))
    numba = type("numba", (), {"njit": staticmethod(lambda **_: lambda function: function)})
    names: dict[str, Any] = {NAME: flags, "numba": numba}
    exec(compile(with_flags(ast.parse(source), wanted), "flagged", "exec"), names)
    return names, flags


@pytest.fixture
def flagged() -> tuple[dict[str, Any], bytearray]:
    wanted = {
        node.lineno: 0
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return load(SOURCE, {line: number for number, line in enumerate(sorted(wanted))})


def test_a_flag_goes_up_when_the_body_starts(flagged: tuple[dict[str, Any], bytearray]) -> None:
    names, flags = flagged
    assert not any(flags), "defining is not running"
    assert names["plain"](1) == [1, "Say x."]
    coroutine = names["A"]().waits()
    assert names["outer"]()() == 3
    coroutine.close()
    ran = [number for number, flag in enumerate(flags) if flag]
    assert ran == [0, 5, 6], "plain, outer, inner; a coroutine that nobody awaited has not run"


def test_docstrings_lines_and_class_cells_stay(flagged: tuple[dict[str, Any], bytearray]) -> None:
    names, _ = flagged
    assert names["only_doc"].__doc__ == "Nothing else."
    assert names["A"]().method() is names["A"]
    assert (
        names["lines"]()
        == SOURCE.splitlines().index('def lines(): return __import__("inspect").currentframe().f_lineno') + 1
    )
    linecache.cache["flagged"] = (len(SOURCE), None, SOURCE.splitlines(True), "flagged")
    assert inspect.getsource(names["one_line"]) == "def one_line(): return 4\n"


def test_bodies_that_something_else_compiles_are_left_alone(flagged: tuple[dict[str, Any], bytearray]) -> None:
    names, flags = flagged
    assert names["compiled"]() == 5
    assert not any(flags)


def test_functions_that_were_not_asked_for_are_left_alone() -> None:
    names, flags = load(SOURCE, {2: 0})
    names["outer"]()
    assert NAME not in names["outer"].__code__.co_names
    assert flags == bytearray(1)
