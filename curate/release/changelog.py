"""What changed from the version before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from curate.release.hashes import problem_hash

if TYPE_CHECKING:
    from curate.release.build import Content


def changelog(content: Content, versions: Path) -> str:
    """Return the text of CHANGELOG.md: this version against the newest earlier one that lies in `versions`."""
    now = {problem.problem_id: problem_hash(problem) for rows in content.problems.values() for problem in rows}
    lines = [f"# Changes of {content.recipe.title}", "", f"## {content.version}", ""]
    before = previous_lock(versions, content.version)
    if before is None:
        return "\n".join([*lines, f"First version: {len(now)} problems.", ""])
    old: dict[str, str] = before["problems"]
    added = sorted(now.keys() - old.keys())
    gone = sorted(old.keys() - now.keys())
    changed = sorted(name for name in now.keys() & old.keys() if now[name] != old[name])
    lines += [f"{len(now)} problems; against {before['version']}:", ""]
    for title, names in (("Added", added), ("Removed", gone), ("Changed", changed)):
        lines += [f"### {title}: {len(names)}", "", *(f"- `{name}`" for name in names), *([""] if names else [])]
    return "\n".join(lines).rstrip() + "\n"


def previous_lock(versions: Path, version: str) -> dict[str, Any] | None:
    """Return the lock of the newest version below `version`, or None."""
    found: list[tuple[Version, Path]] = []
    for lock in versions.glob("*/lock.json"):
        try:
            number = Version(lock.parent.name)
        except InvalidVersion:
            continue
        if number < Version(version):
            found.append((number, lock))
    if not found:
        return None
    data: dict[str, Any] = json.loads(max(found)[1].read_text(encoding="utf-8"))
    return data
