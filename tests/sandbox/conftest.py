"""Every sandbox that works on this machine; one that does not is skipped with its own reason."""

from __future__ import annotations

import pytest

from curate.sandbox import BUILT_IN, Sandbox


@pytest.fixture(params=list(BUILT_IN))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    chosen = BUILT_IN[request.param]
    reason = chosen.unavailable()
    if reason is not None:
        pytest.skip(f"{chosen.name}: {reason}")
    return chosen
