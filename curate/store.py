"""The store: one DuckDB file with every table, opened briefly, appended to, never rewritten.

While one process has the file open for writing no other may open it, not even to read, so every opening is short and
waits a little for the other to finish: `curate status` works while a stage runs.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curate import derive
from curate.errors import UserError
from curate.records import ROWS, TABLES, Record

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

WAIT_SECONDS = 60.0
"""How long an opening waits for another process to let go of the file."""


@dataclass(frozen=True)
class View:
    """Which rows count as current: the results of these versions, for the projects of these requests."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """Stage -> version; a stage that is not named counts with the version that ran last."""
    requests: tuple[str, ...] | None = None
    """Pinned requests of `curate mine` whose snapshots count; None: all."""
    whole: tuple[str, ...] = ()
    """Stages that read whole tables: only their newest result counts, not one result an item."""


class Store:
    """The tables of a workspace."""

    def __init__(self, path: Path, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self.path = path
        self.wait_seconds = wait_seconds

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """Open the file for writing, with every table in place, inside one transaction."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._open(read_only=False)
        try:
            _bring_up_to_date(connection)
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()  # an open transaction is rolled back

    @contextmanager
    def reading(self, view: View | None = None) -> Iterator[DuckDBPyConnection]:
        """Open the file for reading, with a view `current_<table>` over every table a stage writes."""
        if not self._has_current_schema():
            with self.writing():
                pass
        connection = self._open(read_only=True)
        try:
            _define_current(connection, view or View())
            yield connection
        finally:
            connection.close()

    def append(self, tables: Mapping[str, Sequence[Record]]) -> None:
        """Append records to their tables in one transaction: all of them are stored, or none."""
        import duckdb

        arrow = {name: derive.arrow_table(TABLES[name], rows) for name, rows in tables.items() if rows}
        with self.writing() as connection:
            for name, batch in arrow.items():
                connection.register("batch", batch)
                try:
                    connection.execute(f'INSERT INTO "{name}" BY NAME SELECT * FROM batch')  # noqa: S608 names are ours
                except duckdb.Error as error:
                    raise RuntimeError(f"rows for {name} were refused: {error}") from error
                connection.unregister("batch")

    def rows(self, sql: str, view: View | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """Run a query and return its rows as dicts."""
        found: list[dict[str, Any]] = self.arrow(sql, view, **parameters).to_pylist()
        return found

    def arrow(self, sql: str, view: View | None = None, **parameters: Any) -> pa.Table:
        """Run a query and return its rows as an Arrow table."""
        with self.reading(view) as connection:
            return query(connection, sql, **parameters)

    def _open(self, *, read_only: bool) -> DuckDBPyConnection:
        import duckdb

        give_up = time.monotonic() + self.wait_seconds
        while True:
            try:
                return duckdb.connect(self.path, read_only=read_only)
            except duckdb.IOException as error:
                if "lock" not in str(error).lower():
                    raise UserError(f"{self.path} cannot be opened: {str(error).splitlines()[0]}") from error
                if time.monotonic() > give_up:
                    raise UserError(
                        f"{self.path} is held open by another program: close it, then run the command again"
                    ) from error
                time.sleep(0.02)

    def _has_current_schema(self) -> bool:
        import duckdb

        if not self.path.exists():
            return False
        connection = self._open(read_only=True)
        try:
            return bool(connection.sql("SELECT hash = $1 FROM store_schema", params=[_schema_hash()]).fetchall()[0][0])
        except (duckdb.CatalogException, IndexError):
            return False
        finally:
            connection.close()


def query(connection: DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run SQL with `$named` parameters; parameters that the text does not name are left out."""
    named = {name: value for name, value in parameters.items() if re.search(rf"\${name}\b", sql)}
    return connection.sql(sql, params=named or None).to_arrow_table()


def sql_text(file: str) -> str:
    """Return the text of a .sql file of this package."""
    return (Path(__file__).parent / file).read_text(encoding="utf-8")


# --- schema ---


def _statements() -> list[str]:
    return [statement for record in TABLES.values() for statement in derive.ddl(record)]


def _schema_hash() -> str:
    return hashlib.sha256("\n".join(_statements()).encode()).hexdigest()[:16]


def _bring_up_to_date(connection: DuckDBPyConnection) -> None:
    """Create what is missing; a column added to a record class is added to the table of an older store."""
    connection.execute("CREATE TABLE IF NOT EXISTS store_schema (hash VARCHAR NOT NULL)")
    wanted = _schema_hash()
    if connection.sql("SELECT 1 FROM store_schema WHERE hash = $1", params=[wanted]).fetchall():
        return
    connection.execute("BEGIN")
    for record in TABLES.values():
        create, *comments = derive.ddl(record)
        connection.execute(create)
        present = {name: null for (name, _, null, *_) in connection.sql(f'DESCRIBE "{record.table}"').fetchall()}
        wanted_columns = derive.columns(record)
        for name in present.keys() - wanted_columns.keys():
            if present[name] == "NO":  # rows without a column that is no more are welcome
                connection.execute(f'ALTER TABLE "{record.table}" ALTER COLUMN "{name}" DROP NOT NULL')
        for name, (inner, _, _) in wanted_columns.items():
            if name not in present:
                connection.execute(f'ALTER TABLE "{record.table}" ADD COLUMN "{name}" {derive.duckdb_type(inner)}')
        for comment in comments:
            connection.execute(comment)
    connection.execute("DELETE FROM store_schema")
    connection.execute("INSERT INTO store_schema VALUES ($1)", [wanted])
    connection.execute("COMMIT")


def _define_current(connection: DuckDBPyConnection, view: View) -> None:
    """Define the temporary views `current_<table>`."""
    connection.execute("CREATE TEMP TABLE wanted (stage VARCHAR, version VARCHAR)")
    connection.execute("CREATE TEMP TABLE whole (stage VARCHAR)")
    connection.execute("CREATE TEMP TABLE scope (item_id VARCHAR)")
    _fill(connection, "wanted", view.versions.items())
    _fill(connection, "whole", ((stage,) for stage in view.whole))
    _fill(connection, "scope", ((request,) for request in view.requests or ()))
    connection.execute(sql_text("sql/current.sql"))
    for record in ROWS:
        name = record.table
        ours = {"snapshots": "one_snapshot_an_id"}.get(name, name)
        limit = ""
        if "snapshot_id" in record.model_fields and name != "snapshots":
            limit = " WHERE snapshot_id IN (SELECT snapshot_id FROM current_snapshots)"
        if name == "snapshots" and view.requests is not None:
            limit = " WHERE work_item IN (SELECT item_id FROM scope)"
        if name == "failures" and view.requests is not None:
            limit = " WHERE stage <> 'mine' OR work_item IN (SELECT item_id FROM scope)"
        connection.execute(
            f'CREATE TEMP VIEW "current_{name}" AS '  # noqa: S608 names are ours
            f'SELECT * FROM "{ours}" SEMI JOIN current_work USING (run_id, work_item){limit}'
        )
    for shared in ("sql/licenses.sql", "sql/roots.sql"):
        connection.execute(sql_text(shared))


def _fill(connection: DuckDBPyConnection, table: str, rows: Iterable[tuple[str, ...]]) -> None:
    values = list(rows)
    if values:
        marks = ", ".join("?" for _ in values[0])
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 names are ours
