"""What is found of planted copies, and what is left alone."""

from __future__ import annotations

import pytest

from curate.contamination import Settings
from curate.contamination.matching import Index

SOLUTION = '''from typing import List


def spread(values: List[float], floor: float) -> List[float]:
    """ Scale the given list of numbers so that they have a mean of zero and a deviation of one.
    >>> spread([1.0, 2.0, 3.0], 0.1)
    [-1.22, 0.0, 1.22]
    """
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    if (deviation < floor):
        deviation = floor
    return [(value - mean) / deviation for value in values]
'''
VERBATIM = """def spread(values: List[float], floor: float) -> List[float]:
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    if deviation < floor:
        deviation = floor
    return [(value - mean) / deviation for value in values]
"""
PLANTED = {
    "verbatim": ("exact", VERBATIM),
    "rewrapped": (
        "exact",
        VERBATIM.replace(
            "values: List[float], floor: float", "\n    values: List[float],\n    floor: float,\n"
        ).replace("sum(values) / len(values)\n    dev", "(\n        sum(values) / len(values)\n    )\n    dev"),
    ),
    "renamed": (
        "renamed",
        VERBATIM.replace("values", "xs").replace("mean", "mu").replace("deviation", "s").replace("spread", "scale"),
    ),
    "edited": ("near", VERBATIM.replace("        deviation = floor\n", "        deviation = floor * 2\n")),
    "renamed and edited": (
        "near",
        VERBATIM.replace("values", "xs").replace("spread", "scale").replace("= floor\n", "= floor * 2\n"),
    ),
    "embedded": (
        "partial",
        "def report(self, batches):\n    for batch in batches:\n        self.optimizer.step()\n        log(batch)\n"
        + "".join(f"    {line}\n" for line in VERBATIM.splitlines())
        + "    return self.table(rows=[spread(row, 0.1) for row in self.rows], title='spread')\n",
    ),
}


def index(*items: tuple[str, str, str], **settings: int) -> Index:
    made = Index(Settings.model_validate(settings))
    for name, code, text in items:
        corpus, _, item_id = name.partition("/")
        made.put((corpus, item_id), code, text)
    made.finish()
    return made


@pytest.mark.parametrize("case", PLANTED)
def test_planted_copies_are_found(case: str) -> None:
    relation, code = PLANTED[case]
    hits = index(("bench/1", SOLUTION, ""), ("bench/2", "def other(a):\n    return a\n", ""))(code, "")
    assert [(hit[:4]) for hit in hits] == [("bench", "1", relation, "code")]
    assert 0 < hits[0][4] <= 1


def test_an_item_without_its_frame_is_found_in_a_function() -> None:
    snippet = "".join(line.strip() + "\n" for line in VERBATIM.splitlines()[1:3])
    hits = index(("bench/1", snippet, ""))(VERBATIM, "")
    assert [hit[:3] for hit in hits] == [("bench", "1", "partial")]


def test_a_method_is_compared_with_each_function_of_an_item() -> None:
    code = "class Scaler:\n    def __init__(self):\n        self.n = 0\n" + "".join(
        f"    {line}\n" for line in VERBATIM.splitlines()
    )
    assert index(("bench/1", code, ""))(VERBATIM, "")[0][:3] == ("bench", "1", "exact")


SHORT = "def halve(x):\n    return x / 2\n"


def test_short_items_are_found_verbatim_and_with_other_variables_but_not_by_shape() -> None:
    known = index(("bench/1", SHORT, ""))
    assert known(SHORT, "")[0][2] == "exact"
    assert known("def halve(value):\n    return value / 2\n", "")[0][2] == "renamed"
    assert known("def middle(x):\n    return x / 2\n", "") == []


IDIOM = """    import numpy as np
    import torch
    from torch import nn
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    np.random.seed(args.seed)
"""


def test_idioms_do_not_count() -> None:
    items = [(f"bench/{n}", f"def task_{n}(x):\n{IDIOM}    return x.step_{n}(args)\n", "") for n in range(12)]
    candidate = f"def main():\n{IDIOM}    run(args)\n"
    assert index(*items)(candidate, "") == []
    # The same shared by a few items only is telling: the test would not notice an index that finds nothing.
    assert len(index(*items[:3])(candidate, "")) == 3


def test_an_idiom_of_one_corpus_is_what_its_own_items_share() -> None:
    copies = [(f"c{n}/1", SOLUTION, "") for n in range(12)]
    hits = index(*copies)(PLANTED["edited"][1], "")
    assert len(hits) == 12


TEXT = (
    "Scale the given list of numbers so that they have a mean of zero and a deviation of one, "
    "where the deviation is never taken to be less than the floor."
)


def test_docstrings_are_compared_with_texts() -> None:
    known = index(
        ("bench/1", "", TEXT), ("bench/2", "", "Return the model's parameters as one flat vector of numbers.")
    )
    code = "def f(net):\n    return net.flat()\n"
    hits = known(code, TEXT.upper().replace(",", ";") + " See also `whiten`.")
    assert [hit[:4] for hit in hits] == [("bench", "1", "near", "docstring")]
    assert hits[0][4] == 0.0
    assert known(code, "Scale the given list of numbers.") == []


def test_the_best_items_of_each_corpus_are_kept() -> None:
    items = [(f"{corpus}/{n}", SOLUTION if n == 3 else PLANTED["edited"][1], "") for corpus in "ab" for n in range(9)]
    hits = index(*items, max_matches=2, common=50)(VERBATIM, "")
    assert [hit[:3] for hit in hits] == [
        ("a", "3", "exact"), ("a", "0", "near"), ("b", "3", "exact"), ("b", "0", "near"),
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["", "   # nothing", "def f(:\n  print 'x'", "\x00"])
def test_anything_can_be_compared(code: str) -> None:
    known = index(("bench/1", SOLUTION, TEXT), ("bench/2", "", ""), ("bench/3", code, ""))
    assert all(hit[1] == "3" for hit in known(code, ""))
