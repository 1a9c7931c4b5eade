"""What a project says about itself in its metadata files; they are read, never run."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

MAX_BYTES = 4 << 20
"""A metadata file larger than this is not one."""


@dataclass(frozen=True)
class Stated:
    """What one metadata file states."""

    path: str
    """The file, relative to the project's root."""
    expression: str | None = None
    """Its licence expression, as PEP 639 has it."""
    expression_field: str = ""
    """Where that stood."""
    text: str | None = None
    """Its older, free-form licence field: a name or a whole text."""
    text_field: str = ""
    """Where that stood."""
    classifiers: tuple[str, ...] = ()
    """Its trove classifiers that are about the licence."""
    files: tuple[str, ...] = ()
    """Its licence files, as patterns from the metadata's folder."""
    requires_python: str | None = None
    """Interpreter versions asked for; None unless it is a PEP 440 specifier."""


def read(root: Path) -> list[Stated]:
    """Return what the metadata files of a project state, those that builds have made final first."""
    found = [_stated(root, path, _core) for path in _core_files(root)]
    found.append(_stated(root, root / "pyproject.toml", _pyproject))
    found.append(_stated(root, root / "setup.cfg", _setup_cfg))
    found.append(_stated(root, root / "setup.py", _setup_py))
    return [stated for stated in found if stated is not None]


def _core_files(root: Path) -> Iterable[Path]:
    return [root / "PKG-INFO", *sorted(root.glob("*.dist-info/METADATA"))]


def _stated(root: Path, path: Path, reader: Callable[[str, str], Stated]) -> Stated | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        return reader(path.read_text(encoding="utf-8", errors="replace"), path.relative_to(root).as_posix())
    except (OSError, ValueError, SyntaxError, configparser.Error, RecursionError, MemoryError):
        return None  # absent, or not what its name says: then it states nothing


def _core(text: str, path: str) -> Stated:
    message = HeaderParser().parsestr(text)
    return Stated(
        path,
        expression=message.get("License-Expression"),
        expression_field="License-Expression",
        text=message.get("License"),
        text_field="License",
        classifiers=_licences(message.get_all("Classifier", [])),
        files=tuple(message.get_all("License-File", [])),
        requires_python=_specifier(message.get("Requires-Python")),
    )


def _pyproject(text: str, path: str) -> Stated:
    data = tomllib.loads(text)
    project = _table(data, "project")
    poetry = _table(_table(data, "tool"), "poetry")
    stated = project.get("license", poetry.get("license"))
    field = "project.license" if "license" in project else "tool.poetry.license"
    table = stated.get("text") if isinstance(stated, dict) else None
    classifiers = project.get("classifiers", poetry.get("classifiers"))
    return Stated(
        path,
        expression=stated if isinstance(stated, str) else None,
        expression_field=field,
        # A string that is no expression is still a name.
        text=stated if isinstance(stated, str) else table if isinstance(table, str) else None,
        text_field=field,
        classifiers=_licences(classifiers if isinstance(classifiers, list) else []),
        files=_names(project.get("license-files"), stated.get("file") if isinstance(stated, dict) else None),
        requires_python=_specifier(project.get("requires-python")),
    )


def _setup_cfg(text: str, path: str) -> Stated:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return Stated(
        path,
        text=parser.get("metadata", "license", fallback=None),
        text_field="license",
        classifiers=_licences(parser.get("metadata", "classifiers", fallback="").splitlines()),
        files=tuple(
            name
            for key in ("license_files", "license_file")
            for name in re.split(r"[\n,]\s*", parser.get("metadata", key, fallback=""))
            if name
        ),
        requires_python=_specifier(parser.get("options", "python_requires", fallback=None)),
    )


def _setup_py(text: str, path: str) -> Stated:
    """Read what is written out in a call of `setup`; anything computed stays unknown."""
    given: dict[str, Any] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "setup":
            for keyword in node.keywords:
                if keyword.arg in {"license", "classifiers", "python_requires", "license_files"}:
                    given.setdefault(keyword.arg, _literal(keyword.value))
    classifiers = given.get("classifiers")
    return Stated(
        path,
        text=given["license"] if isinstance(given.get("license"), str) else None,
        text_field="license",
        classifiers=_licences(classifiers if isinstance(classifiers, list | tuple) else []),
        files=_names(given.get("license_files")),
        requires_python=_specifier(given.get("python_requires")),
    )


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _licences(classifiers: Iterable[Any]) -> tuple[str, ...]:
    return tuple(
        line.strip() for line in classifiers if isinstance(line, str) and line.strip().startswith("License ::")
    )


def _names(*given: Any) -> tuple[str, ...]:
    values = [each for one in given for each in (one if isinstance(one, list | tuple) else [one])]
    return tuple(each for each in values if isinstance(each, str) and each)


def _specifier(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        return None
    return " ".join(value.split())


def _table(data: Any, key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
