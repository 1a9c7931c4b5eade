"""The stage over a real store, from a corpus file to matches; planted copies of real corpora when they are at hand."""

from __future__ import annotations

import ast
import gzip
import json
import os
from pathlib import Path

import black
import pytest

from curate.contamination import Settings
from curate.contamination.matching import Index
from curate.pipeline import Options, Pipeline
from curate.stages import BY_NAME
from curate.store import Store
from curate.workspace import Workspace
from tests.contamination.test_matching import PLANTED, SOLUTION, VERBATIM
from tests.dedupe.test_queries import store_as
from tests.made import function, snapshot

STAGE = BY_NAME["contamination"]


def test_functions_are_compared_once_and_again_when_the_corpora_change(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    store = Store(workspace.store)
    store_as(store, "mine", [snapshot("s1", "lib")], "r1")
    functions = [
        function("copied", normalised=VERBATIM),
        function("renamed", normalised=PLANTED["renamed"][1]),
        function("own", normalised="def own(a):\n    return a.b\n"),
        function("silent", normalised=VERBATIM, docstring=None),
        function("test_it", normalised=VERBATIM, in_tests=True),
        function("stub", normalised=VERBATIM, is_stub=True),
    ]
    store_as(store, "extract", functions, "r2")
    workspace.corpora.write_text(
        '[[corpus]]\nname = "toy"\norigins = [{ file = "toy.jsonl" }]\n'
        '[[corpus]]\nname = "far"\norigins = [{ file = "far.jsonl" }]\n'
    )
    (workspace.root / "toy.jsonl").write_text(json.dumps({"id": "t/1", "code": SOLUTION}) + "\n")

    pipeline = Pipeline(workspace)
    assert pipeline.run(STAGE, Options(workers=2)).done == 3
    found = pipeline.store.rows("SELECT * FROM current_matches ORDER BY function_id", pipeline.view)
    assert [(row["function_id"], row["corpus"], row["item_id"], row["relation"]) for row in found] == [
        ("f-copied", "toy", "t/1", "exact"),
        ("f-renamed", "toy", "t/1", "renamed"),
    ]
    corpora = pipeline.store.rows("SELECT corpus, status, items, reason FROM current_corpora ORDER BY 1", pipeline.view)
    assert [tuple(row.values()) for row in corpora] == [
        ("far", "not_checked", 0, "far.jsonl: No such file or directory"),
        ("toy", "checked", 1, ""),
    ]
    assert pipeline.run(STAGE, Options()).pending == 0
    (workspace.root / "far.jsonl").write_text(json.dumps({"id": "f/1", "code": functions[2].normalised}) + "\n")
    assert pipeline.run(STAGE, Options()).done == 3
    again = pipeline.store.rows("SELECT function_id, corpus FROM current_matches ORDER BY ALL", pipeline.view)
    assert {(row["function_id"], row["corpus"]) for row in again} == {
        ("f-copied", "toy"), ("f-renamed", "toy"), ("f-own", "far"),
    }  # fmt: skip


def real_corpora() -> Path:
    named = os.environ.get("CURATE_TEST_CORPORA")
    if not named:
        pytest.skip("CURATE_TEST_CORPORA does not name a folder with humaneval.jsonl.gz and mbpp_sanitized.jsonl.gz")
    return Path(named)


@pytest.mark.slow
def test_copies_of_real_items_are_found_however_they_are_wrapped() -> None:
    folder = real_corpora()
    index = Index(Settings())
    planted: list[tuple[str, str, str]] = []
    for corpus, columns, text in (
        ("humaneval", ("prompt", "canonical_solution"), "prompt"),
        ("mbpp_sanitized", ("code",), "text"),
    ):
        with gzip.open(folder / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                code = "".join(row[column] for column in columns)
                index.put((corpus, str(row["task_id"])), code, row[text])
                planted.append((corpus, str(row["task_id"]), _largest_function(code)))
    index.finish()
    missed = [
        (corpus, item_id, width)
        for corpus, item_id, code in planted
        for width in (30, 100)
        if (corpus, item_id)
        not in {hit[:2] for hit in index(black.format_str(code, mode=black.Mode(line_length=width)), "")}
    ]
    assert len(planted) == 591
    assert missed == []


def _largest_function(code: str) -> str:
    """Return the longest function of a piece of code as it stands there, without its docstring."""
    lines = code.expandtabs(4).split("\n")
    functions = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.FunctionDef)]
    node = max(functions, key=lambda node: len(ast.dump(node)))
    first, last = node.lineno - 1, node.end_lineno or 0
    if ast.get_docstring(node) is None:
        return "\n".join(lines[first:last])
    docstring = node.body[0]
    return "\n".join([*lines[first : docstring.lineno - 1], *lines[docstring.end_lineno : last]])
