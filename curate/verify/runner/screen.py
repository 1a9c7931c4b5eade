"""Run many variants of functions on the same tests: collect once, then fork for each and exchange the code there.

A variant that was exchanged in place is not in all respects one that was imported: what ran at import, or was compiled
or copied by a decorator, keeps the old code. Where a function cannot be exchanged at all the variant is reported as
`unfit`; whether exchanging it tells the truth has to be seen by running some variants the other way as well.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import os
import signal
import sys
import time
import traceback
import types
from pathlib import Path
from typing import Any

import pytest

from .plugin import Plugin

PR_SET_PDEATHSIG = 1
FACTOR, GRACE = 4.0, 2.0
"""A variant may take so many times as long as the reference, and so many seconds more."""


class Screen:
    """Takes the place of pytest's loop over items: runs them once for each variant of the job, each in a fork."""

    def __init__(self, job: dict[str, Any], plugin: Plugin) -> None:
        """Follow `job["variants"]`: dicts of `id`, `tests`, `source`, and but for the reference `file`, `line`, `name`.

        The reference has no source, and comes before the variants that are run on the same tests.
        """
        self.job = job
        self.plugin = plugin
        self.report = plugin.report
        self.trees: dict[str, ast.Module] = {}
        self.limits: dict[tuple[str, ...], float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run every variant; says that the loop is done."""
        unfit = _unfit()
        if unfit or not session.items:
            self.report.write("stopped", reason="unfit", detail=unfit or "no test was collected")
            return True
        gc.collect()
        self.functions = _functions()
        gc.freeze()  # pages that the collector does not touch stay shared
        for variant in self.job["variants"]:
            began, tests = time.monotonic(), tuple(variant["tests"])
            most = float(self.job["item_seconds"])
            self._fork(session, variant, self.limits.get(tests, most))
            if variant["source"] is None:
                self.limits[tests] = min(most, FACTOR * (time.monotonic() - began) + GRACE)
        return True

    def _fork(self, session: Any, variant: dict[str, Any], limit: float) -> None:
        pid = os.fork()
        if pid == 0:
            self._become(session, variant)
        end = time.monotonic() + limit
        pause = 0.0005
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended or time.monotonic() > end:
                break
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        _kill(pid)
        if not ended:
            os.waitpid(pid, 0)
            self._say(variant, "timeout", f"it took longer than {limit:.1f} s")
        elif os.waitstatus_to_exitcode(status):
            self._say(variant, "crashed", f"the process ended with {os.waitstatus_to_exitcode(status)}")

    def _say(self, variant: dict[str, Any], reason: str, detail: str) -> None:
        job, self.report.job = self.report.job, variant["id"]
        self.report.write("stopped", reason=reason, detail=detail)
        self.report.job = job

    def _become(self, session: Any, variant: dict[str, Any]) -> None:
        """Become the variant: run the items until one fails. Never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            self.report.owner, self.report.job = os.getpid(), variant["id"]
            why = "" if variant["source"] is None else self._exchange(variant)
            if why:
                self.report.write("stopped", reason="unfit", detail=why)
            else:
                self._items(session, frozenset(variant["tests"]))
                self.report.write("finish", status=0, detail="", modules=[])
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _items(self, session: Any, tests: frozenset[str]) -> None:
        items = [item for item in session.items if self.plugin.test(item) in tests]
        for place, item in enumerate(items):
            following = items[place + 1] if place + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.plugin.failed:
                return

    def _exchange(self, variant: dict[str, Any]) -> str:
        """Put the variant's code into every live function that has the original's; return why that cannot be."""
        file, line, name = variant["file"], variant["line"], variant["name"]
        if file not in self.trees:
            self.trees[file] = ast.parse(Path(file).read_bytes())
        code = _compiled(self.trees[file], file, line, name, variant["source"])
        if isinstance(code, str):
            return code
        live = self.functions.get((os.path.realpath(file), name, code.co_firstlineno), [])
        if not live:
            return "no live function has this code"
        for function in live:
            if function.__code__.co_freevars != code.co_freevars:
                return "it closes over other names"
            function.__code__ = code
        return ""


def _unfit() -> str:
    """Return why no child can be forked from this process that is as good as a fresh one; empty when it can."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads > 1:
        return f"{threads} threads are running"
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        return "jax has started"
    return ""


def _functions() -> dict[tuple[str, str, int], list[types.FunctionType]]:
    """Return all live functions by file, name and first line."""
    found: dict[tuple[str, str, int], list[types.FunctionType]] = {}
    paths: dict[str, str] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType:
            code = thing.__code__
            if code.co_filename not in paths:
                paths[code.co_filename] = os.path.realpath(code.co_filename)
            found.setdefault((paths[code.co_filename], code.co_name, code.co_firstlineno), []).append(thing)
    return found


def _compiled(tree: ast.Module, file: str, line: int, name: str, source: str) -> types.CodeType | str:
    """Return the code of the definition at `line` with another body, compiled where it stands; or why it cannot be.

    Only the statement of the module that it stands in is compiled: what it closes over, and the class around it, are
    there, and nothing else is needed.
    """
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (node.lineno, node.name) == (line, name):
                other = ast.parse(source).body[0]
                if not isinstance(other, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    return "the variant is no definition"
                kept = node.body
                node.body = [_shifted(one, node.lineno) for one in other.body]
                try:
                    code = compile(
                        ast.Module([statement], []), file, "exec", flags=_futures(tree), dont_inherit=True
                    )  # fmt: skip
                finally:
                    node.body = kept
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                return _inside(code, name, first) or "its code was not found"
    return "the definition was not found"


def _shifted(node: ast.stmt, by: int) -> ast.stmt:
    return ast.increment_lineno(node, by - 1)


def _futures(tree: ast.Module) -> int:
    import __future__

    names = [
        alias.name
        for one in tree.body
        if isinstance(one, ast.ImportFrom) and one.module == "__future__"
        for alias in one.names
    ]
    return sum(getattr(__future__, name).compiler_flag for name in names if hasattr(__future__, name))


def _inside(code: types.CodeType, name: str, first: int) -> types.CodeType | None:
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            if one.co_name == name and one.co_firstlineno == first:
                return one
            found = _inside(one, name, first)
            if found:
                return found
    return None


def _kill(pid: int) -> None:
    """End what a variant has left behind in its group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
