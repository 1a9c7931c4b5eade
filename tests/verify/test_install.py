"""Environments as of a day, from the real index."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curate.errors import ItemError
from curate.records import Environment
from curate.verify import environments, install, project, recipes, uv
from curate.work import Context
from curate.workspace import Workspace

from .conftest import lay_out


def made(tmp_path: Path, files: dict[str, str], day: datetime | None = None, **row: Any) -> Environment | ItemError:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir(parents=True, exist_ok=True)
    workspace = Workspace(tmp_path)
    lay_out(workspace.snapshot("snap"), {"README": "", **files})
    settings = install.Settings()
    context = Context(workspace, settings, install.prepare(settings, workspace).value)
    item = {"item_id": "snap", "name": "demo", "revision": "1", "committed_at": day, "requires_python": None, **row}
    ((_, result),) = install.work([item], context)
    if isinstance(result, ItemError):
        return result
    (environment,) = result
    assert isinstance(environment, Environment)
    return environment


def versions(environment: Environment | ItemError) -> dict[str, str]:
    assert isinstance(environment, Environment), environment
    return dict(re.findall(r"^([\w-]+)==(\S+)", environment.lock, re.MULTILINE))


def test_packages_are_those_of_the_day(tmp_path: Path) -> None:
    environment = made(tmp_path, {"requirements.txt": "attrs\n"}, datetime(2023, 1, 5, 12))
    assert versions(environment)["attrs"] == "22.2.0"
    assert isinstance(environment, Environment)
    assert environment.resolved_as_of == datetime(2023, 1, 6, tzinfo=UTC)
    assert environment.requirements == ["attrs", "pytest>=7,<10"]
    assert environment.requirements_from == ["requirements.txt", "curate"]
    assert "--hash=sha256:" in environment.lock


def test_the_runner_has_a_pytest_that_works_however_old_the_project(tmp_path: Path) -> None:
    environment = made(tmp_path, {"requirements.txt": "six\n"}, datetime(2017, 1, 5))
    assert versions(environment)["six"] == "1.10.0"
    assert versions(environment)["pytest"].startswith("7.")


def test_what_the_day_did_not_have_is_taken_from_later_and_said(tmp_path: Path) -> None:
    environment = made(tmp_path, {"requirements.txt": "markupsafe\n"}, datetime(2017, 1, 5))
    assert isinstance(environment, Environment), environment
    assert environment.resolved_as_of is None
    assert re.match(r"all requirements, as of 2017-01-06: (needs_build|no_matching_version)", environment.steps[1])
    assert environment.steps[2] == "all requirements, newest: resolved"


def test_test_extras_are_given_up_before_the_project(tmp_path: Path) -> None:
    text = "[project]\nname='demo'\ndependencies=['six']\n[project.optional-dependencies]\ntest=['six<0.0.1']\n"
    environment = made(tmp_path, {"pyproject.toml": text})
    assert "six" in versions(environment)
    assert isinstance(environment, Environment)
    assert environment.steps[-1] == "without test extras, newest: resolved"


@pytest.mark.parametrize(
    ("files", "row", "reason", "line"),
    [
        ({"requirements.txt": "six>999\n"}, {}, "no_matching_version", "six>999"),
        ({"requirements.txt": "docopt==0.6.2\n"}, {}, "needs_build", "docopt"),
        ({}, {"requires_python": "<3"}, "interpreter", "<3"),
    ],
)
def test_what_cannot_be_had_says_why(
    tmp_path: Path, files: dict[str, str], row: dict[str, Any], reason: str, line: str
) -> None:
    error = made(tmp_path, files, **row)
    assert isinstance(error, ItemError)
    assert (error.reason, error.transient) == (reason, False)
    assert line in error.detail


def test_an_index_out_of_reach_is_tried_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    error = made(tmp_path, {"requirements.txt": "six\n"})
    assert isinstance(error, ItemError)
    assert (error.reason, error.transient) == ("network", True)


def test_equal_locks_share_an_environment_that_is_made_once(tmp_path: Path) -> None:
    one, two = (made(tmp_path / name, {"requirements.txt": "six\n"}, datetime(2024, 1, 1)) for name in "ab")
    assert isinstance(one, Environment)
    assert isinstance(two, Environment)
    assert one.environment_id == two.environment_id
    python = environments.ensure(one.environment_id, one.python, one.lock)
    mark = python.parent.parent / environments.COMPLETE
    before = mark.stat().st_mtime_ns
    environments.ensure(one.environment_id, one.python, one.lock)
    assert mark.stat().st_mtime_ns == before


def test_the_id_is_of_interpreter_and_lock_without_comments() -> None:
    first = environments.environment_id("3.11.1", "# made by x\nsix==1 \\\n    --hash=sha256:0\n")
    assert first == environments.environment_id("3.11.1", "six==1 \\\n    --hash=sha256:0\n    # via demo")
    assert first != environments.environment_id("3.11.2", "six==1 \\\n    --hash=sha256:0")
    assert len(first) == 16


def test_a_recipe_adds_packages_and_changes_the_version_of_results(tmp_path: Path) -> None:
    lay_out(tmp_path, {"sources/recipes/demo.toml": 'packages = ["six"]\nvariables = {A = "1"}\n'})
    environment = made(tmp_path, {})
    assert isinstance(environment, Environment)
    assert environment.requirements_from[0] == "recipe packages"
    prepared = recipes.prepare(Workspace(tmp_path))
    assert recipes.of(prepared.value, "someone/Demo").variables == {"A": "1"}
    assert prepared.fingerprint != recipes.prepare(Workspace(tmp_path / "none")).fingerprint


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"PKG-INFO": "Name: one\nVersion: 2.0\n", "pyproject.toml": "[project]\nname='two'"}, ("one", "2.0")),
        ({"pyproject.toml": "[project]\nname='two'\nversion='3'"}, ("two", "3")),
        ({"pyproject.toml": "[tool.poetry]\nname='three'\nversion='4'"}, ("three", "4")),
        ({}, ("demo", "0")),
    ],
)
def test_who_a_project_is(tmp_path: Path, files: dict[str, str], expected: tuple[str, str]) -> None:
    found = project.identity(lay_out(tmp_path, {"x": "", **files}), "owner/demo", "f" * 40)
    assert (found.name, found.version) == expected


def test_an_interpreter_is_found_or_not_at_all() -> None:
    found = uv.find_python(">=3.9")
    assert found is not None
    assert found[0].exists()
    assert uv.find_python("<2") is None
