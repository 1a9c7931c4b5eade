"""Names of licences, as people and classifiers write them, in SPDX's spelling."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from curate.mine.licence_texts import plain

FAMILIES = {"gpl": "GPL-", "lgpl": "LGPL-", "agpl": "AGPL-", "bsd": "BSD-", "apache": "Apache-"}
"""Names that leave the version or the form open -> how the ids begin that they may mean."""
NOTHING = {"", "unknown", "none", "noassertion", "other", "license", "see license", "see license file", "tbd", "todo"}
"""Values that name no licence at all."""
GNU = re.compile(
    r"(?:the )?(?:gnu )?(?:(?P<short>[al]?gpl)|(?P<kind>affero |lesser |library or lesser )?general public license)"
    r"s? ?(?:version |v)?(?P<version>2 1|[23])(?: 0)?(?P<only> only)?(?P<later> or (?:any )?(?:later|newer))?"
    r"(?: (?:license|version|[al]?gplv\S+(?: 1)?(?: or later)?))?"
)
"""GPLv3, GNU General Public License v3 or later (GPLv3+), LGPL-2.1+, ..."""
KINDS = {"affero ": "AGPL", "lesser ": "LGPL", "library or lesser ": "LGPL", None: "GPL"}
PROPRIETARY = "License :: Other/Proprietary License"
OWN = re.compile(r"(?:DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+")
"""A licence that is not on SPDX's list and lies beside what it holds for."""


def normalise(expression: str | None) -> str | None:
    """Return a licence expression in SPDX's spelling; None when it is none, or names what SPDX does not know."""
    if not expression or plain(expression) in NOTHING | FAMILIES.keys() or len(expression) > 500:
        return None
    from license_expression import ExpressionError, ParseError

    try:
        parsed = _spdx().parse(expression, strict=True)
        unknown = _spdx().unknown_license_keys(parsed)
    except (ExpressionError, ParseError):
        return None
    return str(parsed) if parsed is not None and all(OWN.fullmatch(key) for key in unknown) else None


def keys(expression: str | None) -> frozenset[str]:
    """Return the licences that an expression names."""
    if expression is None:
        return frozenset()
    return frozenset(map(str, _spdx().license_keys(expression, unique=True)))


def joined(operator: str, expressions: list[str]) -> str:
    """Join expressions by AND or OR, each once."""
    parts = [f"({part})" if " " in part else part for part in dict.fromkeys(expressions)]
    return str(_spdx().parse(f" {operator} ".join(parts)))


def named(text: str) -> str | None:
    """Return the expression for a licence's everyday name; None when it does not say exactly which one."""
    words = plain(text.replace("+", " or later "))
    if words in _by_name():
        return _by_name()[words]
    found = GNU.fullmatch(words)
    if found is None:
        return normalise(text)
    family = found["short"].upper() if found["short"] else KINDS[found["kind"]]
    return normalise(gnu(family, found["version"], later=found["later"] is not None))


def family(text: str) -> str | None:
    """Return how the ids begin that a vague name may mean: `BSD-` for BSD License; None when it is not vague."""
    words = re.sub(r"^(?:the |gnu )*| (?:software )?licen[cs]e$", "", plain(text))
    return FAMILIES.get(words)


def classified(classifiers: tuple[str, ...]) -> str | None:
    """Return what the classifiers say when they name one licence exactly; "BSD License" does not."""
    names = {line.rpartition(" :: ")[2] for line in classifiers} - {"License", "OSI Approved"}
    found = {named(name) for name in names}
    return found.pop() if len(found) == 1 else None


def gnu(kind: str, version: str, *, later: bool) -> str:
    """Return the SPDX id of a GNU licence; the version as plain words: `3`, `2 1`."""
    number = version.replace(" ", ".")
    return f"{kind}-{number if '.' in number else number + '.0'}-{'or-later' if later else 'only'}"


@cache
def names() -> dict[str, list[str]]:
    """Return SPDX id -> names, of `licences.toml`."""
    return tomllib.loads((Path(__file__).parent / "licences.toml").read_text(encoding="utf-8"))


@cache
def _by_name() -> dict[str, str]:
    return {plain(name): spdx for spdx, every in names().items() for name in every}


@cache
def _spdx() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()
