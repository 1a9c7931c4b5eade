"""A file read in pieces says what it says as a whole, and what extraction says."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.errors import ItemError
from curate.extract.pieces import Fact, Pieces, whole
from tests.extract.conftest import Extract

METHOD = st.sampled_from(
    [
        "def {}(self):\n    return 1\n",
        "@decorated(\n    1,\n)\n# a remark\n@other\ndef {}(self, x=[1,\n    2]):\n"
        "    '''Doc.\n\ndef not_one():\n    pass\n    '''\n    return x\n",
        "async  def {}(self): pass\n",
        'def {}(self):\n    text = """\ndef no(): pass\nclass No:\n    def never(self): pass\n"""\n    return text\n',
        "def {}(self):\n    def inner():\n        return 2\n    return inner\n",
        "if 1:\n    def {}(): return 1\nelse:\n    def {}(): return 2\n",
        "try:\n    import a\nexcept ImportError:\n    def {}(): ...\n",
        "x = '''\n@no\n    def {}(): pass\n'''\n",
        "x = (1 +\\\n2)\ny = [\n1]\n",
        "class {}:\n    '''Doc.'''\n    z = 1\n    def m(self):\n        return self\n"
        "\n    @property\n    def p(self): return 3\n",
        "class {}(A,\n    B\n): pass\n",
        "# only a remark\n",
        "match x:\n    case 1:\n        def {}(): return 'one'\n",
        "@broken(\ndef {}:\n",
    ]
)  # fmt: skip
CLASS = st.sampled_from(["class C:\n", "@d\nclass C(A):\n    '''Doc.'''\n", "class C(\n    A,\n):\n    x = 1\n"])
NAMES = st.sampled_from("abc")


@st.composite
def modules(draw: st.DrawFn) -> str:
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        made = [draw(METHOD).replace("{}", draw(NAMES)) for _ in range(draw(st.integers(1, 3)))]
        if draw(st.booleans()):
            indent = draw(st.sampled_from(["    ", "  ", "\t"]))
            head = draw(CLASS)
            indent = "    " if "    '''" in head or "    x" in head else indent
            parts.append(head + "".join(textwrap.indent(one, indent) for one in made))
        else:
            parts += made
    return draw(st.sampled_from(["", "\n"])).join(parts)


def both(pieces: Pieces, raw: bytes) -> tuple[object, object]:
    answers: list[object] = []
    for read in (pieces.facts, whole):
        try:
            answers.append(read(raw))
        except ItemError as error:
            answers.append(error.reason)
    return answers[0], answers[1]


PIECES = Pieces()


@settings(max_examples=300, deadline=None)
@given(modules(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_in_pieces_as_a_whole(text: str, newline: str) -> None:
    raw = text.replace("\n", newline).encode()
    one, other = both(Pieces(), raw)
    assert one == other
    assert both(PIECES, raw)[0] == other  # with all that other files have left there


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbfdef f():\n    return 1\n",
        "# -*- coding: latin-1 -*-\ndef f():\n    return '\xe9'\n".encode("latin-1"),
        b"def f():\n    return '\xe9'\n",
        b"def f():\n    return 1\n\0",
        b"# coding: no-such\ndef f(): pass\n",
        b"class A:\n    def f(self):\n        pass\nif B:\n    import x\n    def g(): pass\n",
        b"class A:\n  if x:\n    def f(self): pass\n  else:\n    def f(self): pass\n",
        b"",
    ],
)
def test_encodings_and_odd_shapes(raw: bytes) -> None:
    one, other = both(Pieces(), raw)
    assert one == other


def test_it_hashes_as_extraction_does(extract: Extract) -> None:
    text = Path(__file__).with_name("histories.py").read_text()
    found = extract({"a.py": text})
    facts = Pieces().facts(text.encode())
    assert [(fact.qualname, fact.body.hex()) for fact in facts] == [
        (row.qualname, row.normalised_sha256) for row in found.functions
    ]


def test_only_what_changed_is_parsed() -> None:
    parts = [
        f"class C{n}:\n    def f(self):\n        return {n}\n\n    def g(self):\n        return {n}\n" for n in range(9)
    ]
    pieces = Pieces()
    pieces.facts("\n".join(parts).encode())
    before = pieces.parsed
    parts[4] = parts[4].replace("return 4", "return 44", 1)
    facts: tuple[Fact, ...] = pieces.facts("\n".join(parts).encode())
    assert len(facts) == 18
    assert pieces.parsed == before + 1


@pytest.mark.slow
@pytest.mark.parametrize("package", ["numpy", "black", "pydantic", "_pytest", "datasets"])
def test_real_packages_in_pieces_as_a_whole(package: str) -> None:
    module = pytest.importorskip(package)
    pieces = Pieces()
    files = sorted(Path(module.__file__).parent.rglob("*.py"))
    assert len(files) > 10
    for path in files:
        one, other = both(pieces, path.read_bytes())
        assert one == other, path
