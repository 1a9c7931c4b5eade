"""This machine: the process itself, or a pool of worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from curate.executors import Result, Unit


class InProcess:
    """Runs every unit here, one after the other."""

    def map(
        self, function: Callable[[Unit], Result], units: Iterable[Unit]
    ) -> Iterator[tuple[Unit, Result | BaseException]]:
        """Yield (unit, result) in order."""
        for unit in units:
            try:
                result: Result | BaseException = function(unit)
            except Exception as error:
                result = error
            yield unit, result


class Processes:
    """A pool of worker processes that end when this process does, however it ends."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def map(
        self, function: Callable[[Unit], Result], units: Iterable[Unit]
    ) -> Iterator[tuple[Unit, Result | BaseException]]:
        """Yield (unit, result) as units finish.

        When a worker dies the units that were under way are run again, each alone in a fresh process, so that only the
        one that kills its worker comes back with the exception.
        """
        suspects: list[Unit] = []
        rest = iter(units)
        while True:
            broken = yield from self._pool(function, rest, self.workers, suspects)
            if not broken:
                break
        for unit in suspects:
            yield from self._alone(function, unit)

    def _pool(
        self, function: Callable[[Unit], Result], units: Iterator[Unit], workers: int, suspects: list[Unit]
    ) -> Generator[tuple[Unit, Result | BaseException], None, bool]:
        pool = _new_pool(workers)
        waiting: dict[Future[Result], Unit] = {}
        try:
            # Few units ahead: memory stays flat however many there are.
            for unit in units:
                try:
                    waiting[pool.submit(function, unit)] = unit
                except BrokenProcessPool:
                    suspects.append(unit)
                    raise
                if len(waiting) >= 2 * workers:
                    yield from _finished(waiting)
            while waiting:
                yield from _finished(waiting)
        except BrokenProcessPool:
            suspects.extend(waiting.values())
            return True
        finally:
            _shut_down(pool)
        return False

    def _alone(self, function: Callable[[Unit], Result], unit: Unit) -> Iterator[tuple[Unit, Result | BaseException]]:
        dead: list[Unit] = []
        yield from self._pool(function, iter([unit]), 1, dead)
        for _ in dead:
            yield unit, BrokenProcessPool("the worker process died")


def _finished(waiting: dict[Future[Result], Unit]) -> Iterator[tuple[Unit, Result | BaseException]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            raise error
        unit = waiting.pop(future)
        yield unit, error if error is not None else future.result()


def _new_pool(workers: int) -> ProcessPoolExecutor:
    # spawn: workers must not inherit the open database or threads of this process.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker)


def _shut_down(pool: ProcessPoolExecutor) -> None:
    """End the pool at once when it is left early: its workers may be in the middle of minutes of work."""
    workers = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in workers:
        process.terminate()
    for process in workers:
        process.join(5)
        if process.is_alive():
            process.kill()


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, which ends its workers; end when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
