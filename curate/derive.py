"""From a record class to DuckDB DDL, Arrow schema, JSON Schema, `datasets` features and a column table."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from curate.records import TABLES, Problem, Record, Struct

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import Features

_DUCKDB = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", datetime: "TIMESTAMP"}
_ARROW = {str: "string", int: "int64", float: "float64", bool: "bool_", datetime: "timestamp[us]"}
_WORDS = {str: "text", int: "integer", float: "number", bool: "true or false", datetime: "UTC time"}
_HUB = {str: "string", int: "int64", float: "float64", bool: "bool", datetime: "timestamp[us]"}


def columns(record: type[Struct]) -> dict[str, tuple[Any, bool, str]]:
    """Return name -> (type without None, whether it may be null, description), in order of declaration.

    Columns inherited from `Row` come last, where a reader looks last.
    """
    found: dict[str, tuple[Any, bool, str]] = {}
    own = [name for name in record.model_fields if name not in {"run_id", "work_item"} or record.__name__ in _KEEP]
    for name in [*own, *(name for name in record.model_fields if name not in own)]:
        field = record.model_fields[name]
        inner, nullable = _strip_none(field.annotation)
        found[name] = (inner, nullable, " ".join((field.description or "").split()))
    return found


_KEEP = {"Run", "Work"}


def _strip_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        args = [arg for arg in get_args(annotation) if arg is not type(None)]
        if len(args) != 1:
            raise TypeError(f"a column has one type, not {annotation}")
        return args[0], True
    return annotation, False


def _plain(annotation: Any) -> type:
    """Return the scalar type behind an annotation; a Literal of strings is a string."""
    if get_origin(annotation) is Literal:
        return str
    if annotation not in _DUCKDB:
        raise TypeError(f"no column type for {annotation}")
    scalar: type = annotation
    return scalar


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


# --- DuckDB


def duckdb_type(annotation: Any) -> str:
    """Return the DuckDB type of a column annotation."""
    if get_origin(annotation) is list:
        return duckdb_type(get_args(annotation)[0]) + "[]"
    if _is_struct(annotation):
        inside = ", ".join(f'"{name}" {duckdb_type(inner)}' for name, (inner, _, _) in columns(annotation).items())
        return f"STRUCT({inside})"
    return _DUCKDB[_plain(annotation)]


def ddl(record: type[Record]) -> list[str]:
    """Return the statements that create the table of a record class and comment its columns."""
    fields = columns(record)
    body = ",\n  ".join(
        f'"{name}" {duckdb_type(inner)}' + ("" if nullable else " NOT NULL")
        for name, (inner, nullable, _) in fields.items()
    )
    table = f'"{record.table}"'
    comments = [f"COMMENT ON COLUMN {table}.\"{name}\" IS '{_quoted(text)}'" for name, (_, _, text) in fields.items()]
    about = f"COMMENT ON TABLE {table} IS '{_quoted(record.__doc__ or '')}'"
    return [f"CREATE TABLE IF NOT EXISTS {table} (\n  {body}\n)", about, *comments]


def _quoted(text: str) -> str:
    return text.replace("'", "''")


# --- Arrow


@cache
def arrow_schema(record: type[Struct]) -> pa.Schema:
    """Return the Arrow schema of a record class."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(name, _arrow_type(inner), nullable=nullable)
            for name, (inner, nullable, _) in columns(record).items()
        ]
    )


def _arrow_type(annotation: Any) -> pa.DataType:
    import pyarrow as pa

    if get_origin(annotation) is list:
        return pa.list_(pa.field("item", _arrow_type(get_args(annotation)[0])))
    if _is_struct(annotation):
        return pa.struct([(name, _arrow_type(inner)) for name, (inner, _, _) in columns(annotation).items()])
    name = _ARROW[_plain(annotation)]
    return pa.timestamp("us") if name == "timestamp[us]" else getattr(pa, name)()


def arrow_table(record: type[Record], rows: Iterable[Record]) -> pa.Table:
    """Return records as an Arrow table with the schema of their class; aware datetimes become naive UTC."""
    import pyarrow as pa

    schema = arrow_schema(record)
    dumped = [row.model_dump() for row in rows]
    stamps = [name for name, (inner, _, _) in columns(record).items() if inner is datetime]
    for row in dumped:
        for name in stamps:
            row[name] = naive_utc(row[name])
    try:
        return pa.Table.from_pylist(dumped, schema=schema)
    except UnicodeEncodeError:
        return pa.Table.from_pylist([_storable(row) for row in dumped], schema=schema)


def _storable(value: Any) -> Any:
    """Return a value with what no text file can hold, halves of characters that foreign code printed, as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if isinstance(value, list) else value


def naive_utc(moment: datetime | None) -> datetime | None:
    """Return a moment as naive UTC, the form in which every table keeps it."""
    if moment is None or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


# --- JSON Schema, features


def json_schema(record: type[Record]) -> str:
    """Return the JSON Schema of a record class as text, the same on every run."""
    return json.dumps(record.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def features(record: type[Struct]) -> Features:
    """Return the `datasets` features of a record class."""
    from datasets import Features

    return Features({name: _feature(inner) for name, (inner, _, _) in columns(record).items()})


def _feature(annotation: Any) -> Any:
    from datasets import List, Value

    if get_origin(annotation) is list:
        return List(_feature(get_args(annotation)[0]))
    if _is_struct(annotation):
        return {name: _feature(inner) for name, (inner, _, _) in columns(annotation).items()}
    return Value(_HUB[_plain(annotation)])


def column_table(record: type[Struct]) -> str:
    """Return a Markdown table of the columns: name, type, meaning."""
    lines = ["| column | type | meaning |", "|---|---|---|"]
    for name, (inner, nullable, text) in columns(record).items():
        kind = _words(inner) + (", may be null" if nullable else "")
        lines.append(f"| `{name}` | {kind} | {text} |")
    return "\n".join(lines) + "\n"


def _words(annotation: Any) -> str:
    if get_origin(annotation) is list:
        return f"list of {_words(get_args(annotation)[0])}"
    if get_origin(annotation) is Literal:
        values: Sequence[str] = get_args(annotation)
        return "one of " + ", ".join(values)
    if _is_struct(annotation):
        return "struct (" + ", ".join(columns(annotation)) + ")"
    return _WORDS[_plain(annotation)]


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schema of every table and of the published problems into `folder`; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    records: list[type[Record]] = [*TABLES.values(), Problem]
    for record in records:
        path = folder / f"{record.table}.json"
        path.write_text(json_schema(record), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
