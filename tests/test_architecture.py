"""The house holds: imports run one way, SQL fits the tables, the repository speaks of the product alone."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from curate.stages import STAGES
from curate.store import Store, query, sql_text

PACKAGE = Path(__file__).parent.parent / "curate"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if any(path.glob("*.py")))
STAGE_ROOMS = sorted({stage.module.split(".")[1] for stage in STAGES})
SHARED = {"sandbox", "executors", "git"}
ABOVE_STAGES = {
    "stages",
    "pipeline",
    "discover",
    "disk",
    "reports",
    "recording",
    "flow",
    "cli",
    "call",
    "console",
    "show",
    "layout",
}
LAYERS = ("records", "derive", "store", "pipeline", "flow", "cli")
SQL = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.sql"))


def imported(path: Path) -> set[str]:
    """First part below `curate` of everything that a file imports, wherever the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "curate":
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("curate.")}
    return found


@pytest.mark.parametrize("room", STAGE_ROOMS)
def test_a_stage_imports_no_other_stage_and_nothing_above_it(room: str) -> None:
    others = set(STAGE_ROOMS) - {room}
    for path in (PACKAGE / room).rglob("*.py"):
        wrong = imported(path) & (others | ABOVE_STAGES)
        assert not wrong, f"{path.relative_to(PACKAGE)} imports {wrong}"


@pytest.mark.parametrize("room", sorted(SHARED))
def test_shared_rooms_know_no_stage(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        assert not imported(path) & (set(STAGE_ROOMS) | ABOVE_STAGES), path


def test_the_files_that_hold_the_house_up_import_downwards() -> None:
    for place, layer in enumerate(LAYERS):
        assert not imported(PACKAGE / f"{layer}.py") & set(LAYERS[place + 1 :]), layer


def test_every_room_is_a_stage_or_shared() -> None:
    assert set(ROOMS) == set(STAGE_ROOMS) | SHARED


@pytest.mark.parametrize("file", SQL)
def test_every_sql_file_is_explained_and_fits_the_tables(file: str, tmp_path: Path) -> None:
    text = sql_text(file)
    assert text.startswith("-- "), "a header comment says what it selects"
    if "CREATE" in text or file == "dedupe/near.sql":
        return  # run by every reading, and by the stage's own tests
    parameters = dict.fromkeys(re.findall(r"\$(\w+)", text), "x") | _settings(file)
    with Store(tmp_path / "store.duckdb").reading() as connection:
        query(connection, f"EXPLAIN {text}", **parameters)


def _settings(file: str) -> dict[str, object]:
    """Settings of the stage that runs a query: their fields are its parameters."""
    for stage in STAGES:
        if file in {stage.items, *(stage.whole or {}).values()}:
            found: dict[str, object] = stage.load().Settings().model_dump()
            return found
    return {}


def test_the_repository_speaks_of_the_product_alone() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    banned = re.compile(r"(^|[\s\"'(=])/(work|root|farm)/[a-z]|pypi\.org|pythonhosted|/opt/" + r"wheels", re.M)
    for name in filter(None, listed.stdout.split("\0")):
        path = PACKAGE.parent / name
        if path.suffix in {".py", ".md", ".toml", ".sql", ".json", ".cfg", ""} and path.is_file():
            hit = banned.search(path.read_text(errors="replace"))
            assert hit is None or name == "tests/test_architecture.py", f"{name}: {hit.group() if hit else ''}"


def test_files_hold_one_thing() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix(): count
        for path in PACKAGE.rglob("*.py")
        if (count := len(path.read_text().splitlines())) > 320 and path.name != "records.py"
    }
    assert not long
