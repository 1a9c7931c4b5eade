"""Files as they come: encodings, newlines, Python 2, templates, notebooks, links out of the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curate.errors import ItemError
from curate.extract import Settings, work
from curate.work import Context
from curate.workspace import Workspace
from tests.extract.conftest import CASES, Extract

BODY = "x = '{odd}'\ndef f(a):\n    '''Döc.'''\n    return '{odd}', a\n\nclass A:\n\tdef g(self):\n\t\treturn 1\n"
ENCODED: dict[str, bytes] = {
    "bom": b"\xef\xbb\xbf" + BODY.format(odd="é").encode(),
    "emoji": BODY.format(odd="😀 \U0001d538").encode(),
    "latin-1": ("# -*- coding: latin-1 -*-\n" + BODY.format(odd="é")).encode("latin-1"),
    "shift_jis": ("# coding: shift_jis\n" + BODY.replace("ö", "日").format(odd="日本")).encode("shift_jis"),
    "crlf": BODY.format(odd="é").replace("\n", "\r\n").encode(),
    "cr": BODY.format(odd="é").replace("\n", "\r").encode(),
    "form feed": ("\f\n" + BODY.format(odd="\u2028 \x0b \x1c \x85")).encode(),
}


@pytest.mark.parametrize("name", ENCODED)
def test_spans_are_exact_in_every_encoding(extract: Extract, name: str) -> None:
    raw = ENCODED[name]
    found = extract({"a.py": raw})
    f, g = found.function("f"), found.function("A.g")
    assert raw[f.start_byte : f.end_byte].startswith(b"def f(a):")
    assert raw[f.start_byte : f.end_byte].endswith(b", a")
    assert raw[f.body_byte :].startswith(b"return")
    assert raw[g.start_byte : g.end_byte].startswith(b"def g(self):")
    assert raw[g.start_byte : g.end_byte].endswith(b"return 1")
    assert f.source.split("\n")[0] == "def f(a):"
    assert g.source == "def g(self):\n\t\treturn 1".replace("\n\t", "\n")
    assert not found.failures


def test_strings_keep_their_lines_when_a_method_is_dedented(extract: Extract) -> None:
    text = 'class A:\n    def f(self):\n        """Doc\n        more."""\n        return """a\n        b"""\n'
    source = extract({"a.py": text}).function("A.f").source
    assert source == 'def f(self):\n    """Doc\n    more."""\n    return """a\n        b"""'


def test_what_cannot_be_read_is_a_failure_and_the_rest_goes_on(extract: Extract) -> None:
    deep = "x = " + "(" * 300 + ")" * 300
    found = extract(
        {
            "good.py": "def f(): return 1\n",
            "python2.py": (CASES / "python2.py").read_bytes(),
            "except2.py": "try:\n    pass\nexcept E, e:\n    pass\n",
            "template.py": (CASES / "template.py").read_bytes(),
            "null.py": b"x = 1\0\n",
            "utf16.py": "x = 1".encode("utf-16"),
            "not_utf8.py": b"x = '\xe9'\n",
            "unknown.py": b"# coding: klingon\n",
            "large.py": "x = 1\n" * 1000,
            "deep.py": deep,
            "bad.ipynb": "{not json",
            "empty.ipynb": "",
        },
        max_file_bytes=5999,
    )
    reasons = {item.partition(":")[2]: reason for item, reason in found.failures.items()}
    assert reasons == {
        "python2.py": "python2",
        "except2.py": "python2",
        "template.py": "does_not_parse",
        "null.py": "undecodable",
        "utf16.py": "undecodable",
        "not_utf8.py": "undecodable",
        "unknown.py": "undecodable",
        "large.py": "too_large",
        "deep.py": "too_deep",
        "bad.ipynb": "bad_notebook",
        "empty.ipynb": "bad_notebook",
    }
    assert "good.py" in {row.path for row in found.functions}


def test_a_long_chain_of_operators_does_not_end_the_run(extract: Extract) -> None:
    found = extract({"a.py": "x = " + "+".join(["a"] * 5000), "b.py": "def f(): return 1\n"})
    assert found.failures == {"snap:a.py": "too_deep"}
    assert [row.qualname for row in found.functions] == ["f"]


def test_invalid_escapes_are_not_shouted_about(extract: Extract, recwarn: pytest.WarningsRecorder) -> None:
    extract({"a.py": "def f(): return '\\d' is 1\n"})
    assert not recwarn.list


def test_lone_surrogates_do_not_reach_the_rows(extract: Extract) -> None:
    row = extract({"a.py": "def f():\n    'a \\ud800'\n    return '\\ud800'\n"}).function("f")
    row.model_dump_json().encode()
    assert row.docstring == "a ?"


def test_links_out_of_the_snapshot_are_not_followed(extract: Extract, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def secret(): return 1\n")
    root = extract({"a.py": "def f(): return 1\n"}).root
    (root / "out.py").symlink_to(outside)
    (root / "twin.py").symlink_to(root / "a.py")
    found = extract({})
    assert [row.qualname for row in found.functions] == ["f"]
    assert found.failures == {"snap:out.py": "link_outside"}


def test_a_snapshot_without_files_is_a_failure(tmp_path: Path) -> None:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir()
    item = {"item_id": "gone", "unit": "gone", "name": "gone", "snapshot_id": "gone"}
    ((_, failed),) = work([item], Context(Workspace.at(tmp_path), Settings()))
    assert isinstance(failed, ItemError)
    assert failed.reason == "snapshot_missing"


def notebook(*cells: str, language: str = "python") -> str:
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None} for text in cells
    ]
    made.insert(0, {"cell_type": "markdown", "source": "# def no(): pass", "metadata": {}})
    metadata = {"language_info": {"name": language}}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4})


CELLS = {
    "magics": (
        "%matplotlib inline\n!pip install x \\\n   y\nimport numpy as np\nx = !ls -l\ny = %time 1\nnp.zeros?\n?np\n"
        'if x:\n    %time f()\nz = (7\n  %x)\n!echo "it\'s"\ndef f(a):\n    !echo é {a} (\n    return np.abs(a)\n'
    ),
    "time": "%%time\n\ndef g():\n    return np.ones(1)\n    %timeit x",
    "bash": "%%bash\ndef h(): echo $1\n",
    "broken": "def k(:\n",
}


def test_cells_of_a_notebook_are_not_mixed_up(extract: Extract) -> None:
    cells = notebook("def f(a):\n    return 1", "def f(a):\n    return 1 if a else 2")
    found = extract({"a.ipynb": cells}).functions
    assert [(row.cell, row.start_byte, row.cyclomatic_complexity) for row in found] == [(1, 0, 1), (2, 0, 2)]


def test_functions_of_every_cell_keep_their_docstring(extract: Extract) -> None:
    cells = [f"def f{number}(a):\n    'Doc {number}.'\n    return {number}" for number in range(3)]
    rows = extract({"a.ipynb": notebook(*cells)}).functions
    assert [row.docstring for row in rows] == ["Doc 0.", "Doc 1.", "Doc 2."]
    assert all("Doc" not in row.normalised for row in rows)


def test_notebooks_with_magic_lines(extract: Extract) -> None:
    found = extract({"a.ipynb": notebook(*CELLS.values()), "r.ipynb": notebook("f <- 1", language="R")})
    assert [(row.qualname, row.cell) for row in found.functions] == [("f", 1), ("g", 2)]
    f, g = found.functions
    for row, text in ((f, CELLS["magics"]), (g, CELLS["time"])):
        assert text.encode()[row.start_byte : row.end_byte].decode() == row.source
        assert text.split("\n")[row.first_line - 1].startswith("def ")
    assert f.source.endswith("return np.abs(a)")
    assert g.source.endswith("%timeit x")
    assert f.imports == ["numpy.abs"]
    assert g.imports == ["numpy.ones"], "imports of an earlier cell count"
    assert found.failures == {"snap:a.ipynb#cell4": "does_not_parse"}
