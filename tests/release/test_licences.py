"""From what mining found of licences to the gate, the problem, the release's folder and `curate show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.mine import licence, metadata
from curate.pipeline import stage_version
from curate.records import Row, Run, Work
from curate.release.build import license_texts
from curate.show import as_text, show
from curate.stages import BY_NAME
from curate.store import Store, View
from tests.made import NOON, function, snapshot
from tests.mine.projects import MIT, write

FILES = {
    "LICENSE": MIT,
    "lib/core.py": "x = 1\n",
    "lib/same.py": "# SPDX-License-Identifier: MIT\n",
    "lib/gpl.py": "# This is free software under the GNU General Public License version 3 or any later version.\n",
    "lib/vendored/LICENSE": "Nobody may do anything with it.\n",
    "lib/vendored/code.py": "x = 1\n",
    "lib/vendored/deep/code.py": "# SPDX-License-Identifier: LicenseRef-Corporate OR ISC\n",
    "lib/vendored_too.py": "x = 1\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    write(tmp_path / "project", FILES)
    rows = licence.read(tmp_path / "project", FILES, metadata.read(tmp_path / "project"), "s1")
    functions = [function(path, path=path) for path in FILES if path.endswith(".py")]
    made: dict[str, list[Row]] = {
        "mine": [snapshot("s1", "lib"), snapshot("s2", "bare"), *rows],
        "extract": [*functions, function("bare", "s2")],
    }
    found = Store(tmp_path / "store.duckdb")
    for stage, written in made.items():
        version = stage_version(BY_NAME[stage], BY_NAME[stage].load().Settings())
        run = Run(
            run_id=stage, stage=stage, version=version, settings="{}", started_at=NOON, ended_at=NOON, items=1,
            status="done", curate="0",
        )  # fmt: skip
        work = Work(run_id=stage, stage=stage, version=version, item_id="x", status="done", done_at=NOON)
        found.append({"runs": [run], "work": [work]})
        for row in written:
            found.append({row.table: [row.model_copy(update={"run_id": stage, "work_item": "x"})]})
    return found


def test_the_innermost_that_says_something_holds(store: Store) -> None:
    rows = store.rows("SELECT * FROM function_licenses")
    found = {row["function_id"]: (row["license_expression"], row["license_path"], row["license_how"]) for row in rows}
    assert found == {
        "f-lib/core.py": ("MIT", "LICENSE", "text"),
        "f-lib/same.py": ("MIT", "lib/same.py", "tag"),
        "f-lib/gpl.py": ("GPL-3.0-or-later", "lib/gpl.py", "notice"),
        "f-lib/vendored/code.py": (None, "lib/vendored/LICENSE", "text"),
        "f-lib/vendored/deep/code.py": ("LicenseRef-Corporate OR ISC", "lib/vendored/deep/code.py", "tag"),
        "f-lib/vendored_too.py": ("MIT", "LICENSE", "text"),
        "f-bare": (None, None, None),
    }
    texts = {row["function_id"]: row["license_text"] for row in rows}
    assert texts["f-lib/core.py"] == MIT
    assert texts["f-lib/same.py"] == "# SPDX-License-Identifier: MIT"
    assert texts["f-lib/vendored/code.py"] == FILES["lib/vendored/LICENSE"]


def test_show_says_where_it_was_read(store: Store) -> None:
    text = as_text(show(store, View(), "f-lib/gpl.py"))
    assert "lib 1.0, GPL-3.0-or-later, lines" in text
    assert "  licence by notice of lib/gpl.py\n    | # This is free software" in text
    assert "licence by" not in as_text(show(store, View(), "f-bare"))
    whole = as_text(show(store, View(), "f-lib/core.py"))
    assert "  licence by text of LICENSE\n    | MIT License\n" in whole
    assert "    | ...\n" in whole


def test_texts_are_put_together_by_project() -> None:
    rows = [
        {"name": "a/b", "revision": "0123456789abcdef", "url": "u", "files": ["LICENSE"], "text": "one\n"},
        {"name": "a/b", "revision": "0123456789abcdef", "url": "u", "files": ["x.py"] * 12, "text": "two"},
        {"name": "c", "revision": "1.0", "url": "v", "files": ["COPYING"], "text": "three"},
    ]
    assert license_texts(rows) == {
        "a-b-0123456789ab.txt": "a/b 0123456789abcdef, u\n\n--- LICENSE\n\none\n\n--- "
        + "x.py, " * 10
        + "2 more\n\ntwo\n",
        "c-1.0.txt": "c 1.0, v\n\n--- COPYING\n\nthree\n",
    }
