"""Words, patterns and weighing."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.label.axes import Axis
from curate.label.labeller import Opinion
from curate.label.matching import Matcher
from curate.label.rules import Rules
from curate.label.words import words
from tests.label.test_contract import BARE


def axis(**signals: list[dict[str, Any]]) -> Axis:
    values = [{"name": name, "definition": name, "signals": listed} for name, listed in signals.items()]
    return Axis.model_validate({"axis": "a", "question": "?", "fallback": "neither", "value": values})


def ask(asked: Axis, **row: Any) -> Opinion:
    (opinion,) = next(Rules([asked]).opinions([{**BARE, **row}]))
    return opinion


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("top_k_accuracy", "top k accuracy"),
        ("RandomCrop3D", "random crop 3d"),
        ("RGBImage2Gray", "rgb image 2 gray"),
        ("__init__", "init"),
        ("HTTPServer", "http server"),
        ("x1, y1 (B, C, H, W)", "x 1 y 1 b c h w"),
        ("conv2d", "conv 2d"),
        ("", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


@given(st.text())
def test_words_are_lowercase_and_the_same_for_the_joined_words(text: str) -> None:
    found = words(text)
    assert all(word.isascii() and word == word.lower() and word for word in found)


@pytest.mark.parametrize(
    ("kind", "pattern", "row", "found"),
    [
        ("call", "*.backward", {"calls": ["loss.backward"]}, True),
        ("call", "*.backward", {"calls": ["backward_hook"]}, False),
        ("call", "torch.nn.Conv*", {"calls": ["torch.nn.Conv2d"]}, True),
        ("call", "torch.nn.Conv*", {"calls": ["my.torch.nn.Conv2d"]}, False),
        ("call", "Torch.cat", {"calls": ["torch.cat"]}, False),
        ("import", "PIL*", {"imports": ["PIL.Image"]}, True),
        ("base", "*Dataset", {"bases": ["torch.utils.data.Dataset"]}, True),
        ("decorator", "torch.no_grad", {"decorators": ["torch.no_grad()"]}, True),
        ("name", "fit", {"qualname": "Model.partial_fit"}, True),
        ("name", "^ fit $", {"qualname": "Model.partial_fit"}, False),
        ("name", "^ fit $", {"qualname": "Model.fit"}, True),
        ("name", "^ init", {"qualname": "Model.__init__"}, True),
        ("name", "fit", {"qualname": "fit.forward"}, False),
        ("name", "cross entropy", {"qualname": "binary_cross_entropy"}, True),
        ("name", "cross entropy", {"qualname": "cross_mean_entropy"}, False),
        ("name", "entropy cross", {"qualname": "cross_entropy_cross"}, True),
        ("name", "seg*", {"qualname": "SegmentMasks"}, True),
        ("class", "*net", {"qualname": "TinyResnet.forward"}, True),
        ("class", "net", {"qualname": "outer.<locals>.Net.forward"}, True),
        ("path", "losses", {"path": "lib/losses/dice.py"}, True),
        ("argument", "^ size $", {"arguments": ["batch_size", "x"]}, False),
        ("argument", "^ size $", {"arguments": ["batch_size", "size"]}, True),
        ("argument", "size x", {"arguments": ["batch_size", "x"]}, False),
        ("summary", "images", {"docstring": "Show images.\n\nOf cats."}, True),
        ("summary", "cats", {"docstring": "Show images.\n\nOf cats."}, False),
        ("docstring", "cats", {"docstring": "Show images.\n\nOf cats."}, True),
        ("body", "logits", {"normalised": "def f(x):\n    return x.logits"}, True),
        ("signature", "ndarray", {"signature": "def f(x: np.ndarray)"}, True),
        ("project", "image", {"project_words": "image mask"}, True),
    ],
)
def test_patterns(kind: str, pattern: str, row: dict[str, Any], found: bool) -> None:
    asked = axis(yes=[{"kind": kind, "patterns": [pattern], "weight": 1.0}], neither=[])
    assert bool(Matcher([asked]).hits({**BARE, **row})) is found


NAME = st.text(alphabet="abA._", max_size=8)


@given(pattern=st.text(alphabet="abA._*", min_size=1, max_size=6), names=st.lists(NAME, max_size=4))
def test_a_dotted_pattern_is_a_glob_over_the_whole_name(pattern: str, names: list[str]) -> None:
    asked = axis(yes=[{"kind": "call", "patterns": [pattern], "weight": 1.0}], neither=[])
    expected = any(fnmatchcase(name, pattern) for name in names)
    assert bool(Matcher([asked]).hits({**BARE, "calls": names})) is expected


def test_many_weak_words_do_not_outvote_a_strong_one() -> None:
    weak = [{"kind": "docstring", "patterns": [word], "weight": 1.0} for word in "abcdefghij"]
    strong = [{"kind": "call", "patterns": ["go"], "weight": 2.0}]
    asked = axis(weak=weak, strong=strong, neither=[])
    assert ask(asked, docstring="a b c d e f g h i j").value == "weak"
    assert ask(asked, docstring="a b c d e f g h i j", calls=["go"]).value == "strong"


def test_a_signal_counts_once_however_often_it_is_met() -> None:
    asked = axis(one=[{"kind": "name", "patterns": ["a", "b"], "weight": 1.0}], neither=[])
    assert ask(asked, qualname="a").confidence == ask(asked, qualname="a_b_a").confidence


def test_evidence_against_and_ties_and_nothing() -> None:
    asked = axis(
        first=[
            {"kind": "name", "patterns": ["x"], "weight": 1.0},
            {"kind": "path", "patterns": ["not"], "weight": -0.5},
        ],
        second=[{"kind": "name", "patterns": ["x"], "weight": 1.0}],
        neither=[],
    )
    assert ask(asked, qualname="x").value == "first"
    assert ask(asked, qualname="x", path="not/me.py").value == "second"
    nothing = ask(asked, qualname="y")
    assert (nothing.value, nothing.evidence) == ("neither", "nothing speaks strongly enough for another value")


def test_more_evidence_is_more_confidence_and_the_strongest_is_told_first() -> None:
    asked = axis(
        yes=[
            {"kind": "name", "patterns": ["loss"], "weight": 1.0},
            {"kind": "call", "patterns": ["*.cross_entropy"], "weight": 2.0},
        ],
        neither=[],
    )
    little = ask(asked, qualname="loss")
    much = ask(asked, qualname="loss", calls=["torch.nn.functional.cross_entropy"])
    assert 0.5 < little.confidence < much.confidence < 1
    assert much.evidence == "calls torch.nn.functional.cross_entropy; its name has loss"
