"""Small functions with the labels that a person would give them, through extraction, query and rules."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from curate.label.axes import Axis, load_axes
from curate.label.rules import Rules
from tests.label.conftest import CASES, ROOT

AXES = load_axes(ROOT / "schema" / "axes")
EXPECTED: dict[tuple[str, str], dict[str, str]] = {
    (file.stem, name): labels
    for file in sorted(CASES.glob("*.toml"))
    for name, labels in tomllib.loads(file.read_text(encoding="utf-8")).items()
}


@pytest.fixture(scope="module")
def said(case_items: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, str]]:
    opinions = Rules(AXES).opinions(case_items)
    return {
        (row["path"].removesuffix(".py"), row["qualname"]): {o.axis: o.value for o in given}
        for row, given in zip(case_items, opinions, strict=True)
    }


@pytest.mark.parametrize(("file", "qualname"), EXPECTED)
def test_label(file: str, qualname: str, said: dict[tuple[str, str], dict[str, str]]) -> None:
    assert said[file, qualname] == EXPECTED[file, qualname]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.axis)
def test_the_cases_cover_every_value(axis: Axis) -> None:
    assert {labels[axis.axis] for labels in EXPECTED.values()} == set(axis.vocabulary)
    assert len(EXPECTED) >= 30
