"""Which functions are tests, which files belong to the tests, and how they are named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.extract.conftest import Extract

SUITE = {
    "tests/test_plain.py": (
        "import pytest\nimport unittest as u\n"
        "def test_one(): pass\n"
        "async def test_two(): pass\n"
        "def helper(): pass\n"
        "@pytest.fixture\ndef test_data(): return 1\n"
        "if True:\n    def test_three(): pass\n"
        "def test_one(): assert True\n"
        "class TestGroup:\n    def test_in(self): pass\n    def other(self): pass\n"
        "    class TestInner:\n        def test_deep(self): pass\n"
        "class TestWithInit:\n    def __init__(self): pass\n    def test_no(self): pass\n"
        "class TestOff:\n    __test__ = False\n    def test_no(self): pass\n"
        "class Plain:\n    def test_no(self): pass\n"
        "class Case(u.TestCase):\n    def test_unit(self): pass\n"
        "def outer():\n    def test_nested(): pass\n"
    ),
    "tests/base.py": "import unittest\nclass Base(unittest.TestCase):\n    def setUp(self): pass\n",
    "tests/__init__.py": "",
    "tests/test_derived.py": "from .base import Base\nclass Mine(Base):\n    def test_mine(self): pass\n",
}


def test_tests_are_found_as_pytest_finds_them(extract: Extract) -> None:
    found = extract(SUITE)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
         "--rootdir", str(found.root)],
        cwd=found.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    collected = sorted(line for line in run.stdout.splitlines() if "::" in line)
    assert collected
    assert sorted(test.node_id for test in found.tests) == collected
    assert {test.node_id for test in found.tests if test.framework == "unittest"} == {
        "tests/test_plain.py::Case::test_unit",
        "tests/test_derived.py::Mine::test_mine",
    }


def test_of_two_tests_with_one_name_the_last_counts(extract: Extract) -> None:
    (row,) = [test for test in extract(SUITE).tests if test.qualname == "test_one"]
    assert row.source == "def test_one(): assert True"
    assert (row.first_line, row.last_line, row.found_by) == (10, 10, "static")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = "check_*.py"\npython_functions = ["check_*"]\n'),
        ("pytest.ini", "[pytest]\npython_files = check_*.py\npython_functions = check_*\npython_classes = Check\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py\npython_functions = check_*\npython_classes = Check\n"),
        ("tox.ini", "[pytest]\npython_files =\n    check_*.py\npython_functions = check\n"),
    ],
)
def test_the_projects_own_naming_is_followed(extract: Extract, name: str, text: str) -> None:
    found = extract({name: text, "check_a.py": "def check_one(): pass\n", "test_b.py": "def test_two(): pass\n"})
    assert [test.node_id for test in found.tests] == ["check_a.py::check_one"]


def test_broken_settings_fall_back_to_the_defaults(extract: Extract) -> None:
    found = extract({"pyproject.toml": "[tool", "test_b.py": "def test_two(): pass\n"})
    assert [test.node_id for test in found.tests] == ["test_b.py::test_two"]


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("tests/helpers.py", True), ("pkg/tests/data.py", True), ("pkg/test/a.py", True), ("conftest.py", True),
        ("pkg/a_test.py", True), ("pkg/tests.py", True), ("pkg/testing.py", False), ("pkg/testing/a.py", False),
        ("test.py", False), ("pkg/latest.py", False), ("pkg/contest/a.py", False),
    ],
)  # fmt: skip
def test_which_files_belong_to_the_tests(extract: Extract, path: str, inside: bool) -> None:
    assert extract({path: "def f(): return 1\n"}).function("f").in_tests is inside


def test_a_pattern_for_every_file_makes_tests_only_of_those_in_test_folders(extract: Extract) -> None:
    settings = '[tool.pytest.ini_options]\npython_files = ["test_*.py", "*.py"]\n'
    text = "def test_a(): pass\n"
    found = extract({"pyproject.toml": settings, "pkg/a.py": text, "tests/b.py": text})
    assert [test.node_id for test in found.tests] == ["tests/b.py::test_a"]
