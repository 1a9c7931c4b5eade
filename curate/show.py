"""One item with all its evidence: what `curate show` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curate.errors import UserError
from curate.store import Store, View, query, sql_text

LICENCE_LINES = 5
"""Lines of a licence that are shown."""
PARTS = ("verdict", "tests", "test_runs", "labels", "cluster", "matches", "dates", "failures", "selections")


def show(store: Store, view: View, wanted: str) -> dict[str, Any]:
    """Return everything known about one function.

    `wanted` is a function_id (or the start of one), a problem_id, or PROJECT:PATH:QUALNAME or an end of it. Raises
    UserError when nothing or more than one thing fits.
    """
    with store.reading(view) as connection:
        found = query(connection, sql_text("sql/show_find.sql"), wanted=wanted).to_pylist()
        if not found:
            raise UserError(f"nothing is known of {wanted}: give a function_id, a problem_id or PROJECT:PATH:QUALNAME")
        if len(found) > 1:
            some = "; ".join(f"{row['function_id']} {row['name']}" for row in found[:5])
            raise UserError(f"{wanted} fits {len(found)} functions: {some}{' ...' if len(found) > 5 else ''}")
        function_id = found[0]["function_id"]
        function = query(connection, sql_text("sql/show_function.sql"), function_id=function_id).to_pylist()[0]
        parts = {
            part: query(connection, sql_text(f"sql/show_{part}.sql"), function_id=function_id).to_pylist()
            for part in PARTS
        }
    return {"name": found[0]["name"], "function": function, **parts}


def as_text(item: Mapping[str, Any]) -> str:
    """Return what `show` found as text for people."""
    function = item["function"]
    lines = [
        f"{item['name']}   {function['function_id']}",
        f"  {function['project']} {function['revision']}, {function['license_expression'] or 'no licence'}, "
        f"lines {function['first_line']}-{function['last_line']}, "
        f"complexity {function['cyclomatic_complexity']}, {function['kind']}",
        *_licence(function),
    ]
    for part in PARTS:
        rows = item[part]
        if rows:
            lines += ["", part.replace("_", " ")]
            lines += [f"  {_row(row)}" for row in rows]
    lines += ["", "source", *(f"  {line}" for line in function["source"].splitlines())]
    return "\n".join(line.rstrip() for line in lines)


def _licence(function: Mapping[str, Any]) -> list[str]:
    """Say where its licence was read, and the first lines of that."""
    if function["license_path"] is None:
        return []
    why = f": {function['license_reason']}" if function["license_reason"] else ""
    text = [line.rstrip() for line in function["license_text"].splitlines() if line.strip()]
    return [
        f"  licence by {function['license_how']} of {function['license_path']}{why}",
        *(f"    | {line}" for line in text[:LICENCE_LINES]),
        *(["    | ..."] if len(text) > LICENCE_LINES else []),
    ]


def _row(row: Mapping[str, Any]) -> str:
    shown = []
    for name, value in row.items():
        if value is None or value == "":
            continue
        text = f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        shown.append(f"{name}={text}" if "\n" not in text else f"{name}=\n      " + text.replace("\n", "\n      "))
    return "  ".join(shown)
