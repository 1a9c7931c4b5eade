"""Obtaining corpora: every kind of origin, fall-backs, what cannot be had, and mistakes in the file."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.config import load_toml
from curate.contamination.corpora import Corpora, Obtained, obtain
from curate.errors import UserError
from curate.workspace import Workspace
from tests.contamination.servers import COMMIT, hub, index, serving

ROWS = [
    {"task": "t/1", "head": "def f(a):\n", "body": "    return a\n"},
    {"task": "t/2", "head": "x = 1\n", "say": "One."},
]
COLUMNS = 'id = "task"\ncode = ["head", "body"]\ntext = ["say"]\n'
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
ITEMS = [
    {"item_id": "t/1", "code": "def f(a):\n    return a\n", "text": ""},
    {"item_id": "t/2", "code": "x = 1\n", "text": "One."},
]
FILES = {
    "rows.jsonl": LINES,
    "rows.jsonl.gz": gzip.compress(LINES),
    "rows.json": json.dumps(ROWS).encode(),
    "rows.json.gz": gzip.compress(json.dumps(ROWS).encode()),
}
CLOSED = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CURATE_INDEX_URL", f"{CLOSED}/simple/")
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)


def write(workspace: Workspace, *origins: str, columns: str = COLUMNS, name: str = "toy") -> None:
    with workspace.corpora.open("a") as file:
        file.write(f'[[corpus]]\nname = "{name}"\n{columns}origins = [{", ".join(origins)}]\n')


def items(found: Obtained) -> list[dict[str, str]]:
    assert found.path is not None, found.row.reason
    rows: list[dict[str, str]] = pq.read_table(found.path).to_pylist()
    return rows


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str, workspace: Workspace) -> None:
    (workspace.root / "sources" / name).write_bytes(FILES[name])
    write(workspace, f'{{ file = "sources/{name}" }}')
    (found,) = obtain(workspace)
    assert items(found) == ITEMS
    assert (found.row.status, found.row.items, found.row.origin) == ("checked", 2, f"sources/{name}")
    assert len(found.row.revision) == 64


def test_a_parquet_file_with_an_absolute_path(workspace: Workspace, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    write(workspace, f'{{ file = "{tmp_path}/rows.parquet" }}')
    assert [row["item_id"] for row in items(obtain(workspace)[0])] == ["t/1", "t/2"]


def test_a_changed_file_is_another_corpus(workspace: Workspace) -> None:
    write(workspace, '{ file = "rows.jsonl" }')
    (workspace.root / "rows.jsonl").write_bytes(LINES)
    (one,) = obtain(workspace)
    (workspace.root / "rows.jsonl").write_bytes(LINES + LINES)
    (other,) = obtain(workspace)
    assert one.fingerprint != other.fingerprint
    assert (one.row.items, other.row.items) == (2, 4)


def test_each_function_in_a_folder_is_an_item(workspace: Workspace) -> None:
    folder = workspace.root / "known" / "inner"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("import x\n\n@x\ndef f():\n    return 1\n\nclass A:\n    def g(self):\n        pass\n")
    (folder / "b.py").write_bytes(b"print 'latin \xe9'\ndef h(x): exec x in {}\n")
    write(workspace, '{ folder = "known" }', columns="")
    assert items(obtain(workspace)[0]) == [
        {"item_id": "inner/a.py:3", "code": "@x\ndef f():\n    return 1", "text": ""},
        {"item_id": "inner/a.py:8", "code": "    def g(self):\n        pass", "text": ""},
        {"item_id": "inner/b.py:2", "code": "def h(x): exec x in {}", "text": ""},
    ]


def test_a_distribution(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = index("toy-data", "1.5", {"toy/rows.jsonl.gz": FILES["rows.jsonl.gz"], "toy/other.txt": b"no"})
    with serving(pages) as (address, asked):
        monkeypatch.setenv("CURATE_INDEX_URL", f"{address}/simple/")
        write(workspace, '{ pypi = "toy-data==1.5", member = "*/rows.*" }')
        write(workspace, '{ pypi = "toy-data==1.6", member = "*/rows.*" }', name="newer")
        write(workspace, '{ pypi = "toy-data==1.5", member = "*.csv" }', name="lacking")
        found, newer, lacking = obtain(workspace)
        assert items(found) == ITEMS
        assert (found.row.revision, found.row.origin) == ("1.5", "toy-data==1.5")
        assert newer.row.reason == "toy-data==1.6: the index has no wheel or sdist of toy-data 1.6"
        assert lacking.row.reason.endswith("has no file *.csv")
        asked.clear()
        assert obtain(workspace)[0].path == found.path
        assert "/simple/toy-data/" in asked, "what is lacking is looked for again"
    assert obtain(workspace)[0].row.status == "checked", "what is cached needs no network"


def test_a_distribution_whose_hash_is_wrong_is_not_taken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = index("toy-data", "1.5", {"toy/rows.jsonl": LINES})
    pages["/files/toy_data-1.5-py3-none-any.whl"] = ("application/octet-stream", b"something else")
    with serving(pages) as (address, _):
        monkeypatch.setenv("CURATE_INDEX_URL", f"{address}/simple/")
        write(workspace, '{ pypi = "toy-data==1.5", member = "*" }')
        assert "DigestMismatchError" in obtain(workspace)[0].row.reason


HUB = f'{{ hub = "org/toy", revision = "{COMMIT}", files = ["data/*.jsonl"] }}'
SHOW = """
import json, sys, pathlib
from curate.contamination.corpora import obtain
from curate.workspace import Workspace
import pyarrow.parquet as pq
found = obtain(Workspace(pathlib.Path(sys.argv[1])))
print(json.dumps([[c.row.status, c.row.reason, c.path and pq.read_table(c.path).to_pylist()] for c in found]))
"""


def obtain_elsewhere(workspace: Workspace, **environment: str) -> list[list[object]]:
    """Obtain in a process of its own: the Hub's client reads its environment when it is imported."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(workspace.root)],
        env={**os.environ, "HF_HOME": str(workspace.root / "hf"), "HF_HUB_DISABLE_PROGRESS_BARS": "1", **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[object]] = json.loads(done.stdout)
    return found


