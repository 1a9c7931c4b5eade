"""How suites are started, for projects laid out in all sorts of ways."""

from __future__ import annotations

import pytest

from .conftest import Check

CODE = 'def double(x):\n    """Return twice x."""\n    return 2 * x\n'
TEST = "from demo import double\ndef test_it(): assert double(2) == 4\n"


def test_a_src_layout_sees_its_own_metadata_and_generated_version(check: Check) -> None:
    project = check(
        {
            "pyproject.toml": """
                [project]
                name = "demo-tools"
                dynamic = ["version"]
                [project.entry-points."demo.plugins"]
                one = "demo:double"
                [tool.setuptools_scm]
                version_file = "src/demo/_version.py"
            """,
            "src/demo/__init__.py": "from demo._version import __version__\nfrom demo.code import double\n",
            "src/demo/code.py": CODE,
            "tests/test_it.py": """
                from importlib import metadata
                import demo
                def test_version(): assert metadata.version("demo-tools") == demo.__version__ == "1.2.3"
                def test_entry_point():
                    (entry,) = metadata.entry_points(group="demo.plugins")
                    assert entry.load()(2) == 4
            """,
        },
        "trace",
    )
    assert project.outcomes() == dict.fromkeys(
        ["tests/test_it.py::test_version", "tests/test_it.py::test_entry_point"], "passed"
    )


def test_two_modules_of_one_name_and_nested_conftests(check: Check) -> None:
    project = check(
        {
            "demo.py": CODE,
            "a/test_same.py": "from demo import double\ndef test_a(number): assert double(number) == 2\n",
            "b/test_same.py": "from demo import double\ndef test_b(number): assert double(number) == 4\n",
            "a/conftest.py": "import pytest\n@pytest.fixture\ndef number(): return 1\n",
            "b/conftest.py": "import pytest\n@pytest.fixture\ndef number(): return 2\n",
        },
        "trace",
    )
    assert (
        project.outcomes(1)
        == project.outcomes(2)
        == {"a/test_same.py::test_a": "passed", "b/test_same.py::test_b": "passed"}
    )


def test_one_file_that_does_not_collect_is_named_and_the_others_run(check: Check) -> None:
    files = {"demo.py": CODE, "test_it.py": TEST, "test_bad.py": "import no_such_module_at_all_x\n"}
    files["test_dies.py"] = "import os\nos._exit(0)\n"
    project = check(files, "trace")
    assert project.outcomes() == {"test_it.py::test_it": "passed"}
    failures = {detail.splitlines()[-1]: reason for _, reason, detail in project.failures()}
    assert failures == {
        "E   ModuleNotFoundError: No module named 'no_such_module_at_all_x'": "does_not_collect",
        "the process ended with code 0": "does_not_collect",
    }


@pytest.mark.parametrize(
    ("files", "reason", "line"),
    [
        ({"test_x.py": "import os\n"}, "no_tests_collected", "pytest found no tests"),
        ({"conftest.py": "raise RuntimeError('not here')\n", "test_x.py": TEST}, "suite_failed", "not here"),
        ({"test_x.py": "raise RuntimeError('not there')\n"}, "collection_failed", "not there"),
        ({"conftest.py": "import os\nos._exit(0)\n", "test_x.py": TEST}, "suite_failed", "ended with code 0"),
    ],
)
def test_a_suite_that_runs_nothing_fails_with_lines_and_every_function_says_so(
    check: Check, files: dict[str, str], reason: str, line: str
) -> None:
    project = check({"demo.py": CODE, **files})
    ((stage, found, detail),) = project.failures()
    assert (stage, found) == ("trace", reason)
    assert line in detail
    verdict = project.verdicts()["double"]
    assert (verdict["outcome"], verdict["runs"]) == ("environment_failed", 0)
    assert reason in verdict["reason"]


def test_functions_run_in_threads_and_forked_processes_are_linked(check: Check) -> None:
    project = check(
        {
            "demo.py": """
                def in_thread(): return 1
                def in_process(): return 2
                async def in_loop(): return 3
                def generated(): yield 4
                def at_import(): return 5
                FIVE = at_import()
            """,
            "test_it.py": """
                import asyncio, multiprocessing, threading
                import demo
                def test_thread():
                    thread = threading.Thread(target=demo.in_thread); thread.start(); thread.join()
                def test_process():
                    with multiprocessing.get_context("fork").Pool(1) as pool: assert pool.apply(demo.in_process) == 2
                def test_loop(): assert asyncio.run(demo.in_loop()) == 3
                def test_generator(): assert list(demo.generated()) == [4]
                def test_generator_not_started(): demo.generated()
                def test_import(): assert demo.FIVE == 5
            """,
        },
        "trace",
    )
    assert set(project.outcomes().values()) == {"passed"}
    found = project.rows("""
        SELECT t.qualname AS test, f.qualname AS function FROM current_links
        JOIN current_tests AS t USING (test_id) JOIN current_functions AS f USING (function_id) WHERE how = 'coverage'
    """)
    assert {(row["test"], row["function"]) for row in found} == {
        ("test_thread", "in_thread"), ("test_process", "in_process"), ("test_loop", "in_loop"),
        ("test_generator", "generated"),
    }  # fmt: skip


def test_the_second_run_has_another_order_and_hash_seed(check: Check) -> None:
    project = check(
        {
            "demo.py": CODE,
            "test_it.py": """
                import os
                SEEN = []
                def test_first(): assert not SEEN; SEEN.append(1)
                def test_second(): SEEN.append(2)
                def test_seed(): assert os.environ["PYTHONHASHSEED"] == "0"
                def test_zone(): assert os.environ["TZ"] == "UTC"
            """,
        },
        "trace",
    )
    assert project.outcomes(1) == {f"test_it.py::test_{name}": "passed" for name in ("first", "second", "seed", "zone")}
    failed = {name for name, outcome in project.outcomes(2).items() if outcome == "failed"}
    assert failed == {"test_it.py::test_first", "test_it.py::test_seed"}


def test_generated_tests_get_rows_of_their_own(check: Check) -> None:
    files = {"demo.py": CODE, "test_it.py": "import demo\nglobals()['test_made'] = lambda: demo.double(1)\n"}
    project = check(files, "trace")
    (row,) = project.rows("SELECT node_id, found_by, first_line FROM current_tests")
    assert row == {"node_id": "test_it.py::test_made", "found_by": "collected", "first_line": 0}


def test_a_test_that_only_flags_break_is_run_again_without_them(check: Check) -> None:
    project = check(
        {
            "demo.py": CODE,
            "test_it.py": """
                import dis, demo
                def test_bytecode():
                    names = [one.argval for one in dis.get_instructions(demo.double)]
                    assert names.count(1) == 0, "a compiler would not know this"
                def test_plain(): assert demo.double(1) == 2
            """,
        }
    )
    assert set(project.outcomes(1).values()) == {"passed"}
    settings = project.rows("SELECT DISTINCT setting FROM current_test_runs WHERE run = 1 ORDER BY setting")
    assert [row["setting"] for row in settings] == [
        "hash seed 0, collected order, with links", "hash seed 0, collected order, without links",
    ]  # fmt: skip
