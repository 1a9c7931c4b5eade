"""Asking GitHub: one question after the other, as it wishes, within its limits, and never taking an error for data.

PyGithub does the talking (login, redirects, connections). Waiting is done here, because it has to be seen, bounded and
interruptible, and because an answer may be short although it says 200.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr

from curate import __version__
from curate.errors import ItemError
from curate.mine.github.address import Address
from curate.mine.github.limits import TRANSIENT, Answer, pause_after, until_reset
from curate.redact import redact

JSON = "application/vnd.github+json"
API_VERSION = "2022-11-28"
NOTICE_SECONDS = 2.0
"""Shorter pauses are not worth a word."""
MOST_ATTEMPTS = 50
"""No question is asked more often, whatever the server says."""
REASONS = {
    403: "not_allowed",
    404: "not_found",
    409: "empty_repository",
    410: "gone",
    422: "refused",
    451: "blocked",
}
"""Status -> what it means for the repository asked for."""


@dataclass
class Lane:
    """One token, or none, with what is known of its budgets."""

    requester: Any
    free_at: dict[str, float] = field(default_factory=dict)
    """Resource, or `all` -> monotonic time before which nothing is to be asked."""
    why: str = ""

    def wait(self, resource: str, now: float) -> float:
        """Return the seconds from `now` (monotonic) until this lane may ask."""
        return max(0.0, self.free_at.get(resource, 0.0) - now, self.free_at.get("all", 0.0) - now)

    def block(self, resource: str, seconds: float, why: str) -> None:
        """Ask nothing more of a resource for some seconds."""
        self.free_at[resource] = time.monotonic() + seconds
        self.why = why


class Client:
    """Asks one GitHub."""

    def __init__(
        self,
        address: Address,
        *,
        max_wait: float = 3600.0,
        retries: int = 4,
        pause_seconds: float = 1.0,
        timeout: float = 30.0,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self.address = address
        self.max_wait, self.retries, self.pause_seconds = max_wait, retries, pause_seconds
        self.notice = notice or (lambda text: None)
        self.lanes = [Lane(_requester(address.api, token, timeout)) for token in address.tokens or (None,)]

    def get(
        self, path: str, parameters: Mapping[str, Any] | None = None, *, etag: str | None = None, accept: str = JSON
    ) -> Answer:
        """Return the answer: 200 with a sound body, or 304 when it still has this etag.

        Raises ItemError: not_found, empty_repository, blocked, gone, not_allowed, refused; and, worth another try by a
        later run (`transient`), rate_limited, network, bad_answer.
        """
        resource = "search" if path.startswith("/search/") else "core"
        headers = {"Accept": accept} | ({"If-None-Match": etag} if etag else {})
        waited, faults, secondary = 0.0, 0, 0
        for _ in range(MOST_ATTEMPTS):
            now = time.monotonic()
            lane = min(self.lanes, key=lambda lane: lane.wait(resource, now))
            waited = self._wait(lane.wait(resource, now), lane.why, waited)
            answer = _ask(lane.requester, path, parameters, headers)
            _learn(lane, resource, answer)
            if answer.status == 401 and len(self.lanes) > 1:
                self.lanes.remove(lane)
                self.notice(f"{self.address.host}: a token is refused; going on with {len(self.lanes)} other")
                continue
            if (answer.status == 304 and etag) or (answer.status == 200 and _sound(answer, accept)):
                return answer
            pause = pause_after(
                answer, secondary if answer.status in {403, 429} else faults, time.time(), self.pause_seconds
            )
            if pause is None or (pause.kind == "fault" and faults >= self.retries):
                raise self._error(path, answer)
            faults += pause.kind == "fault"
            secondary += pause.kind == "secondary"
            lane.block("all" if pause.kind == "secondary" else resource, pause.seconds, pause.why)
        raise ItemError("rate_limited", f"{path}: no answer after {MOST_ATTEMPTS} attempts", transient=True)

    def _wait(self, seconds: float, why: str, waited: float) -> float:
        """Wait, and return how long this question has waited by now."""
        if seconds <= 0:
            return waited
        until = f"{datetime.fromtimestamp(time.time() + seconds, UTC):%H:%M:%S} UTC"
        if waited + seconds > self.max_wait:
            said = f"{why or 'GitHub asks for patience'}, until {until}: beyond --max-wait"
            said += "" if self.address.tokens else "; set GITHUB_TOKEN for more"
            raise ItemError("rate_limited", said, transient=True)
        if seconds > NOTICE_SECONDS:
            self.notice(f"{self.address.host}: {why}; waiting {seconds:.0f} s, until {until}")
        time.sleep(seconds)
        return waited + seconds

    def _error(self, path: str, answer: Answer) -> ItemError:
        said = f"{self.address.host}{path}: {answer.status or 'no answer'} {redact(answer.message)}".strip()
        if answer.status >= 500 or answer.status in TRANSIENT - {200}:
            return ItemError("network", said, transient=True)
        if answer.status == 200:
            return ItemError("bad_answer", f"{said}: not what was asked for", transient=True)
        if answer.status == 401:
            # Says nothing of what was asked for.
            return ItemError("not_allowed", f"{said} (is the token in GITHUB_TOKEN right?)", transient=True)
        return ItemError(REASONS.get(answer.status, "refused"), said)


def _requester(api: str, token: SecretStr | None, timeout: float) -> Any:
    from github import Auth, Github

    auth = Auth.Token(token.get_secret_value()) if token else None
    # It prints what it does by itself.
    logger = logging.getLogger("github")
    logger.handlers, logger.propagate = [logging.NullHandler()], False
    # Without its own pauses and repetitions: those here are seen and bounded.
    client = Github(
        base_url=api,
        auth=auth,
        timeout=max(1, int(timeout)),
        retry=0,
        seconds_between_requests=0,
        seconds_between_writes=0,
        user_agent=f"curate/{__version__}",
    )
    return client.requester


def _ask(requester: Any, path: str, parameters: Mapping[str, Any] | None, headers: dict[str, str]) -> Answer:
    import requests

    try:
        status, found, text = requester.requestJson(
            "GET", path, parameters=dict(parameters or {}), headers={**headers, "X-GitHub-Api-Version": API_VERSION}
        )
    except (requests.RequestException, OSError) as error:
        return Answer(0, {}, redact(str(error)))
    except (RuntimeError, ValueError) as error:  # PyGithub's word for a redirect to another host
        return Answer(421, {}, redact(str(error)))
    return Answer(int(status), {str(name).lower(): str(value) for name, value in found.items()}, text)


def _learn(lane: Lane, resource: str, answer: Answer) -> None:
    """Remember that a budget is used up before asking in vain."""
    told = answer.headers.get("x-ratelimit-resource", resource)
    if answer.status in {200, 304} and answer.headers.get("x-ratelimit-remaining") == "0" and told == resource:
        lane.block(resource, until_reset(answer, time.time()), f"the {resource} budget is used up")


def _sound(answer: Answer, accept: str) -> bool:
    if accept != JSON:
        return bool(answer.text.strip()) and not answer.text.lstrip().startswith("<")
    try:
        return isinstance(answer.json(), dict | list)
    except (ValueError, RecursionError):
        return False
