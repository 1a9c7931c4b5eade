from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curate import mine
from curate.errors import ItemError, UserError
from curate.mine import Settings
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.index_server import Index
from tests.mine.mining import files, mined
from tests.mine.projects import FILES, tar_gz, zipped

SDIST = tar_gz(FILES)
WHEEL_FILES = {
    "demo/__init__.py": "one = 1\n",
    "demo-1.0.dist-info/METADATA": "Metadata-Version: 2.4\nName: demo\nVersion: 1.0\nLicense: BSD-3-Clause\n",
    "demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n",
}
FILE, PAGE = "/files/demo-1.0.tar.gz", "/simple/demo/"


def _pinned(request: str, settings: Settings) -> str:
    return mine.resolve(request, settings)[1].request


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        ({"1.9": {}, "1.10": {}, "2.0rc1": {}, "3.0.dev1": {}}, "1.10"),
        ({"1.0": {}, "2.0": {"yanked": True}, "2.1": {"yanked": "broken"}}, "1.0"),
        ({"1.0rc1": {}, "1.0rc2": {}}, "1.0rc2"),
        ({"1.0": {}, "1.0.post1": {}}, "1.0.post1"),
        ({"1!0.5": {}, "7.0": {}}, "1!0.5"),
    ],
)
def test_the_newest_final_version_that_is_not_yanked(
    index: Index, settings: Settings, versions: dict[str, dict[str, Any]], newest: str
) -> None:
    for version, facts in versions.items():
        index.add(f"demo-{version}.tar.gz", SDIST, **facts)
    assert _pinned("pypi:demo", settings) == f"pypi:demo=={newest}"


def test_an_exact_version_is_pinned_without_asking(index: Index, settings: Settings, workspace: Workspace) -> None:
    (request,) = mine.requests(["pypi:Demo_X==1.0.0-RC1"], workspace)
    assert _pinned(request, settings) == "pypi:demo-x==1.0.0rc1"
    assert index.log == []


def test_a_yanked_version_is_taken_when_asked_for(index: Index, context: Context) -> None:
    index.add("demo-1.0.tar.gz", SDIST, yanked="oops")
    assert mined("pypi:demo==1.0", context)[0].revision == "1.0"
    with pytest.raises(ItemError, match="not_found"):
        mined("pypi:demo", context)


@pytest.mark.parametrize("html_only", [False, True])
def test_the_row_says_where_it_came_from(index: Index, context: Context, html_only: bool) -> None:
    index.html_only = html_only
    index.add("demo-1.0.tar.gz", SDIST, uploaded="2024-05-01T12:00:00.5Z", requires_python=">=3")
    snapshot, _, _ = mined("pypi:demo", context)
    when = None if html_only else datetime(2024, 5, 1, 12, 0, 0, 500_000, UTC)
    assert snapshot.url == f"http://{index.host}/files/demo-1.0.tar.gz"
    assert (snapshot.sha256, snapshot.committed_at) == (hashlib.sha256(SDIST).hexdigest(), when)
    assert (snapshot.license_path, snapshot.license_from) == ("PKG-INFO", "expression of PKG-INFO")


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        (["demo-1.0-py3-none-any.whl", "demo-1.0.tar.gz", "demo-1.0.zip"], "demo-1.0.tar.gz"),
        (["demo-1.0.tar.bz2", "demo-1.0.zip"], "demo-1.0.zip"),
        (["demo-1.0-cp311-cp311-linux_x86_64.whl", "demo-1.0-py3-none-any.whl"], "demo-1.0-py3-none-any.whl"),
        (["demo-1.0-cp312-cp312-linux_x86_64.whl", "demo-1.0-cp311-cp311-linux_x86_64.whl"],
         "demo-1.0-cp311-cp311-linux_x86_64.whl"),
        (["demo-1.0-py2.7.egg", "demo-1.0.tar.Z", "demo-1.0-py3-none-any.whl"], "demo-1.0-py3-none-any.whl"),
    ],
)  # fmt: skip
def test_which_file_is_taken(index: Index, context: Context, offered: list[str], taken: str) -> None:
    for name in offered:
        index.add(name, zipped(WHEEL_FILES) if name.endswith(".whl") else SDIST, name="demo")
    assert mined("pypi:demo", context)[0].url.endswith("/" + taken)


