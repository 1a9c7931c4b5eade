"""From requirements to a lock: one way after the other; what has no wheel is built on the way, where allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from packaging.utils import canonicalize_name

from curate.errors import ItemError
from curate.verify import lockfile, uv
from curate.verify.build import Builder, against_others
from curate.verify.lockfile import Source
from curate.verify.wanted import Wanted

ADVICE = (
    "\nNo wheel of {packages} fits this interpreter. `allow_build = true` in sources/recipes/{project}.toml, or in the "
    "recipe's [settings.install], lets it be built inside the sandbox."
)

Names = frozenset[str] | None
"""Packages that may be built; None: any."""


@dataclass
class Resolver:
    """Resolves the requirements of one project, noting the steps."""

    project: str
    pytest: str
    python: Path
    builder: Builder | None
    """None: nothing may be built."""
    steps: list[str] = field(default_factory=list)
    given_up: list[ItemError] = field(default_factory=list)
    """Why each way that did not work did not, even with the newest packages."""
    failed: dict[str, ItemError] = field(default_factory=dict)
    """Packages whose build failed."""

    def resolve(self, asked: Wanted, day: datetime | None) -> tuple[list[str], datetime | None, str]:
        """Return requirements, date and lock of the first way that works; raises ItemError."""
        for what, texts in _ways(asked):
            requirements, errors = [*texts, self.pytest], list[ItemError]()
            for as_of, building in self._attempts(requirements, day, errors):
                label = f"{what}, {f'as of {as_of:%Y-%m-%d}' if as_of else 'newest'}"
                result = self._try(label, requirements, as_of, building)
                if isinstance(result, str):
                    return requirements, as_of, result
                errors.append(result)
            self.given_up.append(errors[-1])
        raise self.given_up[0]

    def _attempts(
        self, requirements: Sequence[str], day: datetime | None, errors: list[ItemError]
    ) -> Iterator[tuple[datetime | None, Names]]:
        """Yield date, and what may be built; building comes last, and only when wheels are lacking."""
        dates = dict.fromkeys([day, None])
        for as_of in dates:
            yield as_of, frozenset()
        if self.builder and any(error.reason == "needs_build" for error in errors):
            # On its day a package may not have had the wheels that it has today: these are not built.
            allowed = self._without_wheels(requirements)
            for as_of in dates:
                yield as_of, allowed if as_of else None

    def not_built(self) -> ItemError | None:
        """Return why packages were given up that only lack a wheel, if there are such."""
        return next((one for one in self.given_up if one.reason == "needs_build" or one.reason[:6] == "build_"), None)

    def _try(self, label: str, requirements: Sequence[str], as_of: datetime | None, building: Names) -> str | ItemError:
        """Return the lock, or why there is none."""
        label += "" if building == frozenset() else ", building"
        try:
            lock = self._lock(requirements, as_of, building)
        except ItemError as error:
            if error.transient:
                raise
            self.steps.append(f"{label}: {error.reason}: {' '.join(error.detail.split())[:300]}")
            return error
        built = [f"{one.name}=={one.version}" for one in lockfile.sources(lock)]
        self.steps.append(f"{label}: resolved" + (f", built {', '.join(built)}" if built else ""))
        return lock

    def _lock(self, requirements: Sequence[str], as_of: datetime | None, building: Names) -> str:
        """Resolve, build what turns out to have no wheel, and resolve again with what its metadata asks for."""
        sourced: set[str] = set()
        built: dict[str, tuple[Source, Path]] = {}
        again: set[str] = set()
        while True:
            text = self._with_sources(requirements, as_of, sourced, built, building)
            pins = lockfile.pins(text)
            waiting = sorted(name for name in sourced if name in pins and name not in built)
            if not waiting:
                # Its metadata, known only now, may bring what it has to be built against.
                others = {name for name, (source, _) in built.items() if against_others(source, pins)}
                waiting = sorted(others - again)
                again |= others
            if not waiting or self.builder is None:
                return lockfile.write(text, [source for name, (source, _) in built.items() if name in pins])
            for name in waiting:
                built[name] = self._build(self.builder, name, pins)

    def _build(self, builder: Builder, name: str, pins: Mapping[str, str]) -> tuple[Source, Path]:
        """Build a package; what has failed once is not tried again for the next way."""
        package = f"{name}=={pins[name]}"
        if package in self.failed:
            raise self.failed[package]
        try:
            return builder.package(name, pins[name], pins)
        except ItemError as error:
            told = ItemError(error.reason, f"{package}: {error.detail}", transient=error.transient)
            self.failed[package] = told
            raise told from error

    def _with_sources(
        self,
        requirements: Sequence[str],
        as_of: datetime | None,
        sourced: set[str],
        built: Mapping[str, tuple[Source, Path]],
        building: Names,
    ) -> str:
        """Resolve, taking for a source distribution what has no wheel: those packages are added to `sourced`."""
        while True:
            fixed = {name: source.version for name, (source, _) in built.items()}
            wheels = [wheel for _, wheel in built.values()]
            try:
                return uv.lock(
                    requirements, self.python, as_of, sourced=sourced - built.keys(), fixed=fixed, wheels=wheels
                )
            except uv.Refusal as refusal:
                new = {canonicalize_name(name) for name in refusal.wheelless} - sourced
                new = new if building is None else new & building
                if refusal.reason != "needs_build" or not new:
                    raise self._error(refusal) from None
                sourced |= new

    def _without_wheels(self, requirements: Sequence[str]) -> frozenset[str]:
        """Return the packages that have no wheel to this day."""
        sourced: set[str] = set()
        try:
            self._with_sources(requirements, None, sourced, {}, None)
        except ItemError as error:
            if error.transient:
                raise
        return frozenset(sourced)

    def _error(self, refusal: uv.Refusal) -> ItemError:
        error = refusal.error()
        if error.reason != "needs_build" or self.builder:
            return error
        packages = ", ".join(refusal.wheelless) or "a package"
        return ItemError(error.reason, error.detail + ADVICE.format(packages=packages, project=self.project))


def _ways(asked: Wanted) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield what to ask for, giving up more and more; what a project cannot do without is never given up."""
    ways = {
        "all requirements": asked.all(),
        "without imports of tests": {**asked.core, **asked.tests},
        "without test extras": {**asked.core, **asked.imported},
        "core requirements only": asked.core,
    }
    seen: list[dict[str, str]] = []
    for what, texts in ways.items():
        if texts not in seen:
            seen.append(texts)
            yield what, list(texts)
