"""The stage `choose`: which of the repositories that a source file leads to are taken, and why the rest are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curate.mine.github.criteria import Refusal, Search
from curate.mine.require import Require, refusal
from curate.optout import OptOut
from curate.records import Choice, Row, Struct
from curate.work import Context, Done


class Settings(Struct):
    """Nothing here can be set: what is chosen by stands in the source file."""


@dataclass(frozen=True)
class Rules:
    """What a source file says about which repositories to take."""

    search: Search
    require: Require
    left_out: OptOut
    """Denied and opted out."""


@dataclass(frozen=True)
class Decision:
    """What became of a candidate."""

    row: Mapping[str, Any]
    refusal: Refusal | None

    @property
    def taken(self) -> bool:
        """Whether it is among those to take."""
        return self.refusal is None


def work(rows: Iterable[Mapping[str, Any]], context: Context) -> Done:
    """Yield (item_id, one Choice for every candidate); a row has source_file and what `decide` found."""
    del context
    for row in rows:
        yield row["item_id"], list(_choices(row["source_file"], row["decisions"]))


def _choices(source_file: str, decisions: Iterable[Decision]) -> Iterator[Row]:
    for decision in decisions:
        reason, sentence = decision.refusal or ("", "it passed every test")
        yield Choice(
            source_file=source_file,
            host=decision.row["host"],
            repository_id=decision.row["repository_id"],
            full_name=decision.row["full_name"],
            request=request_of(decision.row) if decision.taken else None,
            reason_class=reason,
            reason=sentence,
        )


def request_of(row: Mapping[str, Any]) -> str | None:
    """Return the exact request for a candidate; None while its commit is not known."""
    return f"github:{row['full_name']}@{row['revision']}" if row["revision"] else None


def decide(candidates: Sequence[Mapping[str, Any]], rules: Rules) -> list[Decision]:
    """Decide on every candidate: most stars first, then the lower number; what is not known yet counts for it."""
    ordered = sorted(candidates, key=lambda row: (-row["stars"], row["repository_id"]))
    originals = _originals(ordered) if rules.search.copies == "exclude" else {}
    decisions: list[Decision] = []
    taken = 0
    for row in ordered:
        refused = _refusal(row, rules) or _copy(row, originals)
        if refused is None and rules.search.take is not None and taken >= rules.search.take:
            refused = "enough", f"{taken} with more stars are taken"
        # What only could not be had this time keeps its place: it will be asked again.
        taken += refused is None or bool(row["failure"] and row["failure_transient"])
        decisions.append(Decision(row, refused))
    return decisions


def _refusal(row: Mapping[str, Any], rules: Rules) -> Refusal | None:
    said = rules.left_out.refusal([row["full_name"], *(row["former_names"] or ())], row["repository_id"])
    if said is not None:
        return said
    if row["failure"]:
        return row["failure"], row["failure_detail"]
    return rules.search.refusal(row) or (refusal(row["profile"], rules.require) if row["profile"] else None)


def _originals(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the repository that each first commit belongs to: the one that was made first."""
    first: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in rows:
        if not row["root_commit"]:
            continue
        key = (row["host"], row["root_commit"])
        if key not in first or _age(row) < _age(first[key]):
            first[key] = row
    return first


def _age(row: Mapping[str, Any]) -> tuple[bool, Any, int]:
    return row["fork"], row["created_at"], row["repository_id"]


def _copy(row: Mapping[str, Any], originals: Mapping[tuple[str, str], Mapping[str, Any]]) -> Refusal | None:
    original = originals.get((row["host"], row["root_commit"] or ""))
    if original is None or original["repository_id"] == row["repository_id"]:
        return None
    return "copy", f"{row['full_name']} begins with the same commit as {original['full_name']}, which is older"
