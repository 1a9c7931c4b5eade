"""Functions: which there are, where they stand, and what is known of each."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.extract.docstrings import sections
from curate.extract.files import dotted_name
from curate.extract.functions import one_line
from curate.extract.normal import count_tokens
from tests.extract.conftest import CASES, Extract

STYLES = {
    "google": ["summary", "description", "parameters", "returns", "raises"],
    "numpy": ["summary", "parameters", "returns", "see also"],
    "rest": ["summary", "parameters", "returns", "raises", "notes"],
    "none": ["summary"],
}


def test_every_kind_of_definition_is_told_apart(extract: Extract) -> None:
    raw = (CASES / "kinds.py").read_bytes()
    found = extract({"kinds.py": raw}).functions
    lines = [raw.count(b"\n", 0, row.start_byte) + 1 for row in found]
    got = [[r.qualname, r.kind, n, r.first_line, r.last_line, r.signature] for r, n in zip(found, lines, strict=True)]
    assert got == json.loads((CASES / "kinds.json").read_text())
    assert len({row.function_id for row in found}) == len(found)


def test_spans_bodies_stubs_and_decorators(extract: Extract) -> None:
    raw = (CASES / "kinds.py").read_bytes()
    found = extract({"kinds.py": raw})
    last = found.function("decorated")
    assert raw[last.start_byte : last.end_byte].startswith(b"@functools.lru_cache(")
    assert raw[last.body_byte : last.end_byte] == b"return a"
    assert last.decorators == ["functools.lru_cache(maxsize=None)", "lambda g: g"]
    assert last.arguments == ["a", "b", "rest", "key", "more"]
    function = found.function("f")
    assert raw[function.body_byte : function.end_byte] == b"return x"
    assert {row.qualname for row in found.functions if row.is_stub} == {"A.s", "last"}
    assert {row.qualname for row in found.functions if row.is_nested} == {
        "B.Inner.same.<locals>.helper",
        "jit.<locals>.wrapper",
    }
    assert {row.qualname for row in found.functions if row.is_async} == {"B.Inner.same"}
    inner = found.function("B.Inner.same")
    assert inner.source.split("\n")[:3] == ["async def same(self):", "    def helper():", "        return 3"]


def test_ids_depend_on_the_snapshot_and_the_place_alone(extract: Extract) -> None:
    first = extract({"a.py": "def f(): return 1\n"}).functions[0]
    moved = extract({"a.py": "\n\n# more\ndef f(): return 2\n"}).functions[0]
    other = extract({"a.py": "def f(): return 1\n"}, snapshot="other").functions[0]
    renamed = extract({"a.py": "", "b.py": "def f(): return 1\n"}).functions[0]
    assert first.function_id == moved.function_id
    assert len({first.function_id, other.function_id, renamed.function_id}) == 3
    assert len(first.function_id) == 16


def test_names_are_resolved_through_imports(extract: Extract) -> None:
    files = {"src/pkg/__init__.py": "", "src/pkg/sub/__init__.py": "", "src/pkg/sub/names.py": ""}
    found = extract(files | {"src/pkg/sub/names.py": (CASES / "names.py").read_bytes()})
    row = found.function("Base.forward")
    assert row.module == "pkg.sub.names"
    assert row.imports == [
        "math.sqrt", "numpy.abs", "os.path.join", "pkg.sub.sibling.go", "pkg.top.thing", "torch.nn.functional.relu",
    ]  # fmt: skip
    assert row.calls == [
        "torch.nn.functional.relu", "pkg.sub.names.Base.step", "pkg.sub.names.helper", "inner", "numpy.abs",
        "math.sqrt",        "pkg.sub.sibling.go", "pkg.top.thing", "os.path.join",
    ]  # fmt: skip
    assert row.bases == ["torch.nn.Module"]
    assert row.arguments == ["self", "x", "rest", "key", "more"]


def test_a_parameter_is_not_the_import_of_that_name(extract: Extract) -> None:
    found = extract({"names.py": (CASES / "names.py").read_bytes()})
    assert found.function("shadow").imports == []
    assert found.function("shadow").calls == ["F.relu", "len"]
    assert found.function("Base.__init__").imports == []


def test_context_shows_imports_and_the_class_without_bodies(extract: Extract) -> None:
    row = extract({"names.py": (CASES / "names.py").read_bytes()}).function("Base.forward")
    tree = ast.parse(row.context)
    assert [ast.unparse(node) for node in tree.body[:-1]] == [
        "import numpy as np", "import os.path", "from . import sibling", "from ..top import thing as other",
        "from math import sqrt as root", "from torch.nn import functional as F",
    ]  # fmt: skip
    assert ast.unparse(tree.body[-1]).split("\n") == [
        "class Base(nn.Module):", '    """A base."""', "    size: int = 3", "", "    def __init__(self, np):",
        "        ...",        "", "    def step(self, *args):", "        ...",
    ]  # fmt: skip


def test_context_of_a_large_class_is_bounded_and_still_parses(extract: Extract) -> None:
    methods = "".join(f"    def method_{n}(self, argument={n}): return {n}\n" for n in range(500))
    docstring = "    '''Says \"\"\" and \\\\ and ends in a quote\"'''\n"
    table = "    TABLE = {" + ", ".join(f"'{n}': 'x'" for n in range(99)) + "}\n"
    row = extract({"a.py": f"class A:\n{docstring}{table}{methods}"}, max_context=1000).function("A.method_3")
    assert len(row.context) < 1100
    assert "method_2(" in row.context
    assert "    TABLE = ...\n" in row.context
    assert "method_3(" not in row.context
    ast.parse(row.context)


@pytest.mark.parametrize("black", ["candidates", "all", "none"])
def test_copies_with_other_layout_comments_and_quotes_are_equal(extract: Extract, black: str) -> None:
    one = "def f(a, b = 'x'):\n    '''Doc.'''\n    # why\n    return g(a,\n             (b))\n"
    two = 'def f(\n    a,\n    b="x",\n):\n    """Other doc."""\n    return g(\n        a, b,  # here\n    )\n'
    found = extract({"one.py": one, "two.py": two}, black=black).functions
    assert found[0].normalised == found[1].normalised
    assert found[0].normalised_sha256 == found[1].normalised_sha256
    assert "oc." not in found[0].normalised
    assert "#" not in found[0].normalised


def test_what_can_become_a_problem_is_formatted_by_black(extract: Extract) -> None:
    import black

    text = "def f(a):\n    'Doc.'\n    return " + " + ".join(f"a['{n}']" for n in range(20)) + "\n"
    found = extract({"a.py": text, "tests/test_a.py": text.replace("f(", "test_f(")})
    row = found.function("f")
    assert row.normalised == black.format_str(row.normalised, mode=black.Mode())
    assert max(map(len, row.normalised.split("\n"))) <= 88
    assert "'" in found.function("test_f").normalised


def test_hash_does_not_depend_on_whether_black_ran(extract: Extract) -> None:
    text = "def f(a):\n    'Doc.'\n    return a['x']\n"
    rows = [extract({"a.py": text}, black=black).function("f") for black in ("candidates", "none")]
    assert rows[0].normalised != rows[1].normalised
    assert rows[0].normalised_sha256 == rows[1].normalised_sha256
    assert rows[0].tokens == rows[1].tokens


def test_docstring_sections_in_three_styles(extract: Extract) -> None:
    found = extract({"style.py": (CASES / "style.py").read_bytes()})
    assert {name: [part.name for part in found.function(name).sections] for name in STYLES} == STYLES
    parts = {part.name: part.text for part in found.function("google").sections}
    assert parts["parameters"] == "a: first\n    goes on\nb (int): second"
    assert parts["returns"] == "int: the sum"
    assert found.function("rest").sections[1].text == ":param a: first\n:type a: int"


@given(st.text("aA :\n-.:=\t>"))
def test_no_docstring_stops_the_parser(text: str) -> None:
    assert all(part.name for part in sections(text))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pkg/a.py", "pkg.a"),
        ("pkg/__init__.py", "pkg"),
        ("src/pkg/a.py", "pkg.a"),
        ("code/pkg/sub/a.py", "pkg.sub.a"),
        ("src/alone.py", "alone"),
        ("setup.py", "setup"),
        ("examples/run.py", "examples.run"),
        ("pkg/plain/a.py", "pkg.plain.a"),
    ],
)
def test_dotted_names(path: str, name: str) -> None:
    assert dotted_name(path, {"pkg", "src/pkg", "code/pkg", "code/pkg/sub"}) == name


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(a,  # one\n      b=(1,\n)):", "def f(a, b=(1,)):"),
        ("def f(\n    a,\n    b,\n):", "def f(a, b):"),
        ('def f(a=\'#  no\', b="""x  y"""):  # yes', 'def f(a=\'#  no\', b="""x  y"""):'),
        ("def f \\\n  (a):", "def f (a):"),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def own_files() -> list[Path]:
    return sorted((Path(__file__).parents[2] / "curate").rglob("*.py"))


def test_every_function_has_its_own_complexity_as_radon_counts_it(extract: Extract) -> None:
    case = (
        "def f(a):\n    assert a or [b for b in a]\n    @d(x or y)\n    def g(c=1 if a else 2):\n"
        "        return c and a or 3\n    match a:\n        case 1: pass\n        case _: pass\n"
        "    try: pass\n    except E: pass\n    except F: pass\n    else: pass\n    while a:\n        pass\n"
        "    else: pass\n"
        "    class C:\n        def m(self):\n            def k():\n                if a: pass\n"
        "            return lambda: 1 if a else k() or 3\n"
        "    return {x: y for x in a if x if y for y in x}\n"
        "if a:\n    class A:\n        class B:\n            async def n(self):\n"
        "                async for x in self: pass\n"
    )
    found = {row.qualname: row.cyclomatic_complexity for row in extract({"case.py": case}).functions}
    c = "f.<locals>.C.m"
    assert found == {"f": 12, "f.<locals>.g": 3, c: 3, f"{c}.<locals>.k": 2, "A.B.n": 2}


def test_tokens_are_counted_as_pythons_tokenizer_does(extract: Extract) -> None:
    files = {f"m{n}.py": path.read_text() for n, path in enumerate(own_files())}
    layout = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}
    for row in extract(files, black="none").functions:
        if 'f"' in row.normalised or "f'" in row.normalised:
            continue  # one token for us, and for Python before 3.12
        tokens = tokenize.generate_tokens(io.StringIO(row.normalised).readline)
        assert row.tokens == sum(token.type not in layout for token in tokens), row.normalised
    assert count_tokens("f'{a}' + 1e-5 ** x.y != ...") == 9
