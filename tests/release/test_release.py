"""From a filled store to a folder that `load_dataset` reads, byte for byte the same each time."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from curate import derive
from curate.errors import UserError
from curate.flow import Released, check_version, release, status
from curate.pipeline import Options
from curate.records import Problem
from curate.store import Store
from curate.workspace import Workspace
from tests.made import fill, workspace

RECIPE = """
title = "made by hand"
sources = ["pypi:lib==1.0"]
[split]
shares = { test = 0.5, validation = 0.5 }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    made = Workspace.at(workspace(tmp_path / "ws"))
    (made.releases / "hand.toml").write_text(RECIPE)
    fill(Store(made.store))
    # The projects of this store were not mined, so the recipe's requests are those that the rows say.
    import curate.mine

    monkeypatch.setattr(curate.mine, "items", lambda *_: [("everything", {"item_id": "everything"})])
    return made


def built(place: Workspace, version: str = "0.1.0") -> Released:
    return release(place, "hand", version, Options(), lambda summary: None)


def test_each_function_is_released_or_has_a_reason(place: Workspace) -> None:
    released = built(place)
    left = {reason: count for step in released.funnel for reason, count in step.left.items()}
    assert left == {
        "test_code": 1, "no_docstring": 1, "no_tests": 1, "near_duplicate": 1, "in_c": 1, "too_long": 1,
        "licence_not_allowed": 2,
    }  # fmt: skip
    assert dict(released.counts) == {"test": 1, "validation": 1}
    rows = Store(place.store).rows("SELECT function_id, reason FROM current_selections WHERE gate = 'duplicates'")
    assert rows == [{"function_id": "f-copy", "reason": "lib:lib/core.py:good stands for it"}]


def test_datasets_loads_it_by_path(place: Workspace, tmp_path: Path) -> None:
    from datasets import load_dataset

    released = built(place)
    loaded = {
        split: load_dataset(str(released.folder), "function", split=split, cache_dir=str(tmp_path / "cache"))
        for split in ("test", "validation")
    }
    rows = [row for part in loaded.values() for row in part]
    assert {row["entry_point"] for row in rows} == {"good", "other"}
    assert loaded["test"].features == derive.features(Problem)
    good = next(row for row in rows if row["entry_point"] == "good")
    assert good["reference"].endswith('return "é€\U0001f600"\n')
    assert "é€" not in good["prompt"]
    assert good["phase"] == "inference"
    assert good["label_source"] == "human:ada+rules"
    assert good["label_confidence"] == 0.5
    assert good["tests"][0]["node_id"] == "tests/test_core.py::test_core"
    assert good["evidence"]["corpora_checked"] == ["c@1"]
    assert (good["license"], good["evidence"]["license_path"], good["evidence"]["license_from"]) == (
        "MIT", "LICENSE", "text",
    )  # fmt: skip
    assert good["mutation_score"] is None
    assert {row["entry_point"]: row["first_seen_at"] for row in rows} == {
        "good": datetime(2025, 11, 22, 12),  # when its body stood elsewhere
        "other": None,  # whose history is cut off
    }
    assert (released.folder / "environments" / f"{good['environment']}.txt").read_text() == "pytest==9.0\n"


def test_the_same_bytes_again_and_from_nothing(place: Workspace) -> None:
    first = built(place)
    assert first.changed
    before = everything(first.folder)
    assert not built(place).changed
    shutil.rmtree(first.folder)
    assert built(place).changed
    assert everything(first.folder) == before
    assert [path.name for path in first.folder.parent.iterdir()] == ["0.1.0"]


def test_only_what_is_known_to_be_fresh(place: Workspace) -> None:
    (place.releases / "hand.toml").write_text(RECIPE + "[gates]\nfirst_seen = 2025-11-21\n")
    released = built(place)
    assert sum(released.counts.values()) == 1
    assert released.funnel[-1].left["not_dated"] == 2
    (place.releases / "hand.toml").write_text(RECIPE + "[gates]\nfirst_seen = 2025-11-22\n")
    with pytest.raises(UserError, match="not_dated 2, seen_before 1"):
        built(place)


