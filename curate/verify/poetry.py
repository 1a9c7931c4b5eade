"""Poetry's own dependency tables, as PEP 508 requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any


def requirements(table: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (requirement, group, key) for `[tool.poetry]`; the core group is empty."""
    extras = table.get("extras", {})
    in_extra = {name: extra for extra, names in extras.items() for name in names} if isinstance(extras, dict) else {}
    for name, text, optional in _entries(table.get("dependencies")):
        if optional and name not in in_extra:
            continue
        yield text, in_extra[name] if optional else "", "dependencies"
    for _, text, _ in _entries(table.get("dev-dependencies")):
        yield text, "dev", "dev-dependencies"
    groups = table.get("group", {})
    for group, content in groups.items() if isinstance(groups, dict) else ():
        for _, text, _ in _entries(content.get("dependencies") if isinstance(content, dict) else None):
            yield text, group, f"group.{group}"


def _entries(table: Any) -> Iterator[tuple[str, str, bool]]:
    for name, wanted in table.items() if isinstance(table, dict) else ():
        for one in wanted if isinstance(wanted, list) else [wanted]:
            more = one if isinstance(one, dict) else {"version": one}
            if name.lower() == "python":
                continue
            extras = ",".join(str(extra) for extra in more.get("extras", ()))
            markers = [str(more[key]) for key in ("markers",) if key in more]
            if "python" in more:
                markers += [f"python_version {clause}" for clause in _quoted(specifier(str(more["python"])))]
            text = f"{name}{f'[{extras}]' if extras else ''}{specifier(str(more.get('version', '*')))}"
            yield name, text + (f"; {' and '.join(markers)}" if markers else ""), bool(more.get("optional"))


def _quoted(text: str) -> list[str]:
    return [re.sub(r"([<>=!~]+)(.+)", r'\1 "\2"', clause) for clause in text.split(",") if clause]


def specifier(constraint: str) -> str:
    """Return a Poetry version constraint (`^1.2`, `~1.2`, `1.*`, `>=1,<2`) as a PEP 440 specifier.

    Of alternatives (`^1.2 || ^2.0`) the last is taken.
    """
    last = constraint.rsplit("||", maxsplit=1)[-1]
    return ",".join(filter(None, (_clause(part.strip()) for part in re.split(r",|\s(?=[<>=!^~])", last))))


def _clause(part: str) -> str:
    if part in {"", "*"}:
        return ""
    match = re.fullmatch(r"(\^|~(?!=))\s*([0-9][^\s]*)", part)
    if not match:
        return part.replace(" ", "") if part[0] in "<>=!~" else f"=={part}"
    numbers = [int(number) for number in re.findall(r"\d+", match[2].split("-")[0])][:3]
    if match[1] == "~":
        kept = min(len(numbers), 2)
    else:
        kept = next((place + 1 for place, number in enumerate(numbers) if number), len(numbers))
    upper = [*numbers[: kept - 1], numbers[kept - 1] + 1]
    return f">={match[2]},<{'.'.join(map(str, upper))}"
