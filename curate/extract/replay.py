"""A history played through once, parents before children, to the functions as the last commit has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from curate.errors import ItemError
from curate.extract.lineage import Fresh, Memory, Node, Placed, Vanished, earlier, within
from curate.extract.pieces import Facts, Pieces
from curate.git.history import Change, Commit

Read = Callable[[str], bytes]
"""Gives the content of a blob; raises ItemError when it is not there."""


@dataclass(frozen=True, slots=True)
class Version:
    """A file at a commit."""

    blob: str
    nodes: tuple[Node, ...]
    unread: bool = False
    """Whether it does not parse; the functions are then those of the version before."""


State = dict[str, Version]


class Replay:
    """The files of every commit that has children still to come, each with its functions."""

    def __init__(self, commits: Sequence[Commit], when: Sequence[int], read: Read) -> None:
        self.commits, self.read = commits, read
        self.memory = Memory(when)
        self.pieces = Pieces()
        self.facts: dict[str, Facts | None] = {}
        self.states: dict[int, State] = {}
        self.children = [0] * len(commits)
        for commit in commits:
            for parent in commit.parents:
                self.children[parent] += 1
        self.unread = 0
        """Number of versions of files that could not be read."""

    def run(self, changes: Iterable[list[Change]]) -> State:
        """Return the files of the last commit."""
        state: State = {}
        for place, (commit, changed) in enumerate(zip(self.commits, changes, strict=True)):
            bases = [self._take(parent) for parent in commit.parents]
            state = bases[0] if bases else {}
            others = bases[1:]
            for other in others:
                self._join(state, other)
            self._apply(place, state, others, changed)
            self.states[place] = state
        return state

    def _take(self, place: int) -> State:
        """Return the files of a commit, to be changed at will."""
        self.children[place] -= 1
        return dict(self.states[place]) if self.children[place] else self.states.pop(place)

    def _join(self, state: State, other: State) -> None:
        """Let functions that both parents of a merge have be as old as the older of the two."""
        for path, version in other.items():
            mine = state.get(path)
            if mine is not None and mine is not version and mine.nodes is not version.nodes:
                state[path] = self._joined(mine, version)

    def _joined(self, mine: Version, other: Version) -> Version:
        theirs = {(node.fact.qualname, node.fact.body): node for node in other.nodes}
        joined = tuple(
            node
            if (twin := theirs.get((node.fact.qualname, node.fact.body))) is None
            else self.memory.older(node, twin)
            for node in mine.nodes
        )
        if all(one is node for one, node in zip(joined, mine.nodes, strict=True)):
            return mine
        return Version(mine.blob, joined, mine.unread)

    def _apply(self, place: int, state: State, others: Sequence[State], changed: Sequence[Change]) -> None:
        """Bring a commit's changes into the files of its first parent; `others` are those of further parents."""
        new: dict[str, Version] = {}
        vanished: list[Placed] = []
        fresh: list[Fresh] = []
        made: dict[str, list[Node | None]] = {}
        for change in changed:
            if change.blob is None:
                old = state.get(change.path)
                vanished += [(change.path, node) for node in old.nodes] if old else ()
                continue
            taken = [o[change.path] for o in others if change.path in o and o[change.path].blob == change.blob]
            if taken:
                new[change.path] = taken[0]
                for one in [*taken[1:], *([state[change.path]] if change.path in state else ())]:
                    new[change.path] = self._joined(new[change.path], one)
            else:
                self._change(place, change, [state, *others], (new, made, fresh, vanished))
        self._settle(place, fresh, vanished, made)
        for change in changed:
            state.pop(change.before if change.blob is not None else change.path, None)
        for change in changed:
            if change.path in made:
                nodes = tuple(node for node in made[change.path] if node is not None)
                state[change.path] = Version(change.blob or "", nodes)
            elif change.path in new:
                state[change.path] = new[change.path]
        self.memory.forget(vanished)

    def _change(
        self,
        place: int,
        change: Change,
        states: Sequence[State],
        into: tuple[dict[str, Version], dict[str, list[Node | None]], list[Fresh], list[Placed]],
    ) -> None:
        """Carry the functions of a file over to its new version."""
        new, made, fresh, vanished = into
        path, blob = change.path, change.blob or ""
        paths = dict.fromkeys((change.before, path))
        base = states[0].get(change.before)
        befores = [base] if base else []
        befores += [state[one] for state in states[1:] for one in paths if one in state]
        olds = list(dict.fromkeys(node for version in befores for node in version.nodes))
        facts = self._facts(blob)
        if facts is None:
            new[path] = Version(blob, befores[0].nodes if befores else (), unread=True)
            return
        hidden = any(version.unread for version in befores) or self.commits[place].cut
        nodes: list[Node | None] = []
        for index, (fact, old) in enumerate(zip(facts, within(olds, facts), strict=True)):
            if old is None:
                fresh.append(Fresh(path, change.before, index, fact, hidden))
                nodes.append(None)
            elif old.fact.body == fact.body:
                nodes.append(old)
            else:
                known = self.memory.bodies.get(fact.body) if len(states) > 1 else None
                if known is not None and known[1].fact.qualname == fact.qualname:
                    nodes.append(known[1])
                else:
                    node = self.memory.after((change.before, old), fact, path, place)
                    nodes.append(self.memory.keep(path, node, place))
        made[path] = nodes
        kept = {node.fact.qualname for node in nodes if node is not None}
        lost = base.nodes if base else ()
        vanished += [(change.before, node) for node in lost if node.fact.qualname not in kept]

    def _settle(
        self, place: int, fresh: Sequence[Fresh], vanished: Sequence[Placed], made: dict[str, list[Node | None]]
    ) -> None:
        """Find out where the functions came from that their files did not have before."""
        lost = Vanished(vanished)
        for one in fresh:
            found = lost.match(one) if vanished else None
            found = found or earlier(self.memory, one)
            if found is None:
                node = Node(one.fact, place, one.path, one.fact.qualname, place, not one.hidden)
            else:
                node = self.memory.after(found[0], one.fact, one.path, place, found[1], hidden=one.hidden)
            made[one.path][one.place] = self.memory.keep(one.path, node, place)

    def _facts(self, blob: str) -> Facts | None:
        """Return the functions of a file's content, None when it cannot be read."""
        if blob not in self.facts:
            try:
                self.facts[blob] = self.pieces.facts(self.read(blob))
            except ItemError:
                self.facts[blob] = None
                self.unread += 1
        return self.facts[blob]
