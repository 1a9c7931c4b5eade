"""The three streams of a running command, read and fed without blocking and within bounds."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from curate.sandbox.command import Command

_CHUNK = 1 << 16


class Tail:
    """The last so many bytes of a stream."""

    def __init__(self, kept: int) -> None:
        """Keep `kept` bytes."""
        self._kept = kept
        self._bytes = bytearray()
        self.dropped = False

    def add(self, data: bytes) -> None:
        """Take more; in memory there is never more than twice what is kept, and a chunk."""
        self._bytes += data
        if len(self._bytes) > 2 * self._kept:
            self._cut()

    def content(self) -> bytes:
        """What is kept."""
        self._cut()
        return bytes(self._bytes)

    def _cut(self) -> None:
        if len(self._bytes) > self._kept:
            del self._bytes[: len(self._bytes) - self._kept]
            self.dropped = True


class Streams:
    """Moves bytes whenever a selector says that a stream is ready."""

    def __init__(self, command: Command, too_much: Callable[[], None]) -> None:
        """Bound what comes by the command's limits; `too_much` is called when it wrote more than it may."""
        self.stdout = Tail(command.limits.kept_bytes)
        self.stderr = Tail(command.limits.kept_bytes)
        self._command = command
        self._too_much = too_much
        self._written = 0
        self._line = bytearray()
        self._input = bytearray(command.stdin)
        self._more_input = command.on_line is not None

    def register(
        self, selector: selectors.BaseSelector, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]
    ) -> None:
        """Attach the pipes of a started process; each is closed and unregistered at its end."""
        self._selector, self._stdin = selector, stdin
        os.set_blocking(stdin.fileno(), False)
        selector.register(stdout, selectors.EVENT_READ, lambda: self._read(stdout, self.stdout))
        selector.register(stderr, selectors.EVENT_READ, lambda: self._read(stderr, self.stderr))
        self._feed()

    def _read(self, pipe: IO[bytes], tail: Tail) -> None:
        data = os.read(pipe.fileno(), _CHUNK)
        if not data:
            self._selector.unregister(pipe)
            pipe.close()
            return
        tail.add(data)
        self._written += len(data)
        if self._written > self._command.limits.output_bytes:
            self._too_much()
        if tail is self.stdout and self._command.on_line is not None:
            self._lines(data)

    def _lines(self, data: bytes) -> None:
        self._line += data
        *lines, rest = self._line.split(b"\n")
        if len(rest) > self._command.limits.kept_bytes:
            lines, rest = [*lines, rest], bytearray()
        self._line = rest
        for line in lines:
            if self._command.on_line is None or not self._more_input:
                return
            answer = self._command.on_line(bytes(line))
            self._more_input = answer is not None
            self._input += answer or b""
        self._feed()

    def _feed(self) -> None:
        """Write what can be written, wait for the pipe when there is more, close it when there is no more."""
        if self._stdin.closed:
            return
        try:
            while self._input:
                del self._input[: os.write(self._stdin.fileno(), self._input[:_CHUNK])]
        except BlockingIOError:
            with suppress(KeyError):
                self._selector.register(self._stdin, selectors.EVENT_WRITE, self._feed)
            return
        except BrokenPipeError:
            self._input.clear()
            self._more_input = False
        with suppress(KeyError):
            self._selector.unregister(self._stdin)
        if not self._more_input:
            self._stdin.close()
