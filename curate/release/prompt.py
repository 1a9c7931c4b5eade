"""What a model is given for a problem."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any


def function_prompt(row: Mapping[str, Any]) -> str:
    """Return the prompt of a function problem: what to write, the context, the signature and the docstring.

    It is made from signature, docstring and context alone: nothing of the body is in it.
    """
    what = {"getter": "property", "setter": "setter of the property", "deleter": "deleter of the property"}
    thing = what.get(row["kind"], row["kind"])
    parts = [
        f"Write the {thing} `{row['qualname']}` of the file `{row['path']}` in the Python project {row['project']}.",
        "Reply with its whole definition.",
    ]
    if row["context"].strip():
        parts += ["", "What stands around it:", "", *_fenced(row["context"].strip("\n"))]
    parts += ["", "The function:", "", *_fenced(head(row)), ""]
    return "\n".join(parts)


def _fenced(code: str) -> list[str]:
    """Return code between fences longer than any run of back-ticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}python", code, fence]


def head(row: Mapping[str, Any]) -> str:
    """Return decorators, `def` line and docstring of a function as Python text, without its body."""
    decorators = [decorator if decorator.startswith("@") else f"@{decorator}" for decorator in row["decorators"]]
    lines = [*decorators, f"{row['signature'].rstrip(':')}:"]
    quoted = row["docstring"].replace("\\", "\\\\")
    if '"""' in quoted or quoted.endswith('"'):
        quoted = quoted.replace('"', '\\"')
    text = quoted if "\n" not in quoted else quoted + "\n"
    lines.append(textwrap.indent(f'"""{text}"""', "    ", predicate=lambda line: bool(line.strip())))
    return "\n".join(lines)
