"""Which function of one commit goes on in which function of the next: the links that dates are read from.

`dates.py` says what counts as the same function and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from curate.extract.pieces import Fact, Facts

SUBSTANTIAL = 100
"""Statements of at least so many characters are not written twice by chance."""
SIMILAR = 0.5
"""Share of lines that two bodies of functions of one name must have in common; git's own threshold for files."""
RENAMED = 0.6
"""The same for a function that lost its name too, within its file."""
STEPS = 4
"""So many steps of a lineage are kept for people to read, the last ones."""


@dataclass(frozen=True, slots=True)
class Step:
    """A place where a lineage left its file or its name."""

    commit: int
    path: str
    """Where it stood before."""
    qualname: str
    how: str


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A function from one change of its text to the next."""

    fact: Fact
    first: int
    """The commit of its lineage with the earliest date."""
    path: str
    """Where it stood in that commit."""
    qualname: str
    changed: int
    """The commit that gave it this body."""
    sure: bool
    """Whether nothing hides what came before `first`."""
    steps: tuple[Step, ...] = ()


Placed = tuple[str, Node]
"""A function and the path that it stands at."""


@dataclass
class Fresh:
    """A function that its file did not have before."""

    path: str
    before: str
    """Path of that file in the commit before."""
    place: int
    fact: Fact
    hidden: bool
    """Whether an earlier version of the file could not be read."""


@dataclass
class Memory:
    """What is remembered of all commits so far."""

    when: Sequence[int]
    """Date of each commit."""
    seen: dict[bytes, int] = field(default_factory=dict)
    """Body -> the commit with the earliest date that had it."""
    bodies: dict[bytes, Placed] = field(default_factory=dict)
    """Body -> function with the earliest beginning that had it."""
    traces: dict[bytes, Placed] = field(default_factory=dict)
    """The same for the statements alone, of functions of some size."""
    gone: dict[tuple[str, str], Node] = field(default_factory=dict)
    """(path, qualified name) -> function that was taken out there last."""
    gone_names: dict[str, Placed] = field(default_factory=dict)
    """Qualified name -> function of that name that was taken out last."""

    def keep(self, path: str, node: Node, commit: int) -> Node:
        """Remember a function that a commit made or changed."""
        fact = node.fact
        known = self.seen.get(fact.body)
        if known is None or self.when[commit] < self.when[known]:
            self.seen[fact.body] = commit
        tables = [(self.bodies, fact.body)]
        if fact.size >= SUBSTANTIAL:
            tables.append((self.traces, fact.trace))
        for table, key in tables:
            held = table.get(key)
            if held is None or self.when[node.first] < self.when[held[1].first]:
                table[key] = path, node
        return node

    def forget(self, vanished: Iterable[Placed]) -> None:
        """Remember what a commit took out."""
        for path, node in vanished:
            self.gone[path, node.fact.qualname] = node
            self.gone_names[node.fact.qualname] = path, node

    def older(self, one: Node, other: Node) -> Node:
        """Return one function for two of the same body that came on different branches: the older of each date."""
        if one is other:
            return one
        first = min(one, other, key=lambda node: self.when[node.first])
        changed = min(one.changed, other.changed, key=lambda place: self.when[place])
        if first.changed == changed:
            return first
        return Node(first.fact, first.first, first.path, first.qualname, changed, first.sure, first.steps)

    def after(self, before: Placed, fact: Fact, path: str, commit: int, how: str = "", *, hidden: bool = False) -> Node:
        """Return the function that another goes on in."""
        origin, old = before
        changed = commit
        if old.fact.body == fact.body:
            changed = min(old.changed, commit, key=lambda place: self.when[place])
        earlier = self.when[commit] < self.when[old.first]
        steps = old.steps
        if how:
            steps = (*steps, Step(commit, origin, old.fact.qualname, how))[-STEPS:]
        return Node(
            fact,
            commit if earlier else old.first,
            path if earlier else old.path,
            fact.qualname if earlier else old.qualname,
            changed,
            old.sure and not hidden,
            steps,
        )


def within(olds: Sequence[Node], news: Facts) -> list[Node | None]:
    """Return, for each function of a file's new version, the one of the old versions with its name, or None.

    Of several with one name first those with the same body, then those at the same place among them, then the first:
    a further definition of a name belongs to those that were there.
    """
    names: dict[str, list[Node]] = {}
    for node in olds:
        names.setdefault(node.fact.qualname, []).append(node)
    found: list[Node | None] = []
    count: dict[str, int] = {}
    for fact in news:
        group = names.get(fact.qualname, [])
        place = count.get(fact.qualname, 0)
        count[fact.qualname] = place + 1
        same = next((node for node in group if node.fact.body == fact.body), None)
        other = group[place] if place < len(group) else next(iter(group), None)
        found.append(same or other)
    return found


class Vanished:
    """The functions that a commit took out of their files, to be found again by what they say."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        self.placed = placed
        self.bodies = _grouped(placed, lambda node: node.fact.body)
        self.traces = _grouped(placed, lambda node: node.fact.trace)
        self.names = _grouped(placed, lambda node: node.fact.name)
        self.files: dict[str, list[Placed]] = {}
        for one in placed:
            self.files.setdefault(one[0], []).append(one)

    def match(self, fresh: Fresh) -> tuple[Placed, str] | None:
        """Return where a function came from within the commit, and how that is known."""
        fact, path = fresh.fact, fresh.before

        def close(one: Placed) -> tuple[bool, bool, float]:
            same = similarity(one[1].fact, fact)
            return same >= SIMILAR, one[0] == path, same

        if fact.body in self.bodies:
            return _nearest(self.bodies[fact.body], fresh), "moved"
        for one in self.traces.get(fact.trace, ()):
            if fact.size >= SUBSTANTIAL or one[0] == path or one[1].fact.name == fact.name:
                return one, "same statements"
        best = max(self.names.get(fact.name, ()), key=close, default=None)
        if best is not None and any(close(best)[:2]):
            return best, "moved and changed"
        best = max(self.files.get(path, ()), key=close, default=None)
        if best is not None and close(best)[2] >= RENAMED:
            return best, "renamed and changed"
        return None


