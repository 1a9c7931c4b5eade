"""What every source has to hold, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from curate import mine
from curate.errors import ItemError, UserError
from curate.mine.source import Pin, Settings, Source
from curate.mine.tree import Tree
from curate.work import Context
from curate.workspace import Workspace
from tests.github_double import GitHubDouble, Repository, World
from tests.mine.git_server import GitServer
from tests.mine.index_server import Index
from tests.mine.mining import files, mined
from tests.mine.projects import FILES, repository, tar_gz, write


@dataclass
class Example:
    """A project as one source offers it."""

    source: str
    request: str
    exact: str
    vanish: Callable[[], object]
    malformed: tuple[str, ...]
    secret: str = "no such secret"


def _pypi(tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Example:
    index = stack.enter_context(Index(login="user:tok-en"))
    index.add("demo-1.0.tar.gz", tar_gz(FILES))
    monkeypatch.setenv("CURATE_INDEX_URL", index.url.replace("://", "://user:tok-en@"))
    wrong = ("pypi:", "pypi:demo>=1", "pypi:demo==", "pypi:demo==1.*", "pypi:-r", "pypi:demo[all]", "pypi:a b")
    return Example("pypi", "pypi:Demo", "pypi:demo==1.0", index.projects.clear, wrong, "tok-en")


def _git_http(tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Example:
    del monkeypatch
    commit = repository(tmp_path / "served/owner/demo")
    server = stack.enter_context(GitServer(tmp_path / "served", login="user:tok-en"))
    address = f"{server.host}/owner/demo"
    wrong = (
        "git+https://host/a b", "git+https://host/a#egg=x", "git+https://host/a?b=c", "git+https://host/a@",
        "git+https://host/a@-x", "git+https://host/a@x..y", "git+https://host/a@HEAD~1", "git+https://host/",
        "git+ext::sh -c id", "git+ext://host/a", "git+https://-oProxyCommand=x/a", "git+/path", "git+-ux", "git+",
        "git+https://[/a", "git+https:///a", "git+ssh:///a", "git+https://host/a@x y", "git+git@host:a/b",
    )  # fmt: skip
    vanish = lambda: (tmp_path / "served/owner").rename(tmp_path / "gone")  # noqa: E731
    request = f"git+http://user:tok-en@{address}@main"
    return Example("git", request, f"git+http://{address}@{commit}", vanish, wrong, "tok-en")


def _git_file(tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Example:
    del stack, monkeypatch
    commit = repository(tmp_path / "demo.git")
    address = f"git+file://{tmp_path}/demo.git"
    vanish = lambda: (tmp_path / "demo.git").rename(tmp_path / "gone")  # noqa: E731
    return Example("git", address, f"{address}@{commit}", vanish, ("git+file://", "git+file://host/x"))


def _github(tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Example:
    commit = repository(tmp_path / "served")
    world = World([Repository(1, "owner", "demo", folder=tmp_path / "served", private=True)])
    github = stack.enter_context(GitHubDouble(world, tokens=("ghp-tok-en",)))
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-tok-en")
    wrong = (
        "github:", "github:owner", "github:a/b/c", "github:owner/..", "github:a b/c", "github:o/n@", "github:o/n@-x",
    )  # fmt: skip
    vanish = lambda: world.change(1, state="gone")  # noqa: E731
    return Example("github", "github:owner/demo@main", f"github:owner/demo@{commit}", vanish, wrong, "tok-en")


def _local(tmp_path: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> Example:
    del stack, monkeypatch
    folder = write(tmp_path / "demo", FILES)
    exact = mine.resolve(str(folder), Settings())[1].request
    vanish = lambda: folder.rename(tmp_path / "gone")  # noqa: E731
    return Example("local", str(folder), exact, vanish, ("nowhere", "/nowhere", "./nowhere", "/"))


@pytest.fixture(params=[_pypi, _git_http, _git_file, _github, _local], ids=lambda make: make.__name__[1:])
def example(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> Iterator[Example]:
    with ExitStack() as stack:
        yield request.param(tmp_path, stack, monkeypatch)


def _pin(example: Example, workspace: Workspace, settings: Settings) -> Pin:
    source = mine.SOURCES[example.source]
    return source.resolve(source.check(example.request, workspace), settings)


def test_it_is_a_source_and_knows_its_own_requests(example: Example) -> None:
    source = mine.SOURCES[example.source]
    assert isinstance(source, Source)
    claimed = [name for name, other in mine.sources().items() if other.matches(example.request)]
    assert claimed[0] == example.source


def test_the_same_files_come_back_every_time(example: Example, context: Context) -> None:
    first, failures, folder = mined(example.request, context)
    taken = files(folder)
    second, _, _ = mined(example.request, context)
    assert failures == []
    assert taken == {path: text.encode() for path, text in FILES.items()} == files(folder)
    assert first == second
    assert (first.files, first.bytes) == (len(taken), sum(map(len, taken.values())))
    assert first.source == example.source
    assert (first.license_expression, first.requires_python) == ("MIT", ">=3.9")


def test_a_request_is_pinned_and_a_pinned_one_stays(example: Example, workspace: Workspace, settings: Settings) -> None:
    pin = _pin(example, workspace, settings)
    assert pin.request == example.exact
    assert pin.name
    if example.source != "local":  # a hash does not say where the folder lies
        example.vanish()
        again = mine.SOURCES[example.source].resolve(pin.request, settings)
        assert (again.request, again.name) == (pin.request, pin.name), "an exact request needs no network"


def test_what_vanished_is_an_error_of_the_item(example: Example, context: Context) -> None:
    source = mine.SOURCES[example.source]
    checked = source.check(example.request, context.workspace)
    pin = source.resolve(checked, context.settings)
    example.vanish()
    with pytest.raises(ItemError) as caught:
        source.resolve(checked, context.settings)
    assert caught.value.reason in {"not_found", "not_allowed"}
    scratch = context.workspace.root / "scratch"
    scratch.mkdir()
    with pytest.raises(ItemError) as caught:
        source.fetch(pin, Tree(scratch / "files", context.settings), scratch, context.settings)
    assert caught.value.reason in {"not_found", "not_allowed"}
    assert not caught.value.transient


def test_malformed_requests_are_the_users_mistake(example: Example, workspace: Workspace) -> None:
    for request in example.malformed:
        with pytest.raises(UserError) as caught:
            mine.requests([request], workspace)
        assert "\n" not in str(caught.value)


def test_a_secret_is_shown_nowhere(example: Example, context: Context) -> None:
    checked = mine.requests([example.request], context.workspace)
    ((item_id, row),) = mine.items(checked, context.workspace, context.settings)
    assert isinstance(row, dict)
    snapshot, failures, _ = mined(example.request, context)
    example.vanish()
    after = mine.items(checked, context.workspace, context.settings)
    lost = list(mine.work([row], context))
    assert example.secret not in f"{item_id} {row} {snapshot} {failures} {after} {lost}"


def test_a_limit_refuses_the_project_and_leaves_nothing(example: Example, workspace: Workspace) -> None:
    for limit in ({"max_files": 3}, {"max_bytes": 1000}):
        settings = Settings(retries=0, **limit)
        try:
            mined(example.request, Context(workspace, settings))
        except ItemError as error:
            assert error.reason == "too_large"
        else:
            pytest.fail("not refused")
    left = workspace.snapshot("x").parent
    assert not left.exists() or [path.name for path in left.iterdir()] in ([".lock"], [])


def test_a_file_that_is_too_large_is_left_out_with_a_word(example: Example, workspace: Workspace) -> None:
    settings = Settings(retries=0, max_file_bytes=len(FILES["LICENSE"]) - 1)
    snapshot, failures, folder = mined(example.request, Context(workspace, settings))
    assert sorted(files(folder)) == sorted(set(FILES) - {"LICENSE"})
    assert snapshot.files == len(FILES) - 1
    assert [(row.stage, row.reason, row.subject) for row in failures] == [
        ("mine", "file_too_large", f"{snapshot.name}:LICENSE")
    ]
