from __future__ import annotations

import hashlib
import os
import random
import resource
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curate import mine
from curate.errors import ItemError
from curate.git.command import Remote, environment
from curate.mine import Settings
from curate.mine.source import snapshot_id
from curate.mine.tree import Tree
from curate.work import Context
from curate.workspace import Workspace
from tests.mine.git_server import GitServer
from tests.mine.mining import files, mined
from tests.mine.projects import FILES, WHEN, commit, git, repository, write


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    repository(tmp_path / "demo")
    return tmp_path / "demo"


def _url(folder: Path) -> str:
    return f"git+file://{folder}"


def _pinned(request: str, settings: Settings) -> str:
    return mine.resolve(request, settings)[1].request.rpartition("@")[2]


def test_the_row_says_where_it_came_from(demo: Path, context: Context) -> None:
    head = git(demo, "rev-parse", "HEAD")
    snapshot, _, _ = mined(_url(demo), context)
    assert snapshot.snapshot_id == snapshot_id(("git", head))
    assert (snapshot.name, snapshot.url, snapshot.revision) == ("demo", "demo", head)
    assert snapshot.committed_at == datetime.fromtimestamp(WHEN, UTC)
    listing = [f"{hashlib.sha256(text.encode()).hexdigest()}  {path}\n" for path, text in sorted(FILES.items())]
    assert snapshot.sha256 == hashlib.sha256("".join(listing).encode()).hexdigest()


def test_branches_tags_and_commits(demo: Path, settings: Settings) -> None:
    first = git(demo, "rev-parse", "HEAD")
    git(demo, "tag", "v1")
    git(demo, "tag", "-a", "-m", "annotated", "pkg@1.0")
    git(demo, "branch", "feature/new.thing")
    second = commit(demo)
    git(demo, "branch", "v1")  # a tag of the same name goes first
    for ref in ("v1", "pkg@1.0", "feature/new.thing", "refs/tags/v1", "tags/v1", first, first[:9], first.upper()):
        assert _pinned(f"{_url(demo)}@{ref}", settings) == first, ref
    for request in (_url(demo), f"{_url(demo)}@main", f"{_url(demo)}@HEAD", f"{_url(demo)}@refs/heads/v1"):
        assert _pinned(request, settings) == second, request


def test_a_branch_is_not_found_by_the_end_of_its_name(demo: Path, settings: Settings) -> None:
    git(demo, "branch", "other/thing")
    with pytest.raises(ItemError, match=r"ref_not_found.*no branch or tag thing"):
        _pinned(f"{_url(demo)}@thing", settings)


def test_the_reasons_for_not_finding_a_commit(demo: Path, tmp_path: Path, context: Context) -> None:
    git(tmp_path, "init", "-q", "--bare", "empty")
    git(demo, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    cases = {
        _url(tmp_path / "empty"): "empty_repository",
        _url(demo): "no_default_branch",
        f"{_url(demo)}@absent": "ref_not_found",
        f"{_url(demo)}@abcdef1": "ref_not_found",
        f"{_url(demo)}@{'0' * 39}1": "commit_not_found",
        f"{_url(demo)}@{git(demo, 'rev-parse', 'main:demo')}": "commit_not_found",
        _url(tmp_path / "gone"): "not_found",
    }
    for request, reason in cases.items():
        with pytest.raises(ItemError) as caught:
            mined(request, context)
        assert (caught.value.reason, caught.value.transient) == (reason, False), request
    with pytest.raises(ItemError, match=r"no_default_branch.*@main"):
        mined(_url(demo), context)


def test_a_commit_without_files(tmp_path: Path, context: Context) -> None:
    repository(tmp_path / "bare", {})
    with pytest.raises(ItemError, match="empty"):
        mined(_url(tmp_path / "bare"), context)


def test_the_tag_object_of_a_commit_is_that_commit(demo: Path, context: Context) -> None:
    git(demo, "tag", "-a", "-m", "x", "v1")
    snapshot, _, _ = mined(f"{_url(demo)}@{git(demo, 'rev-parse', 'v1')}", context)
    assert snapshot.revision == git(demo, "rev-parse", "HEAD")


def test_files_come_as_they_were_committed(tmp_path: Path, context: Context) -> None:
    contents: dict[str, str | bytes] = {
        "crlf.py": b"a = 1\r\nb = 2\r\n",
        "version.py": "commit = '$Format:%H$'\nid = '$Id$'\n",
        "hidden.py": "x = 1\n",
        "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
        "latin.py": b"# -*- coding: latin-1 -*-\n# \xe9\n",
        "n\u00e4me with\ttab\nand line.py": "y = 2\n",
        "empty.py": "",
    }
    demo = tmp_path / "demo"
    repository(demo, contents)
    rules = "*.py eol=lf text\nversion.py export-subst ident\nhidden.py export-ignore\nmodel.bin filter=evil\n"
    write(demo, {".gitattributes": rules})
    git(demo, "config", "filter.evil.smudge", "touch evil-ran; cat")
    git(demo, "config", "core.autocrlf", "true")
    git(demo, "rm", "-q", "-r", "--cached", ".")
    blobs = {**contents, ".gitattributes": rules}
    for name, data in blobs.items():  # past every filter
        raw = data.encode() if isinstance(data, str) else data
        sha = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=demo, input=raw, capture_output=True, check=True
        ).stdout.decode().strip()  # fmt: skip
        git(demo, "update-index", "--add", "--cacheinfo", f"100644,{sha},{name}")
    git(demo, "commit", "-q", "-m", "attributes")
    _, failures, folder = mined(_url(demo), context)
    assert files(folder) == {name: data.encode() if isinstance(data, str) else data for name, data in blobs.items()}
    assert failures == []
    assert not list(tmp_path.rglob("evil-ran"))


