from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.mine import licence, metadata
from curate.mine.licence_names import named, names, normalise
from curate.mine.licence_texts import recognise
from tests.mine.projects import write

FOLDER = Path(__file__).parent.parent / "cases/mine/licences"
CASES = {
    f"{path.stem}: {case['name']}": case
    for path in sorted(FOLDER.glob("*.toml"))
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
}
REAL = Path("/usr/share/common-licenses")
NOTICES = {
    "APACHE_NOTICE": """
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
""",
    "GPL_NOTICE": """
# This program is free software: you can redistribute it and/or modify
# it under the terms of the GNU General Public License as published by
# the Free Software Foundation, either version 3 of the License, or
# (at your option) any later version.
""",
}


def text(name: str) -> str:
    """Return a licence text: of a package that is installed with curate, or of this system."""
    if name in NOTICES:
        return NOTICES[name]
    if name == "APACHE_WITHOUT_APPENDIX":
        return text("APACHE").partition("APPENDIX")[0]
    packages = {"MIT": ("pytest", "LICENSE"), "BSD3": ("click", "LICENSE.txt"), "BSD2": ("packaging", "LICENSE.BSD"),
                "APACHE": ("pyaskalono", "LICENSE")}  # fmt: skip
    if name in packages:
        package, file = packages[name]
        found = next(path for path in distribution(package).files or () if path.name == file)
        return found.read_text(encoding="utf-8")
    shared = REAL / {"GPL2": "GPL-2", "GPL3": "GPL-3", "LGPL3": "LGPL-3"}[name]
    if not shared.is_file():
        pytest.skip("no licence texts on this system")
    return shared.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_licences_of_small_projects(tmp_path: Path, case: dict[str, Any]) -> None:
    files = {
        path: re.sub(r"\{([A-Z0-9_]+)\}", lambda match: text(match[1]), body) for path, body in case["files"].items()
    }
    write(tmp_path, files)
    rows = licence.read(tmp_path, files, metadata.read(tmp_path), "s1")
    found = licence.deciding(rows)
    assert (found and found.expression, found and found.read_from, found and found.how) == (
        case.get("expression"), case.get("path"), case.get("how"),
    )  # fmt: skip
    if found:
        assert found.reason == case.get("reason", "")
        assert found.text.strip() == case.get("text", found.text.strip())
    parts = [[row.path, row.expression or "", row.how, row.read_from] for row in rows if row.path and row.decides]
    assert parts == case.get("parts", [])
    # Every row has the text that it was read from, and says how sure it is.
    assert all(row.text and 0 <= row.score <= 1 and (row.expression is not None or row.score == 0) for row in rows)
    deciding = [row.path for row in rows if row.decides]
    assert len(deciding) == len(set(deciding))


def test_all_that_was_found_is_kept(tmp_path: Path) -> None:
    files = {
        "PKG-INFO": "License: BSD\nClassifier: License :: OSI Approved :: BSD License\n",
        "LICENSE": text("BSD3").replace("\n", "\r\n"),
        "LICENSE.numpy": text("MIT"),
    }
    write(tmp_path, files)
    rows = licence.read(tmp_path, files, metadata.read(tmp_path), "s1")
    assert [(row.how, row.expression, row.decides) for row in rows] == [
        ("text", "BSD-3-Clause", True), ("field", None, False), ("classifier", None, False), ("text", "MIT", False),
    ]  # fmt: skip
    assert rows[0].text == text("BSD3")
    assert rows[0].score > 0.9
    assert {row.snapshot_id for row in rows} == {"s1"}


