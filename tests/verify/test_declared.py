"""What projects declare, in all the places where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.verify import declared, imports, poetry, wanted

from .conftest import lay_out

PYPROJECT = """
    [project]
    name = "demo"
    dependencies = ["numpy>=1.20", "scipy; python_version > '3'", "here @ file:///somewhere"]
    [project.optional-dependencies]
    Test = ["pytest-mock", "demo[extra]", "torch", "black"]
    extra = ["rich"]
    docs = ["sphinx"]
    [dependency-groups]
    tests = ["attrs", {include-group = "more"}]
    more = ["six"]
"""
SETUP_PY = """
    from setuptools import setup
    import os
    EXTRA = ["six"]
    needs = ["numpy>=1.10"] + EXTRA
    setup(name="demo", install_requires=needs, extras_require={"testing": ["attrs"], "x": open("x").read()},
          tests_require=EXTRA, version=os.environ["V"])
"""
CASES = {
    "pyproject": (
        {"pyproject.toml": PYPROJECT},
        ["numpy>=1.20", 'scipy; python_version > "3"', "here"],
        ["pytest-mock", "attrs", "six", "rich"],
    ),
    "setup.py": ({"setup.py": SETUP_PY}, ["numpy>=1.10", "six"], ["attrs"]),
    "setup.cfg": (
        {"setup.cfg": "[options]\ninstall_requires =\n  numpy\n  six # why\n[options.extras_require]\ntest = attrs\n"},
        ["numpy"],
        ["attrs"],
    ),
    "metadata": (
        {"PKG-INFO": "Name: demo\nRequires-Dist: numpy<3\nRequires-Dist: attrs; extra == 'tests'\n"
                     "Requires-Dist: six; extra == 'tests' and python_version < '3'\n\nbody\nRequires-Dist: no\n"},
        ["numpy<3"],
        ["attrs"],
    ),
    "egg-info": (
        {"demo.egg-info/requires.txt": "numpy\n\n[:python_version < '3']\nsix\n\n[test]\nattrs\n"},
        ["numpy", 'six; python_version < "3"'],
        ["attrs"],
    ),
    "poetry": (
        {"pyproject.toml": '[tool.poetry.dependencies]\npython="^3.9"\nnumpy="^1.20"\nx={version="*",optional=true}\n'
                           '[tool.poetry.group.dev.dependencies]\nattrs="~23.1"\nmypy="*"\n'},
        ["numpy<2,>=1.20"],
        ["attrs<23.2,>=23.1"],
    ),
    "requirement files": (
        {"requirements.txt": "numpy==1.2  # old\n-r more.txt\n-e .\ngit+https://x/y\n",
         "requirements-test.txt": "attrs\n", "requirements/docs.txt": "sphinx\n"},
        ["numpy==1.2"],
        ["attrs"],
    ),
    "development group": (
        {"pyproject.toml": "[project]\nname='demo'\n[dependency-groups]\ndev=['attrs','ruff','sphinx-copybutton']"},
        [],
        ["attrs"],
    ),
    "broken": ({"pyproject.toml": "[project", "setup.cfg": "]", "setup.py": "print 1"}, [], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_core_and_test_requirements(name: str, tmp_path: Path) -> None:
    files, core, tests = CASES[name]
    found = wanted.choose(lay_out(tmp_path, files), "demo", (), ())
    assert list(found.core) == core
    assert list(found.tests) == tests


def test_nothing_is_run_while_reading(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    lay_out(tmp_path, {"setup.py": f"open({str(trap)!r}, 'w')\nfrom setuptools import setup\nsetup()\n"})
    declared.read(tmp_path)
    assert not trap.exists()


TESTS = """
    import os, numpy.linalg, yaml, torch
    from . import helper
    from demo import f
    import helpers
    np = pytest.importorskip("scipy")
    try:
        import cupy
    except ImportError: pass
    def test(): import pandas
"""


def test_imports_of_tests_fill_what_is_not_declared(tmp_path: Path) -> None:
    lay_out(tmp_path, {"tests/test_x.py": TESTS, "tests/helpers.py": "", "demo/__init__.py": "import click\n"})
    assert list(imports.packages(tmp_path)) == ["numpy", "pyyaml", "scipy", "torch"]
    found = wanted.choose(tmp_path, "demo", (), ("NumPy<2",))
    assert (list(found.core), list(found.imported)) == (["NumPy<2"], ["pyyaml", "scipy"])
    assert "torch" in found.left_out[0]
    assert "torch" in wanted.choose(tmp_path, "demo", ("torch",), ()).imported


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [("^1.2.3", ">=1.2.3,<2"), ("^0.2.3", ">=0.2.3,<0.3"), ("^0.0.3", ">=0.0.3,<0.0.4"), ("^0", ">=0,<1"),
     ("~1.2.3", ">=1.2.3,<1.3"), ("~1", ">=1,<2"), ("*", ""), ("1.2", "==1.2"), (">=1,<2", ">=1,<2"),
     (">=1 <2", ">=1,<2"), ("~=1.4", "~=1.4"), ("1.*", "==1.*"), ("^1.0 || ^2.0", ">=2.0,<3")],
)  # fmt: skip
def test_poetry_constraints(constraint: str, expected: str) -> None:
    assert poetry.specifier(constraint) == expected
