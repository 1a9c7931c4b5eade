"""Axis files: what is refused and how it is said; what enters the fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.errors import UserError
from curate.label.axes import fingerprint, load_axes, load_axis
from tests.label.conftest import ROOT

GOOD = """
axis = "size"
question = "How large is it?"
fallback = "small"
[[value]]
name = "small"
definition = "Small."
[[value]]
name = "large"
definition = "Large."
signals = [{ kind = "name", patterns = ["big*", "large"], weight = 2.0 }]
"""

BAD = {
    "no table": ("axis = ", "is not TOML"),
    "missing question": (GOOD.replace('question = "How large is it?"\n', ""), "question: Field required"),
    "unknown key": (GOOD.replace("definition =", "definitoin =", 1), "value.0.definitoin is not a key here"),
    "unknown key says what is allowed": (GOOD.replace("fallback", "falback"), "axis, question, fallback, temperature"),
    "unknown kind": (
        GOOD.replace('"name", p', '"nome", p'),
        "value.1.signals.0.kind is 'nome'; allowed are import, call",
    ),
    "fallback": (GOOD.replace('fallback = "small"', 'fallback = "tiny"'), "'tiny' is none of its values: small, large"),
    "value twice": (GOOD.replace('"large"\ndef', '"small"\ndef'), "value small is defined twice"),
    "one value": (GOOD.partition('[[value]]\nname = "large"')[0], "value: Tuple should have at least 2 items"),
    "weight": (GOOD.replace("2.0", "200.0"), "value.1.signals.0.weight: Input should be less than or equal to 10"),
    "no pattern": (GOOD.replace('["big*", "large"]', "[]"), "value.1.signals.0.patterns"),
    "empty pattern": (GOOD.replace('"big*"', '" "'), "value.1.signals.0: pattern ' ' has no word in it"),
    "pattern that no word can match": (GOOD.replace('"big*"', '"Big_size"'), "'Big_size'"),
    "other name": (GOOD.replace('axis = "size"', 'axis = "width"'), "axis is 'width', but must be 'size'"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_axis_is_refused_in_one_line_that_names_file_and_key(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    file = tmp_path / "size.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        load_axis(file)
    assert str(file) in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_axes_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UserError, match="no label axis"):
            load_axes(folder)


def test_the_fingerprint_follows_content_not_layout(tmp_path: Path) -> None:
    def of(text: str) -> str:
        (tmp_path / "size.toml").write_text(text, encoding="utf-8")
        return fingerprint(load_axes(tmp_path))

    assert of(GOOD) == of("# a comment\n" + GOOD.replace(" = ", "  =  "))
    assert len({of(GOOD), of(GOOD.replace("2.0", "2.5")), of(GOOD.replace('"large"]', '"huge"]'))}) == 3


def test_the_vocabularies_are_those_that_were_agreed() -> None:
    assert {axis.axis: set(axis.vocabulary) for axis in load_axes(ROOT / "schema" / "axes")} == {
        "phase": {"pre_post_processing", "model_construction", "training", "inference", "evaluation_metrics"},
        "task": {
            "classification", "regression", "object_detection", "image_segmentation", "time_series_prediction",
            "recommendation", "general",
        },
        "data_type": {"image", "text", "structured_array", "others"},
    }  # fmt: skip


def test_every_value_says_what_it_is() -> None:
    for axis in load_axes(ROOT / "schema" / "axes"):
        for value in axis.value:
            assert value.examples, (axis.axis, value.name)
            assert value.signals, (axis.axis, value.name)
