"""The lexer, canonical text, renaming and shingles: what makes two pieces of code the same."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import symtable
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import black
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.renaming import erased, local_names, renamed
from curate.shingles import canonical, functions, jaccard, logical_lines, shingles, words


def text(code: str) -> str:
    return canonical(logical_lines(textwrap.dedent(code)))


def alike(code: str, *, keep_own_name: bool = False) -> str:
    return renamed(logical_lines(textwrap.dedent(code)), keep_own_name=keep_own_name)


SAME = {
    "wrapped": ("f(a, b)", "f(\n    a,\n    b,\n)"),
    "backslash": ("x = a + b", "x = a + \\\n    b"),
    "comment": ("x = 1", "# why\nx = 1  # because"),
    "quotes": ("x = 'it'", 'x = "it"'),
    "escaped quotes": ("x = 'it\\'s'", 'x = "it\'s"'),
    "docstring": ("def f():\n    return 1", 'def f():\n    """Say.\n\n    def g(): pass\n    """\n    return 1'),
    "docstring on the line": ("def f():\n    return 1", "def f(): 'doc'; return 1"),
    "one line": ("if a:\n    b()\n    c()", "if a: b(); c();"),
    "indentation": ("if a:\n  b()\nelse:\n  c()", "if a:\n\tb()\nelse:\n\tc()"),
    "windows": ("if a:\n    b()\n", "if a:\r\n    b()\r\n"),
    "parentheses": ("return a + b", "return (a + b)"),
    "parentheses of a condition": ("if a or b:\n    c()", "if (a or b):\n    c()"),
    "parentheses of an argument": ("f(a or b)", "f((a or b))"),
    "parentheses of a tuple": ("for a, b in c:\n    d()", "for (a, b) in (c):\n    d()"),
    "imports": ("from a import b, c", "from a import (\n    b,\n    c,\n)"),
    "numbers": ("x = [0.5, 1.0, 0xff]", "x = [.5, 1., 0xFF]"),
}
DIFFERENT = {
    "nesting": ("if a:\n    b()\nc()", "if a:\n    b()\n    c()"),
    "tuple of one": ("x = (y)", "x = (y,)"),
    "precedence": ("x = (a + b) * c", "x = a + b * c"),
    "membership": ("x in (a or b)", "x in a or b"),
    "generator": ("x = (a for a in b)", "x = [a for a in b]"),
    "target": ("for a, (b, c) in d:\n    e()", "for a, b, c in d:\n    e()"),
    "argument": ("f((a, b))", "f(a, b)"),
    "call": ("f(a)", "f; a"),
    "string": ("x = 'a'", "x = a"),
    "number": ("x = 1", "x = 1.0"),
    "prefix": ("x = b'a'", "x = 'a'"),
}


@pytest.mark.parametrize("case", SAME)
def test_layout_does_not_count(case: str) -> None:
    one, other = SAME[case]
    assert text(one) == text(other)
    assert text(one)


@pytest.mark.parametrize("case", DIFFERENT)
def test_code_does(case: str) -> None:
    one, other = DIFFERENT[case]
    assert text(one) != text(other)


BROKEN = {
    "python 2": "def f(x):\n    print 'a', x\n    exec `x` in d\n    raise E, 'no'\n",
    "prompt": 'def f(a: int) -> int:\n    """ Say a.\n    >>> f(1)\n',
    "open bracket": "x = foo(1,\ndef f(a):\n    return a\n",
    "closed twice": "x = 1))\ndef f(a):\n    return a\n",
    "half": "    return a\nelse:\n  b",
    "not python": "<?php echo 'it''s'; ?> {{ x }} \x00 \ud800 é ﬁ",
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_does_not_parse_is_read_too(case: str) -> None:
    lines = logical_lines(BROKEN[case])
    with pytest.raises((SyntaxError, ValueError)):
        ast.parse(BROKEN[case])
    assert shingles(words(lines))
    assert renamed(lines)
    assert erased(lines)


def test_an_open_bracket_does_not_swallow_the_next_function() -> None:
    assert [canonical(part) for part in functions(logical_lines(BROKEN["open bracket"]))] == [
        "def f ( a ) :\n\treturn a"
    ]


