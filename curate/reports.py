"""What commands tell at their end: what was taken in and why the rest was not, what a release holds."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from curate.errors import UserError

if TYPE_CHECKING:
    from curate.console import Console
    from curate.discover import Found
    from curate.flow import Mined, Released

LISTED = 20
"""So many names are printed; all of them are in the output of --json, and in the table `choices`."""


def of_mining(console: Console, mined: Mined, *, dry_run: bool) -> None:
    """Tell what mining came to; raises UserError when nothing at all could be taken in."""
    console.put(found=[_as_data(found) for found in mined.found])
    for found in mined.found:
        console.say(_as_text(found, dry_run=dry_run))
    if dry_run:
        asked = [str(item["item_id"]) for item in mined.items]
        console.put(requests=asked)
        if not mined.found:
            console.say("\n".join(["would take in:", *(f"  {request}" for request in asked)]))
        return
    ended = [summary for summary in mined.summaries if summary.stage in {"mine", "repositories"}]
    if not any(summary.done or summary.earlier for summary in ended if summary.stage == "mine"):
        said = next((text for summary in ended for text in summary.examples.values()), None)
        if said:
            raise UserError(f"nothing could be taken in: {said}")


def _as_data(found: Found) -> dict[str, Any]:
    return {
        "source": found.name,
        "unfinished": found.unfinished,
        "repositories": [
            {
                "repository_id": decision.row["repository_id"],
                "name": decision.row["full_name"],
                "stars": decision.row["stars"],
                "taken": decision.taken,
                "reason": decision.refusal[0] if decision.refusal else None,
                "why": decision.refusal[1] if decision.refusal else None,
            }
            for decision in found.decisions
        ],
    }


def _as_text(found: Found, *, dry_run: bool) -> str:
    taken = [decision.row for decision in found.decisions if decision.taken]
    refused = [decision.refusal for decision in found.decisions if decision.refusal]
    verb = "would be taken" if dry_run else "taken"
    lines = [f"\n{found.name}: {len(found.decisions)} repositories found, {len(taken)} {verb}"]
    if found.unfinished:
        lines.append(f"  parts of the search not had in full: {found.unfinished}; run it again, there may be more")
    if dry_run:
        lines += [f"  {row['stars']:>8} stars  {row['full_name']}" for row in taken[:LISTED]]
        lines += [f"  and {len(taken) - LISTED} more"] if len(taken) > LISTED else []
        unknown = sum(row["profile"] is None for row in taken)
        lines += (
            [f"  frameworks, documentation and tests of {unknown} are known once they are taken in"] if unknown else []
        )
    examples = dict(reversed(refused))
    for reason, count in sorted(Counter(reason for reason, _ in refused).items(), key=lambda pair: (-pair[1], pair[0])):
        lines.append(f"  not taken: {reason} {count}, such as: {examples[reason]}")
    return "\n".join(lines)


def of_release(console: Console, released: Released) -> None:
    """Tell what a release holds, and how it is loaded."""
    from curate.release.card import loading
    from curate.release.funnel import as_data, as_text

    folder = os.path.relpath(released.folder)
    counts = ", ".join(f"{split} {count}" for split, count in released.counts.items())
    console.put(
        release=released.name,
        version=released.version,
        folder=str(released.folder),
        changed=released.changed,
        replaced=released.replaced,
        splits=dict(released.counts),
        funnel=as_data(released.funnel),
    )
    console.say(f"\n{as_text(released.funnel)}\n")
    how = "" if released.changed else " (unchanged)"
    if released.replaced:
        how = f"\nanother {released.version} lay there and was replaced; name a new one with --version to keep both"
    console.say(f"{folder}: {counts} problems{how}")
    console.say(f"\n{loading(folder, next(iter(released.counts)))}")
