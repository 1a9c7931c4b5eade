"""A docstring's sections, in Google, NumPy or reStructuredText style.

Own code, since the libraries for it parse every parameter's type too, and cost more than parsing the file does.
"""

from __future__ import annotations

import inspect
import re

from curate.records import Section

_NAMES = {
    "parameters": "args arguments parameters params param arg parameter argument inputs input",
    "keyword parameters": "keyword_args keyword_arguments kwargs other_parameters",
    "returns": "return returns outputs output rtype",
    "yields": "yield yields",
    "receives": "receives",
    "raises": "raise raises except exceptions exception",
    "warns": "warns warning warnings",
    "examples": "example examples usage doctest",
    "attributes": "attributes attribute attr ivar cvar",
    "methods": "methods",
    "notes": "note notes important caution tip hint danger attention",
    "see also": "see_also seealso",
    "references": "reference references citation",
    "todo": "todo",
    "shape": "shape shapes",
    "deprecated": "deprecated",
}
_SECTION = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()}
_FIELDS = {
    "parameters": "param parameter arg argument key keyword type",
    "returns": "return returns rtype",
    "yields": "yield yields ytype",
    "raises": "raises raise except exception",
    "attributes": "var ivar cvar vartype",
}
_FIELD_SECTION = {alias: name for name, aliases in _FIELDS.items() for alias in aliases.split()}

_GOOGLE = re.compile(r"([A-Z][A-Za-z]*(?: [A-Za-z]+)?)\s*:\s*\Z")
_UNDERLINE = re.compile(r"\s*(-{3,}|={3,}|~{3,})\s*\Z")
_FIELD = re.compile(r":(\w+)(?:\s+[^:]*)?:(?:\s|\Z)")
_DIRECTIVE = re.compile(r"\.\. *(\w+)::(.*)\Z")


def sections(docstring: str | None) -> list[Section]:
    """Return the sections of a cleaned docstring; text before the first is the summary and the description."""
    if not docstring:
        return []
    docstring = docstring if docstring.isascii() else docstring.encode("utf-8", "replace").decode()
    lines = docstring.split("\n")
    found: list[tuple[str, list[str]]] = [("", [])]
    skip = False
    for n, line in enumerate(lines):
        if skip:
            skip = False
            continue
        name, rest, skip = _heading(line, lines[n + 1] if n + 1 < len(lines) else "", found[-1][0])
        if name is None:
            found[-1][1].append(line)
        elif name == found[-1][0] and rest:
            found[-1][1].append(rest)
        else:
            found.append((name, [rest] if rest else []))
    return [*_opening(found[0][1]), *(Section(name=name, text=_dedented(text)) for name, text in found[1:])]


def _heading(line: str, following: str, current: str) -> tuple[str | None, str, bool]:
    """Return (section, text on the same line, whether the next line only underlines), or None for plain text."""
    if not line or line[0].isspace():
        return None, "", False
    if line[0] == ":":
        field = _FIELD.match(line)
        name = _FIELD_SECTION.get(field.group(1)) if field else None
        return name, line, False
    if line[0] == ".":
        directive = _DIRECTIVE.match(line)
        name = _SECTION.get(directive.group(1).lower()) if directive else None
        return name, directive.group(2).strip() if directive else "", False
    if following and _UNDERLINE.match(following):
        key = line.strip().rstrip(":").lower()
        return _SECTION.get(key.replace(" ", "_"), key), "", True
    if line.rstrip().endswith(":"):
        google = _GOOGLE.match(line)
        return (_SECTION.get(google.group(1).lower().replace(" ", "_")) if google else None), "", False
    return None, "", False


def _opening(lines: list[str]) -> list[Section]:
    text = "\n".join(lines).strip()
    summary, _, description = text.partition("\n\n")
    found = [Section(name="summary", text=summary.strip())] if summary.strip() else []
    return found + ([Section(name="description", text=description.strip())] if description.strip() else [])


def _dedented(lines: list[str]) -> str:
    # cleandoc treats the first line apart, so an empty one goes before.
    return inspect.cleandoc("\n" + "\n".join(lines)).strip()
