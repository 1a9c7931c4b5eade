"""The stage in the pipeline: what it takes up, what it stores, when it does it again."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.label import Settings, prepare, work
from curate.label.axes import Axis
from curate.label.labeller import Opinion
from curate.pipeline import Options, Pipeline
from curate.stages import BY_NAME
from curate.work import Context
from curate.workspace import Workspace
from tests.label.conftest import add_project, items

STAGE = BY_NAME["label"]
FILES = {
    "lib/nets.py": "class Net:\n    def forward(self, image):\n        return image\n\n\ndef todo():\n    pass\n",
    "tests/test_nets.py": "def test_net():\n    assert 1\n",
    "lib/image_io.py": "def load_image(path, mask):\n    return open(path)\n",
}
NEW_AXIS = """
axis = "style"
question = "How is it written?"
fallback = "functional"
[[value]]
name = "functional"
definition = "A plain function."
[[value]]
name = "object"
definition = "A method of a class."
signals = [{ kind = "argument", patterns = ["^ self $"], weight = 1.0 }]
"""


def run(workspace: Workspace, **settings: Any) -> tuple[int, list[dict[str, Any]]]:
    pipeline = Pipeline(workspace, {"label": settings})
    summary = pipeline.run(STAGE, Options())
    assert summary.bugs == []
    sql = """
        SELECT qualname, axis, value, labeller, confidence, evidence
        FROM current_labels JOIN current_functions USING (function_id) ORDER BY qualname, axis
    """
    return summary.pending, pipeline.store.rows(sql)


def test_every_function_that_does_something_gets_every_label(workspace: Workspace) -> None:
    add_project(workspace, "lib", FILES)
    pending, rows = run(workspace)
    assert pending == 2
    found = {(row["qualname"], row["axis"]): row["value"] for row in rows}
    assert found == {
        ("Net.forward", "data_type"): "image",
        ("Net.forward", "phase"): "model_construction",
        ("Net.forward", "task"): "general",
        ("load_image", "data_type"): "image",
        ("load_image", "phase"): "pre_post_processing",
        ("load_image", "task"): "general",
    }
    assert {row["labeller"] for row in rows} == {"rules"}
    assert all(row["evidence"] and 0 < row["confidence"] <= 1 for row in rows)
    assert run(workspace) == (0, rows)


def test_a_new_axis_needs_one_file_and_nothing_else(workspace: Workspace) -> None:
    add_project(workspace, "lib", FILES)
    assert run(workspace)[0] == 2
    (workspace.axes / "style.toml").write_text(NEW_AXIS, encoding="utf-8")
    pending, rows = run(workspace)
    assert pending == 2
    styles = {row["qualname"]: row["value"] for row in rows if row["axis"] == "style"}
    assert styles == {"Net.forward": "object", "load_image": "functional"}
    assert len(rows) == 8


def test_items_carry_what_their_project_is_about(workspace: Workspace) -> None:
    add_project(workspace, "lib", FILES)
    add_project(workspace, "words", {"m.py": "def f(text):\n    return text\n"})
    rows = items(workspace)
    assert [row["name"] for row in rows if "lib" in row["path"]] == [
        "lib:lib/image_io.py:load_image",
        "lib:lib/nets.py:Net.forward",
    ]
    by_unit = {row["unit"]: row["project_words"] for row in rows}
    assert len(by_unit) == 2
    words = {row["name"]: row["project_words"] for row in rows}
    assert words["words:m.py:f"] == "f m py text"
    # In both functions first, then those of one, each group by letter.
    assert words["lib:lib/nets.py:Net.forward"] == "image lib py forward io load mask net nets path self"
    shared = {row["name"]: row["project_words"] for row in items(workspace, common_share=0.6)}
    assert shared["lib:lib/nets.py:Net.forward"] == "image lib py"


def test_an_axis_that_is_not_valid_stops_before_any_work(workspace: Workspace) -> None:
    add_project(workspace, "lib", FILES)
    file = workspace.axes / "task.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('kind = "name"', 'kind = "nam"', 1), encoding="utf-8")
    with pytest.raises(UserError, match=r"task\.toml.*'nam'; allowed are"):
        run(workspace)


def test_an_unknown_labeller_is_refused_with_the_known_ones(workspace: Workspace) -> None:
    with pytest.raises(UserError, match="no labeller 'oracle'; known are rules"):
        prepare(Settings(labellers=("rules", "oracle")), workspace)


class Strange:
    """A labeller that breaks its contract in the way its first axis is called."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes

    def opinions(self, functions: Iterable[Mapping[str, Any]]) -> Iterator[list[Opinion]]:
        first = Opinion("phase", "training", 0.5, "because")
        broken = {
            "value": [first._replace(value="dreaming")],
            "axis": [first._replace(axis="mood")],
            "twice": [first, first],
            "confidence": [first._replace(confidence=1.5)],
            "nan": [first._replace(confidence=float("nan"))],
            "evidence": [first._replace(evidence="")],
            "fine": [first],
        }
        for function in functions:
            if function["qualname"] == "stop":
                return
            yield broken[function["qualname"]]


@pytest.fixture
def strange(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install `Strange` as a third party would: a distribution with an entry point."""
    site: Path = tmp_path_factory.mktemp("site")
    info = site / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[curate.labellers]\nstrange = tests.label.test_stage:Strange\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()


@pytest.mark.usefixtures("strange")
def test_a_third_party_labeller_works_beside_the_rules_and_is_checked(workspace: Workspace) -> None:
    names = ["value", "axis", "twice", "confidence", "nan", "evidence", "fine", "stop", "fine"]
    text = "\n\n".join(f"def {name}(x):\n    return x + {n}" for n, name in enumerate(names))
    add_project(workspace, "lib", {"m.py": text})
    settings = Settings(labellers=("rules", "strange", "rules"))
    assert settings.labellers == ("rules", "strange")
    rows = items(workspace)
    outcomes = dict(work(rows, Context(workspace, settings, prepare(settings, workspace).value)))
    said = [getattr(outcomes[row["item_id"]], "reason", "labels") for row in rows]
    assert said == ["bad_label"] * 6 + ["labels"] + ["bad_label"] * 2
    labels = outcomes[rows[6]["item_id"]]
    assert [(label.labeller, label.axis) for label in labels] == [  # type: ignore[union-attr]
        ("rules", "data_type"), ("rules", "phase"), ("rules", "task"), ("strange", "phase"),
    ]  # fmt: skip
