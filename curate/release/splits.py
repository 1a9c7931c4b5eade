"""Which split a project goes to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from curate.errors import UserError
from curate.recipe import Split


def by_project(sizes: Mapping[str, int], split: Split, seed: int) -> dict[str, str]:
    """Return project -> split, so that the splits come near their shares and no project is in two.

    `sizes` is the number of problems of each project. Projects come in an order drawn from the seed, the larger ones
    first, and each goes to the split that lacks most of its share. Raises UserError when a project is assigned to a
    split that has no share.
    """
    for project, name in split.assign.items():
        if name not in split.shares:
            raise UserError(f"split.assign: {project} goes to {name}, which has no share (splits: {_names(split)})")
    total, whole = sum(sizes.values()), sum(split.shares.values())
    lacking = {name: total * share / whole for name, share in split.shares.items()}
    chosen: dict[str, str] = {}
    for project in sorted(sizes, key=lambda name: (name not in split.assign, -sizes[name], _draw(seed, name))):
        name = split.assign.get(project) or max(lacking, key=lambda split_name: lacking[split_name])
        chosen[project] = name
        lacking[name] -= sizes[project]
    return chosen


def _draw(seed: int, project: str) -> str:
    return hashlib.sha256(f"{seed}:{project}".encode()).hexdigest()


def _names(split: Split) -> str:
    return ", ".join(split.shares)
