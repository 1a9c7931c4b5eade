"""Comparing functions with the items of corpora, through an index that each worker builds once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import pyarrow.parquet as pq

from curate.contamination import Settings
from curate.renaming import erased, renamed
from curate.shingles import SHINGLE, Line, canonical, functions, logical_lines, shingles, words

Item: TypeAlias = tuple[str, str]
"""Name of the corpus, and id of the item in it."""
Hit: TypeAlias = tuple[str, str, str, str, float]
"""Corpus, item, relation, part, overlap."""

RELATIONS = ("exact", "renamed", "near", "partial")
ERASED_SHINGLE = 2 * SHINGLE
"""Without names code is much more alike, so that longer runs are needed to tell."""
_WORD = re.compile(r"\w+")


class Shelf:
    """Sets of shingles, and which of them share enough with another set."""

    def __init__(self, common: int) -> None:
        self.common = common
        self.owners: list[Item] = []
        self.sizes: list[int] = []
        self.places: dict[int, list[int]] = defaultdict(list)
        self.idioms: set[int] = set()

    def put(self, item: Item, shingles: set[int]) -> None:
        """Add a set; `finish` must follow before it can be found."""
        for shingle in shingles:
            self.places[shingle].append(len(self.owners))
        self.owners.append(item)
        self.sizes.append(len(shingles))

    def finish(self) -> None:
        """Take out what more than `common` items of one corpus have: imports, loops, boilerplate."""
        for shingle, places in self.places.items():
            if len(places) > self.common:
                corpora = Counter(corpus for corpus, _ in {self.owners[place] for place in places})
                if max(corpora.values()) > self.common:
                    self.idioms.add(shingle)
        for shingle in self.idioms:
            for place in self.places.pop(shingle):
                self.sizes[place] -= 1

    def similar(
        self, shingles: set[int], least: int, threshold: float, containment: float
    ) -> Iterator[tuple[Item, str]]:
        """Yield what is `near` (Jaccard) or `partial` (one mostly contains the other), idioms left out of the count."""
        telling = shingles - self.idioms
        shared = Counter(place for shingle in telling for place in self.places.get(shingle, ()))
        mine = len(telling)
        for place, common in shared.items():
            theirs = self.sizes[place]
            if min(mine, theirs) >= least and common >= threshold * (mine + theirs - common):
                yield self.owners[place], "near"
            elif _contained(common, mine, least, containment) or _contained(common, theirs, least, containment):
                yield self.owners[place], "partial"


def _contained(common: int, size: int, least: int, containment: float) -> bool:
    return size >= least and common >= containment * size


class Index:
    """The items of all corpora: each as a whole, each function in it, and its text."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.exact: dict[str, set[Item]] = defaultdict(set)
        self.renamed: dict[str, set[Item]] = defaultdict(set)
        self.plain = Shelf(settings.common)
        self.erased = Shelf(settings.common)
        self.texts = Shelf(settings.common)
        self.whole: dict[Item, set[int]] = {}

    def put(self, item: Item, code: str, text: str) -> None:
        """Add an item."""
        lines = logical_lines(code)
        for part in _parts(lines):
            self.exact[canonical(part)].add(item)
            self.renamed[self._renamed(part)].add(item)
            self.plain.put(item, shingles(words(part)))
            self.erased.put(item, shingles(erased(part), ERASED_SHINGLE))
        self.whole[item] = shingles(words(lines))
        self.texts.put(item, word_shingles(text))

    def finish(self) -> None:
        """Make what was put in ready to be found."""
        for shelf in (self.plain, self.erased, self.texts):
            shelf.finish()

    def __call__(self, code: str, docstring: str) -> list[Hit]:
        """Return the best matches of a function with each corpus."""
        lines = logical_lines(code)
        mine = shingles(words(lines))
        best: dict[Item, tuple[int, str]] = {}
        for item, relation, part in self._found(lines, mine, docstring):
            grade = (RELATIONS.index(relation), part)
            best[item] = min(grade, best.get(item, grade))
        hits = [
            (corpus, item_id, RELATIONS[rank], part, len(mine & self.whole[corpus, item_id]) / max(1, len(mine)))
            for (corpus, item_id), (rank, part) in best.items()
        ]
        hits.sort(key=lambda hit: (hit[0], RELATIONS.index(hit[2]), -hit[4], hit[1]))
        kept: Counter[str] = Counter()
        return [hit for hit in hits if kept.update([hit[0]]) or kept[hit[0]] <= self.settings.max_matches]

    def _found(self, lines: Sequence[Line], mine: set[int], docstring: str) -> Iterator[tuple[Item, str, str]]:
        settings = self.settings
        if lines:
            yield from ((item, "exact", "code") for item in self.exact.get(canonical(lines), ()))
            yield from ((item, "renamed", "code") for item in self.renamed.get(self._renamed(lines), ()))
        bounds = (settings.min_shingles, settings.threshold, settings.containment)
        views = ((self.plain, mine), (self.erased, shingles(erased(lines), ERASED_SHINGLE)))
        for shelf, found in views:
            yield from ((item, relation, "code") for item, relation in shelf.similar(found, *bounds))
        bounds = (settings.min_words, settings.threshold, settings.text_containment)
        for item, relation in self.texts.similar(word_shingles(docstring), *bounds):
            yield item, relation, "docstring"

    def _renamed(self, lines: Sequence[Line]) -> str:
        short = len(words(lines)) < self.settings.min_tokens
        return renamed(lines, keep_own_name=short)


def _parts(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Return an item's code as a whole and its functions, unless the one function is the whole."""
    found: list[Sequence[Line]] = [part for part in functions(lines) if len(part) < len(lines)]
    return [lines, *found] if lines else []


def word_shingles(text: str) -> set[int]:
    """Return the shingles of a text's words, case and punctuation aside; none for a text shorter than a shingle."""
    found = _WORD.findall(text.lower())
    return shingles(found) if len(found) >= SHINGLE else set()


@lru_cache(maxsize=1)
def matcher(corpora: tuple[tuple[str, str], ...], settings: Settings) -> Callable[[str, str], list[Hit]]:
    """Return the index of some corpora (name, Parquet file), built once in a process."""
    index = Index(settings)
    for name, path in corpora:
        for row in pq.read_table(path).to_pylist():
            index.put((name, row["item_id"]), row["code"], row["text"])
    index.finish()
    return index
