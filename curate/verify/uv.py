"""Calls to uv: finding interpreters, resolving to a lock, and installing a lock; uv itself never builds anything."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from curate.errors import ItemError

TIMEOUT = 1800.0
TOOLS = ("pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "typing-extensions")
TOOLS_SINCE = "2023-06-01"
"""The runner's own packages are never taken older than this, however old the project."""

_NETWORK = re.compile(
    r"error sending request|failed to fetch|dns error|timed out|connection (refused|reset)|tls|network"
    r"|status (client|server) error|proxy",
    re.IGNORECASE,
)

_WHEELLESS = re.compile(r"Wheels are required for `([\w.-]+)`")


@dataclass(frozen=True)
class Refusal(Exception):  # noqa: N818  (what uv answers is a result, not yet an error)
    """uv did not do it; `reason` as in ItemError."""

    reason: str
    detail: str
    wheelless: tuple[str, ...] = ()
    """Packages that would have to be built."""

    def error(self) -> ItemError:
        """Return it as the failure of an item."""
        return ItemError(self.reason, self.detail, transient=self.reason in {"network", "no_space"})


def find_python(specifier: str) -> tuple[Path, str] | None:
    """Return an installed interpreter that fits, with its version: the running one if it does; none is downloaded."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    running = ".".join(map(str, sys.version_info[:3]))
    try:
        if SpecifierSet(specifier).contains(running, prereleases=True):
            return Path(getattr(sys, "_base_executable", sys.executable)), running
    except InvalidSpecifier:
        return Path(getattr(sys, "_base_executable", sys.executable)), running
    try:
        path = run(["python", "find", "--no-python-downloads", "--no-project", specifier]).strip()
        version = subprocess.run([path, "-IS", "-c", "import sys; print(*sys.version_info[:3], sep='.')"],
                                 capture_output=True, text=True, check=True, timeout=60)  # fmt: skip
    except (Refusal, OSError, subprocess.SubprocessError):
        return None
    return Path(path), version.stdout.strip()


def lock(
    requirements: Sequence[str],
    python: Path,
    as_of: datetime | None,
    *,
    sourced: Iterable[str] = (),
    fixed: Mapping[str, str] = MappingProxyType({}),
    wheels: Iterable[Path] = (),
    output: Sequence[str] = ("--generate-hashes", "--no-annotate"),
) -> str:
    """Resolve requirements to exact versions with hashes, wheels only; raises Refusal.

    Packages named in `sourced` are taken as source distributions: uv is told that they need nothing, so it has no
    reason to build them for their metadata. `fixed` versions are taken whatever their date; `wheels` are taken into
    account beside those of the index.
    """
    arguments = ["pip", "compile", "-", "--only-binary", ":all:", "--no-header", "--no-progress", *output,
                 "--no-emit-package", "uv", "--python", str(python), *sources()]  # fmt: skip
    for name in (named := sorted(sourced)):
        arguments += ["--no-binary", name]
    for folder in sorted({str(wheel.parent) for wheel in wheels}):
        arguments += ["--find-links", folder]
    torch = local_torch()
    if as_of is not None:
        day = as_of.strftime("%Y-%m-%d")
        arguments += ["--exclude-newer", day]
        for tool in TOOLS if day < TOOLS_SINCE else ():
            arguments += ["--exclude-newer-package", f"{tool}={TOOLS_SINCE}"]
        for name in sorted({*fixed, *(["torch"] if torch else [])}):
            arguments += ["--exclude-newer-package", f"{name}=false"]
    if not torch:
        arguments += ["--torch-backend", "cpu"]
    constraints = {**torch, **fixed}
    nothing = ", ".join(f'{{name = "{name}", requires-dist = []}}' for name in named)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "constraints.txt"
        file.write_text("\n".join(f"{name}=={version}" for name, version in sorted(constraints.items())))
        return run([*arguments, "--constraints", str(file)], stdin="\n".join(requirements),
                   settings=f"dependency-metadata = [{nothing}]\n" if named else "")  # fmt: skip


def install(lock_text: str, python: Path, folder: Path) -> None:
    """Make a virtual environment in `folder` with exactly what the lock names; raises Refusal.

    Unpacking a wheel runs nothing of it, and the new interpreter is not started here once it holds packages: a `.pth`
    file would then run outside the sandbox.
    """
    run(["venv", "--no-project", "--allow-existing", "--quiet", "--python", str(python), str(folder)])
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "lock.txt"
        file.write_text(lock_text)
        run(["pip", "install", "--python", str(folder / "bin" / "python"), "--require-hashes", "--no-deps", "--quiet",
             "--only-binary", ":all:", "--link-mode", "hardlink", "--no-progress", *sources(),
             *([] if local_torch() else ["--torch-backend", "cpu"]), "-r", str(file)])  # fmt: skip


@functools.cache
def sources() -> tuple[str, ...]:
    """Return uv's options for the index and the folders of wheels that pip is configured with, where uv is not."""
    configured = _pip_config()
    options: list[str] = []
    if "UV_FIND_LINKS" not in os.environ:
        for place in configured.get("find-links", "").split():
            options += ["--find-links", place]
    index = configured.get("index-url", "")
    if index and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX"} & set(os.environ):
        options += ["--default-index", index]
    return tuple(options)


