"""Names of licences, as people and classifiers write them, in SPDX's spelling."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from curate.mine.licence_texts import gnu, known, plain

VAGUE = {
    "",
    "unknown",
    "none",
    "noassertion",
    "other",
    "proprietary",
    "license",
    "gpl",
    "lgpl",
    "agpl",
    "bsd",
    "apache",
}
"""Values of licence fields that name no licence, or several."""
GNU = re.compile(
    r"(?:gnu )?(?:(?P<short>[al]?gpl)|(?P<kind>affero |lesser |library or lesser )?general public license)"
    r" ?(?:version |v)?(?P<version>2 1|[23])(?: 0)?(?P<later> or later)?"
    r"(?: (?:license|[al]?gplv\S+(?: 1)?(?: or later)?))?"
)
"""GPLv3, GNU General Public License v3 or later (GPLv3+), LGPL-2.1+, ..."""
KINDS = {"affero ": "AGPL", "lesser ": "LGPL", "library or lesser ": "LGPL", None: "GPL"}
PROPRIETARY = "License :: Other/Proprietary License"


def normalise(expression: str | None) -> str | None:
    """Return a licence expression in SPDX's spelling; None when it is none, or names what SPDX does not know."""
    if not expression or plain(expression) in VAGUE or len(expression) > 500:
        return None
    from license_expression import ExpressionError, ParseError

    try:
        return str(_spdx().parse(expression, validate=True, strict=True))
    except (ExpressionError, ParseError):
        return None


def keys(expression: str | None) -> frozenset[str]:
    """Return the licences that an expression names."""
    if expression is None:
        return frozenset()
    return frozenset(map(str, _spdx().license_keys(expression, unique=True)))


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


def classified(classifiers: tuple[str, ...]) -> str | None:
    """Return what the classifiers say when they name one licence exactly; "BSD License" does not."""
    names = {line.rpartition(" :: ")[2] for line in classifiers} - {"License", "OSI Approved"}
    found = {named(name) for name in names}
    return found.pop() if len(found) == 1 else None


@cache
def _by_name() -> dict[str, str]:
    return {name: licence.spdx for licence in known() for name in licence.names}


@cache
def _spdx() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()
