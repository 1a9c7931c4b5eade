"""What a search finds: GitHub's qualifiers, as far as repositories have them.

Several owners, languages or licences mean any of them, several topics all. Unlike GitHub, which takes what it does not
know for words to look for, this refuses an unknown qualifier with 422, so that a misspelt one does not go unnoticed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.github_double.repository import Repository
from tests.github_double.world import World

WORD = re.compile(r'(-?)(?:([A-Za-z][\w-]*):)?("[^"]*"|[^\s"]+)')
RANGE = re.compile(r"(>=|<=|>|<)?([^<>]+?)(?:\.\.([^<>]+))?")
MOST_CHARACTERS = 256
MOST_OPERATORS = 5
SECOND = timedelta(seconds=1)
Test = Callable[[Repository], bool]
NUMBERS: dict[str, Callable[[Repository], int]] = {
    "stars": lambda one: one.stars, "size": lambda one: one.size, "forks": lambda one: one.forks,
    "topics": lambda one: len(one.topics),
}  # fmt: skip
DATES: dict[str, Callable[[Repository], datetime]] = {
    "created": lambda one: one.created_at, "pushed": lambda one: one.pushed_at, "updated": lambda one: one.updated,
}  # fmt: skip
FLAGS: dict[str, Test] = {
    "archived": lambda one: one.archived, "template": lambda one: one.is_template, "mirror": lambda one: False,
}  # fmt: skip
ANY: dict[str, Callable[[Repository], str]] = {
    "user": lambda one: one.owner, "org": lambda one: one.owner, "repo": lambda one: one.full_name,
    "language": lambda one: one.language or "", "license": lambda one: one.license or "",
}  # fmt: skip
FIELDS: dict[str, Callable[[Repository], str]] = {
    "name": lambda one: one.name, "description": lambda one: one.description,
    "topics": lambda one: " ".join(one.topics), "readme": lambda one: "",
}  # fmt: skip
SORTS: dict[str, Callable[[Repository], Any]] = {
    "stars": lambda one: one.stars, "forks": lambda one: one.forks, "updated": lambda one: one.updated,
    "help-wanted-issues": lambda one: 0,
}  # fmt: skip


class MalformedError(ValueError):
    """A query that GitHub answers with 422."""


@dataclass
class Query:
    """What is asked for."""

    tests: list[Test] = field(default_factory=list)
    any_of: dict[str, set[str]] = field(default_factory=dict)
    words: list[tuple[bool, str]] = field(default_factory=list)
    """Whether it must not be there, and the word."""
    fields: list[str] = field(default_factory=list)
    forks: str = "false"
    created: tuple[datetime | None, datetime | None] = (None, None)


def search(world: World, text: str, sort: str = "", order: str = "desc", *, private: bool = True) -> list[Repository]:
    """Return all that a query finds, best match first or sorted; raises MalformedError."""
    query = parse(text)
    known = world.owners() if query.any_of.keys() & {"user", "org", "repo"} else set()
    for name in query.any_of.keys() & {"user", "org", "repo"}:
        if not {value.split("/")[0] for value in query.any_of[name]} & known:
            raise MalformedError(
                "The listed users and repositories cannot be searched either because the resources do not exist or "
                "you do not have permission to view them."
            )
    every, dates = world.by_date()
    low, high = query.created
    start = bisect_left(dates, low) if low else 0
    end = bisect_right(dates, high) if high else len(every)
    tests = [*query.tests, *_any(query), *_words(query), *_forks(query)]
    found = [
        one for one in every[start:end]
        if one.state != "gone" and (private or not one.private) and all(test(one) for test in tests)
    ]  # fmt: skip
    wanted = [word for negated, word in query.words if not negated]
    found.sort(key=lambda one: (not all(word in one.name.lower() for word in wanted), one.id))
    if sort in SORTS:
        found.sort(key=SORTS[sort], reverse=order != "asc")
    return found


def parse(text: str) -> Query:
    """Read a query; raises MalformedError."""
    query, negated, operators = Query(), False, 0
    for minus, name, quoted in WORD.findall(text):
        value = quoted.strip('"')
        if not name and quoted in {"AND", "OR", "NOT"}:
            operators += 1
            if quoted == "OR":
                raise MalformedError("the double does not know OR")
            negated = quoted == "NOT"
            continue
        _add(query, name.lower(), value.lower(), negated=negated or bool(minus))
        negated = False
    if operators > MOST_OPERATORS:
        raise MalformedError("More than five AND / OR / NOT operators were used.")
    if sum(len(word) + 1 for _, word in query.words) - 1 > MOST_CHARACTERS:
        raise MalformedError(f"The search is longer than {MOST_CHARACTERS} characters.")
    return query


def _add(query: Query, name: str, value: str, *, negated: bool) -> None:  # noqa: PLR0912 one branch a qualifier
    test: Test | None = None
    if not name:
        query.words.append((negated, value))
    elif name == "fork" and value in {"true", "false", "only"}:
        query.forks = value
    elif name == "in":
        query.fields += [one for one in value.split(",") if one in FIELDS]
    elif name == "created" and not negated and query.created == (None, None):
        query.created = _dates(value)
    elif name in DATES:
        test = _between(_dates(value), DATES[name])
    elif name in NUMBERS:
        test = _between(_numbers(value), NUMBERS[name])
    elif name == "topic":
        test = lambda one: value in one.topics  # noqa: E731
    elif name in FLAGS and value in {"true", "false"}:
        test = lambda one: FLAGS[name](one) == (value == "true")  # noqa: E731
    elif name == "is" and value in {"public", "private"}:
        test = lambda one: one.private == (value == "private")  # noqa: E731
    elif name in ANY and negated:
        test = lambda one: ANY[name](one).lower() == value  # noqa: E731
    elif name in ANY:
        query.any_of.setdefault("user" if name == "org" else name, set()).add(value)
    else:
        raise MalformedError(f'"{name}:{value}" is not a search qualifier.')
    if test is not None:
        query.tests.append(_not(test) if negated else test)


def _not(test: Test) -> Test:
    return lambda one: not test(one)


def _any(query: Query) -> list[Test]:
    def one_of(name: str, values: set[str]) -> Test:
        return lambda one: ANY[name](one).lower() in values

    return [one_of(name, values) for name, values in query.any_of.items()]


def _words(query: Query) -> list[Test]:
    places = [FIELDS[name] for name in query.fields or ("name", "description", "topics")]

    def has(negated: bool, word: str) -> Test:
        return lambda one: any(word in place(one).lower() for place in places) != negated

    return [has(negated, word) for negated, word in query.words]


def _forks(query: Query) -> list[Test]:
    if query.forks == "true":
        return []
    return [lambda one: (one.fork_of is not None) == (query.forks == "only")]


def _between(span: tuple[Any, Any], of: Callable[[Repository], Any]) -> Test:
    low, high = span
    return lambda one: (low is None or of(one) >= low) and (high is None or of(one) <= high)


def _numbers(text: str) -> tuple[int | None, int | None]:
    sign, first, last = _parts(text)
    try:
        low = None if first == "*" else int(first)
        high = low if last is None else None if last == "*" else int(last)
    except ValueError:
        raise MalformedError(f'"{text}" is not a number or a range of numbers.') from None
    if not sign or low is None:
        return low, high
    return (low + (sign == ">"), None) if sign[0] == ">" else (None, low - (sign == "<"))


def _dates(text: str) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last second; a day lasts until its last second."""
    sign, first, last = _parts(text)
    low, high = _moment(first), _moment(first if last is None else last)
    if sign in {">=", ">"}:
        return (low[0] if sign == ">=" else low[1] + SECOND, None) if low else (None, None)
    if sign in {"<=", "<"}:
        return (None, low[1] if sign == "<=" else low[0] - SECOND) if low else (None, None)
    return (low[0] if low else None), (high[1] if high else None)


def _parts(text: str) -> tuple[str | None, str, str | None]:
    found = RANGE.fullmatch(text)
    if found is None or (found[1] and found[3]):
        raise MalformedError(f'"{text}" is not a range.')
    return found[1], found[2], found[3]


def _moment(text: str) -> tuple[datetime, datetime] | None:
    """Return the first and the last second of a date or of a date with time."""
    if text == "*":
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        raise MalformedError(
            f'"{text}" is not a recognized date/time format. Please provide an ISO 8601 date/time value, such as '
            "YYYY-MM-DD."
        ) from None
    if not 1970 <= moment.year <= 2970:
        raise MalformedError(f'The year {moment.year} in "{text}" is outside the accepted range 1970 to 2970.')
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment, moment + timedelta(days=1) - SECOND if len(text) == 10 else moment
