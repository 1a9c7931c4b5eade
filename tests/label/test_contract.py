"""What every labeller has to hold. A labeller of your own passes if its name is added to `FACTORIES`."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from curate.label import LABELLERS
from curate.label.axes import Axis, load_axes, named
from curate.label.labeller import Factory
from tests.label.conftest import ROOT

FACTORIES: dict[str, Factory] = dict(LABELLERS)
AXES = load_axes(ROOT / "schema" / "axes")
ONE_AXIS = (
    Axis.model_validate(
        {
            "axis": "size",
            "question": "Large?",
            "fallback": "small",
            "value": [{"name": "small", "definition": "Small."}, {"name": "large", "definition": "Large."}],
        }
    ),
)
BARE: dict[str, Any] = {
    **dict.fromkeys(("path", "module", "qualname", "signature", "source", "normalised", "context"), ""),
    "project_words": "",
    **dict.fromkeys(("imports", "calls", "bases", "decorators", "arguments"), ()),
    "function_id": "f", "kind": "function", "docstring": None,
}  # fmt: skip


@pytest.fixture(params=FACTORIES)
def factory(request: pytest.FixtureRequest) -> Factory:
    return FACTORIES[request.param]


def test_one_sound_opinion_per_axis_and_function(factory: Factory, case_items: list[dict[str, Any]]) -> None:
    answers = list(factory(AXES).opinions(case_items))
    assert len(answers) == len(case_items)
    allowed = named(AXES)
    for given in answers:
        assert len({opinion.axis for opinion in given}) == len(given)
        for opinion in given:
            assert opinion.value in allowed[opinion.axis]
            assert 0 <= opinion.confidence <= 1
            assert opinion.evidence.strip()


def test_same_answer_again_in_any_order_and_company(factory: Factory, case_items: list[dict[str, Any]]) -> None:
    first = list(factory(AXES).opinions(case_items))
    backwards = list(factory(AXES).opinions(reversed(case_items)))
    alone = [next(factory(AXES).opinions([item])) for item in case_items[:3]]
    assert first == backwards[::-1]
    assert first[:3] == alone


def test_knows_only_the_axes_it_is_given(factory: Factory, case_items: list[dict[str, Any]]) -> None:
    answers = factory(ONE_AXIS).opinions(case_items)
    assert {opinion.axis for given in answers for opinion in given} <= {"size"}


def test_a_function_with_nothing_to_see_is_answered_too(factory: Factory) -> None:
    (given,) = factory(AXES).opinions([BARE])
    assert {opinion.axis for opinion in given} <= {axis.axis for axis in AXES}


@pytest.mark.parametrize("name", LABELLERS)
def test_same_answer_under_another_hash_seed(name: str) -> None:
    row = {**BARE, "qualname": "Net.forward", "docstring": "Detect boxes, classify images, forecast user ratings."}
    code = (
        "from pathlib import Path; from curate.label import LABELLERS; from curate.label.axes import load_axes\n"
        f"axes = load_axes(Path({str(ROOT / 'schema' / 'axes')!r}))\n"
        f"print(list(LABELLERS[{name!r}](axes).opinions([{row!r}])))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert "Opinion" in said.pop()
