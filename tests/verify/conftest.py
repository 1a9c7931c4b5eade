"""Small projects, taken through the real stages in the real sandbox."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from curate.pipeline import Options, Pipeline
from curate.records import Snapshot, Work
from curate.sandbox import SandboxUnavailable, choose
from curate.stages import BY_NAME
from curate.workspace import Workspace

WHEN = datetime(2025, 3, 1)


@pytest.fixture(scope="session", autouse=True)
def shared_cache() -> Iterator[None]:
    """One cache of environments for all sessions: they are made once from the index, and told apart by their locks."""
    before = os.environ.get("CURATE_CACHE")
    os.environ["CURATE_CACHE"] = str(Path(tempfile.gettempdir()) / f"curate-tests-{os.getuid()}")
    yield
    if before is None:
        del os.environ["CURATE_CACHE"]
    else:
        os.environ["CURATE_CACHE"] = before


def lay_out(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, dedented."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


class Checked:
    """A project that has been through stages, and its tables."""

    def __init__(self, root: Path, files: Mapping[str, str], settings: Mapping[str, Any]) -> None:
        for part in ("sources", "schema", "releases"):
            (root / part).mkdir(parents=True)
        self.workspace = Workspace.at(root)
        lay_out(self.workspace.snapshot("snap"), files)
        self.pipeline = Pipeline(self.workspace, settings)
        snapshot = Snapshot(
            run_id="r0", work_item="snap", snapshot_id="snap", source="local", name="demo", url="demo",
            revision="1.2.3", sha256="0", committed_at=WHEN, license_expression="MIT", license_path="LICENSE",
            license_from="text", requires_python=None, files=1, bytes=1,
        )  # fmt: skip
        mined = Work(run_id="r0", stage="mine", version="1", item_id="snap", status="done", done_at=WHEN)
        self.pipeline.store.append({"snapshots": [snapshot], "work": [mined]})

    def run(self, *stages: str) -> Checked:
        for stage in stages:
            self.pipeline.run(BY_NAME[stage], Options())
        return self

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self.pipeline.store.rows(sql, self.pipeline.view)

    def outcomes(self, run: int = 1) -> dict[str, str]:
        """What each test did in a run of the suite."""
        found = self.rows(
            f"SELECT node_id, outcome FROM current_test_runs JOIN current_tests USING (test_id) WHERE run = {run}"
        )
        return {row["node_id"]: row["outcome"] for row in found}

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdict on each function."""
        found = self.rows("SELECT qualname, v.* FROM current_verdicts AS v JOIN current_functions USING (function_id)")
        return {row["qualname"]: row for row in found}

    def failures(self) -> list[tuple[str, str, str]]:
        found = self.rows("SELECT stage, reason, detail FROM current_failures ORDER BY ALL")
        return [(row["stage"], row["reason"], row["detail"]) for row in found]


Check = Callable[..., Checked]


@pytest.fixture(scope="session")
def check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Take files through the stages up to a given one; skipped where no sandbox works."""
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))

    def run(files: Mapping[str, str], upto: str = "prove", **settings: Any) -> Checked:
        stages = ["extract", "install", "trace", "prove"]
        checked = Checked(tmp_path_factory.mktemp("ws") / "w", files, settings)
        return checked.run(*stages[: stages.index(upto) + 1])

    return run
