"""Which of the declared requirements an environment for the tests gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from curate.verify import declared, imports
from curate.verify.declared import CORE, Need

TEST_GROUPS = re.compile(r"(unit-?)?tests?(ing|s)?(-.*)?|pytest|checks?|ci")
DEV_GROUPS = re.compile(r"dev|develop|development|all-?dev|default")
HEAVY = re.compile(
    r"torch|torch(vision|audio|text|data).*|tensorflow.*|tf-.*|keras.*|jax|jaxlib|jax-.*|flax|optax|cupy.*|paddlepaddle.*"
    r"|mxnet.*|oneflow.*|mindspore|mlx|(pytorch-)?lightning|nvidia-.*|triton|vllm|deepspeed|xformers|onnxruntime-gpu"
)
"""Frameworks that cost gigabytes: had only when the project cannot do without, or when asked for."""
TOOLS = re.compile(
    r"black|ruff|flake8.*|mypy.*|isort|pylint|pre-?commit.*|sphinx.*|mkdocs.*|furo|myst-.*|numpydoc|twine|build|tox.*|nox"
    r"|codecov|coveralls|coverage|pytest-cov|bump.*|hatch|hatchling|poetry.*|setuptools-scm|wheel|pip|types-.*|jupyter.*"
    r"|notebook|nbsphinx|ipykernel|codespell|bandit|towncrier|commitizen|pyright|asv"
)
"""What development groups hold that no test needs."""


@dataclass
class Wanted:
    """Requirements, each with where it was read; `core` first to be kept when not all can be had."""

    core: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def all(self) -> dict[str, str]:
        """Return every requirement."""
        return {**self.core, **self.tests, **self.imported}


def choose(folder: Path, name: str, heavy: Iterable[str], packages: Iterable[str]) -> Wanted:
    """Return what to ask for: core requirements, those of the test extras, and what tests import beside.

    `heavy` names frameworks to allow; `packages` are further requirements, from the project's recipe.
    """
    needs = declared.read(folder)
    wanted = Wanted()
    for need in needs:
        if need.group == CORE and _name(need.requirement) != canonicalize_name(name):
            wanted.core.setdefault(need.requirement, need.where)
    for package in packages:
        wanted.core.setdefault(package, "recipe packages")
    allowed = {canonicalize_name(one) for one in heavy} | {_name(text) for text in wanted.core}
    for need in _with_self(_test_needs(needs), needs, name):
        _add(wanted.tests, need.requirement, need.where, allowed, wanted)
    known = {_name(text) for text in {**wanted.core, **wanted.tests}} | {canonicalize_name(name), "pytest"}
    for package, where in imports.packages(folder).items():
        if canonicalize_name(package) not in known:
            _add(wanted.imported, package, where, allowed, wanted)
    return wanted


def _add(to: dict[str, str], requirement: str, where: str, allowed: set[str], wanted: Wanted) -> None:
    name = _name(requirement)
    if TOOLS.fullmatch(name):
        return
    if HEAVY.fullmatch(name) and name not in allowed:
        wanted.left_out.append(f"left out {requirement} ({where}): heavy, and not a core requirement")
    elif requirement not in wanted.core:
        to.setdefault(requirement, where)


def _test_needs(needs: list[Need]) -> list[Need]:
    """Return those of the test groups, or of the development groups when there are no test groups."""
    tests = [need for need in needs if need.group and TEST_GROUPS.fullmatch(canonicalize_name(need.group))]
    return tests or [need for need in needs if need.group and DEV_GROUPS.fullmatch(canonicalize_name(need.group))]


def _with_self(chosen: list[Need], needs: list[Need], name: str) -> list[Need]:
    """Replace `project[extra]`, with which extras build on each other, by what the extra holds."""
    extras: Mapping[str, list[Need]] = {}
    result, seen, pending = [], set[str](), list(chosen)
    extras = {group: [n for n in needs if canonicalize_name(n.group or "-") == group] for group in _groups(needs)}
    while pending:
        need = pending.pop(0)
        parsed = Requirement(need.requirement)
        if canonicalize_name(parsed.name) != canonicalize_name(name):
            result.append(need)
            continue
        for extra in sorted(canonicalize_name(extra) for extra in parsed.extras):
            if extra not in seen:
                seen.add(extra)
                pending.extend(extras.get(extra, ()))
    return result


def _groups(needs: list[Need]) -> set[str]:
    return {canonicalize_name(need.group) for need in needs if need.group}


def _name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)
