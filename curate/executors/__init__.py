"""Where work runs: each executor takes a function and units of work and hands back results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Unit = TypeVar("Unit")
Result = TypeVar("Result")


class Executor(Protocol):
    """Maps a function over units; the order of results is free, so callers sort by what the results say."""

    def map(
        self, function: Callable[[Unit], Result], units: Iterable[Unit]
    ) -> Iterator[tuple[Unit, Result | BaseException]]:
        """Yield (unit, result) as units finish; a unit whose worker died comes back with the exception."""
        ...


def open_executor(workers: int) -> Executor:
    """Return the executor for this number of worker processes."""
    from curate.executors.local import InProcess, Processes

    return InProcess() if workers <= 1 else Processes(workers)
