"""A function as the signals see it: its dotted names, and its texts as lowercase words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Texts = dict[str, list[tuple[str, ...]]]

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[A-Za-z]?(?![a-z])|[0-9]+")
_BLANK_LINE = re.compile(r"\n\s*\n")
_LIMIT = 20_000


class _Split(dict[str, tuple[str, ...]]):
    """identifier -> its words; identifiers come again and again, so each is split once."""

    def __missing__(self, identifier: str) -> tuple[str, ...]:
        if len(self) > _LIMIT:
            self.clear()
        found = tuple(part.lower() for part in _PART.findall(identifier))
        self[identifier] = found
        return found


_split = _Split()


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text: identifiers split at underscores and capitals, lowercased."""
    return tuple(word for identifier in _IDENTIFIER.findall(text) for word in _split[identifier])


def summary(docstring: str) -> str:
    """Return the first paragraph of a docstring."""
    return _BLANK_LINE.split(docstring, maxsplit=1)[0]


def names(function: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """Return kind -> dotted names, for the kinds in `axes.DOTTED`."""
    return {
        "import": function["imports"],
        "call": function["calls"],
        "base": function["bases"],
        "decorator": [text.partition("(")[0] for text in function["decorators"]],
    }


def texts(function: Mapping[str, Any]) -> Texts:
    """Return kind -> texts as words, for the kinds in `axes.WORDS`."""
    around, _, name = function["qualname"].rpartition(".")
    docstring = function["docstring"] or ""
    code = function["normalised"] or function["source"]
    return {
        "name": [words(name)],
        "class": [words(around.replace("<locals>", ""))],
        "path": [words(function["path"].removesuffix(".py"))],
        "argument": [words(argument) for argument in function["arguments"]],
        "signature": [words(function["signature"])],
        "summary": [words(summary(docstring))],
        "docstring": [words(docstring)],
        "body": [words(code)],
        "project": [words(function["project_words"])],
    }
