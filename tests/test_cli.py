"""Commands as a user calls them: help, exit codes, one-line errors, JSON, speed of `--help`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from curate.cli import cli, run_command

ROOT = Path(__file__).parent.parent
COMMANDS = sorted(cli.commands)


@pytest.fixture
def workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run_command(["init", str(tmp_path / "ws")]) == 0
    capsys.readouterr()
    return tmp_path / "ws"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_stands_in_the_readme(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Example:" in text
    assert f"curate {name}" in text
    assert f"`curate {name}" in (ROOT / "README.md").read_text(), "the README does not name it"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    for parameter in cli.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"curate {name} {parameter.name}"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"init", "status", "show"}))
def test_every_stage_takes_the_same_options(name: str) -> None:
    options = {option for parameter in cli.commands[name].params for option in parameter.opts}
    assert {"--limit", "--workers", "--only", "--redo", "--json", "--quiet", "-C"} <= options


def test_help_loads_nothing_heavy() -> None:
    program = "import sys, curate.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    assert not {"duckdb", "pydantic", "datasets", "pyarrow", "numpy", "black"} & set(loaded.split())


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["status", "-C", "{tmp}/nowhere"], 1, "curate init"),
        (["show", "nothing", "-C", "{ws}"], 1, "nothing is known of nothing"),
        (["run", "nonesuch", "-C", "{ws}"], 1, "recipes in releases/: quickstart"),
        (["run", "quickstart", "--version", "one", "-C", "{ws}"], 1, "MAJOR.MINOR.PATCH"),
        (["mine", "einops", "-C", "{ws}"], 1, "einops"),
        (["release", "quickstart", "-C", "{ws}"], 1, "curate run quickstart"),
        (["mine"], 2, "Missing argument"),
        (["nonesuch"], 2, "No such command"),
        (["extract", "--limit", "0"], 2, "--limit"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], code: int, says: str, tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [argument.format(tmp=tmp_path, ws=workspace) for argument in arguments]
    assert run_command(filled) == code
    shown = capsys.readouterr()
    assert says in shown.err
    assert "Traceback" not in shown.err + shown.out
    if code == 1:
        assert len(shown.err.strip().splitlines()) == 1
        assert shown.out == ""


def test_the_folder_may_stand_before_or_after_the_command(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["-C", str(workspace), "status"]) == 0
    before = capsys.readouterr().out
    assert run_command(["status", "-C", str(workspace)]) == 0
    assert capsys.readouterr().out == before
    assert re.search(r"projects +0", before)


def test_json_is_one_object_and_quiet_is_silent(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["extract", "--json", "-C", str(workspace)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["stages"][0]["stage"] == "extract"
    assert data["stages"][0]["pending"] == 0
    assert run_command(["extract", "--quiet", "-C", str(workspace)]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_init_leaves_what_is_there_alone(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "sources" / "quickstart.toml").write_text("# mine")
    assert run_command(["init", str(workspace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"] == []
    assert (workspace / "sources" / "quickstart.toml").read_text() == "# mine"


def test_a_fault_of_curate_leaves_a_log_and_exit_code_3(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "import curate.show, sys\ndef broken(*a): raise ZeroDivisionError('x')\ncurate.show.show = broken\n"
    script += f"from curate.cli import run_command\nsys.exit(run_command(['show', 'x', '-C', {str(workspace)!r}]))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert "fault of curate" in ended.stderr
    (log,) = (workspace / ".curate" / "logs").glob("*.log")
    assert "ZeroDivisionError" in log.read_text()
