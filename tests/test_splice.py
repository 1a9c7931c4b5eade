"""Putting text into source files: nothing around it changes, whatever the file looks like."""

from __future__ import annotations

import ast
import asyncio
import inspect
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.errors import ItemError
from curate.splice import indent_at, lift, newline_at, put, read, replace, stub_source


def span(raw: bytes, name: str) -> tuple[int, int, int]:
    """Return start, end and start of the body of a definition, decorators left out."""
    text = read(raw)
    for node in ast.walk(ast.parse(text.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            rest = node.body[1:] if ast.get_docstring(node) is not None else node.body
            end = text.offset(node.end_lineno or 0, node.end_col_offset or 0)
            body = text.offset(rest[0].lineno, rest[0].col_offset) if rest else end
            return text.offset(node.lineno, node.col_offset), end, body
    raise AssertionError(name)


def stubbed(source: str | bytes, name: str = "f") -> bytes:
    raw = source.encode() if isinstance(source, str) else source
    return stub_source(raw, *span(raw, name), message='not "here"')


def run(raw: bytes) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(raw, "made.py", "exec"), names)
    return names


FORMS = {
    "plain": "def f(a):\n    return a\n",
    "docstring": "def f(a):\n    '''Doc.'''\n    # why\n    return a  # this\n",
    "docstring alone": "def f(a):\n    '''Doc.'''\n",
    "docstring alone, no newline": "def f(a):\n    '''Doc.\n    more'''",
    "one line": "def f(a): return a\n",
    "one line docstring": "def f(a): 'Doc.'\n",
    "one line both": "def f(a): 'Doc.'; return a\n",
    "semicolons": "def f(a):\n    'Doc.'; b = a; return b;\n",
    "decorated": "import functools\n@functools.lru_cache(None)\ndef f(a):\n    return a\n",
    "signature over lines": "def f(a,  # :\n      b=')',\n      ) -> 'int':\n    return a\n",
    "tabs": "if True:\n\tdef f(a):\n\t\tif a:\n\t\t\treturn a\n",
    "tab docstring alone": "if True:\n\tdef f(a):\n\t\t'Doc.'\n",
    "form feed": "x = 1\n\f\ndef f(a):\n    return a\n\f\ny = 2\n",
    "generator": "def f(a):\n    yield a\n",
    "nested": "def f(a):\n    def g(): return a\n    return g()\n",
    "continued": "def f(a): \\\n    return a\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_stub_raises_and_nothing_else_changes(form: str, newline: str) -> None:
    raw = FORMS[form].replace("\n", newline).encode()
    _, end, body = span(raw, "f")
    made = stubbed(raw)
    assert made[:body] == raw[:body]
    assert made.endswith(raw[end:])
    if newline == "\r\n":
        assert made.count(b"\n") == made.count(b"\r\n")
    function = run(made)["f"]
    with pytest.raises(NotImplementedError, match='not "here"'):
        function(1)
    before = run(raw)["f"]
    assert function.__doc__ == before.__doc__
    assert inspect.signature(function) == inspect.signature(before)


def test_stubbed_coroutines_raise_when_awaited_and_generators_when_iterated() -> None:
    made = run(stubbed("async def f(a):\n    return a\n"))
    with pytest.raises(NotImplementedError):
        asyncio.run(made["f"](1))
    made = run(stubbed("async def f(a):\n    'Doc.'\n    for b in a:\n        yield b\n"))
    assert inspect.isasyncgenfunction(made["f"])
    with pytest.raises(NotImplementedError):
        asyncio.run(anext(made["f"](1)))
    nested = run(stubbed("async def f(a):\n    def g(): yield a\n    return g\n"))
    assert inspect.iscoroutinefunction(nested["f"])


ENCODED = {
    "latin-1": "# coding: latin-1\nx = 'é'\ndef f(a): return 'é'\ny = 'é'\n".encode("latin-1"),
    "bom": b"\xef\xbb\xbf" + "# é\ndef f(a): return 'é'\ny = '😀'\n".encode(),
    "bom first": b"\xef\xbb\xbf" + b"def f(a): return a\n",
    "emoji before": "x = '😀\U0001d538'; y = 1\ndef f(a, b='😀', c=1): return '😀'\n".encode(),
    "shift_jis": "# coding: shift_jis\ndef f(a, b='日本', c=1): return '日本'\n".encode("shift_jis"),
    "odd line ends": "x = '\u2028\x0b\x1c\x85'\ndef f(a): return a\n".encode(),
}


@pytest.mark.parametrize("name", ENCODED)
def test_encodings_keep_every_byte_around(name: str) -> None:
    raw = ENCODED[name]
    start, end, body = span(raw, "f")
    assert raw[start:].startswith(b"def f(")
    assert raw[body:].startswith(b"return")
    made = stubbed(raw)
    assert (made[:body], made[len(made) - len(raw[end:]) :]) == (raw[:body], raw[end:])
    with pytest.raises(NotImplementedError):
        run(made)["f"](1)
    assert replace(raw, start, end, read(raw).cut(start, end)) == raw


def test_new_text_takes_the_files_encoding_or_is_refused() -> None:
    raw = ENCODED["latin-1"]
    start, end, _ = span(raw, "f")
    assert "'ü'".encode("latin-1") in replace(raw, start, end, "def f(a): return 'ü'")
    with pytest.raises(ItemError) as error:
        replace(raw, start, end, "def f(a): return '😀'")
    assert error.value.reason == "unencodable"


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe", b"# coding: none\n", b"x = '\xe9'", b"a\0b", b"# coding: utf-7\nx = '+AGE-'"],
)
def test_what_python_or_we_cannot_read_is_refused(raw: bytes) -> None:
    with pytest.raises(ItemError) as error:
        read(raw)
    assert error.value.reason == "undecodable"


METHOD = (
    "class A:\n    def f(self):\n        '''Doc\n        more.\n        '''\n        x = '''keep\n    this'''\n\n"
    "        return x\n    y = 1\n"
)


def test_lift_and_put_are_inverse_and_leave_strings_alone() -> None:
    raw = METHOD.replace("\n", "\r\n").encode()
    start, end, _ = span(raw, "f")
    lifted = lift(raw, start, end)
    assert lifted == "def f(self):\n    '''Doc\n    more.\n    '''\n    x = '''keep\n    this'''\n\n    return x"
    assert put(raw, start, end, lifted) == raw
    other = put(raw, start, end, "\n@property\ndef f(self):\n    return 3\n")
    assert run(other)["A"]().f == 3
    assert other.replace(b"\r\n", b"").count(b"\n") == 0


def test_indent_and_newline_of_a_place() -> None:
    assert indent_at(b"class A:\n\t def f(): pass", 11) == "\t "
    assert indent_at(b"\f  def f(): pass", 3) == "  "
    assert newline_at(b"a\r\nb\nc", 4, 5) == "\n"
    assert newline_at(b"a", 0, 1) == "\n"


# --- properties

NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8).map(repr)
STATEMENTS = st.one_of(
    st.tuples(NAMES, TEXTS).map(lambda pair: "{} = {}".format(*pair)),
    st.just("'''string\n  over lines 😀'''"),
    st.just("# comment \U0001d538\npass"),
    st.just("\f\nx = [1,\n 2]"),
)


