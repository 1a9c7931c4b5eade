from __future__ import annotations

import json
from email.utils import formatdate

import pytest

from curate.mine.github.limits import Answer, pause_after, until_reset

NOW = 1_700_000_000.0


def _answer(status: int, message: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, json.dumps({"message": message}))


USED_UP = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": f"{NOW + 30:.0f}", "x_ratelimit_resource": "search"}
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("message", "headers", "attempt", "seconds", "kind"),
    [
        ("API rate limit exceeded", USED_UP, 0, 31, "budget"),
        ("API rate limit exceeded", {**USED_UP, "retry_after": "12"}, 0, 12, "budget"),
        (SECONDARY, {"retry_after": "7"}, 0, 7, "secondary"),
        (SECONDARY, {}, 0, 60, "secondary"),
        (SECONDARY, {}, 2, 240, "secondary"),
        # A secondary limit may come while the budget happens to be used up: its minute counts, not the reset.
        (SECONDARY, USED_UP, 0, 60, "secondary"),
        (SECONDARY, {"retry_after": "not a number"}, 0, 60, "secondary"),
        ("You have triggered an abuse detection mechanism", {}, 0, 60, "secondary"),
    ],
)
def test_what_limits_ask_for(
    status: int, message: str, headers: dict[str, str], attempt: int, seconds: float, kind: str
) -> None:
    pause = pause_after(_answer(status, message, **headers), attempt, NOW, 1.0)
    assert pause is not None
    assert (pause.seconds, pause.kind) == (seconds, kind)


def test_a_refusal_is_no_limit() -> None:
    assert pause_after(_answer(403, "Resource not accessible by personal access token"), 0, NOW, 1.0) is None
    assert pause_after(_answer(404, "Not Found"), 0, NOW, 1.0) is None
    assert pause_after(_answer(422, "Validation Failed"), 0, NOW, 1.0) is None
    limited = pause_after(_answer(429), 0, NOW, 1.0)
    assert limited is not None, "429 is a limit even when it says nothing"


@pytest.mark.parametrize("status", [0, 200, 500, 502, 503, 504])
def test_faults_double_the_pause(status: int) -> None:
    pauses = [pause_after(_answer(status), attempt, NOW, 0.5) for attempt in range(4)]
    assert [(pause.seconds, pause.kind) for pause in pauses if pause] == [
        (0.5, "fault"), (1.0, "fault"), (2.0, "fault"), (4.0, "fault")
    ]  # fmt: skip


@pytest.mark.parametrize("skew", [-7200, 0, 7200])
def test_the_servers_own_clock_counts(skew: int) -> None:
    headers = {"date": formatdate(NOW + skew, usegmt=True), "x_ratelimit_reset": f"{NOW + skew + 40:.0f}"}
    assert until_reset(_answer(403, **headers), NOW) == 41
    assert until_reset(_answer(403, date="nonsense", x_ratelimit_reset=f"{NOW - 40:.0f}"), NOW) == 1
