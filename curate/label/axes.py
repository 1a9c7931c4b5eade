"""Label axes: what may be said of a function, and which signals speak for it.

An axis is one TOML file in `schema/axes/`; a new one needs no Python. Its keys:

    axis = "phase"                  name of the axis, equal to the file's name
    question = "..."                what is asked of a person who labels
    fallback = "general"            value of a function that no signal speaks about
    temperature = 1.0               scores are divided by it before they become a confidence; higher is less sure
    [[value]]
    name = "training"
    definition = "..."              what a person is told
    examples = ["..."]              functions in words
    prior = 0.0                     score before any signal, as a log-odds
    signals = [ {kind = "call", patterns = ["*.backward"], weight = 2.0}, ... ]

A signal counts once however many of its patterns match. Its weight is a log-odds: 1 is a hint, 2 is strong, 3 nearly
settles it, below 0 it speaks against the value. What a pattern is depends on the kind; see `DOTTED` and `WORDS`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, ValidationError, model_validator

from curate.errors import UserError
from curate.label.words import words
from curate.records import Struct

Kind = Literal[
    "import", "call", "base", "decorator",
    "name", "class", "path", "argument", "signature", "summary", "docstring", "body", "project",
]  # fmt: skip

DOTTED: tuple[str, ...] = get_args(Kind)[:4]
"""Kinds whose patterns are globs over one whole dotted name: `torch.nn.functional.*_loss`, `*.backward`."""
WORDS: tuple[str, ...] = get_args(Kind)[4:]
"""Kinds whose patterns are words in a row: `cross entropy`, `segment*`, `^ fit $`.

Identifiers are split where snake_case and camelCase split and before digits (`conv2d` is `conv 2d`), and lowercased.
`*` stands for any letters of a word, `^` for the beginning and `$` for the end of the text. The texts: the function's
own name; the classes and functions around it; its path; its parameters, each a text of its own; its signature; the
first paragraph of its docstring; the whole docstring; its code without docstring and comments; and the words common
in its project, commonest first.
"""


class Signal(Struct):
    """Something in a function that speaks for a value."""

    kind: Kind
    """Where to look."""
    patterns: tuple[str, ...] = Field(min_length=1)
    """What to look for; any of them."""
    weight: float = Field(ge=-10, le=10)
    """How strongly it speaks for the value, as a log-odds."""

    @model_validator(mode="after")
    def _can_match(self) -> Signal:
        for pattern in self.patterns if self.kind in WORDS else ():
            parts = [part for part in pattern.split() if part not in {"^", "$"}]
            if not parts:
                raise ValueError(f"pattern {pattern!r} has no word in it")
            literal = " ".join(parts).replace("*", " ").split()
            if literal != list(words(" ".join(literal))):
                raise ValueError(
                    f"pattern {pattern!r} never matches: words are lowercase, as {' '.join(words(pattern))!r}"
                )
        return self


class Value(Struct):
    """One answer that an axis allows."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """What is written into the labels."""
    definition: str = Field(min_length=1)
    """When it applies."""
    examples: tuple[str, ...] = ()
    """Functions that have it, in words."""
    prior: float = 0.0
    """Its score before any signal, as a log-odds."""
    signals: tuple[Signal, ...] = ()
    """What speaks for it, or against."""


class Axis(Struct):
    """A question about a function with a closed list of answers."""

    axis: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Its name."""
    question: str = Field(min_length=1)
    """The question in words."""
    fallback: str
    """The value when nothing speaks for any."""
    temperature: float = Field(default=1.0, gt=0)
    """Scores are divided by it before they become a confidence."""
    value: tuple[Value, ...] = Field(min_length=2)
    """The answers; among equals the earlier one wins."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The names of its values, in order."""
        return tuple(value.name for value in self.value)

    @model_validator(mode="after")
    def _consistent(self) -> Axis:
        names = self.vocabulary
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"value {', '.join(twice)} is defined twice")
        if self.fallback not in names:
            raise ValueError(f"fallback {self.fallback!r} is none of its values: {', '.join(names)}")
        return self


def load_axes(folder: Path) -> tuple[Axis, ...]:
    """Return every axis of a folder, by name; raises UserError that names file, key and what is allowed."""
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not files:
        raise UserError(f"no label axis in {folder}: put one TOML file per axis there")
    return tuple(load_axis(file) for file in files)


def load_axis(file: Path) -> Axis:
    """Return the axis of one file; raises UserError that names file, key and what is allowed."""
    try:
        axis = Axis.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise UserError(f"{file}: {_first(error)}") from error
    if axis.axis != file.stem:
        raise UserError(f"{file}: axis is {axis.axis!r}, but must be {file.stem!r} like the file's name")
    return axis


def _first(error: ValidationError) -> str:
    """Return the first thing that is wrong as `key: message`, on one line."""
    # An unknown key first: it is often why another is missing.
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known: dict[object, type[Struct]] = {"value": Value, "signals": Signal}
        owner = next((known[part] for part in reversed(first["loc"][:-1]) if part in known), Axis)
        return f"{key} is not a key here; allowed are {', '.join(owner.model_fields)}"
    if first["type"] == "literal_error":
        return f"{key} is {first['input']!r}; allowed are {', '.join([*DOTTED, *WORDS])}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message


def fingerprint(axes: Iterable[Axis]) -> str:
    """Return a hash of all that the axes say; comments and layout of the files do not count."""
    text = "\n".join(axis.model_dump_json() for axis in axes)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def named(axes: Sequence[Axis]) -> dict[str, frozenset[str]]:
    """Return name of axis -> its allowed values."""
    return {axis.axis: frozenset(axis.vocabulary) for axis in axes}
