"""What the documents say is so."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from curate.config import parse
from curate.recipe import Recipe
from curate.release.card import loading
from curate.release.funnel import Step, as_text
from curate.stages import STAGES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_readme_opens_with_the_two_commands() -> None:
    commands = re.findall(r"^\$ (make \w+)$", README, re.M)
    assert commands[:2] == ["make release", "make test"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{command.split()[1]}:", makefile, re.M) for command in commands)
    assert loading("releases/quickstart/0.1.0", "test") in README


def test_the_readme_shows_what_the_quick_start_prints() -> None:
    lock = ROOT / "releases" / "quickstart" / "0.1.0" / "lock.json"
    if not lock.exists() or sys.version_info[:2] != (3, 11):
        pytest.skip("shown for Python 3.11, and compared where `make release` has been run")
    steps = [Step(step["step"], step["count"], step["left"]) for step in json.loads(lock.read_text())["funnel"]]
    assert as_text(steps) in README


def test_the_recipe_in_the_readme_is_one() -> None:
    blocks = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", README, re.S)]
    recipe = next(block for block in blocks if "sources" in block)
    assert parse(Recipe, recipe, "README.md").split.shares == {"test": 0.8, "validation": 0.2}


def test_contributing_names_every_room_and_every_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for stage in STAGES:
        assert f"`curate/{stage.module.split('.')[1]}/`" in text
        for table in stage.writes:
            assert table in text, table


def test_every_make_target_is_explained() -> None:
    for line in (ROOT / "Makefile").read_text().splitlines():
        if re.match(r"^[a-z]+:", line):
            assert "## " in line, line


def test_the_package_list_is_the_one_that_is_used() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    source = "\n".join(path.read_text() for path in (ROOT / "curate").rglob("*.py"))
    for requirement in declared:
        package = re.split(r"[^\w-]", requirement)[0]
        module = {"PyGithub": "github", "pyaskalono": "askalono"}.get(package, package.replace("-", "_"))
        assert re.search(rf"\b(import|from) {module}\b", source), f"{requirement} is declared and not imported"