@pytest.mark.parametrize("doubt", ["License :: Other/Proprietary License", "License :: OSI Approved :: ISC License"])
def test_why_nothing_counts_is_said(tmp_path: Path, doubt: str) -> None:
    files = {"PKG-INFO": f"License: GPL\nClassifier: {doubt}\n", "LICENSE": text("MIT")}
    write(tmp_path, files)
    rows = licence.read(tmp_path, files, metadata.read(tmp_path), "s1")
    if "ISC" in doubt:
        assert licence.deciding(rows) is not None
    else:
        assert licence.deciding(rows) is None
        assert {row.reason for row in rows} == {"its classifiers call it proprietary"}


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("MIT License", "MIT"), ("the MIT license", "MIT"), ("Apache License, Version 2.0", "Apache-2.0"),
        ("GPLv3+", "GPL-3.0-or-later"), ("GPLv2", "GPL-2.0-only"), ("GNU GPL v3", "GPL-3.0-only"),
        ("GNU Lesser General Public License v2 or later (LGPLv2+)", "LGPL-2.0-or-later"),
        ("GNU Affero General Public License v3", "AGPL-3.0-only"), ("LGPL-2.1+", "LGPL-2.1-or-later"),
        ("GPL v2 or any later version", "GPL-2.0-or-later"), ("GPL-3.0-only", "GPL-3.0-only"),
        ("Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0"), ("new BSD", "BSD-3-Clause"),
        ("MIT AND (Apache-2.0 OR ISC)", "MIT AND (Apache-2.0 OR ISC)"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception"),
        ("LicenseRef-Mine OR MIT", "LicenseRef-Mine OR MIT"), ("MIT WITH nothing", None),
        ("GPL", None), ("BSD License", None), ("Apache Software License", None), ("public domain", None),
        ("NONE", None), ("NOASSERTION", None), ("see LICENSE", None), ("a#b", None), ("", None), ("MIT/X", None),
    ],
)  # fmt: skip
def test_names_that_people_write(name: str, expression: str | None) -> None:
    assert named(name) == expression


def test_the_list_is_in_spdx_spelling_and_no_name_means_two_licences() -> None:
    assert [normalise(spdx) for spdx in names()] == list(names())
    every = [name.lower() for given in names().values() for name in given]
    assert len(every) == len(set(every))


@given(st.text(max_size=60))
def test_any_text_is_a_licence_in_spdx_spelling_or_none(words: str) -> None:
    found = named(words)
    assert found is None or normalise(found) == found


@pytest.mark.skipif(not REAL.is_dir(), reason="no licence texts on this system")
def test_whole_real_texts() -> None:
    expected = {
        "Apache-2.0": "Apache-2.0", "GPL-2": "GPL-2.0-only", "GPL-3": "GPL-3.0-only", "GPL-1": "GPL-1.0-only",
        "LGPL-2.1": "LGPL-2.1-only", "LGPL-3": "LGPL-3.0-only", "MPL-2.0": "MPL-2.0", "MPL-1.1": "MPL-1.1",
        "CC0-1.0": "CC0-1.0", "Artistic": "Artistic-1.0-Perl", "BSD": "BSD-3-Clause",
    }  # fmt: skip
    found = {name: [each.spdx for each in recognise((REAL / name).read_text())] for name in expected}
    assert found == {name: [spdx] for name, spdx in expected.items()}


@pytest.mark.parametrize(
    ("files", "requires"),
    [
        ({"PKG-INFO": "Requires-Python: >=3.9, <4\n", "pyproject.toml": "[project]\nrequires-python='>=3.8'\n"},
         ">=3.9, <4"),
        ({"pyproject.toml": "[project]\nrequires-python='>=3.8'\n"}, ">=3.8"),
        ({"setup.cfg": "[options]\npython_requires = >=3.7\n"}, ">=3.7"),
        ({"setup.py": "from setuptools import setup\nsetup(python_requires='>=3.6')\n"}, ">=3.6"),
        ({"setup.py": "from setuptools import setup\nsetup(python_requires=VERSION)\n"}, None),
        ({"pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.8'\n"}, None),
        ({"PKG-INFO": "Requires-Python: three\n"}, None),
    ],
)  # fmt: skip
def test_the_interpreter_asked_for(tmp_path: Path, files: dict[str, str], requires: str | None) -> None:
    write(tmp_path, files)
    stated = [each.requires_python for each in metadata.read(tmp_path) if each.requires_python]
    assert stated[:1] == ([requires] if requires else [])