def test_nothing_of_the_repository_is_run(demo: Path, tmp_path: Path, context: Context) -> None:
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        path = write(demo / ".git/hooks", {hook: f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n"}) / hook
        path.chmod(0o755)
    mined(_url(demo), context)
    assert not (tmp_path / "hook-ran").exists()


def test_submodules_and_links(tmp_path: Path, context: Context) -> None:
    inner = repository(tmp_path / "inner")
    demo = write(tmp_path / "demo", {"real.py": "x = 1\n", "pkg/a.py": "a = 1\n"})
    for name, target in {
        "same.py": "real.py", "pkg/up.py": "../real.py", "chain.py": "same.py", "out.py": "../../secret",
        "absolute.py": str(demo / "real.py"), "folder": "pkg", "broken.py": "absent", "loop": "loop",
    }.items():  # fmt: skip
        (demo / name).symlink_to(target)
    git(demo, "init", "-q")
    git(demo, "add", "-A")
    git(demo, "update-index", "--add", "--cacheinfo", f"160000,{inner},vendored")
    git(demo, "commit", "-q", "-m", "links")
    snapshot, failures, folder = mined(_url(demo), context)
    same = dict.fromkeys(("real.py", "same.py", "pkg/up.py", "chain.py"), b"x = 1\n")
    assert files(folder) == {**same, "pkg/a.py": b"a = 1\n"}
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert snapshot.files == 5
    assert {row.subject.partition(":")[2]: row.reason for row in failures} == {
        "vendored": "submodule", "out.py": "link_outside", "absolute.py": "link_outside", "folder": "link_to_folder",
        "broken.py": "broken_link", "loop": "broken_link",
    }  # fmt: skip


@pytest.mark.parametrize("old", [False, True])
def test_over_http_also_what_only_the_history_holds(tmp_path: Path, context: Context, old: bool) -> None:
    demo = tmp_path / "served/group/sub/demo.git"
    first = repository(demo)
    write(demo, {"late.py": "late = 1\n"})
    commit(demo)
    with GitServer(tmp_path / "served", old=old) as server:
        snapshot, _, folder = mined(f"git+http://{server.host}/group/sub/demo.git@{first}", context)
        assert _pinned(f"git+http://{server.host}/group/sub/demo.git@{first[:8]}", context.settings) == first
    assert (snapshot.name, snapshot.revision) == ("sub/demo", first)
    assert snapshot.url == f"http://{server.host}/group/sub/demo.git"
    assert "late.py" not in files(folder)


def _fetched(demo: Path, head: str, tmp_path: Path, settings: Settings) -> tuple[Path, Tree]:
    """Fetch a commit over HTTP; return the repository it lies in, and its files."""
    with GitServer(demo.parent) as server:
        tree = Tree(tmp_path / "files", settings)
        remote = Remote(f"http://{server.host}/{demo.name}")
        mine.git.take_commit(remote, head, tree, tmp_path, settings)
    return tmp_path / "repository", tree


def test_one_commit_is_fetched_where_the_server_allows(tmp_path: Path, settings: Settings) -> None:
    demo = tmp_path / "served/demo"
    repository(demo)
    commit(demo)
    taken, _ = _fetched(demo, commit(demo), tmp_path, settings)
    assert git(taken, "rev-list", "--count", "--all", "FETCH_HEAD") == "1"


def test_large_files_are_not_sent(tmp_path: Path) -> None:
    demo = tmp_path / "served/demo"
    noise = random.Random(0).randbytes(100_000)
    head = repository(demo, {"weights.bin": noise, "model.py": "x = 1\n", "just.bin": noise[:5000]})
    settings = Settings(max_file_bytes=5000)
    taken, tree = _fetched(demo, head, tmp_path, settings)
    assert set(tree.files) == {"model.py", "just.bin"}
    assert [(out.path, out.reason) for out in tree.left_out] == [("weights.bin", "file_too_large")]
    assert sum(path.stat().st_size for path in taken.rglob("*.pack")) < 20_000


def test_a_mirror_that_lacks_objects_and_one_that_is_shallow(tmp_path: Path, context: Context) -> None:
    head = repository(tmp_path / "full", {"a.py": "x = 1\n", "big.bin": b"0" * 50_000})
    git(tmp_path / "full", "config", "uploadpack.allowFilter", "true")
    filtered = ["clone", "-q", "--bare", "--filter=blob:limit=1k", f"file://{tmp_path}/full", "mirror"]
    git(tmp_path, *filtered)
    git(tmp_path / "mirror", "config", "--remove-section", "remote.origin")
    _, failures, folder = mined(_url(tmp_path / "mirror"), context)
    assert files(folder) == {"a.py": b"x = 1\n"}
    assert [row.reason for row in failures] == ["file_too_large"]
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/full", "shallow")
    assert mined(_url(tmp_path / "shallow"), context)[0].revision == head


@pytest.mark.parametrize(
    ("status", "reason", "transient"),
    [(404, "not_found", False), (403, "not_allowed", False), (410, "gone", False), (451, "gone", False),
     (500, "network", True), (502, "network", True), (429, "network", True)],
)  # fmt: skip
def test_what_a_server_may_answer(tmp_path: Path, context: Context, status: int, reason: str, transient: bool) -> None:
    with GitServer(tmp_path) as server:
        server.status = status
        for end in ("", "@" + "1" * 40):
            with pytest.raises(ItemError) as caught:
                mined(f"git+http://x:tok-en@{server.host}/owner/demo{end}", context)
            assert (caught.value.reason, caught.value.transient) == (reason, transient)
            assert "tok-en" not in str(caught.value)


def test_nobody_listens_and_nobody_answers(tmp_path: Path, workspace: Workspace, context: Context) -> None:
    with GitServer(tmp_path) as server:
        closed = server.host
    with pytest.raises(ItemError, match="network") as caught:
        mined(f"git+http://{closed}/owner/demo", context)
    assert caught.value.transient
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        request = f"git+git://127.0.0.1:{silent.getsockname()[1]}/demo"
        with pytest.raises(ItemError, match="timeout") as caught:
            mined(request, Context(workspace, Settings(timeout_seconds=0.5)))
        assert caught.value.transient


def test_a_private_repository_needs_its_token(tmp_path: Path, context: Context) -> None:
    repository(tmp_path / "served/owner/demo")
    with GitServer(tmp_path / "served", login="x-token:s3/cr=et") as server:
        for login in ("", "x-token:wrong@"):
            with pytest.raises(ItemError, match="not_allowed"):
                mined(f"git+http://{login}{server.host}/owner/demo", context)
        snapshot, _, _ = mined(f"git+http://x-token:s3%2Fcr%3Det@{server.host}/owner/demo", context)
    assert snapshot.url == f"http://{server.host}/owner/demo"


def test_a_token_is_in_no_command_line(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = write(tmp_path / "bin", {"git": f'#!/bin/sh\nprintf "%s\\n" "$0 $*" >> {tmp_path}/lines\nexit 1\n'})
    (spy / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ItemError):
        mine.resolve("git+http://user:tok-en@127.0.0.1/owner/demo", settings)
    lines = (tmp_path / "lines").read_text()
    assert "ls-remote -- http://127.0.0.1/owner/demo" in lines
    assert "tok-en" not in lines


def test_the_users_configuration_has_no_say(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: Context
) -> None:
    decoy = tmp_path / "decoy"
    repository(decoy, {"decoy.py": "x = 1\n"})
    rewrite = f'[url "file://{decoy}"]\n\tinsteadOf = file://{demo}\n'
    home = write(tmp_path / "home", {".gitconfig": rewrite})
    write(context.workspace.root, {".git/config": rewrite, ".git/HEAD": "ref: refs/heads/main\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(decoy / ".git"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'url.file://{decoy}.insteadof=file://{demo}'")
    monkeypatch.setenv("CURATE_CACHE", str(context.workspace.root / "cache"))
    _, _, folder = mined(_url(demo), context)
    assert "decoy.py" not in files(folder)


def test_the_token_goes_to_its_own_host(tmp_path: Path, settings: Settings) -> None:
    pin = mine.resolve("git+https://user:tok-en@example.org/o/r@" + "1" * 40, settings)[1]
    variables = environment(tmp_path, settings.of_git(), Remote(pin.location, pin.secret))
    keys = {value for name, value in variables.items() if name.startswith("GIT_CONFIG_KEY") and "extraHeader" in value}
    assert keys == {"http.https://example.org/.extraHeader"}
    assert "tok-en" not in repr(pin)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux bounds what a process writes")
def test_a_repository_that_would_fill_the_disk_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    repository(tmp_path / "served/demo", {"noise.bin": random.Random(0).randbytes(1 << 20)})
    with GitServer(tmp_path / "served") as server, pytest.raises(ItemError, match="too_large") as caught:
        mined(f"git+http://{server.host}/demo", Context(workspace, Settings(max_bytes=100_000)))
    assert not caught.value.transient
    assert "signal" in caught.value.detail, "refused while it was sent, not after"
