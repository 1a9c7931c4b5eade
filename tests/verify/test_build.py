"""Building what has no wheel, and projects that compile: inside the sandbox, and nowhere else."""

from __future__ import annotations

import io
import re
import socket
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curate.errors import ItemError
from curate.records import Environment, Failure, Row
from curate.sandbox import SandboxUnavailable, choose
from curate.verify import environments, generated, install, lockfile, wheel
from curate.verify.build import Builder
from curate.verify.lockfile import Source
from curate.work import Context
from curate.workspace import Workspace, cache
from tests.mine.index_server import Index

from .conftest import Check, lay_out

SETUP_PY = """
import pathlib, setuptools, socket
for act in (
    lambda: pathlib.Path({mark!r}).write_text("built outside the sandbox"),
    lambda: socket.create_connection(("127.0.0.1", {port}), 2),
):
    try: act()
    except OSError: pass
setuptools.setup(name="only-source", version="1.5", py_modules=["only_source"], install_requires=open("needs").read())
"""


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index that is asked before the real one, which has setuptools and pytest."""
    with Index() as index:
        monkeypatch.setenv("UV_INDEX", index.url)
        yield index


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def caught() -> Iterator[tuple[int, list[Any]]]:
    """A server on this machine's loopback, and whoever called."""
    seen: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    seen.append(server.accept())
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], seen
        over.set()
        thread.join()
        for connection, _ in seen:
            connection.close()


def sdist(name: str, files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def made(tmp_path: Path, files: dict[str, str], **settings: Any) -> list[Row] | ItemError:
    for part in ("sources", "schema", "releases"):
        (tmp_path / part).mkdir(parents=True, exist_ok=True)
    workspace = Workspace(tmp_path)
    lay_out(workspace.snapshot("snap"), {"README": "", **files})
    chosen = install.Settings(**settings)
    context = Context(workspace, chosen, install.prepare(chosen, workspace).value)
    item = {"item_id": "snap", "name": "demo", "revision": "1", "committed_at": None, "requires_python": None}
    ((_, result),) = install.work([item], context)
    return result if isinstance(result, ItemError) else list(result)


def left_behind(folder: Path) -> list[Path]:
    return [*folder.glob("builds/*"), *folder.glob("wheels/new-*")]


def test_a_package_without_a_wheel_is_built_where_it_can_do_no_harm(
    tmp_path: Path, index: Index, own_cache: Path, caught: tuple[int, list[Any]]
) -> None:
    port, calls = caught
    mark = tmp_path / "mark"
    files = {"setup.py": SETUP_PY.format(mark=str(mark), port=port), "only_source.py": "X = 1\n", "needs": "six\n"}
    data = sdist("only-source-1.5", files)
    sha256 = index.add("only-source-1.5.tar.gz", data).sha256
    result = made(tmp_path, {"requirements.txt": "only-source\n"}, allow_build=True)
    assert isinstance(result, list), result
    (environment,) = result
    assert isinstance(environment, Environment)
    assert not mark.exists()
    assert not calls
    assert not left_behind(own_cache)
    assert environment.steps[-1].endswith("newest, building: resolved, built only-source==1.5")
    assert f"only-source==1.5 \\\n    --hash=sha256:{sha256}\n" in environment.lock
    assert "six" in lockfile.pins(environment.lock), "what its metadata says counts, though it is made by setup.py"
    assert "setuptools" not in lockfile.pins(environment.lock)
    python = own_cache / "environments" / environment.environment_id / "bin" / "python"
    assert list(python.parent.parent.glob("lib/python*/site-packages/only_source.py"))


def test_a_lock_is_enough_to_build_again(
    tmp_path: Path, index: Index, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"pyproject.toml": "[project]\nname='only-source'\nversion='1.5'\n", "only_source.py": "X = 1\n"}
    index.add("only-source-1.5.tar.gz", sdist("only-source-1.5", files))
    result = made(tmp_path, {"requirements.txt": "only-source\n"}, allow_build=True)
    assert isinstance(result, list), result
    (environment,) = result
    assert isinstance(environment, Environment)
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "other"))
    builder = Builder(environment.python)
    python = environments.ensure(
        environment.environment_id, environment.python, environment.lock, lambda: builder.wheels(environment.lock)
    )
    assert list(python.parent.parent.glob("lib/python*/site-packages/only_source.py"))
    index.projects.clear()
    index.add("only-source-1.5.tar.gz", sdist("only-source-1.5", {**files, "only_source.py": "X = 2\n"}))
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "third"))
    with pytest.raises(ItemError, match=r"another only-source 1\.5 than then"):
        builder.wheels(environment.lock)


