"""Splits, funnel, prompts, labels believed: the pure parts of a release."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.errors import UserError
from curate.recipe import Split
from curate.release.card import hub_license
from curate.release.funnel import as_text, funnel
from curate.release.gates import GATES
from curate.release.prompt import function_prompt, head
from curate.release.select import best_labels, problem_id_of
from curate.release.splits import by_project

SIZES = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(1, 500), min_size=1, max_size=30)


@given(SIZES, st.integers(0, 5))
def test_every_project_is_in_one_split_and_no_split_grows_past_its_share(sizes: dict[str, int], seed: int) -> None:
    split = Split(shares={"test": 0.7, "validation": 0.2, "train": 0.1})
    chosen = by_project(sizes, split, seed)
    assert chosen.keys() == sizes.keys()
    assert by_project(dict(reversed(sizes.items())), split, seed) == chosen
    total, largest = sum(sizes.values()), max(sizes.values())
    for name, share in split.shares.items():
        held = sum(size for project, size in sizes.items() if chosen[project] == name)
        assert held <= total * share + largest


def test_assigned_projects_go_where_they_are_told() -> None:
    split = Split(shares={"test": 0.5, "train": 0.5}, assign={"a": "train"})
    assert by_project({"a": 90, "b": 10}, split, 0) == {"a": "train", "b": "test"}
    with pytest.raises(UserError, match="goes to dev, which has no share"):
        by_project({"a": 1}, Split(assign={"a": "dev"}), 0)


@given(st.lists(st.sampled_from([(None, ""), *((gate, f"r{gate}") for gate in GATES)]), max_size=60))
def test_the_funnel_accounts_for_every_function(refusals: list[tuple[str | None, str]]) -> None:
    steps = funnel(2, refusals)
    functions, *rest = steps[1:]
    assert functions.count == len(refusals)
    for before, step in zip([functions, *rest], rest, strict=False):
        assert before.count - sum(step.left.values()) == step.count
    assert steps[-1].count == sum(gate is None for gate, _ in refusals)


def test_the_funnel_as_text() -> None:
    text = as_text(funnel(1, [(None, ""), ("docstring", "no_docstring"), ("licence", "no_licence"), (None, "")]))
    assert text.splitlines()[1:4] == [
        "  functions       4",
        "  with docstring  3   -1: no_docstring 1",
        "  with tests      3",
    ]
    assert text.splitlines()[-1] == "  released        2   -1: no_licence 1"


ROW: dict[str, Any] = {
    "project": "lib", "path": "lib/a.py", "qualname": "A.f", "kind": "method", "context": "class A:\n    ...",
    "decorators": ["staticmethod"], "signature": "def f(x)", "docstring": "One.", "normalised_sha256": "1",
}  # fmt: skip


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=60))
def test_the_head_of_a_prompt_is_python_that_holds_the_docstring(docstring: str) -> None:
    text = head({**ROW, "docstring": docstring})
    tree = ast.parse(text)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    found = ast.get_docstring(definition)
    assert (found or "").split() == docstring.split()


def test_a_prompt_names_what_is_wanted() -> None:
    text = function_prompt(ROW)
    assert "the method `A.f` of the file `lib/a.py` in the Python project lib" in text
    assert "@staticmethod\ndef f(x):" in text
    assert "class A:" in text
    assert "property `A.f`" in function_prompt({**ROW, "kind": "getter"})


def test_fences_are_longer_than_those_in_the_docstring() -> None:
    text = function_prompt({**ROW, "docstring": "Use it:\n\n````\nf(1)\n````\n"})
    assert text.count("`````") == 2
    assert text.count("`````python") == 1


def test_the_labeller_believed_first_wins_then_the_surest() -> None:
    def label(labeller: str, value: str, confidence: float) -> dict[str, Any]:
        return {"function_id": "f", "axis": "a", "labeller": labeller, "value": value, "confidence": confidence}

    labels = [label("rules", "x", 0.9), label("human:bo", "y", 0.4), label("new", "z", 1.0)]
    assert best_labels(labels, ["human", "rules"])["f"][0]["value"] == "y"
    assert best_labels(labels[:1] + labels[2:], ["human", "rules"])["f"][0]["value"] == "x"
    assert best_labels(labels, [])["f"][0]["value"] == "z"
    assert best_labels(list(reversed(labels)), [])["f"][0]["value"] == "z"


SOURCE = '@staticmethod\ndef f(x):\n    """One."""\n    return [x, "a"]  # why\n'


def test_a_problem_keeps_its_id_while_its_body_says_the_same() -> None:
    row = {**ROW, "source": SOURCE}
    # Pinned: published ids must outlive changes of how code is read.
    assert problem_id_of(row) == "lib/A.f-b00f0a53"
    reformatted = "@staticmethod\ndef f(\n    x,\n):\n    return [\n        x,\n        'a',\n    ]\n"
    assert problem_id_of(row) == problem_id_of({**row, "source": reformatted, "revision": "2", "context": "other"})
    assert problem_id_of(row) != problem_id_of({**row, "source": SOURCE.replace("x,", "x, x,")})
    assert problem_id_of(row) != problem_id_of({**row, "path": "lib/b.py"})


@pytest.mark.parametrize(
    ("licenses", "expected"), [({"MIT"}, "mit"), ({"MIT", "Apache-2.0"}, "other"), ({"ISC"}, "other"), (set(), "other")]
)
def test_the_licence_of_the_card(licenses: set[str], expected: str) -> None:
    assert hub_license(licenses) == expected
