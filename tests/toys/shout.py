"""A stage over hand-made items: labels each, and misbehaves where an item says so."""

from __future__ import annotations

import os
import time
from pathlib import Path

from curate.errors import ItemError
from curate.records import Label, Struct
from curate.work import Context, Done, Item


class Settings(Struct):
    word: str = "hey"
    """What to shout."""
    journal: str = ""
    """File that gets a line for every item worked on."""


def work(rows: list[Item], context: Context) -> Done:
    for row in rows:
        item_id = row["item_id"]
        time.sleep(row.get("pause", 0.0))
        if context.settings.journal:
            with Path(context.settings.journal).open("a") as handle:
                handle.write(f"{item_id}\n")
        match row.get("does", ""):
            case "fail":
                yield item_id, ItemError("too_quiet", "it only whispers")
            case "retry":
                yield item_id, ItemError("network", "no answer", transient=True)
            case "bug":
                raise ZeroDivisionError("a bug")
            case "die":
                os._exit(9)
            case _:
                yield item_id, [label(item_id, context.settings.word)]


def label(item_id: str, value: str) -> Label:
    return Label(function_id=item_id, axis="toy", value=value, labeller="toy", confidence=1.0, evidence="because")
