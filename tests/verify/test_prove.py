"""A function is verified when its tests pass on it and at least one fails without it; else its row says why not."""

from __future__ import annotations

import pytest

from curate.pipeline import Options
from curate.stages import BY_NAME

from .conftest import Check, Checked

CODE = '''
import functools

class Shape:
    """A shape."""

    def __init__(self, side):
        """Take a side."""
        self.side = side

    @property
    def area(self):
        """Return the area."""
        return self.side ** 2

def wrap(function):
    """Decorate; runs at import, and only then."""
    return function

@wrap
def verified(x):
    """Return x and one."""
    return x + 1

def untested():
    """Nobody calls it."""
    return 1

def wrong():
    """Its test fails."""
    return 1

def skipped():
    """Its test is skipped half way."""
    return 1

def flaky():
    """Its test passes once in a while."""
    return 1

def swallowed():
    """Its test does not care."""
    return 1

def empty():
    """No behaviour."""

def crashes():
    """Its test dies."""
    return 1

def hangs():
    """Its test never ends."""
    return 1

@functools.lru_cache(maxsize=None)
def cached(x):
    """Return x squared."""
    return x * x

FOUR = cached(2)

def waits():
    """Without it its test waits for ever."""
    return True

def undocumented():
    return 1
'''
TESTS = """
import os, time
import pytest
import demo

def test_area(): assert demo.Shape(3).area == 9
def test_verified(): assert demo.verified(1) == 2
def test_verified_and_more(): assert demo.verified(demo.undocumented()) == 2
def test_wrong(): assert demo.wrong() == 2
def test_skipped():
    demo.skipped()
    pytest.skip("later")
def test_flaky():
    demo.flaky()
    assert os.environ["PYTHONHASHSEED"] == "0"
def test_swallowed():
    try: demo.swallowed()
    except Exception: pass
def test_crashes():
    demo.crashes()
    os._exit(0)
def test_hangs():
    demo.hangs()
    time.sleep(60)
def test_cached(): assert demo.cached(3) == 9
def test_waits():
    while True:
        try:
            if demo.waits(): break
        except Exception: time.sleep(0.05)
"""
OUTCOMES = {
    "Shape.__init__": "verified",
    "Shape.area": "verified",
    "wrap": "no_tests",
    "verified": "verified",
    "untested": "no_tests",
    "wrong": "tests_fail",
    "skipped": "tests_skipped",
    "flaky": "flaky",
    "swallowed": "stub_passes",
    "empty": "no_behaviour",
    "crashes": "tests_crash",
    "hangs": "timeout",
    "cached": "verified",
    "waits": "timeout",
}


@pytest.fixture(scope="module")
def project(check: Check) -> Checked:
    files = {"demo.py": CODE, "test_demo.py": TESTS}
    return check(files, trace={"item_seconds": 2}, prove={"item_seconds": 2})


def test_every_documented_function_has_its_verdict(project: Checked) -> None:
    assert {name: row["outcome"] for name, row in project.verdicts().items()} == OUTCOMES


def test_a_verified_row_counts_its_runs_and_tests(project: Checked) -> None:
    row = project.verdicts()["verified"]
    assert (row["runs"], row["tests"], row["tests_failing_on_stub"], row["detail"]) == (3, 2, 2, "")
    assert row["sandbox"]
    assert row["environment_id"]


def test_a_row_that_is_not_verified_shows_why(project: Checked) -> None:
    verdicts = project.verdicts()
    assert "assert 1 == 2" in verdicts["wrong"]["detail"]
    assert "later" in verdicts["skipped"]["detail"]
    assert "passed, failed" in verdicts["flaky"]["detail"]
    assert "ended with code 0" in verdicts["crashes"]["detail"]
    assert all(row["reason"].endswith(".") for row in verdicts.values())


def test_a_function_that_also_runs_at_import_is_told_apart(project: Checked) -> None:
    assert "at import" in project.verdicts()["cached"]["reason"]


def test_proven_links_are_those_of_verified_functions(project: Checked) -> None:
    found = project.rows("""
        SELECT f.qualname AS function, t.qualname AS test FROM current_links
        JOIN current_functions AS f USING (function_id) JOIN current_tests AS t USING (test_id) WHERE how = 'proven'
    """)
    assert {(row["function"], row["test"]) for row in found} == {
        ("Shape.__init__", "test_area"), ("Shape.area", "test_area"), ("cached", "test_cached"),
        ("verified", "test_verified"), ("verified", "test_verified_and_more"),
    }  # fmt: skip


def test_a_second_run_has_nothing_to_do_and_redoing_gives_the_same(project: Checked) -> None:
    before = project.verdicts()
    assert project.pipeline.run(BY_NAME["prove"], Options()).pending == 0
    again = project.pipeline.run(BY_NAME["prove"], Options(redo=True, only="verified"))
    assert again.done == 1
    same = {"outcome", "reason", "detail", "runs", "tests", "tests_failing_on_stub", "environment_id"}
    after = project.verdicts()
    assert {k: before["verified"][k] for k in same} == {k: after["verified"][k] for k in same}


def test_a_function_that_eats_all_memory_costs_only_its_own_verdict(check: Check) -> None:
    code = '''
        def greedy():
            """Take everything, unless told otherwise."""
            return True
        def modest():
            """Return one."""
            return 1
    '''
    tests = """
        import os, demo
        def test_greedy():
            try: demo.greedy()
            except NotImplementedError:
                hoard = []
                for _ in range(40):
                    if os.fork() == 0:
                        hoard.append(b"x" * (200 << 20))
                        import time; time.sleep(20)
                import time; time.sleep(20)
        def test_modest(): assert demo.modest() == 1
    """
    project = check({"demo.py": code, "test_demo.py": tests}, prove={"memory_gb": 1, "item_seconds": 10})
    verdicts = project.verdicts()
    assert verdicts["modest"]["outcome"] == "verified"
    assert verdicts["greedy"]["outcome"] == "sandbox_ended"
    assert "out_of_memory" in verdicts["greedy"]["reason"]


def test_plugins_of_pytest_are_left_to_pytest_though_their_warnings_are_errors(check: Check) -> None:
    files = {
        "pyproject.toml": """
            [project]
            name = "demo"
            optional-dependencies = {test = ["hypothesis"]}
            [tool.pytest.ini_options]
            filterwarnings = ["error"]
        """,
        "demo.py": '''
            def same(x):
                """Return it."""
                return x
            def less(x):
                """Lower it."""
                return x - 1
        ''',
        "test_demo.py": """
            from hypothesis import given, strategies
            import demo
            @given(strategies.integers())
            def test_same(x): assert demo.same(x) == x
            @given(strategies.integers())
            def test_less(x): assert demo.less(x) < x
        """,
    }
    assert {row["outcome"] for row in check(files).verdicts().values()} == {"verified"}
