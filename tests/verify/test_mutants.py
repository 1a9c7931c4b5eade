from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.verify.mutants import mutants

CASES = {
    "if x < 2:\n        return 1": {
        ("relation", "x <= 2"),
        ("relation", "x >= 2"),
        ("constant", "3"),
        ("constant", "1"),
    },
    "return a + b": {("arithmetic", "a - b")},
    "return a @ b": {("argument_order", "b @ a")},
    "return a and b": {("logic", "a or b")},
    "return -x": {("negation", "+x")},
    "return g(a, b)": {("argument_order", "g(b, a)")},
    "return x.sum(dim=1)": {("axis", "dim=0"), ("mistaken_name", "x.mean")},
    "return x.sum(axis=-1)": {("axis", "axis=0")},
    "return x.max(axis=(0, 1))": {("axis", "axis=(0,)")},
    "return f(x, keepdim=True)": {("keepdim", "keepdim=False")},
    "return loss(x, reduction='mean')": {("word", "'sum'"), ("dropped_argument", "loss(x)")},
    "return x[:, None]": {("broadcast", "x[None, :]")},
    "return x[1:-1]": {("slice", ":-1"), ("slice", "1:")},
    "return x.float()": {("mistaken_name", "x.int")},
    "return a, b": {("returned", "return (b, a)"), ("returned", "return None")},
    "for i in x:\n        break": {("jump", "continue")},
    "x = 2.0\n    return x": {("constant", "4.0"), ("dropped", "pass")},
    "x.append(1)\n    return x": {("dropped", "pass"), ("mistaken_name", "x.extend")},
    "return True": {("constant", "False")},
    "return not x": {("negation", "not not x")},
}


@pytest.mark.parametrize(("body", "expected"), CASES.items())
def test_each_operator(body: str, expected: set[tuple[str, str]]) -> None:
    found = {(one.operator, one.after) for one in mutants(f"def f(x, a, b):\n    {body}\n", 100)}
    assert found >= expected


@pytest.mark.parametrize(
    "body",
    [
        "pass", "...", "'''Only a docstring, with 1 + 1 < 3.'''", "return", "print(1 + x)", "raise ValueError(x + 1)",
        "x: int", "return None",
    ],
)  # fmt: skip
def test_what_has_nothing_that_a_test_could_notice(body: str) -> None:
    found = {one.operator for one in mutants(f"def f(x: Tuple[int, 2] = 1 + 1) -> List[3]:\n    {body}\n", 100)}
    assert found <= {"dropped"}
    assert ("raise" in body) == bool(found)


def test_decorators_defaults_and_annotations_stay() -> None:
    source = "@decorated(1 + 1)\ndef f(x=3, *, y: int = 4) -> int:\n    z: int = x + y\n    return z\n"
    for one in mutants(source, 100):
        assert one.source.startswith("@decorated(1 + 1)\ndef f(x=3, *, y: int=4) -> int:\n")


def test_equal_code_is_one_mutant_and_the_original_none() -> None:
    found = mutants("def f(x):\n    if not x:\n        return 1\n    return 2\n", 100)
    codes = [compile(one.source, "m", "exec").co_consts[0].co_code for one in found]
    assert len({(code, one.source) for code, one in zip(codes, found, strict=True)}) == len(found)


def test_a_few_are_spread_over_operators_and_always_the_same() -> None:
    source = "def f(a, b):\n" + "".join(f"    a = a + {n}\n" for n in range(20)) + "    return a.sum(axis=1) < b\n"
    few = mutants(source, 6)
    assert len({one.operator for one in few}) == 6
    assert few == mutants(source, 6)
    assert set(few) <= set(mutants(source, 1000))


def test_what_cannot_be_encoded_is_escaped() -> None:
    found = mutants("def f(x):\n    'Doc \\ud88c.'\n    return x + g('\\ud88c')\n", 10)
    assert found
    for one in found:
        assert "\\ud88c" in f"{one.source}".encode().decode()
        assert ast.get_docstring(ast.parse(one.source).body[0]) == "Doc \ud88c."  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "x = 1", "def f(:", "class A: pass", "def f(): pass\ndef g(): pass"])
def test_what_is_no_definition(text: str) -> None:
    assert mutants(text, 10) == []


SOURCES = sorted(Path(ast.__file__).parent.glob("*.py"))[:60]


@given(st.sampled_from(SOURCES))
def test_every_mutant_of_real_code_compiles_and_differs(path: Path) -> None:
    text = path.read_text()
    for node in list(ast.walk(ast.parse(text)))[:2000]:
        if isinstance(node, ast.FunctionDef):
            source = ast.unparse(node)
            for one in mutants(source, 12):
                assert one.source != source
                compile(one.source, "m", "exec")
                assert 1 <= one.line <= len(source.splitlines())
            break