@functools.cache
def local_torch() -> dict[str, str]:
    """Return torch with the version of its wheel that lies in a local folder of wheels, empty when none does.

    Such a wheel has been put there as the right build for this machine; the index's newest may be gigabytes of CUDA.
    """
    places = [*sources()[1::2], *os.environ.get("UV_FIND_LINKS", "").replace(",", " ").split()]
    tag = f"-cp{sys.version_info[0]}{sys.version_info[1]}-"
    wheels = sorted(file.name for place in places for file in Path(place).glob("torch-*.whl") if tag in file.name)
    return {"torch": wheels[-1].split("-")[1]} if wheels else {}


def _pip_config() -> dict[str, str]:
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        # The environment comes last, and counts most, as with pip itself.
        if key.startswith(("global.", "install.", ":env:.")):
            found[key.rpartition(".")[2]] = value.strip("'\"").replace("\\n", " ")
    return {**found, **_pip_environment()}


def _pip_environment() -> dict[str, str]:
    names = {"find-links": "PIP_FIND_LINKS", "index-url": "PIP_INDEX_URL"}
    return {key: os.environ[name] for key, name in names.items() if os.environ.get(name)}


def run(arguments: Sequence[str], stdin: str = "", settings: str = "") -> str:
    """Run uv outside any project; returns its standard output; raises Refusal with the lines that show why.

    `settings` count beside those of the user.
    """
    from uv import find_uv_bin

    with tempfile.TemporaryDirectory() as folder:
        if settings:
            Path(folder, "pyproject.toml").write_text(f"[tool.uv]\n{settings}")
        try:
            done = subprocess.run([find_uv_bin(), *arguments], input=stdin, capture_output=True, text=True, check=False,
                                  cwd=folder, timeout=TIMEOUT, env={**os.environ, "NO_COLOR": "1"})  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Refusal("network", f"uv took longer than {TIMEOUT:g} s") from None
    if done.returncode:
        raise Refusal(_reason(done.stderr), _lines(done.stderr), tuple(sorted(set(_WHEELLESS.findall(done.stderr)))))
    return done.stdout


def _reason(text: str) -> str:
    if "No space left" in text:
        return "no_space"
    if "No solution found" not in text and _NETWORK.search(text):
        return "network"
    if re.search(r"building from source is disabled|no usable wheels|no wheels|no-build", text):
        return "needs_build"
    if re.search(r"does not satisfy Python|requires-python|Python version", text):
        return "interpreter"
    if re.search(r"No solution found|not found in the", text):
        return "no_matching_version"
    return "bad_metadata" if re.search(r"[Pp]arse|[Ii]nvalid|metadata", text) else "install_failed"


def _lines(text: str) -> str:
    kept = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("warning:")]
    return "\n".join(re.sub(r"//[^/@\s]+@", "//", line) for line in kept[:12])[:2000]
