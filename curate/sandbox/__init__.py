"""Runs somebody else's code: no network, no secrets, no writes outside, all it uses bounded, nothing left running.

    sandbox = choose()
    completed = sandbox.run(Command(("python3", "-c", "print(1)"), limits=Limits(wall_seconds=5)))

A sandbox is an object or a module with `name`, `unavailable` and `run` (see `Sandbox`). Others are added by the entry
point group `curate.sandboxes`; `self_check.check` says whether one holds.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points

from curate.sandbox import bubblewrap, namespaces
from curate.sandbox.command import (
    Command,
    Completed,
    Ended,
    Limits,
    Sandbox,
    SandboxError,
    SandboxUnavailable,
)
from curate.sandbox.interpreter import python_paths
from curate.sandbox.trees import read_result

__all__ = [
    "BUILT_IN",
    "Command",
    "Completed",
    "Ended",
    "Limits",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "choose",
    "python_paths",
    "read_result",
    "sandboxes",
]

BUILT_IN: dict[str, Sandbox] = {"bubblewrap": bubblewrap, "namespaces": namespaces}
"""The sandboxes that come with curate, in the order in which they are tried."""


def sandboxes() -> dict[str, Sandbox]:
    """All sandboxes by name: the built-in ones first, then those of other packages, by name."""
    others = {entry.name: entry for entry in entry_points(group="curate.sandboxes")}
    return {**BUILT_IN, **{name: others[name].load() for name in sorted(others) if name not in BUILT_IN}}


def choose(name: str | None = None) -> Sandbox:
    """The sandbox called `name`, or by the variable CURATE_SANDBOX, or else the first that works here.

    Raises SandboxUnavailable with what to do about it: foreign code is never run without one.
    """
    wanted = name or os.environ.get("CURATE_SANDBOX")
    known = sandboxes()
    if wanted and wanted not in known:
        raise SandboxUnavailable(f"no sandbox is called {wanted!r}; there are: {', '.join(known)}")
    reasons = []
    for candidate in [known[wanted]] if wanted else known.values():
        reason = candidate.unavailable()
        if reason is None:
            return candidate
        reasons.append(f"{candidate.name}: {reason}")
    raise SandboxUnavailable("no sandbox works here, and foreign code is not run without one. " + "; ".join(reasons))