@given(st.text(alphabet="ab \t\n\\\"'()[]{},;:.#=@0_*fdenilrtu", max_size=80))
def test_anything_is_read(source: str) -> None:
    lines = logical_lines(source)
    assert all(line.tokens for line in lines)
    renamed(lines)
    erased(lines)
    functions(lines)


STDLIB: list[ModuleType] = [json.decoder, textwrap, inspect, symtable]


def definitions(module: ModuleType) -> list[str]:
    source = inspect.getsource(module)
    return [
        textwrap.dedent("\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno]))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


@pytest.mark.parametrize("module", STDLIB, ids=lambda module: module.__name__)
def test_local_names_are_those_the_compiler_finds(module: ModuleType) -> None:
    found = definitions(module)
    assert len(found) > 5
    for source in found:
        assert local_names(logical_lines(source)) == _bound(symtable.symtable(source, "f", "exec")), source


def _bound(table: symtable.SymbolTable) -> frozenset[str]:
    bound, foreign, tables = set(), set(), [table]
    for scope in tables:
        tables += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_imported() or symbol.is_declared_global():
                foreign.add(symbol.get_name())
            elif symbol.is_assigned() or symbol.is_parameter():
                bound.add(symbol.get_name())
    return frozenset(name for name in bound - foreign if not name.startswith("."))


@pytest.mark.parametrize("module", STDLIB, ids=lambda module: module.__name__)
@pytest.mark.parametrize("width", [40, 200])
def test_black_changes_nothing_that_counts(module: ModuleType, width: int) -> None:
    for source in definitions(module)[:40]:
        assert text(black.format_str(source, mode=black.Mode(line_length=width))) == text(source)


def test_renaming_keeps_what_is_not_the_codes_own() -> None:
    code = """
        def loss(model, batch, scale=1.0):
            logits = model(batch.x, axis=scale)
            for index, (a, b) in enumerate(logits):
                total = np.sum(a, key=lambda item, b=b: item + b)
            return f"{total:.2f} of {batch.total}"
    """
    assert alike(code).splitlines() == [
        "def $0 ( $1 , $2 , $3 = 1.0 ) :",
        "\t$4 = $1 ( $2 . x , axis = $3 )",
        "\tfor $5 , ( $6 , $7 ) in enumerate ( $4 ) :",
        "\t\t$8 = np . sum ( $6 , key = lambda $9 , $7 = $7 : $9 + $7 )",
        '\treturn f"{$8:.2f} of {$2.total}',
    ]


def test_a_copy_with_other_names_is_alike_and_one_that_calls_other_things_is_not() -> None:
    one = "def f(a, b):\n    c = np.dot(a, b)\n    return c"
    assert alike(one) == alike("def g(x, y):\n    z = np.dot(x, y)\n    return z")
    assert alike(one) != alike("def g(x, y):\n    z = np.add(x, y)\n    return z")
    assert alike(one) != alike("def g(x, y):\n    z = np.dot(y, x)\n    return z")
    assert alike(one, keep_own_name=True) != alike(one.replace("f(", "g("), keep_own_name=True)


def test_functions_are_found_with_their_decorators_and_methods() -> None:
    code = """
        import a
        @wrap
        @b.c(1)
        async def f(x):
            def g(): return 1
            return g
        class A:
            def h(self): pass
        f()
    """
    parts = functions(logical_lines(textwrap.dedent(code)))
    assert [(part[0].tokens[:2], len(part)) for part in parts] == [
        (("@", "wrap"), 6),
        (("def", "g"), 2),
        (("def", "h"), 2),
    ]


def test_shingles_are_the_same_in_every_process() -> None:
    program = "from curate.shingles import shingles; print(sorted(shingles('a b c d e f'.split())))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {"[11448081647118512950, 13016736390431212562]\n"}
    assert len(shingles(["a", "b"])) == 1
    assert shingles([]) == set()


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_jaccard(one: set[int], other: set[int]) -> None:
    assert jaccard(one, other) == jaccard(other, one)
    assert (jaccard(one, other) == 1) == (one == other)