def test_a_version_that_is_replaced_is_reported(place: Workspace) -> None:
    assert not built(place).replaced
    (place.releases / "hand.toml").write_text(RECIPE + "[gates]\nlines = [1, 1000]\n")
    again = built(place)
    assert (again.changed, again.replaced) == (True, True)


def test_licence_texts_go_with_the_problems(place: Workspace) -> None:
    folder = built(place).folder
    texts = {path.name: path.read_text() for path in (folder / "LICENSES").iterdir()}
    # Not of the folders and projects that were left out.
    assert texts == {
        f"{name}-1.0.txt": f"{name} 1.0, https://example.org/{name}-1.0.tar.gz\n\n"
        f"--- LICENSE\n\nThe MIT licence.\nCopyright A. Uthor of {number}.\n"
        for name, number in {"lib": "s1", "pkg": "s2"}.items()
    }
    assert "  LICENSES/lib-1.0.txt\n" in (folder / "SHA256SUMS").read_text()


def test_checksums_hold(place: Workspace) -> None:
    folder = built(place).folder
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == everything(folder).keys() - {"SHA256SUMS"}


def test_lock_and_card_say_what_was_done(place: Workspace) -> None:
    folder = built(place).folder
    lock = json.loads((folder / "lock.json").read_text())
    assert lock["counts"] == {"test": 1, "validation": 1}
    assert set(lock["stages"]) >= {"extract", "prove", "label", "release"}
    assert len(lock["problems"]) == 2
    card = (folder / "README.md").read_text()
    assert "| far | no network |" in card
    assert all(f"| `{name}` |" in card for name in Problem.model_fields)


def test_a_later_version_says_what_changed(place: Workspace) -> None:
    built(place)
    recipe = place.releases / "hand.toml"
    recipe.write_text(RECIPE + "[gates]\nlines = [1, 1000]\n")
    folder = built(place, "0.2.0").folder
    text = (folder / "CHANGELOG.md").read_text()
    assert "### Added: 1\n\n- `lib/huge-" in text
    assert "Removed: 0" in text
    kept = json.loads((folder / "lock.json").read_text())["problems"]
    assert set(json.loads((folder.parent / "0.1.0" / "lock.json").read_text())["problems"]) < set(kept)


def test_nothing_to_release_is_the_user_s_to_mend(place: Workspace) -> None:
    (place.releases / "hand.toml").write_text(RECIPE + "[gates]\ndocstring = 9999\n")
    with pytest.raises(UserError, match=r"no problem passed the gates of hand.*short_docstring"):
        built(place)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = 'x'\nsources = []\n", "sources"),
        ("title = 'x'\nsources = ['a']\nsplits = 3\n", "unknown key splits, did you mean split"),
        ("title = 'x'\nsources = ['a']\n[gates]\nlength = 3\n", "there is no gate length"),
        ("title = 'x'\nsources = ['a']\n[settings.lable]\nx = 3\n", "there is no such stage"),
        ("title = 'x'\nsources = ['a']\n[settings.dedupe]\nthresh = 3\n", "unknown key thresh, did you mean threshold"),
        ("title = 'x'\nsources = ['a']\n[split]\nshares = {test = 0}\n", "must be above 0"),
        ("title = \n", "not valid TOML"),
    ],
)
def test_mistakes_in_a_recipe_name_file_and_key(place: Workspace, text: str, says: str) -> None:
    (place.releases / "hand.toml").write_text(text)
    with pytest.raises(UserError, match=says) as caught:
        built(place)
    assert "hand.toml" in str(caught.value)


def test_the_version_is_the_newest_that_lies_there(place: Workspace) -> None:
    assert check_version(place, "hand", None) == "0.1.0"
    for version in ("0.9.0", "0.10.0"):
        (place.releases / "hand" / version).mkdir(parents=True)
        (place.releases / "hand" / version / "lock.json").touch()
    assert check_version(place, "hand", None) == "0.10.0"


def test_status_shows_the_funnel_before_any_release(place: Workspace) -> None:
    found = status(place, None)
    counts = {step.name: step.count for step in found["funnel"]}
    assert counts["functions"] == 10
    assert counts["releasable"] == 2
    assert len(found["projects"]) == 3


def everything(folder: Path) -> dict[str, bytes]:
    found: dict[str, Any] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    return found
