"""What a search finds: GitHub's qualifiers, as far as repositories have them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.github_double.world import Repository, World

WORD = re.compile(r'(-?)(?:(\w+):)?("[^"]*"|\S+)')
Test = Callable[[Repository], bool]
SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


class MalformedError(ValueError):
    """A query that GitHub answers with 422."""


def search(world: World, query: str) -> list[Repository]:
    """Return all that a query finds, in the order of the numbers; raises MalformedError."""
    tests: list[Test] = []
    forks = "false"
    for minus, name, quoted in WORD.findall(query):
        value = quoted.strip('"')
        if name == "fork":
            forks = value
        else:
            test = _test(name, value)
            tests.append(_not(test) if minus else test)
    if forks == "only":
        tests.append(lambda one: one.fork_of is not None)
    elif forks != "true":
        tests.append(lambda one: one.fork_of is None)
    found = [one for one in world.by_id.values() if one.state != "gone" and all(test(one) for test in tests)]
    return sorted(found, key=lambda one: one.id)


def _not(test: Test) -> Test:
    return lambda one: not test(one)


def _test(name: str, value: str) -> Test:  # noqa: PLR0911 one line a qualifier
    low = value.lower()
    if name in {"stars", "size"}:
        return _range(value, int, lambda one: one.stars if name == "stars" else one.size)
    if name in {"created", "pushed"}:
        return _range(value, _moment, lambda one: one.created_at if name == "created" else one.pushed_at)
    if name == "topic":
        return lambda one: low in one.topics
    if name == "language":
        return lambda one: (one.language or "").lower() == low
    if name == "license":
        return lambda one: (one.license or "").lower() == low
    if name == "archived":
        return lambda one: one.archived == (low == "true")
    if name in {"user", "org"}:
        return lambda one: one.owner.lower() == low
    if name == "is":
        return lambda one: one.private == (low == "private")
    if name == "in":
        return lambda one: True
    if name:
        raise MalformedError(f"the qualifier {name} is not known")
    return lambda one: low in f"{one.full_name} {one.description}".lower()


def _range(text: str, convert: Callable[[str], object], of: Callable[[Repository], object]) -> Test:
    found = re.fullmatch(r"(>=|<=|>|<)?([^.<>]+?)(?:\.\.([^.<>]+))?", text)
    if found is None or (found[1] and found[3]):
        raise MalformedError(text)
    sign, first, last = found.groups()
    try:
        low: Any = None if first == "*" else convert(first)
        high: Any = None if last in {None, "*"} else _end(convert(last), last)
        if last is None and sign is None:
            high = _end(low, first)
    except (ValueError, TypeError):
        raise MalformedError(text) from None

    def test(one: Repository) -> bool:
        value: Any = of(one)
        if sign:
            return bool(SIGNS[sign](value, _end(low, first) if sign == "<=" else low))
        return (low is None or value >= low) and (high is None or value <= high)

    return test


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _end(value: Any, text: str) -> Any:
    """A day lasts until its last second."""
    if isinstance(value, datetime) and len(text) == 10:
        return value + timedelta(days=1, seconds=-1)
    return value
