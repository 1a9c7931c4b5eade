"""One client for all the questions of a process, so that what is known of budgets is not forgotten."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pydantic import Field

from curate.mine.github.address import Address, address
from curate.mine.github.client import Client
from curate.records import Struct
from curate.work import Context


class Settings(Struct):
    """How patient to be with GitHub; none of it shapes results."""

    max_wait_seconds: float = Field(3600.0, ge=0, exclude=True)
    """How long one question may be kept waiting by GitHub's limits; what would take longer is left for a later run."""
    silence_seconds: float = Field(30.0, gt=0, exclude=True)
    """How long a server may say nothing."""
    retries: int = Field(4, ge=0, exclude=True)
    """How often a question that failed is asked again."""
    pause_seconds: float = Field(1.0, ge=0, exclude=True)
    """Pause before the first new try; it doubles with each further one."""


def client(settings: Settings, notice: Callable[[str], None] | None = None) -> Client:
    """Return the client for the GitHub that the environment names; raises UserError when it names none."""
    found = _client(address(), settings)
    if notice is not None:
        found.notice = notice
    return found


def client_of(context: Context) -> Client:
    """Return the client for a stage."""
    return client(context.settings, context.extra.get("notice"))


@cache
def _client(where: Address, settings: Settings) -> Client:
    return Client(
        where,
        max_wait=settings.max_wait_seconds,
        retries=settings.retries,
        pause_seconds=settings.pause_seconds,
        timeout=settings.silence_seconds,
    )