def test_without_leave_to_build_the_failure_says_how_to_give_it(tmp_path: Path, index: Index) -> None:
    index.add("only-source-1.5.tar.gz", sdist("only-source-1.5", {"setup.py": "", "needs": ""}))
    error = made(tmp_path, {"requirements.txt": "only-source\n"})
    assert isinstance(error, ItemError)
    assert error.reason == "needs_build"
    assert "No wheel of only-source fits" in error.detail
    assert "`allow_build = true` in sources/recipes/demo.toml" in error.detail


def test_requirements_of_tests_that_are_given_up_for_want_of_a_wheel_are_a_failure_beside_the_environment(
    tmp_path: Path, index: Index
) -> None:
    index.add("only-source-1.5.tar.gz", sdist("only-source-1.5", {"setup.py": "raise SystemExit('no')"}))
    files = {"test_demo.py": "import only_source\n"}
    for allowed, reason, line in ((False, "needs_build", "`allow_build = true`"), (True, "build_failed", "no")):
        result = made(tmp_path, files, allow_build=allowed)
        assert isinstance(result, list), result
        failure, environment = result
        assert isinstance(failure, Failure)
        assert (failure.item_id, failure.reason) == ("snap:requirements", reason)
        assert line in failure.detail
        assert isinstance(environment, Environment)
        assert "only-source" not in environment.lock


@pytest.mark.parametrize(
    ("setup", "settings", "reason", "line"),
    [
        ("raise SystemExit('no compiler\\nwas found')", {}, "build_failed", "was found"),
        ("import time; time.sleep(60)", {"build_seconds": 1}, "build_timeout", "only-source==1.5: the build ended"),
        ("b = [bytearray(1 << 20) for _ in range(2000)]", {"build_memory_gb": 1}, "build_", "only-source==1.5"),
        ("import setuptools; setuptools.setup(name='another', version='1')", {}, "build_failed", "another-1-py3"),
    ],
)
def test_a_build_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, index: Index, setup: str, settings: dict[str, Any], reason: str, line: str
) -> None:
    index.add("only-source-1.5.tar.gz", sdist("only-source-1.5", {"setup.py": setup}))
    error = made(tmp_path, {"requirements.txt": "only-source\n"}, allow_build=True, **settings)
    assert isinstance(error, ItemError)
    assert error.reason.startswith(reason)
    assert line in error.detail
    assert not left_behind(cache())


C_SOURCE = """
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *number) { return PyNumber_Add(number, number); }
static PyMethodDef methods[] = {{"twice", twice, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods};
PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&module); }
"""
COMPILED = {
    "setup.py": """
        from setuptools import Extension, setup
        open("src/demo/made.py", "w").write("THREE = 3\\n")
        setup(name="demo", version="1.2.3", packages=["demo"], package_dir={"": "src"},
              ext_modules=[Extension(name, ["src/demo/native.c"]) for name in ("demo._native", "_native")],
              entry_points={"demo.plugins": ["one = demo:four"]})
    """,
    "src/demo/__init__.py": '''
        import _native as top
        from demo import _native
        from demo.made import THREE
        def four():
            """Return four, by way of C."""
            return _native.twice(2)
    ''',
    "src/demo/native.c": C_SOURCE,
    "test_demo.py": """
        import demo
        from importlib.metadata import entry_points
        def test_four(): assert demo.four() == 4 and demo.__file__.endswith("src/demo/__init__.py")
        def test_plugin(): assert entry_points(group="demo.plugins")["one"].load()() == 4
    """,
}


def test_a_project_with_c_sources_is_proven_once_it_may_be_built(check: Check) -> None:
    ((stage, reason, detail),) = check(COMPILED, "trace").failures()
    assert (stage, reason) == ("trace", "collection_failed")
    assert "No module named '_native'" in detail
    project = check(COMPILED, install={"allow_build": True})
    row = project.verdicts()["four"]
    assert (row["outcome"], row["tests"], row["tests_failing_on_stub"]) == ("verified", 2, 2)
    (environment,) = project.rows("SELECT project, steps, lock FROM current_environments")
    assert environment["project"] == "wheel"
    assert environment["steps"][-1].startswith("the project: setup.py has ext_modules; built")
    assert [source.name for source in lockfile.sources(environment["lock"])] == ["."]


def test_a_project_whose_build_fails_is_used_as_its_sources_are_and_says_so(tmp_path: Path) -> None:
    files = {"setup.py": "ext_modules = 1\nraise SystemExit('no fortran here')\n"}
    result = made(tmp_path, files, allow_build=True)
    assert isinstance(result, list), result
    failure, environment = result
    assert isinstance(failure, Failure)
    assert isinstance(environment, Environment)
    assert (failure.reason, environment.project) == ("build_failed", "source")
    assert "no fortran here" in failure.detail
    assert "build_failed; its sources are used as they are" in environment.steps[-1]


