"""Record classes and what is derived from them agree, and every column says what it means."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate import derive
from curate.records import ROWS, TABLES, Function, Problem, Record, Run, Struct

RECORDS: list[type[Record]] = [*TABLES.values(), Problem]
SCHEMAS = Path(__file__).parent.parent / "schema" / "tables"


def structs(record: type[Struct]) -> list[type[Struct]]:
    """A record class and the structs inside its columns."""
    inner = [kind for kind, _, _ in derive.columns(record).values()]
    nested = [arg for kind in inner for arg in (kind, *getattr(kind, "__args__", ())) if isinstance(arg, type)]
    return [record, *(kind for kind in nested if issubclass(kind, Struct))]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_every_column_is_explained(record: type[Record]) -> None:
    for struct in structs(record):
        for name, (_, _, about) in derive.columns(struct).items():
            assert len(about) >= 8, f"{struct.__name__}.{name} has no docstring"
    assert record.__doc__


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_duckdb_arrow_and_hub_name_the_same_columns(record: type[Record]) -> None:
    with duckdb.connect() as connection:
        for statement in derive.ddl(record):
            connection.execute(statement)
        described = connection.sql(f'DESCRIBE "{record.table}"').fetchall()
        commented = connection.sql(
            f"SELECT column_name, comment FROM duckdb_columns() WHERE table_name = '{record.table}'"
        ).fetchall()
        connection.register("none", derive.arrow_schema(record).empty_table())
        connection.execute(f'INSERT INTO "{record.table}" BY NAME SELECT * FROM none')
    names = list(derive.columns(record))
    assert [row[0] for row in described] == names
    assert all(comment for _, comment in commented)
    assert derive.arrow_schema(record).names == names
    assert list(derive.features(record)) == names


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_committed_schemas_are_up_to_date(record: type[Record]) -> None:
    path = SCHEMAS / f"{record.table}.json"
    assert path.read_text() == derive.json_schema(record), "run `make schema`"
    assert set(json.loads(path.read_text())["properties"]) == set(record.model_fields)


def test_no_schema_is_left_over() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} == {kind.table for kind in RECORDS}


def test_rows_that_stages_write_end_with_the_bookkeeping() -> None:
    for record in ROWS:
        assert list(derive.columns(record))[-2:] == ["run_id", "work_item"]


@pytest.mark.parametrize("annotation", [dict[str, int], int | str, bytes])
def test_types_without_a_column_type_are_refused(annotation: object) -> None:
    with pytest.raises((TypeError, KeyError)):
        derive.duckdb_type(annotation)


@given(st.integers(-12, 14), st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)))
def test_moments_become_naive_utc(hours: int, moment: datetime) -> None:
    there = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert derive.naive_utc(there) == (moment - timedelta(hours=hours))
    assert derive.naive_utc(moment) == moment


def test_a_record_goes_through_arrow_unchanged() -> None:
    run = Run(
        run_id="r",
        stage="s",
        version="1-x",
        settings="{}",
        started_at=datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        ended_at=None,
        items=3,
        status="done",
        curate="0",
    )
    (row,) = derive.arrow_table(Run, [run]).to_pylist()
    assert row["started_at"].replace(tzinfo=UTC) == run.started_at
    assert {**row, "started_at": 0} == {**run.model_dump(), "started_at": 0}


def test_the_column_table_names_every_column() -> None:
    text = derive.column_table(Function)
    assert all(f"| `{name}` |" in text for name in Function.model_fields)


def test_text_that_no_file_can_hold_is_stored_as_escapes() -> None:
    from curate.records import Failure

    row = Failure(stage="s", item_id="i", subject="x", reason="r", detail="half a character: \ud88c")
    assert derive.arrow_table(Failure, [row])["detail"].to_pylist() == ["half a character: \\ud88c"]
