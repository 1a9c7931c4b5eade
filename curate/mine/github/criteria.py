"""What a source file asks of repositories: the `[search]` table, its queries, and which hits it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import Field, field_validator

from curate.mine.github.queries import BEGINNING, SECOND, Span
from curate.records import Struct

COUNT = re.compile(r"(>=|<=|>|<)?\d+|\d+\.\.(\d+|\*)|\*\.\.\d+")
DAY = r"\d{4}-\d\d-\d\d"
DAYS = re.compile(rf"(>=|<=|>|<){DAY}|{DAY}\.\.({DAY}|\*)|\*\.\.{DAY}")
WINDOW = re.compile(rf"({DAY})?\.\.({DAY})?")
OURS = re.compile(r"(?<![\w-])-?(topic|language|stars|created|pushed|size|archived|fork):", re.IGNORECASE)
Refusal = tuple[str, str]


class Search(Struct):
    """What to look for on GitHub."""

    topics: list[str] = Field(default_factory=list)
    """Topics; a repository with any of them is found. Each is a query of its own."""
    languages: list[str] = Field(default_factory=list)
    """Main languages; a repository with any of them is found."""
    stars: str = ""
    """Number of stars, such as `>=400` or `100..500`."""
    created: str = ""
    """Days in which it was made, such as `2015-01-01..2024-12-31`; without an end: up to yesterday (UTC)."""
    pushed: str = ""
    """Days in which something was pushed last, such as `>=2023-01-01`."""
    qualifiers: str = ""
    """Anything else that GitHub's search understands, added to every query."""
    archived: Literal["exclude", "include", "only"] = "include"
    """Whether read-only repositories are taken."""
    forks: Literal["exclude", "include", "only"] = "exclude"
    """Whether repositories that were made as forks are taken."""
    templates: Literal["exclude", "include"] = "include"
    """Whether repositories that others are made from are taken."""
    copies: Literal["exclude", "include"] = "exclude"
    """Whether copies are taken that were not made as forks: another repository has the same first commit."""
    licenses: list[str] = Field(default_factory=list)
    """Licences that GitHub must have recognised, as SPDX ids; none: any, also no licence. What a release may hold is
    decided by its own gate, on what stands in the files."""
    size_mb: tuple[float, float] = (0.0, 2000.0)
    """Least and most size in MB, as GitHub reports it."""
    take: int | None = Field(None, gt=0)
    """At most so many, those with most stars first."""

    @field_validator("topics", "languages")
    @classmethod
    def _words(cls, words: list[str]) -> list[str]:
        for word in words:
            if not word.strip() or not re.fullmatch(r"[\w+#.' -]+", word) or "  " in word:
                raise ValueError(f"{word!r} is not a name")
        return list(dict.fromkeys(words))

    @field_validator("stars")
    @classmethod
    def _count(cls, text: str) -> str:
        if text and not COUNT.fullmatch(text):
            raise ValueError("write a number as >=400, 100..500 or 400")
        return text

    @field_validator("pushed")
    @classmethod
    def _days(cls, text: str) -> str:
        if text and not (DAYS.fullmatch(text) and all(map(_day, re.findall(DAY, text)))):
            raise ValueError("write days as >=2023-01-01 or 2023-01-01..2024-12-31")
        return text

    @field_validator("created")
    @classmethod
    def _window(cls, text: str) -> str:
        found = WINDOW.fullmatch(text)
        if text and not (found and all(map(_day, re.findall(DAY, text)))):
            raise ValueError("write days as 2015-01-01..2024-12-31, or 2015-01-01.. for up to yesterday")
        if found and found[1] and found[2] and found[1] > found[2]:
            raise ValueError("the first day is after the last")
        return text

    @field_validator("qualifiers")
    @classmethod
    def _others(cls, text: str) -> str:
        found = OURS.search(text)
        if found:
            raise ValueError(f"{found[1]} has a key of its own")
        if re.search(r"\b(OR|NOT)\b", text):
            raise ValueError("OR and NOT are not cut by the time of creation: write several files instead")
        return text

    @field_validator("size_mb")
    @classmethod
    def _sizes(cls, sizes: tuple[float, float]) -> tuple[float, float]:
        if not 0 <= sizes[0] <= sizes[1] < 1e9:
            raise ValueError("write it as [least, most]")
        return sizes

    def queries(self) -> list[str]:
        """Return the queries to ask, without the span of creation that cuts them."""
        common = [f"stars:{self.stars}"] if self.stars else []
        common += [f"pushed:{self.pushed}"] if self.pushed else []
        common += [f"size:{round(self.size_mb[0] * 1024)}..{round(self.size_mb[1] * 1024)}"]
        common += {"exclude": ["archived:false"], "only": ["archived:true"], "include": []}[self.archived]
        common += {"exclude": [], "only": ["fork:only"], "include": ["fork:true"]}[self.forks]
        common += [f"license:{self.licenses[0].lower()}"] if len(self.licenses) == 1 else []
        common += [self.qualifiers.strip()] if self.qualifiers.strip() else []
        topics = [[f"topic:{topic}"] for topic in self.topics] or [[]]
        languages = [[f"language:{_quoted(language)}"] for language in self.languages] or [[]]
        return [" ".join([*topic, *language, *common]) for topic in topics for language in languages]

    def window(self, today: datetime) -> Span | None:
        """Return the span of creation, which ends before `today` so that no day is cut in two; None for one to come."""
        first, _, last = self.created.partition("..")
        start = _midnight(first) if first else BEGINNING
        # What is to come is left for later runs, also where a last day is named.
        midnight = today.replace(hour=0, minute=0, second=0, microsecond=0)
        end = min(midnight, _midnight(last) + timedelta(days=1)) if last else midnight
        return Span(max(start, BEGINNING), end - SECOND) if max(start, BEGINNING) < end else None

    def refusal(self, row: Mapping[str, Any]) -> Refusal | None:
        """Return why a repository is not taken, by what GitHub says of it: (reason, sentence)."""
        name, low, high = row["full_name"], *self.size_mb
        spoken = {one.lower() for one in self.languages}
        tests: Iterable[tuple[bool, str, str]] = (
            (row["archived"] and self.archived == "exclude", "archived", "is read-only"),
            (row["fork"] and self.forks == "exclude", "fork", f"is a fork of {row.get('fork_of') or 'another'}"),
            (row["is_template"] and self.templates == "exclude", "template", "is a template that others are made from"),
            (
                not low * 1024 <= row["size_kb"] <= high * 1024,
                "size",
                f"has {row['size_kb'] / 1024:.1f} MB, outside {low:g} to {high:g}",
            ),
            (not _within(row["stars"], self.stars), "stars", f"has {row['stars']} stars, not {self.stars}"),
            (
                bool(self.licenses) and (row["license"] or "").lower() not in {one.lower() for one in self.licenses},
                "licence",
                f"is under {row['license'] or 'no licence that GitHub knows'}",
            ),
            (
                bool(spoken) and (row["language"] or "").lower() not in spoken,
                "language",
                f"is written in {row['language'] or 'no language that GitHub knows'}",
            ),
        )
        return next(((reason, f"{name} {sentence}") for refused, reason, sentence in tests if refused), None)


def _within(value: int, text: str) -> bool:
    if not text:
        return True
    low, dots, high = text.partition("..")
    if dots:
        return (low == "*" or value >= int(low)) and (high == "*" or value <= int(high))
    sign, number = re.fullmatch(r"(>=|<=|>|<)?(\d+)", text).groups()  # type: ignore[union-attr]
    edge = int(number)
    return {">=": value >= edge, "<=": value <= edge, ">": value > edge, "<": value < edge, None: value == edge}[sign]


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _midnight(day: str) -> datetime:
    return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)


def _day(text: str) -> bool:
    try:
        return 2000 <= _midnight(text).year < 2200
    except ValueError:
        return False
