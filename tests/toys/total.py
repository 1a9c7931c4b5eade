"""A stage over a whole table: one label that counts the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from curate.records import Row, Struct
from curate.work import Context
from tests.toys.shout import label


class Settings(Struct):
    pass


def work(tables: dict[str, Any], context: Context) -> Iterator[Row]:
    yield label("total", str(tables["labels"].num_rows))