def test_a_lock_with_builds_reads_back(tmp_path: Path) -> None:
    text = "one==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:ab\ntwo-x==2 \\\n    --hash=sha256:bb\nthree==3\n"
    sources = [
        Source("two-x", "2", "cc", "setuptools==1 \\\n    --hash=sha256:dd\nwheel==2\n"),
        Source(".", "", "", ""),
    ]
    lock = lockfile.write(text, sources)
    assert lockfile.pins(lock) == {"one": "1.0", "two-x": "2", "three": "3"}
    assert sorted(lockfile.sources(lock), key=lambda one: one.name) == sources[::-1]
    assert "two-x==2 \\\n    --hash=sha256:cc\nthree==3\n" in lock
    installable = lockfile.installable(lock, {"two-x": (tmp_path / "two.whl", "ee")})
    assert f"two-x @ {(tmp_path / 'two.whl').as_uri()} \\\n    --hash=sha256:ee\nthree==3\n" in installable
    assert "#" not in installable
    assert lockfile.write(text, []) == text
    other = lockfile.write(text, [Source("two-x", "2", "cc", "setuptools==2\n"), sources[1]])
    assert environments.environment_id("3.11.1", lock) != environments.environment_id("3.11.1", other)


@pytest.mark.parametrize(
    ("name", "entries", "line"),
    [
        ("demo-1-py3-none-any.whl", {"demo.py": b"", "demo-1.dist-info/METADATA": b""}, ""),
        ("demo-2-py3-none-any.whl", {}, "demo-2"),
        ("other-1-py3-none-any.whl", {}, "other-1"),
        ("demo-1.whl", {}, "no wheel"),
        ("demo-1-py3-none-any.whl", {"../out.py": b""}, "leads out"),
        ("demo-1-py3-none-any.whl", {"/etc/out.py": b""}, "leads out"),
        ("demo-1-py3-none-any.whl", {"big": bytes(wheel.MOST_BYTES // 1024)}, "unpacks to more"),
        ("demo-1-py3-none-any.whl", None, "no wheel"),
    ],
)
def test_a_wheel_is_looked_into_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, entries: dict[str, bytes] | None, line: str
) -> None:
    monkeypatch.setattr(wheel, "MOST_BYTES", 10_000)
    file = tmp_path / name
    file.write_bytes(b"not a zip")
    if entries is not None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
            for path, data in entries.items():
                bundle.writestr(path, data)
    if not line:
        wheel.check(file, "Demo", "1.0")
        return
    with pytest.raises(ItemError, match=re.escape(line)):
        wheel.check(file, "demo", "1")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"setup.py": "setup(ext_modules=cythonize('x.pyx'))"}, "setup.py has ext_modules"),
        ({"setup.py": "setup(cmdclass=versioneer.get_cmdclass())"}, ""),
        ({"setup.py": "setup()"}, ""),
        ({"pyproject.toml": "[build-system]\nrequires=['meson-python>=0.13']"}, "its build requires meson-python"),
        ({"pyproject.toml": "[build-system]\nrequires=['hatchling']"}, ""),
        ({"pyproject.toml": "[tool.hatch.build.hooks.vcs]\n[tool.hatch.build.hooks.custom]"},
         "pyproject.toml has tool.hatch.build.hooks.custom"),
        ({"pyproject.toml": "[[tool.setuptools.ext-modules]]\nname='x'"},
         "pyproject.toml has tool.setuptools.ext-modules"),
        ({}, ""),
    ],
)  # fmt: skip
def test_which_projects_are_built(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert generated.reason(lay_out(tmp_path, files)) == expected


def test_files_of_a_wheel_never_replace_or_leave_the_project(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = lay_out(tmp_path / "project", {"src/demo/__init__.py": "mine"})
    (folder / "src" / "demo" / "link").symlink_to(outside)
    file = tmp_path / "demo-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as bundle:
        for path in ("demo/__init__.py", "demo/sub/new.so", "demo/link/planted.py", "alone.so",
                     "demo-1.dist-info/METADATA", "demo-1.data/scripts/run"):  # fmt: skip
            bundle.writestr(path, path)
    generated.add(file, folder, [folder / "src", folder], tmp_path / "apart", tmp_path / "metadata")
    assert (folder / "src" / "demo" / "__init__.py").read_text() == "mine"
    assert (folder / "src" / "demo" / "sub" / "new.so").exists()
    assert [path.name for path in (tmp_path / "apart").iterdir()] == ["alone.so"]
    assert (tmp_path / "metadata" / "demo-1.dist-info" / "METADATA").exists()
    assert not list(outside.iterdir())
