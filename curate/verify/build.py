"""Building inside the sandbox: a source distribution, or the project itself, to a wheel in the shared cache.

Nothing of a source runs on this machine itself: what needs unpacking or asking is unpacked and asked in there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curate.errors import ItemError, UserError
from curate.verify import environments, lockfile, sdist, uv, wheel
from curate.verify.lockfile import Source
from curate.workspace import cache

HOOKS = Path(__file__).parent / "runner" / "hooks.py"
DEFAULT = {"requires": ["setuptools", "wheel"], "build-backend": "setuptools.build_meta:__legacy__"}
"""What PEP 517 says of a project without [build-system]."""
ABI = ("numpy", "torch", "jaxlib")
"""Compiled code works with the version that it was built against: the one that it will run with."""
VARIABLES = {
    "SOURCE_DATE_EPOCH": "315532800",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "CUDA_VISIBLE_DEVICES": "",
}
LINES = 20

Fill = Callable[[Path], object]
"""Puts an `archive.*`, or a folder `source`, into a folder."""


@dataclass(frozen=True)
class Builder:
    """Builds for one interpreter."""

    python: str
    """Its version."""
    sandbox: str | None = None
    seconds: float = 900.0
    """Time limit for one build."""
    memory_bytes: int = 4 << 30

    def package(self, name: str, version: str, pins: Mapping[str, str]) -> tuple[Source, Path]:
        """Build a package of the index for an environment with `pins`; raises ItemError."""
        found = self._find(name, version)
        since = datetime.fromisoformat(uv.TOOLS_SINCE).replace(tzinfo=UTC)
        when = max(found.uploaded, since) if found.uploaded else None
        with self._place(lambda base: sdist.fetch(found, base), {}) as place:
            requires = place.requires(when, pins)
            source = Source(name, version, found.sha256, requires)
            return source, self._kept(source, place.wheel)

    def again(self, source: Source) -> Path:
        """Return the wheel of a source that has been built before, here or elsewhere; raises ItemError."""

        def build(requires: str, into: Path) -> Path:
            found = self._find(source.name, source.version)
            if found.sha256 != source.sha256:
                raise ItemError("build_failed", f"the index has another {source.name} {source.version} than then")
            with self._place(lambda base: sdist.fetch(found, base), {}) as place:
                return place.wheel(requires, into)

        return self._kept(source, build)

    def project_requires(self, fill: Fill, version: str, when: datetime | None, pins: Mapping[str, str]) -> str:
        """Return the lock of the build environment of a project; raises ItemError."""
        with self._place(fill, _told(version)) as place:
            return place.requires(when, pins)

    def project(self, source: Source, fill: Fill, version: str) -> Path:
        """Return the wheel of a project, `source.sha256` standing for its files; raises ItemError."""

        def build(requires: str, into: Path) -> Path:
            with self._place(fill, _told(version)) as place:
                return place.wheel(requires, into)

        return self._kept(source, build)

    def wheels(self, lock: str) -> dict[str, tuple[Path, str]]:
        """Return the wheels of the packages that a lock names by their sources: name -> (file, sha256)."""
        found = {one.name: self.again(one) for one in lockfile.sources(lock) if one.name != lockfile.PROJECT}
        return {name: (path, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in found.items()}

    def _find(self, name: str, version: str) -> sdist.Sdist:
        try:
            return sdist.find(name, version, environments.interpreter_of(self.python))
        except uv.Refusal as refusal:
            raise refusal.error() from None

    def _kept(self, source: Source, build: Callable[[str, Path], Path]) -> Path:
        """Return the wheel of a source from the cache, into which `build` puts it when it is not there yet."""
        what = f"{source.sha256}\n{environments.environment_id(self.python, source.requires)}"
        folder = cache() / "wheels" / hashlib.sha256(what.encode()).hexdigest()[:16]
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not folder.exists():
                with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-", ignore_cleanup_errors=True) as new:
                    made = build(source.requires, Path(new))
                    wheel.check(made, source.name, source.version)
                    Path(new).rename(folder)
            return next(folder.glob("*.whl"))

    @contextmanager
    def _place(self, fill: Fill, variables: Mapping[str, str]) -> Iterator[Place]:
        parent = cache() / "builds"
        parent.mkdir(parents=True, exist_ok=True)
        base = Path(tempfile.mkdtemp(dir=parent))
        base.chmod(0o755)
        try:
            place = Place(self, base, {**VARIABLES, **variables})
            fill(base)
            if not (base / "source").exists():
                place.run(environments.interpreter_of(self.python), "unpack")
            yield place
        finally:
            shutil.rmtree(base, ignore_errors=True)


@dataclass(frozen=True)
class Place:
    """A folder with something to build in it."""

    builder: Builder
    base: Path
    variables: Mapping[str, str]

    def requires(self, when: datetime | None, pins: Mapping[str, str]) -> str:
        """Return the lock of the build environment: what pyproject.toml asks for, and the backend; raises ItemError."""
        stated = self._system()["requires"]
        lock = self._resolve(stated, when, pins)
        (self.base / "requires.json").unlink(missing_ok=True)
        self._hook("requires", lock)
        try:
            more = [str(one) for one in json.loads(self._result("requires.json"))]
        except (ValueError, TypeError):
            raise ItemError("build_failed", "the backend does not say what it requires") from None
        return self._resolve([*stated, *more], when, pins) if more else lock

    def wheel(self, requires: str, into: Path) -> Path:
        """Build it, with the environment of a lock; returns the wheel, not yet looked into; raises ItemError."""
        self._hook("wheel", requires)
        made = sorted((self.base / "dist").glob("*.whl")) if (self.base / "dist").is_dir() else []
        if not made:
            raise ItemError("build_failed", "the backend gave no wheel")
        target = into / made[0].name
        target.write_bytes(self._result(f"dist/{made[0].name}"))
        return target

    def run(self, python: Path, act: str) -> None:
        """Carry out one step of `runner/hooks.py` in the sandbox; raises ItemError."""
        from curate.sandbox import Command, Limits, SandboxError, SandboxUnavailable, choose, python_paths

        limits = Limits(
            wall_seconds=self.builder.seconds,
            cpu_seconds=4 * self.builder.seconds,
            memory_bytes=self.builder.memory_bytes,
        )
        command = Command(
            argv=(str(python), str(HOOKS), act, str(self.base)),
            env={**self.variables, "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin"},
            read_only=(HOOKS, *python_paths(python)),
            writable=(self.base,),
            limits=limits,
        )
        try:
            completed = choose(self.builder.sandbox).run(command)
        except SandboxUnavailable as error:
            raise UserError(str(error)) from error
        except SandboxError as error:
            raise ItemError("sandbox_failed", str(error), transient=True) from error
        if completed.ended == "exited" and completed.returncode == 0:
            return
        said = completed.stdout.decode("utf-8", "replace").replace(f"{self.base}/", "").splitlines()
        reason = "build_failed" if completed.ended in {"exited", "killed"} else f"build_{completed.ended}"
        detail = "\n".join(line.rstrip()[:300] for line in said[-LINES:] if line.strip())
        raise ItemError(reason, detail or f"the build ended: {completed.ended}, code {completed.returncode}")

    def _hook(self, act: str, lock: str) -> None:
        system = self._system()
        path = system.get("backend-path") or []
        if not all(isinstance(one, str) and not one.startswith("/") and ".." not in one for one in path):
            raise ItemError("build_failed", "backend-path leads out of the project")
        (self.base / "backend.json").write_text(json.dumps({"backend": system["build-backend"], "path": path}))
        identity = environments.environment_id(self.builder.python, lock)
        self.run(environments.ensure(identity, self.builder.python, lock), act)

    def _system(self) -> dict[str, Any]:
        """Return [build-system]; a file that is missing, broken or a link out counts as none."""
        try:
            stated = tomllib.loads(self._result("source/pyproject.toml").decode()).get("build-system", {})
        except (ItemError, ValueError):
            stated = {}
        good = isinstance(stated, dict) and all(isinstance(one, str) for one in stated.get("requires", ()))
        return {**DEFAULT, **stated} if good and stated.get("requires") is not None else dict(DEFAULT)

    def _result(self, name: str) -> bytes:
        from curate.sandbox import SandboxError, read_result

        try:
            return read_result(self.base, name, most=wheel.MOST_BYTES)
        except SandboxError as error:
            raise ItemError("build_failed", str(error)) from None

    def _resolve(self, requirements: list[str], when: datetime | None, pins: Mapping[str, str]) -> str:
        """Resolve build requirements as of a day with what the code will run with, or as near as can be had."""
        fixed = {name: pins[name] for name in ABI if name in pins}
        python = environments.interpreter_of(self.builder.python)
        ways = [(when, fixed), (None, fixed), (when, {}), (None, {})]
        first: uv.Refusal | None = None
        for day, versions in (way for number, way in enumerate(ways) if way not in ways[:number]):
            try:
                return uv.lock(requirements, python, day, fixed=versions)
            except uv.Refusal as refusal:
                if refusal.reason in {"network", "no_space"}:
                    raise refusal.error() from None
                first = first or refusal
        raise ItemError("build_failed", f"its build requirements can't be had: {first.detail if first else ''}")


def against_others(source: Source, pins: Mapping[str, str]) -> bool:
    """Whether something was built against other versions than those of `pins` that it is to run with."""
    with_what = lockfile.pins(source.requires)
    return any(name in with_what and with_what[name] != pins.get(name, with_what[name]) for name in ABI)


def _told(version: str) -> dict[str, str]:
    """Return variables that tell backends the version that they would read from a repository's history."""
    names = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION", "PDM_BUILD_SCM_VERSION")
    return dict.fromkeys(names, version)