def _nearest(candidates: Sequence[Placed], fresh: Fresh) -> Placed:
    """Of several functions with one body take the one whose name and path say most that it is the same."""
    return max(candidates, key=lambda one: (one[1].fact.qualname == fresh.fact.qualname, one[0] == fresh.before))


def earlier(memory: Memory, fresh: Fresh) -> tuple[Placed, str] | None:
    """Return the function of an earlier commit that one goes on in which its own commit does not explain."""
    fact, path = fresh.fact, fresh.path
    back = memory.gone.get((path, fact.qualname))
    if back is not None:
        return (path, back), "brought back"
    if fact.size >= SUBSTANTIAL:
        if fact.body in memory.bodies:
            return memory.bodies[fact.body], "same body"
        if fact.trace in memory.traces:
            return memory.traces[fact.trace], "same statements"
    named = memory.gone_names.get(fact.qualname)
    if named is not None:
        old = named[1].fact
        if old.body == fact.body or (fact.size >= SUBSTANTIAL and similarity(old, fact) >= SIMILAR):
            return named, "brought back elsewhere"
    return None


def similarity(one: Fact, other: Fact) -> float:
    """Return the share of lines that two bodies have in common, of the longer one."""
    longer = max(len(one.lines), len(other.lines))
    if not longer or min(len(one.lines), len(other.lines)) < SIMILAR * longer:
        return 0.0
    left = {key: len(list(same)) for key, same in groupby(one.lines)}
    common = sum(min(left.get(key, 0), len(list(same))) for key, same in groupby(other.lines))
    return common / longer


def _grouped(placed: Sequence[Placed], key: Callable[[Node], bytes | str]) -> dict[bytes | str, list[Placed]]:
    found: dict[bytes | str, list[Placed]] = {}
    for one in placed:
        found.setdefault(key(one[1]), []).append(one)
    return found
