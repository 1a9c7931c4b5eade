"""What projects that were found have to be like: the `[require]` table of a source file.

After how DL-Bench chose its projects: deep learning, tested, documented. What is asked about is in `profiles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from curate.mine.frameworks import KINDS
from curate.records import Struct


class Require(Struct):
    """What projects have to be like; what is not named is not asked for."""

    frameworks: list[str] = Field(default_factory=list)
    """At least one of these has to be imported outside the tests: names of modules, or of a kind of them (`deep
    learning`, `machine learning`, `arrays`)."""
    framework_files: int = Field(1, ge=1)
    """In at least so many files outside the tests; files of different frameworks are not added up."""
    documented: float = Field(0.0, ge=0, le=1)
    """Least share of functions with a docstring."""
    tests_per_function: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Least number of test functions for each function outside the tests."""
    functions: int = Field(0, ge=0)
    """Least number of functions outside the tests."""
    tests: int = Field(0, ge=0)
    """Least number of test functions."""

    @field_validator("frameworks")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        kinds = dict.fromkeys(KINDS.values())
        for name in names:
            if name not in KINDS and name not in kinds:
                raise ValueError(f"{name} is not known: name a kind ({', '.join(kinds)}) or one of {', '.join(KINDS)}")
        return list(dict.fromkeys(names))


def refusal(profile: Mapping[str, Any], require: Require) -> tuple[str, str] | None:
    """Return why a project with this row of `profiles` is not taken: (reason, sentence); None when it is as required.

    Reasons: not_deep_learning (or, when other frameworks are asked for, no_framework), few_functions, undocumented,
    few_tests.
    """
    return _framework(profile, require) or _amounts(profile, require)


def _framework(profile: Mapping[str, Any], require: Require) -> tuple[str, str] | None:
    asked = set(require.frameworks)
    if not asked:
        return None
    used = {one["name"]: one["files"] for one in profile["frameworks"] if asked & {one["name"], one["kind"]}}
    # One file may import several of them.
    most = max(used.values(), default=0)
    if most >= require.framework_files:
        return None
    kinds = {KINDS.get(name, name) for name in asked}
    reason = "not_deep_learning" if kinds == {"deep learning"} else "no_framework"
    wanted = " or ".join(name if name in KINDS else f"{name} framework" for name in require.frameworks)
    if most == 0:
        return reason, f"imports no {wanted} outside its tests"
    name = min(name for name, files in used.items() if files == most)
    least = require.framework_files
    return reason, f"imports {name} in {_counted(most, 'file')} outside its tests, and nothing asked for in {least}"


def _amounts(profile: Mapping[str, Any], require: Require) -> tuple[str, str] | None:
    functions, tests = profile["functions"], profile["tests"]
    documented, ratio = profile["documented_share"], profile["tests_per_function"]
    tried = (
        (
            functions < require.functions,
            "few_functions",
            f"has {_counted(functions, 'function')}, fewer than {require.functions}",
        ),
        (
            documented < require.documented,
            "undocumented",
            f"documents {documented:.1%} of its functions, fewer than {require.documented:.1%}",
        ),
        (tests < require.tests, "few_tests", f"has {_counted(tests, 'test')}, fewer than {require.tests}"),
        (
            ratio < require.tests_per_function,
            "few_tests",
            f"has {ratio:.2f} tests a function, fewer than {require.tests_per_function:g}",
        ),
    )
    return next(((reason, sentence) for refused, reason, sentence in tried if refused), None)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