def test_a_data_set_on_the_hub(workspace: Workspace, tmp_path: Path) -> None:
    write(workspace, HUB)
    write(workspace, HUB.replace(COMMIT, "f" * 40), name="gone")
    write(workspace, HUB.replace("*.jsonl", "*.parquet"), name="empty")
    with serving(hub("org/toy", {"data/rows.jsonl": LINES, "README.md": b"toy"})) as (address, asked):
        found, gone, empty = obtain_elsewhere(workspace, HF_ENDPOINT=address)
    assert found == ["checked", "", ITEMS]
    assert gone[0] == "not_checked"
    assert "404" in str(gone[1])
    assert empty == ["not_checked", f"org/toy: has no file data/*.parquet at {COMMIT}", None]
    assert not any("README" in path for path in asked), "only the named files are downloaded"
    # The Hub's own cache serves a machine without network, with an empty cache of curate's.
    offline = obtain_elsewhere(workspace, HF_HUB_OFFLINE="1", CURATE_CACHE=str(tmp_path / "other"))
    assert offline[0] == ["checked", "", ITEMS]


def test_what_cannot_be_had_is_a_row_with_a_reason_and_soon(workspace: Workspace) -> None:
    write(workspace, '{ file = "missing.jsonl" }', '{ pypi = "toy-data==1.5", member = "*" }', HUB)
    for number in range(5):
        write(workspace, HUB, name=f"more{number}")
    began = time.monotonic()
    found = obtain(workspace)
    assert time.monotonic() - began < 5
    assert {corpus.row.status for corpus in found} == {"not_checked"}
    assert found[0].row.reason == (
        "missing.jsonl: No such file or directory; toy-data==1.5: toy-data 1.5: ConnectionError; "
        "org/toy: the Hub cannot be reached, and its cache on this machine lacks it"
    )


def test_the_first_origin_that_works_is_used(workspace: Workspace) -> None:
    (workspace.root / "second.jsonl").write_bytes(LINES)
    write(workspace, '{ file = "first.jsonl" }', '{ file = "second.jsonl" }', HUB)
    (found,) = obtain(workspace)
    assert (found.row.origin, found.row.status) == ("second.jsonl", "checked")


DAMAGED = {
    "rows.jsonl": b'{"a": 1}\n{"b": ',
    "rows.json.gz": b"\x1f\x8bno",
    "rows.parquet": b"PAR1",
    "rows.txt": b"a",
    "rows.json": b"{}",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_not_checked(name: str, workspace: Workspace) -> None:
    (workspace.root / name).write_bytes(DAMAGED[name])
    write(workspace, f'{{ file = "{name}" }}')
    (found,) = obtain(workspace)
    assert (found.row.status, found.path) == ("not_checked", None)
    assert "rows" in found.row.reason.removeprefix(name)


MISTAKES = {
    "colour": (
        '[[corpus]]\nname = "a"\ncolour = "red"\norigins = [{ file = "x" }]',
        ["corpus.0.colour", "allowed: name"],
    ),
    "no name": ('[[corpus]]\norigins = [{ file = "x" }]', ["corpus.0.name is missing"]),
    "no origin": ('[[corpus]]\nname = "a"\norigins = []', ["corpus.0.origins"]),
    "two kinds": ('[[corpus]]\nname = "a"\norigins = [{ file = "x", folder = "y" }]', ["exactly one of file"]),
    "typing error": ('[[corpus]]\nname = "a"\norigins = [{ hubb = "x" }]', ["hubb", "did you mean hub?"]),
    "no revision": ('[[corpus]]\nname = "a"\norigins = [{ hub = "o/n", files = ["*"] }]', ["files and revision"]),
    "a branch": (
        '[[corpus]]\nname = "a"\norigins = [{ hub = "o/n", revision = "main", files = ["*"] }]',
        ["origins.0.revision", "main"],
    ),
    "no version": ('[[corpus]]\nname = "a"\norigins = [{ pypi = "x", member = "*" }]', ["origins.0.pypi", "'x'"]),
    "twice": ('[[corpus]]\nname = "a"\norigins = [{ file = "x" }]\n' * 2, ["two corpora have the name a"]),
    "not TOML": ("[[corpus]\n", ["not valid TOML"]),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_name_the_file_and_the_key(case: str, workspace: Workspace) -> None:
    text, words = MISTAKES[case]
    workspace.corpora.write_text(text)
    with pytest.raises(UserError) as error:
        obtain(workspace)
    message = str(error.value)
    assert message.startswith(str(workspace.corpora))
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_columns_that_hold_nothing_are_a_mistake(workspace: Workspace) -> None:
    (workspace.root / "rows.jsonl").write_bytes(LINES)
    write(workspace, '{ file = "rows.jsonl" }', columns='code = ["solution"]\n')
    with pytest.raises(UserError, match=r"corpus toy: no column of solution holds text; it has body, head, say, task"):
        obtain(workspace)


def test_the_corpora_that_curate_names_are_well_formed() -> None:
    named = load_toml(Path(__file__).parents[2] / "sources" / "corpora.toml", Corpora)
    assert {"humaneval", "mbpp"} <= {entry.name for entry in named.corpus}
    assert all(entry.code for entry in named.corpus)