@st.composite
def modules(draw: st.DrawFn) -> bytes:
    indent = draw(st.sampled_from(["    ", "\t", "  "]))
    doc = draw(st.sampled_from(["", "'Doc é.'\n", "'''Doc\n\nmore 😀.'''\n"]))
    body = doc + "\n".join(draw(st.lists(STATEMENTS, min_size=0 if doc else 1, max_size=3)))
    inner = "\n".join(indent + line for line in body.split("\n"))
    before = "\n".join(draw(st.lists(STATEMENTS, max_size=3)))
    function = f"def f(a, b={draw(TEXTS)}):\n{inner}"
    if draw(st.booleans()):
        function = "class A:\n" + "\n".join(indent + line for line in function.split("\n"))
    after = "\n".join(draw(st.lists(STATEMENTS, max_size=2)))
    text = f"{before}\n{function}\n{after}\n".replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@settings(max_examples=150, deadline=None)
@given(modules())
def test_any_module_survives_cutting_and_putting_back(raw: bytes) -> None:
    start, end, body = span(raw, "f")
    text = read(raw)
    assert raw[start:].startswith(b"def f(a, b=")
    assert replace(raw, start, end, text.cut(start, end)) == raw
    made = stubbed(raw)
    ast.parse(read(made).text)
    assert made[:body] == raw[:body]
    assert made.endswith(raw[end:])
    before, after = (ast.parse(read(file).text) for file in (raw, made))
    for tree in (before, after):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body = [ast.Pass()]
    assert ast.dump(before) == ast.dump(after)