def test_a_wheel_keeps_its_layout(index: Index, context: Context) -> None:
    index.add("demo-1.0-py3-none-any.whl", zipped(WHEEL_FILES))
    snapshot, _, folder = mined("pypi:demo", context)
    assert files(folder) == {path: text.encode() for path, text in WHEEL_FILES.items()}
    assert snapshot.license_path == "demo-1.0.dist-info/METADATA"
    assert snapshot.license_expression == "BSD-3-Clause"


def test_only_an_egg(index: Index, context: Context) -> None:
    index.add("demo-1.0-py2.7.egg", b"x", name="demo")
    with pytest.raises(ItemError, match=r"no_usable_file.*demo-1.0-py2.7.egg"):
        mined("pypi:demo==1.0", context)


def test_a_missing_version_is_told_with_the_newest(index: Index, context: Context) -> None:
    for version in ("1.0", "1.2", "1.10", "0.9"):
        index.add(f"demo-{version}.tar.gz", SDIST)
    with pytest.raises(ItemError, match=r"not_found.*demo==2.0.*1\.10, 1\.2, 1\.0, 0\.9"):
        mined("pypi:demo==2.0", context)
    with pytest.raises(ItemError, match=r"not_found.*no project absent"):
        mined("pypi:absent", context)


@pytest.mark.parametrize("kind", ["500", "503", "429", "truncated", "hang_up", "error_page"])
def test_a_fault_of_the_download_is_tried_again(index: Index, context: Context, kind: str) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    index.fault(FILE, kind, times=1)
    assert mined("pypi:demo", context)[0].sha256 == hashlib.sha256(SDIST).hexdigest()
    assert index.asked(FILE) == 2


@pytest.mark.parametrize(
    ("path", "kind", "reason", "transient", "asked"),
    [
        (FILE, "404", "not_found", False, 1),
        (FILE, "403", "not_allowed", False, 1),
        (FILE, "500", "server_error", True, 2),
        (FILE, "truncated", "network", True, 2),
        (FILE, "hang_up", "network", True, 2),
        (FILE, "error_page", "wrong_hash", True, 2),
        (PAGE, "404", "not_found", False, 1),
        (PAGE, "403", "not_allowed", False, 1),
        (PAGE, "500", "server_error", True, 2),
        (PAGE, "429", "server_error", True, 2),
        (PAGE, "hang_up", "network", True, 2),
        (PAGE, "error_page", "unusable_answer", True, 2),
        (PAGE, "garbage", "unusable_answer", True, 2),
    ],
)
def test_a_fault_that_stays_is_a_reason(
    index: Index, context: Context, own_cache: Path, path: str, kind: str, reason: str, transient: bool, asked: int
) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    index.fault(path, kind)
    with pytest.raises(ItemError) as caught:
        mined("pypi:demo==1.0", context)
    assert (caught.value.reason, caught.value.transient, index.asked(path)) == (reason, transient, asked)
    kept = [path for path in own_cache.rglob("*") if path.is_file() and path.name != ".lock"]
    assert kept == [], "nothing that is not the file is kept"
    assert not list(context.workspace.snapshot("x").parent.glob("[!.]*"))


@pytest.mark.parametrize("kind", ["truncated", "error_page"])
def test_without_a_hash_an_error_page_is_no_file_either(index: Index, context: Context, kind: str) -> None:
    index.add("demo-1.0.tar.gz", SDIST, digest=None)
    index.fault(FILE, kind)
    with pytest.raises(ItemError) as caught:
        mined("pypi:demo==1.0", context)
    assert caught.value.reason in {"network", "damaged_archive"}


def test_a_wrong_hash_is_refused(index: Index, context: Context) -> None:
    index.add("demo-1.0.tar.gz", SDIST, digest="0" * 64)
    with pytest.raises(ItemError, match="wrong_hash"):
        mined("pypi:demo==1.0", context)


