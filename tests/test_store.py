"""Appending, reading what counts, growing with the record classes, waiting for each other."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from curate.errors import UserError
from curate.records import Label, Record, Work
from curate.store import Store, View

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "store.duckdb")


def entry(run: int, item: str, version: str = "1-a", stage: str = "label", status: str = "done") -> Work:
    at = NOON + timedelta(minutes=run)
    return Work.model_validate(
        {"run_id": f"r{run}", "stage": stage, "version": version, "item_id": item, "status": status, "done_at": at}
    )


def labelled(run: int, item: str, value: str) -> Label:
    return Label(
        function_id=item,
        axis="a",
        value=value,
        labeller="l",
        confidence=1,
        evidence="e",
        run_id=f"r{run}",
        work_item=item,
    )


def test_only_the_newest_result_of_an_item_counts(store: Store) -> None:
    store.append({"work": [entry(1, "x"), entry(1, "y")], "labels": [labelled(1, "x", "old"), labelled(1, "y", "old")]})
    store.append({"work": [entry(2, "x")], "labels": [labelled(2, "x", "new"), labelled(2, "x", "newer")]})
    assert values(store) == [("x", "new"), ("x", "newer"), ("y", "old")]
    assert store.rows("SELECT count(*) AS n FROM labels") == [{"n": 4}]


def test_an_item_whose_newest_result_is_empty_has_no_rows(store: Store) -> None:
    store.append({"work": [entry(1, "x")], "labels": [labelled(1, "x", "old")]})
    store.append({"work": [entry(2, "x", status="failed")]})
    assert values(store) == []


def test_versions_live_side_by_side(store: Store) -> None:
    store.append({"work": [entry(1, "x", "1-a")], "labels": [labelled(1, "x", "a")]})
    store.append({"work": [entry(2, "x", "1-b")], "labels": [labelled(2, "x", "b")]})
    assert values(store) == [("x", "b")]
    assert values(store, View(versions={"label": "1-a"})) == [("x", "a")]
    assert values(store, View(versions={"label": "1-none"})) == []


def test_a_batch_is_stored_whole_or_not_at_all(store: Store) -> None:
    store.append({"work": [entry(1, "x")], "labels": [labelled(1, "x", "a")]})
    with pytest.raises(RuntimeError, match="were refused"), duckdb_refusing_labels(store):
        store.append({"work": [entry(2, "y")], "labels": [labelled(2, "y", "b")]})
    assert store.rows("SELECT item_id FROM work") == [{"item_id": "x"}]


class duckdb_refusing_labels:  # noqa: N801 reads as a condition
    """A labels table that refuses rows: the second half of the batch fails after the first went in."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> None:
        with duckdb.connect(self.store.path) as connection:
            connection.execute("CREATE UNIQUE INDEX one ON labels (axis)")

    def __exit__(self, *error: object) -> None:
        with duckdb.connect(self.store.path) as connection:
            connection.execute("DROP INDEX one")


def test_a_store_from_before_a_column_was_added_gets_it(store: Store) -> None:
    store.append({"work": [entry(1, "x")], "labels": [labelled(1, "x", "a")]})
    with duckdb.connect(store.path) as connection:
        connection.execute("ALTER TABLE labels DROP COLUMN evidence")
        connection.execute("UPDATE store_schema SET hash = 'old'")
    store.append({"work": [entry(2, "y")], "labels": [labelled(2, "y", "b")]})
    found = store.rows("SELECT function_id, evidence FROM current_labels ORDER BY 1")
    assert found == [{"function_id": "x", "evidence": None}, {"function_id": "y", "evidence": "e"}]


def test_a_column_that_is_no_more_stays_and_hinders_nobody(store: Store) -> None:
    store.append({"work": [entry(1, "x")], "labels": [labelled(1, "x", "a")]})
    with duckdb.connect(store.path) as connection:
        connection.execute("ALTER TABLE labels ADD COLUMN mood VARCHAR DEFAULT 'good'")
        connection.execute("ALTER TABLE labels ALTER COLUMN mood SET NOT NULL")
        connection.execute("ALTER TABLE labels ALTER COLUMN mood DROP DEFAULT")
        connection.execute("UPDATE store_schema SET hash = 'old'")
    store.append({"work": [entry(2, "y")], "labels": [labelled(2, "y", "b")]})
    found = store.rows("SELECT function_id, mood FROM labels ORDER BY 1")
    assert found == [{"function_id": "x", "mood": "good"}, {"function_id": "y", "mood": None}]


def test_reading_waits_for_a_writer_and_gives_up_with_one_line(store: Store) -> None:
    store.append({"work": [entry(1, "x")]})
    holder = hold(store, seconds=1.5)
    began = time.monotonic()
    assert store.rows("SELECT count(*) AS n FROM work") == [{"n": 1}]
    assert time.monotonic() - began > 0.5
    holder.wait()
    holder = hold(store, seconds=30)
    with pytest.raises(UserError, match="held open by another program"):
        Store(store.path, wait_seconds=0.3).rows("SELECT 1")
    holder.kill()
    holder.wait()


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "store.duckdb").write_text("not a database")
    with pytest.raises(UserError, match=r"store\.duckdb cannot be opened"):
        Store(tmp_path / "store.duckdb").rows("SELECT 1")


def hold(store: Store, seconds: float) -> subprocess.Popen[str]:
    program = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('open', flush=True); time.sleep(%s)"
    holder = subprocess.Popen(
        [sys.executable, "-c", program % seconds, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    return holder


def values(store: Store, view: View | None = None) -> list[tuple[str, str]]:
    rows = store.rows("SELECT function_id, value FROM current_labels ORDER BY ALL", view)
    return [(row["function_id"], row["value"]) for row in rows]


def test_records_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        entry(1, "x").stage = "other"  # type: ignore[misc]
    assert issubclass(Work, Record)
