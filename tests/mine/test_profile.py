"""What a project is like: counted by hand in the cases, beside extraction's own count, and whatever its files hold."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate import mine, records
from curate.extract import Settings, extract
from curate.mine.modules import MAX_BYTES
from curate.mine.profile import profile
from curate.records import Function, Profile, Snapshot
from curate.stages import BY_NAME
from curate.work import Context
from tests.mine.projects import FILES, write

CASES = Path(__file__).parents[1] / "cases" / "mine" / "profile"
PROJECTS = sorted(path.stem for path in CASES.glob("*.json"))
NOTEBOOK = '{"cells": [{"cell_type": "code", "source": %s}], "metadata": {}}'


def _of(root: Path) -> Profile:
    return profile(root, [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()], "snap")


def _one(folder: Path, name: str, content: bytes | str) -> Profile:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return profile(folder, [name], "snap")


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_is_profiled_as_counted_by_hand(name: str) -> None:
    found = _of(CASES / name).model_dump(mode="json", exclude={"run_id", "work_item", "snapshot_id"})
    assert found == json.loads((CASES / f"{name}.json").read_text())


def _counts_agree(root: Path) -> None:
    """Compare what stands in modules; what stands in notebooks is counted by hand."""
    rows = extract(root, "snap", "name", Settings(black="none"))
    functions = [row for row in rows if isinstance(row, Function) and row.path.endswith(".py")]
    functions = [row for row in functions if not (row.in_tests or row.is_nested or row.is_stub)]
    found = profile(root, [path.relative_to(root).as_posix() for path in root.rglob("*.py")], "snap")
    assert found.functions == len(functions)
    assert found.documented == sum(row.docstring is not None for row in functions)
    assert found.tests == sum(isinstance(row, records.Test) for row in rows)
    assert found.functions or found.tests


@pytest.mark.parametrize("root", [*(CASES / name for name in PROJECTS), Path(__file__).parents[2] / "curate" / "mine"])
def test_extraction_finds_the_same_functions_and_tests(root: Path) -> None:
    _counts_agree(root)


@pytest.mark.slow
def test_extraction_finds_the_same_in_a_large_package() -> None:
    numpy = pytest.importorskip("numpy")
    _counts_agree(Path(numpy.__file__).parent)


@pytest.mark.parametrize(
    ("name", "content", "unreadable", "functions", "frameworks"),
    [
        ("two.py", b'import torch\nprint "two"\n', 1, 0, []),
        ("bom.py", b"\xef\xbb\xbfimport torch\r\n\r\ndef f():\r\n    return 1\r\n", 0, 1, [("torch", 1)]),
        ("latin.py", b'# -*- coding: latin-1 -*-\nimport jax\nname = "caf\xe9"\n', 0, 0, [("jax", 2)]),
        ("undeclared.py", b'import jax\nname = "caf\xe9"\n', 1, 0, []),
        ("coding.py", b"# coding: no-such-thing\nimport jax\n", 1, 0, []),
        ("null.py", b"import jax\n\0\n", 1, 0, []),
        ("mac.py", b"import sys\rimport flax\rdef f():\r    return 1\r", 0, 1, [("flax", 2)]),
        ("feed.py", b"\x0cimport optax\n", 0, 0, [("optax", 1)]),
        ("template.py", b"{% if x %}\nimport {{ name }}\n", 1, 0, []),
        ("empty.py", b"", 0, 0, []),
        ("twice.py", b"def f():\n    import keras.layers\nfrom keras import x\nimport kerasx, torch as t", 0, 1,
         [("keras", 2), ("torch", 4)]),
        ("loaders.py", b"x = importlib.import_module('mxnet.nd')\ny = __import__(name)\nz = import_module('.torch')\n"
         b"def import_module(): pass\n", 0, 0, [("mxnet", 1)]),
        ("data.txt", b"import torch", 0, 0, []),
        ("cut.ipynb", '{"cells": [', 1, 0, []),
        ("list.ipynb", "[]", 1, 0, []),
        ("number.ipynb", NOTEBOOK % 5, 1, 0, []),
        ("deep.ipynb", "[" * 100_000, 1, 0, []),
        ("surrogate.ipynb", NOTEBOOK % '"x = \'\\ud800\'"', 1, 0, []),
        ("julia.ipynb", (NOTEBOOK % '"import torch"').replace("{}", '{"language_info": {"name": "julia"}}'), 0, 0, []),
        ("old.ipynb", '{"worksheets": [{"cells": [{"cell_type": "code", "input": ["import timm"]},'
         '{"cell_type": "code", "input": "def broken("}, {"cell_type": "code", "input": "def f(): return 1"}]}]}',
         1, 1, [("timm", 1)]),
    ],
)  # fmt: skip
def test_odd_files(
    tmp_path: Path, name: str, content: bytes | str, unreadable: int, functions: int, frameworks: list[tuple[str, int]]
) -> None:
    found = _one(tmp_path, name, content)
    assert found.python_files == int(not name.endswith(".txt"))
    assert (found.unreadable, found.functions) == (unreadable, functions)
    assert [(one.name, one.first_line) for one in found.frameworks] == frameworks


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("import torch\nx = " + "(" * 5_000 + ")" * 5_000, 1),
        ("import torch\nx = " + "-" * 50_000 + "1", 1),
        ("import torch\nx = " + "+".join("1" * 50_000), 1),
        ("import torch\n" + "\n".join(" " * depth + "if x:" for depth in range(150)) + " pass", 1),
        ("import torch\n" + "\n".join(" " * depth + "if x:" for depth in range(90)) + " import jax", 0),
        ("import torch\nif x: pass\n" + "elif x: pass\n" * 500 + "else:\n    import jax\n", 0),
    ],
    ids=["parentheses", "signs", "sum", "too many blocks", "blocks", "elif"],
)
def test_deep_nesting_is_unreadable_at_worst(tmp_path: Path, text: str, unreadable: int) -> None:
    found = _one(tmp_path, "deep.py", text)
    assert found.unreadable == unreadable
    assert [one.name for one in found.frameworks] == ([] if unreadable else ["jax", "torch"])


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    line = b"import torch\n"
    assert _one(tmp_path, "a.py", line + b"#" * (MAX_BYTES - len(line))).unreadable == 0
    large = _one(tmp_path, "a.py", line + b"#" * (MAX_BYTES - len(line) + 1))
    assert (large.python_files, large.unreadable, large.frameworks) == (1, 1, [])


def test_what_is_no_file_is_unreadable_and_a_link_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "real.py").write_text("def f(): return 1\n")
    (tmp_path / "second.py").symlink_to("real.py")
    found = profile(tmp_path, ["folder.py", "gone.py", "real.py", "second.py"], "snap")
    assert (found.python_files, found.unreadable, found.functions) == (3, 2, 1)


def test_the_first_import_is_one_outside_the_tests(tmp_path: Path) -> None:
    write(tmp_path, {"a/tests/test_a.py": "import torch\n", "z.py": "x = 1\nimport torch\n", "zz.py": "import torch\n"})
    (found,) = _of(tmp_path).frameworks
    assert (found.first_path, found.first_line, found.files, found.test_files) == ("z.py", 2, 2, 1)


def test_base_classes_that_lead_in_circles_or_to_names_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, {
        "base.py": "import unittest\nclass TestCase(unittest.TestCase): pass\nclass A(B): pass\nclass B(A): pass\n",
        "tests/test_a.py": "class One(TestCase):\n def test_a(self): pass\nclass Two(A):\n def test_a(self): pass\n",
    })  # fmt: skip
    assert _of(tmp_path).tests == 1


@pytest.mark.parametrize("name", PROJECTS)
def test_the_order_of_the_paths_does_not_matter(name: str) -> None:
    root = CASES / name
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    assert profile(root, paths, "snap") == profile(root, reversed(paths), "snap")


_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "input", "metadata", "worksheets", "kernelspec"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.binary() | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_no_python_file_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    found = _one(tmp_path_factory.getbasetemp(), "any.py", content)
    assert found.python_files == 1


@given(_JSON, st.text("%!?\\\n x='\"(", max_size=15))
def test_no_notebook_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, value: object, code: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    cell = {"cell_type": "code", "source": code}
    assert _one(folder, "any.ipynb", json.dumps(value)).python_files == 1
    assert _one(folder, "any.ipynb", json.dumps({"cells": [cell], "metadata": value})).python_files == 1


def test_the_collector_is_left_as_it_was(tmp_path: Path) -> None:
    was_on = gc.isenabled()
    _one(tmp_path, "a.py", "x = 1\n")
    assert gc.isenabled() == was_on


def test_mining_stores_it_beside_the_snapshot(context: Context, tmp_path: Path) -> None:
    write(tmp_path / "code", FILES)
    requests = mine.requests([str(tmp_path / "code")], context.workspace)
    ((_, row),) = mine.items(requests, context.workspace, context.settings)
    assert isinstance(row, dict)
    ((_, rows),) = mine.work([row], context)
    assert not isinstance(rows, Exception)
    (snapshot,) = [row for row in rows if isinstance(row, Snapshot)]
    (found,) = [row for row in rows if isinstance(row, Profile)]
    assert found.snapshot_id == snapshot.snapshot_id
    assert (found.functions, found.documented, found.tests, found.tests_per_function) == (1, 1, 1, 1.0)
    assert "profiles" in BY_NAME["mine"].writes