def test_a_stalling_server_is_given_up(index: Index, workspace: Workspace) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    index.fault(FILE, "stall")
    with pytest.raises(ItemError, match="network") as caught:
        mined("pypi:demo==1.0", Context(workspace, Settings(retries=0, silence_seconds=0.3)))
    assert caught.value.transient


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, context: Context) -> None:
    with Index() as closed:
        monkeypatch.setenv("CURATE_INDEX_URL", closed.url.replace("://", "://user:tok-en@"))
    with pytest.raises(ItemError, match="network") as caught:
        mined("pypi:demo", context)
    assert "tok-en" not in str(caught.value)


def test_a_file_is_downloaded_once_and_a_damaged_copy_is_not_used(
    index: Index, context: Context, own_cache: Path
) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    mined("pypi:demo", context)
    mined("pypi:demo", context)
    assert index.asked(FILE) == 1
    (kept,) = own_cache.rglob("demo-1.0.tar.gz")
    assert kept.parent.name == hashlib.sha256(SDIST).hexdigest()
    kept.write_bytes(b"rubbish")
    mined("pypi:demo", context)
    assert index.asked(FILE) == 2
    assert kept.read_bytes() == SDIST


def test_user_and_password_go_to_the_index_and_to_no_other_host(
    monkeypatch: pytest.MonkeyPatch, context: Context
) -> None:
    with Index(login="us er:p@ss") as index, Index() as elsewhere:
        elsewhere.add("demo-1.0.tar.gz", SDIST)
        # Another name for the same address is another host.
        away = f"http://localhost:{elsewhere.host.rpartition(':')[2]}/files/demo-1.0.tar.gz"
        index.add("demo-1.0.tar.gz", SDIST, url=away + "?X-Signature=se-cret")
        monkeypatch.setenv("CURATE_INDEX_URL", index.url.replace("://", "://us%20er:p%40ss@"))
        snapshot, _, _ = mined("pypi:demo", context)
        assert snapshot.url == away
        assert [("authorization" in headers) for _, headers in index.log] == [True, True]
        assert [("authorization" in headers) for _, headers in elsewhere.log] == [False]
        monkeypatch.setenv("CURATE_INDEX_URL", index.url.replace("://", "://us%20er:wrong@"))
        with pytest.raises(ItemError, match="not_allowed") as caught:
            mined("pypi:demo", context)
        assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    "variables",
    [
        ("CURATE_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"),
        ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"),
        ("UV_INDEX_URL", "PIP_INDEX_URL"),
        ("PIP_INDEX_URL",),
    ],
)
def test_the_first_index_that_is_named_counts(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, variables: tuple[str, ...]
) -> None:
    with Index() as right, Index() as wrong:
        right.add("demo-1.0.tar.gz", SDIST)
        for variable in variables:
            monkeypatch.setenv(variable, wrong.url)
        monkeypatch.setenv(variables[0], "corp=" + right.url if variables[0] == "UV_DEFAULT_INDEX" else right.url)
        assert _pinned("pypi:demo", settings) == "pypi:demo==1.0"
        assert wrong.log == []


def test_an_index_of_another_kind_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "file:///srv/simple")
    with pytest.raises(UserError, match=r"PIP_INDEX_URL.*http"):
        mine.requests(["pypi:demo"], workspace)


def test_a_download_that_is_too_large_ends(index: Index, workspace: Workspace) -> None:
    index.add("demo-1.0.tar.gz", SDIST)
    with pytest.raises(ItemError, match="too_large"):
        mined("pypi:demo", Context(workspace, Settings(retries=3, max_bytes=100)))
    assert index.asked(FILE) == 1


@pytest.mark.slow
def test_a_real_project(context: Context) -> None:
    snapshot, failures, folder = mined("pypi:einops==0.8.2", context)
    assert snapshot.sha256 == "609da665570e5e265e27283aab09e7f279ade90c4f01bcfca111f3d3e13f2827"
    assert (snapshot.license_expression, snapshot.requires_python, failures) == ("MIT", ">=3.9", [])
    assert (folder / "einops/einops.py").is_file()
