"""What a suite does is told by events of pytest's own, whatever the tests do to the process around them."""

from __future__ import annotations

import pytest

from .conftest import Check, Checked

CODE = '''
def double(x):
    """Return twice x."""
    return 2 * x
'''
TESTS = r"""
import ctypes, os, socket, subprocess, sys, time, unittest
import pytest
from demo import double

def test_passes(): assert double(2) == 4
def test_fails(): assert double(2) == 5
@pytest.mark.parametrize("x", [1, 2], ids=["a b::c[1]", "[100%] \"q\"\n"])
def test_odd_ids(x): assert double(x) == 2 * x
@pytest.mark.parametrize("x", [1, 2])
def test_one_item_fails(x): assert double(x) == 2
@pytest.mark.parametrize("x", [1, 2])
def test_one_item_skips(x):
    if x == 1: pytest.skip("not today")
    assert double(x) == 4
@pytest.fixture
def broken(): raise RuntimeError("no fixture")
def test_fixture_error(broken): assert True
@pytest.fixture
def leaves_badly():
    yield 1
    raise RuntimeError("teardown")
def test_teardown_error(leaves_badly): assert double(1) == 2
@pytest.mark.skip(reason="never")
def test_skipped(): assert False
@pytest.mark.xfail
def test_xfailed(): assert double(1) == 3
@pytest.mark.xfail(run=False)
def test_xfail_not_run(): os._exit(3)
@pytest.mark.xfail
def test_xpassed(): assert double(1) == 2
@pytest.mark.xfail(strict=True)
def test_xpassed_strict(): assert double(1) == 2
def test_hangs():
    while True: time.sleep(0.1)
def test_leaves_early(): os._exit(0)
def test_segfaults(): ctypes.string_at(0)
def test_exits(): sys.exit(0)
def test_prints_a_summary():
    print("== 99 passed in 0.01s =="); sys.stderr.write("1 passed"); assert False
def test_network():
    with pytest.raises(OSError): socket.create_connection(("192.0.2.1", 80), timeout=1)
def test_writes_outside():
    with pytest.raises(OSError): open("/usr/written-by-a-test", "w")
def test_leaves_a_child():
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
class TestClass:
    def test_method(self): assert double(3) == 6
class TestInherits(TestClass): pass
class TestCase(unittest.TestCase):
    def test_unit(self): self.assertEqual(double(4), 8)
    @unittest.skip("no")
    def test_unit_skipped(self): self.fail()
"""
EXPECTED = {
    "test_passes": "passed",
    "test_fails": "failed",
    "test_odd_ids": "passed",
    "test_one_item_fails": "failed",
    "test_one_item_skips": "passed",
    "test_fixture_error": "error",
    "test_teardown_error": "error",
    "test_skipped": "skipped",
    "test_xfailed": "xfailed",
    "test_xfail_not_run": "xfailed",
    "test_xpassed": "xpassed",
    "test_xpassed_strict": "failed",
    "test_hangs": "timeout",
    "test_leaves_early": "crashed",
    "test_segfaults": "crashed",
    "test_exits": "failed",
    "test_prints_a_summary": "failed",
    "test_network": "passed",
    "test_writes_outside": "passed",
    "test_leaves_a_child": "passed",
    "TestClass::test_method": "passed",
    "TestInherits::test_method": "passed",
    "TestCase::test_unit": "passed",
    "TestCase::test_unit_skipped": "skipped",
}
ADDOPTS = "[pytest]\naddopts = --no-such-option -x\nrequired_plugins = pytest-nothing\n"


@pytest.fixture(scope="module")
def project(check: Check) -> Checked:
    files = {"demo.py": CODE, "tests/test_all.py": TESTS, "pytest.ini": ADDOPTS}
    return check(files, "trace", trace={"item_seconds": 1.5})


@pytest.mark.parametrize("run", [1, 2])
def test_every_kind_of_outcome(project: Checked, run: int) -> None:
    found = {name.partition("::")[2]: outcome for name, outcome in project.outcomes(run).items()}
    assert found == EXPECTED


def test_a_hang_shows_where_it_stood_and_a_crash_how_it_ended(project: Checked) -> None:
    found = project.rows("SELECT outcome, detail FROM current_test_runs WHERE outcome IN ('timeout', 'crashed')")
    details = "\n".join(row["detail"] for row in found)
    assert "in test_hangs" in details
    assert "ended with code 0" in details
    assert "ended by signal 11" in details


def test_details_hold_no_path_of_this_machine(project: Checked) -> None:
    texts = project.rows("SELECT detail FROM current_test_runs WHERE detail <> ''")
    assert texts
    assert not any(str(project.workspace.root) in row["detail"] for row in texts)


def test_parameter_sets_are_counted_together(project: Checked) -> None:
    found = project.rows("SELECT items FROM current_test_runs JOIN current_tests USING (test_id) "
                         "WHERE run = 1 AND qualname = 'test_odd_ids'")  # fmt: skip
    assert [row["items"] for row in found] == [2]


def test_links_are_the_tests_that_ran_the_body(project: Checked) -> None:
    found = project.rows("SELECT node_id FROM current_links JOIN current_tests USING (test_id) WHERE how = 'coverage'")
    linked = {row["node_id"].partition("::")[2] for row in found}
    assert {"test_passes", "test_odd_ids", "TestInherits::test_method", "TestCase::test_unit"} <= linked
    assert not linked & {"test_skipped", "test_network", "test_fixture_error", "TestCase::test_unit_skipped"}


def test_the_snapshot_is_left_as_it_was(project: Checked) -> None:
    folder = project.workspace.snapshot("snap")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert names == ["demo.py", "pytest.ini", "tests/test_all.py"]
    assert not list((project.workspace.private / "work").iterdir())
