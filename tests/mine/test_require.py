"""The [require] table of a source file: what it takes, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from curate.mine.frameworks import KINDS
from curate.mine.require import Require, refusal


def _profile(
    uses: dict[str, int] | None = None, functions: int = 10, documented: int = 5, tests: int = 20
) -> dict[str, Any]:
    return {
        "functions": functions,
        "documented_share": documented / functions if functions else 0.0,
        "tests": tests,
        "tests_per_function": tests / functions if functions else 0.0,
        "frameworks": [
            {"name": name, "kind": KINDS[name], "files": files, "test_files": 1} for name, files in (uses or {}).items()
        ],
    }


@pytest.mark.parametrize(
    ("require", "profile", "reason", "sentence"),
    [
        ({"frameworks": ["deep learning"]}, _profile({"sklearn": 9, "torch": 0}),
         "not_deep_learning", "imports no deep learning framework outside its tests"),
        ({"frameworks": ["torch", "jax"]}, _profile({"tensorflow": 3}),
         "not_deep_learning", "imports no torch or jax outside its tests"),
        ({"frameworks": ["sklearn", "deep learning"]}, _profile({"numpy": 3}),
         "no_framework", "imports no sklearn or deep learning framework outside its tests"),
        ({"frameworks": ["deep learning"], "framework_files": 4}, _profile({"torch": 3, "jax": 3}),
         "not_deep_learning", "imports jax in 3 files outside its tests, and nothing asked for in 4"),
        ({"frameworks": ["torch"], "framework_files": 2}, _profile({"torch": 1}),
         "not_deep_learning", "imports torch in 1 file outside its tests, and nothing asked for in 2"),
        ({"tests_per_function": 3}, _profile(tests=4), "few_tests", "has 0.40 tests a function, fewer than 3"),
        ({"tests": 21}, _profile(), "few_tests", "has 20 tests, fewer than 21"),
        ({"tests": 1, "tests_per_function": 1}, _profile(tests=0), "few_tests", "has 0 tests, fewer than 1"),
        ({"documented": 0.6}, _profile(), "undocumented", "documents 50.0% of its functions, fewer than 60.0%"),
        ({"documented": 0.1}, _profile(functions=0), "undocumented",
         "documents 0.0% of its functions, fewer than 10.0%"),
        ({"functions": 2}, _profile(functions=1), "few_functions", "has 1 function, fewer than 2"),
    ],
)  # fmt: skip
def test_what_is_refused_and_why(require: dict[str, Any], profile: dict[str, Any], reason: str, sentence: str) -> None:
    assert refusal(profile, Require(**require)) == (reason, sentence)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("frameworks", ["pytorch"], "pytorch is not known: name a kind (deep learning, machine learning, arrays)"),
        ("framework_files", 0, "greater than or equal to 1"),
        ("documented", 1.5, "less than or equal to 1"),
        ("documented", float("nan"), "less than or equal to 1"),
        ("tests_per_function", float("inf"), "finite"),
        ("tests", -1, "greater than or equal to 0"),
        ("stars", 3, "Extra inputs"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace("(", r"\(").replace(")", r"\)")):
        Require(**{key: value})


_USES = st.dictionaries(st.sampled_from(sorted(KINDS)), st.integers(0, 5), max_size=4)
_PROFILES = st.builds(
    _profile, _USES, functions=st.integers(0, 50), documented=st.integers(0, 50), tests=st.integers(0, 50)
)
_ASKED = st.fixed_dictionaries(
    {},
    optional={
        "frameworks": st.lists(st.sampled_from([*sorted(KINDS), *dict.fromkeys(KINDS.values())]), max_size=3),
        "framework_files": st.integers(1, 5),
        "documented": st.floats(0, 1),
        "tests_per_function": st.floats(0, 5),
        "functions": st.integers(0, 50),
        "tests": st.integers(0, 50),
    },
)


@given(_PROFILES)
def test_without_settings_nothing_is_refused(profile: dict[str, Any]) -> None:
    assert refusal(profile, Require()) is None


@given(_PROFILES, _ASKED)
def test_a_project_is_taken_when_every_setting_holds(profile: dict[str, Any], asked: dict[str, Any]) -> None:
    require = Require(**asked)
    holds = all(profile[key] >= getattr(require, key) for key in ("tests_per_function", "functions", "tests"))
    holds = holds and profile["documented_share"] >= require.documented
    if require.frameworks:
        holds = holds and any(
            one["files"] >= require.framework_files
            and (one["name"] in require.frameworks or one["kind"] in require.frameworks)
            for one in profile["frameworks"]
        )
    assert (refusal(profile, require) is None) == holds


@given(_PROFILES, _ASKED)
def test_each_refusal_is_one_sentence_and_always_the_same(profile: dict[str, Any], asked: dict[str, Any]) -> None:
    found = refusal(profile, Require(**asked))
    backwards = {**profile, "frameworks": profile["frameworks"][::-1]}
    assert refusal(backwards, Require(**asked)) == found
    if found is not None:
        assert found[0] in {"not_deep_learning", "no_framework", "few_functions", "undocumented", "few_tests"}
        assert "\n" not in found[1]
