from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.mine import licence, metadata
from curate.mine.licence_names import named, normalise
from curate.mine.licence_texts import known, recognise
from tests.mine.projects import write

CASES = tomllib.loads((Path(__file__).parent.parent / "cases/mine/licences.toml").read_text(encoding="utf-8"))
REAL = Path("/usr/share/common-licenses")


@pytest.mark.parametrize("case", CASES["case"], ids=lambda case: case["name"])
def test_licences_of_small_projects(tmp_path: Path, case: dict[str, Any]) -> None:
    files = {}
    for path, text in case["files"].items():
        for name, words in CASES["texts"].items():
            text = text.replace(f"{{{name}}}", words)  # noqa: PLW2901
        files[path] = text
    write(tmp_path, files)
    found = licence.read(tmp_path, metadata.read(tmp_path))
    assert (found.expression, found.path, found.how) == (case.get("expression"), case.get("path"), case.get("how"))
    others = licence.others(tmp_path, files, found.expression)
    assert [[each.path, each.expression or "", each.license_from] for each in others] == case.get("others", [])


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("MIT License", "MIT"), ("the MIT license", "MIT"), ("Apache License, Version 2.0", "Apache-2.0"),
        ("GPLv3+", "GPL-3.0-or-later"), ("GPLv2", "GPL-2.0-only"), ("GNU GPL v3", "GPL-3.0-only"),
        ("GNU Lesser General Public License v2 or later (LGPLv2+)", "LGPL-2.0-or-later"),
        ("GNU Affero General Public License v3", "AGPL-3.0-only"), ("LGPL-2.1+", "LGPL-2.1-or-later"),
        ("Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0"), ("new BSD", "BSD-3-Clause"),
        ("MIT AND (Apache-2.0 OR ISC)", "MIT AND (Apache-2.0 OR ISC)"),
        ("Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception"),
        ("GPL", None), ("BSD License", None), ("Apache Software License", None), ("public domain", None),
        ("NONE", None), ("NOASSERTION", None), ("see LICENSE", None), ("a#b", None), ("", None), ("MIT/X", None),
    ],
)  # fmt: skip
def test_names_that_people_write(name: str, expression: str | None) -> None:
    assert named(name) == expression


def test_the_list_is_in_spdx_spelling_and_no_name_means_two_licences() -> None:
    assert [normalise(each.spdx) for each in known()] == [each.spdx for each in known()]
    names = [name for each in known() for name in each.names]
    assert len(names) == len(set(names))


@given(st.text(max_size=60))
def test_any_text_is_a_licence_in_spdx_spelling_or_none(text: str) -> None:
    found = named(text)
    assert found is None or normalise(found) == found


@pytest.mark.skipif(not REAL.is_dir(), reason="no licence texts on this system")
def test_whole_real_texts() -> None:
    expected = {
        "Apache-2.0": ["Apache-2.0"], "GPL-2": ["GPL-2.0-only"], "GPL-3": ["GPL-3.0-only"], "GPL-1": [],
        "LGPL-2.1": ["LGPL-2.1-only"], "LGPL-3": ["LGPL-3.0-only"], "MPL-2.0": ["MPL-2.0"], "MPL-1.1": [],
        "CC0-1.0": ["CC0-1.0"], "Artistic": [], "GFDL-1.3": [], "BSD": ["BSD-3-Clause"],
    }  # fmt: skip
    found = {name: recognise((REAL / name).read_text()) for name in expected if (REAL / name).is_file()}
    assert found
    assert found == {name: expected[name] for name in found}


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
