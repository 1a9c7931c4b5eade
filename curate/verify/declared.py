"""What a project says it needs, read from its files; none of its code is run."""

from __future__ import annotations

import ast
import configparser
import email.parser
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from curate.verify import poetry

CORE = ""
EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class Need:
    """One requirement as a file states it."""

    requirement: str
    """As PEP 508 text."""
    group: str
    """Name of the extra or dependency group; empty for what the project cannot do without."""
    where: str
    """File and key."""


def read(folder: Path) -> list[Need]:
    """Return what every file of the project declares, in a fixed order; broken files count as silent.

    Requirement files only count when nothing else names a core requirement.
    """
    found: list[Need] = []
    for reader in (_pyproject, _metadata, _egg_info, _setup_cfg, _setup_py):
        found.extend(_readable(reader(folder)))
    if not any(need.group == CORE for need in found):
        found.extend(_readable(_requirement_files(folder)))
    return found


def pyproject(folder: Path) -> dict[str, Any]:
    """Return pyproject.toml as a dict; empty when there is none or it is broken."""
    try:
        return tomllib.loads((folder / "pyproject.toml").read_text("utf-8", "replace"))
    except (OSError, tomllib.TOMLDecodeError):
        return {}


def dig(data: Any, *keys: str) -> Any:
    """Return what lies under nested keys; an empty dict where a key is missing."""
    for key in keys:
        data = data.get(key, {}) if isinstance(data, dict) else {}
    return data


def _readable(needs: Iterable[Need]) -> Iterator[Need]:
    """Drop what is no requirement; an address becomes the plain name, since only an index's wheels are installed."""
    for need in needs:
        try:
            parsed = Requirement(need.requirement)
        except InvalidRequirement:
            continue
        if parsed.url:
            parsed.url = None
        yield Need(str(parsed), need.group, need.where)


def _pyproject(folder: Path) -> Iterator[Need]:
    data = pyproject(folder)
    for text in _strings(dig(data, "project", "dependencies")):
        yield Need(text, CORE, "pyproject.toml project.dependencies")
    tables = {
        "project.optional-dependencies": dig(data, "project", "optional-dependencies"),
        "dependency-groups": dig(data, "dependency-groups"),
        "tool.pdm.dev-dependencies": dig(data, "tool", "pdm", "dev-dependencies"),
        "tool.uv.dev-dependencies": {"dev": dig(data, "tool", "uv", "dev-dependencies")},
        "tool.hatch.envs": {
            name: [*_strings(dig(env, "dependencies")), *_strings(dig(env, "extra-dependencies"))]
            for name, env in dig(data, "tool", "hatch", "envs").items()
        },
    }
    for key, groups in tables.items():
        for group in groups if isinstance(groups, dict) else ():
            for text in _members(groups, group, set()):
                yield Need(text, group, f"pyproject.toml {key}.{group}")
    for text, group, key in poetry.requirements(dig(data, "tool", "poetry")):
        yield Need(text, group, f"pyproject.toml tool.poetry.{key}")


def _members(groups: dict[str, Any], group: str, seen: set[str]) -> Iterator[str]:
    """Yield a group's requirements, those of the groups it includes too (PEP 735)."""
    seen.add(group)
    entries = groups.get(group)
    for entry in entries if isinstance(entries, list) else ():
        included = entry.get("include-group") if isinstance(entry, dict) else None
        if isinstance(entry, str):
            yield entry
        elif included and included not in seen:
            yield from _members(groups, included, seen)


def _metadata(folder: Path) -> Iterator[Need]:
    """Core metadata of a source distribution."""
    for text in metadata(folder).get_all("Requires-Dist") or ():
        extras = EXTRA.findall(text)
        if not extras:
            yield Need(text, CORE, "PKG-INFO Requires-Dist")
            continue
        try:
            parsed = Requirement(text)
        except InvalidRequirement:
            continue
        if parsed.marker and parsed.marker.evaluate({"extra": extras[0]}):
            parsed.marker = None
            yield Need(str(parsed), extras[0], f"PKG-INFO Requires-Dist, extra {extras[0]}")


def metadata(folder: Path) -> Any:
    """Return the core metadata as a message; without fields when there is none."""
    try:
        text = (folder / "PKG-INFO").read_text("utf-8", "replace")
    except OSError:
        text = ""
    return email.parser.HeaderParser().parsestr(text)


def _egg_info(folder: Path) -> Iterator[Need]:
    for file in sorted([*folder.glob("*.egg-info/requires.txt"), *folder.glob("src/*.egg-info/requires.txt")]):
        group, marker = CORE, ""
        for line in file.read_text("utf-8", "replace").splitlines():
            if line.startswith("["):
                group, _, marker = line.strip("[] ").partition(":")
            elif line.strip():
                yield Need(f"{line}; {marker}" if marker else line, group, f"{file.name} {group}".strip())


def _setup_cfg(folder: Path) -> Iterator[Need]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(folder / "setup.cfg", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return
    keys = {"install_requires": CORE, "tests_require": "test"}
    options = dict(parser["options"]) if parser.has_section("options") else {}
    extras = dict(parser["options.extras_require"]) if parser.has_section("options.extras_require") else {}
    for key, group in keys.items():
        for text in options.get(key, "").splitlines():
            yield Need(text, group, f"setup.cfg options.{key}")
    for group, texts in extras.items():
        for text in texts.splitlines():
            yield Need(text, group, f"setup.cfg options.extras_require.{group}")


def _setup_py(folder: Path) -> Iterator[Need]:
    try:
        tree = ast.parse((folder / "setup.py").read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    known: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            known[statement.targets[0].id] = _literal(statement.value, known)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "setup":
            given = {word.arg: _literal(word.value, known) for word in call.keywords}
            for key, group in {"install_requires": CORE, "tests_require": "test"}.items():
                for text in _strings(given.get(key)):
                    yield Need(text, group, f"setup.py {key}")
            extras = given.get("extras_require")
            for group, texts in extras.items() if isinstance(extras, dict) else ():
                for text in _strings(texts):
                    yield Need(text, str(group), f"setup.py extras_require.{group}")


def _literal(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return the value of a literal, of a name given to one, or of a sum of these; None for anything else."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left, known), _literal(node.right, known)
        return left + right if isinstance(left, list) and isinstance(right, list) else left or right
    if isinstance(node, ast.Dict):
        keys = [_literal(key, known) if key else None for key in node.keys]
        return {str(key): _literal(value, known) for key, value in zip(keys, node.values, strict=True)}
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return None


def _requirement_files(folder: Path) -> Iterator[Need]:
    files = [*folder.glob("*requirements*.txt"), *folder.glob("requirements/*.txt")]
    for file in sorted(files):
        words = set(re.split(r"[-_.]", file.stem.lower()))
        group = (
            CORE if words <= {"requirements", "base", "core", "main"} else "-".join(sorted(words - {"requirements"}))
        )
        for line in file.read_text("utf-8", "replace").splitlines():
            text = re.split(r"\s#|\s--hash", line)[0].strip().rstrip("\\")
            if text and not text.startswith(("#", "-")):
                yield Need(text, group, file.relative_to(folder).as_posix())


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
