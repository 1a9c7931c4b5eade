"""From a source file to projects taken in, against a double of GitHub with real clones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curate.discover import known
from curate.errors import UserError
from curate.flow import Mined, Mining, mine, pipeline_for
from curate.mine.github.criteria import Search
from curate.pipeline import Options, Pipeline
from curate.recording import Summary
from curate.workspace import Workspace
from tests.github_double import GitHubDouble, Repository, World
from tests.github_double.limits import Limits, Rate
from tests.mine.projects import FILES, commit, git, repository, write

SEARCH = 'title = "t"\n[search]\ntopics = ["pytorch"]\nlanguages = ["Python"]\nstars = ">=100"\n'


def made(number: int, **facts: Any) -> Repository:
    day = datetime(2020, 1, 1 + number % 28, number % 24, tzinfo=UTC)
    given = {"topics": ("pytorch",), "created_at": day, "pushed_at": day, **facts}
    return Repository(number, given.pop("owner", "team"), given.pop("name", f"p{number}"), **given)


class Place:
    """A workspace beside a double."""

    def __init__(self, root: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.stack, self.monkeypatch = root, stack, monkeypatch
        for part in ("sources", "schema", "releases"):
            (root / part).mkdir(parents=True)
        self.workspace = Workspace.at(root)
        self.said: list[Summary] = []

    def serve(self, *repositories: Repository, **given: Any) -> GitHubDouble:
        github = self.stack.enter_context(GitHubDouble(World(list(repositories)), **given))
        self.monkeypatch.setenv("GITHUB_API_URL", github.url)
        return github

    def real(self, number: int, files: dict[str, str] | None = None, **facts: Any) -> Repository:
        """A repository that can be cloned."""
        folder = self.root.parent / "served" / f"{number}"
        repository(folder, {**FILES, "number.txt": str(number), **(files or {})})
        return made(number, folder=folder, **facts)

    def pipeline(self) -> Pipeline:
        pipeline = pipeline_for(self.workspace, None)
        for stage in ("search", "repositories"):
            pipeline.settings[stage] = {"pause_seconds": 0.01, "max_wait_seconds": 2}
        pipeline.settings["mine"] = {"pause_seconds": 0.01, "retries": 1}
        return pipeline

    def mine(self, *sources: str, only: str | None = None, limit: int | None = None, **how: Any) -> Mined:
        self.said = []
        return mine(self.pipeline(), sources, Options(only=only, limit=limit), self.said.append, Mining(**how))

    def rows(self, sql: str) -> list[Any]:
        return [tuple(row.values()) for row in self.pipeline().store.rows(sql)]

    def reasons(self) -> dict[str, str]:
        newest = "SELECT full_name, reason_class FROM choices QUALIFY run_id = max(run_id) OVER ()"
        return dict(self.rows(newest))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("CURATE_CACHE", str(tmp_path / "cache"))
    for name in ("GITHUB_TOKEN", "GITHUB_TOKENS", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack:
        yield Place(tmp_path / "here", stack, monkeypatch)


def test_a_search_leads_to_snapshots_with_their_provenance(place: Place) -> None:
    github = place.serve(place.real(1, stars=300, license="NOASSERTION", topics=("pytorch", "nlp")), made(2, stars=99))
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    ((name, url, source, number, revision, ours),) = place.rows(
        "SELECT name, url, source, repository_id, revision, license_expression FROM current_snapshots"
    )
    head = git(github.world.by_id[1].folder, "rev-parse", "HEAD")  # type: ignore[arg-type]
    assert (name, url, source, number, revision) == ("team/p1", f"{github.url}/team/p1", "github", 1, head)
    ((theirs, topics, root, ref, stars),) = place.rows(
        "SELECT license, topics, root_commit, ref, stars FROM current_repositories"
    )
    assert (ours, theirs) == ("MIT", None), "NOASSERTION is no licence; our own reading stands beside it"
    assert (topics, root, ref, stars) == (["nlp", "pytorch"], head, "main", 300)


def test_a_second_run_asks_nothing_and_a_refresh_pays_only_for_what_changed(place: Place) -> None:
    limits = Limits.none()
    github = place.serve(place.real(1), place.real(2), limits=limits)
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    asked = len(github.log)
    place.mine("sources/s.toml")
    assert len(github.log) == asked
    used = {key: count for key, (_, count) in github.meter.used.items()}
    place.mine("sources/s.toml", refresh=True)
    later = {key: count for key, (_, count) in github.meter.used.items()}
    assert later["", "core"] == used["", "core"], "nothing has changed: free"
    assert github.counts["304"] == 4
    write(place.root.parent / "served/2", {"new.py": "x = 1\n"})
    head = commit(place.root.parent / "served/2")
    github.world.change(1, stars=777)
    place.mine("sources/s.toml", refresh=True)
    assert place.rows("SELECT stars FROM current_repositories ORDER BY repository_id") == [(777,), (500,)]
    assert {row[0] for row in place.rows("SELECT revision FROM snapshots")} >= {head}
    assert len(place.rows("SELECT DISTINCT snapshot_id FROM snapshots")) == 3


def test_renames_are_followed_and_both_names_kept(place: Place) -> None:
    github = place.serve(place.real(1), place.real(2))
    github.world.rename(2, "elsewhere/renamed")
    place.mine("github:team/p2")
    ((name, former, number),) = place.rows("SELECT full_name, former_names, repository_id FROM current_repositories")
    assert (name, former, number) == ("elsewhere/renamed", ["team/p2"], 2)
    assert place.rows("SELECT name, repository_id FROM current_snapshots") == [("elsewhere/renamed", 2)]
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    github.world.rename(1, "team/new-name")
    place.mine("sources/s.toml", refresh=True)
    kept = place.rows("SELECT full_name, former_names FROM current_repositories WHERE repository_id = 1")
    assert kept == [("team/new-name", ["team/p1"])]


def test_forks_templates_and_copies(place: Place) -> None:
    copy = made(4, root=made(3).history()[-1][0], stars=9000)
    github = place.serve(
        made(3), copy, made(5, fork_of=3), made(6, template=7, stars=200), made(7, is_template=True), made(8)
    )
    write(place.root, {"sources/s.toml": SEARCH + 'forks = "include"\ntemplates = "exclude"\n'})
    place.mine("sources/s.toml")
    assert place.reasons() | {"team/p8": ""} == {
        "team/p3": "not_allowed", "team/p4": "copy", "team/p5": "not_allowed", "team/p6": "not_allowed",
        "team/p7": "template", "team/p8": "",
    }  # fmt: skip
    known = place.rows(
        "SELECT full_name, fork_of, fork_of_id, template FROM current_repositories ORDER BY repository_id"
    )
    assert ("team/p5", "team/p3", 3, None) in known
    assert ("team/p6", None, None, "team/p7") in known
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    assert "team/p5" not in place.reasons()
    del github


def test_what_cannot_be_had_is_a_row_with_the_reason(place: Place) -> None:
    states = {2: "gone", 3: "blocked", 4: "empty"}
    github = place.serve(
        place.real(1), *(made(number) for number in states), made(5, size=3_000_000), made(6, name="big")
    )
    write(place.root, {"sources/s.toml": SEARCH + "size_mb = [0, 3000]\n"})
    place.mine("sources/s.toml", dry_run=True)  # they are found, and then things happen to them
    for number, state in states.items():
        github.world.change(number, state=state)
    github.world.change(5, size=4_000_000)
    github.world.rename(6, "team/bigger")
    place.mine("sources/s.toml")
    assert place.reasons() == {
        "team/p1": "", "team/p2": "not_found", "team/p3": "blocked", "team/p4": "empty_repository", "team/p5": "size",
        "team/bigger": "not_allowed",
    }  # fmt: skip
    assert all(reason for _, reason in place.rows("SELECT full_name, reason FROM choices"))


def test_who_does_not_fit_makes_room_for_the_next(place: Place) -> None:
    torch = {"demo/net.py": "import torch\n\n\ndef f():\n    '''Doc.'''\n"}
    place.serve(
        place.real(1, stars=900), place.real(2, torch, stars=800), made(3, stars=700), place.real(4, torch, stars=600),
        place.real(5, torch, stars=500),
    )  # fmt: skip
    write(place.root, {"sources/s.toml": SEARCH + 'take = 2\n[require]\nframeworks = ["deep learning"]\n'})
    place.mine("sources/s.toml")
    assert place.reasons() == {
        "team/p1": "not_deep_learning", "team/p2": "", "team/p3": "not_allowed", "team/p4": "", "team/p5": "enough"
    }  # fmt: skip


def test_a_dry_run_fetches_nothing(place: Place) -> None:
    github = place.serve(place.real(1), made(2, archived=True))
    write(place.root, {"sources/s.toml": SEARCH})
    mined = place.mine("sources/s.toml", "github:team/p1", dry_run=True)
    assert [one.row["full_name"] for one in mined.found[0].decisions if one.taken] == ["team/p1", "team/p2"]
    assert github.counts["git"] == github.counts["core"] == 0
    assert place.rows("SELECT count(*) FROM snapshots") == [(0,)]
    assert place.rows("SELECT count(*) FROM choices") == [(0,)]


def test_who_opted_out_does_not_come_back(place: Place) -> None:
    place.serve(place.real(1), place.real(2))
    write(place.root, {"sources/s.toml": SEARCH + "deny = []\n", "sources/opt-out.txt": "1\n"})
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    assert place.reasons() == {"team/p1": "opted_out", "team/p2": ""}
    place.mine("github:team/p1", "github:team/p2")
    assert place.rows("SELECT name FROM current_snapshots") == [("team/p2",)]
    assert ("opted_out",) in place.rows("SELECT reason FROM current_failures WHERE stage = 'mine'")


def test_limits_leave_work_for_a_later_run(place: Place) -> None:
    plenty = Rate(1000, 3600)
    limits = Limits(plenty, plenty, Rate(3, 3600), plenty)
    github = place.serve(place.real(1), place.real(2), limits=limits)
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    assert place.reasons() == {"team/p1": "", "team/p2": "rate_limited"}
    github.meter.limits.anonymous_core = plenty
    from curate.mine.github import session

    session._client.cache_clear()  # another process knows nothing of the budgets of this one
    place.mine("sources/s.toml")
    assert place.reasons() == {"team/p1": "", "team/p2": ""}


def test_a_pinned_commit_is_taken_in_although_github_does_not_answer(place: Place) -> None:
    github = place.serve(place.real(1))
    head = git(github.world.by_id[1].folder, "rev-parse", "HEAD")  # type: ignore[arg-type]
    github.fault(r"/repos/", "502", times=1000)
    place.mine(f"github:team/p1@{head}")
    assert place.rows("SELECT revision FROM current_snapshots") == [(head,)]


def test_a_private_repository_is_cloned_with_the_token_and_nothing_tells_it(place: Place) -> None:
    token = "ghp_0123456789abcdefghijklmnop"
    place.serve(place.real(1, private=True), tokens=(token,))
    assert not place.mine("github:team/p1").items
    place.monkeypatch.setenv("GITHUB_TOKEN", token)
    assert place.mine("github:team/p1").items
    assert place.rows("SELECT name FROM current_snapshots") == [("team/p1",)]
    for path in [*place.root.rglob("*"), *(place.root.parent / "cache").rglob("*")]:
        assert not path.is_file() or token.encode() not in path.read_bytes(), path


def test_mistakes_in_requests_are_told(place: Place) -> None:
    for request in ("github:team", "github:a/b/c", "github:a b/c", "github:team/p@", "github:team/..", "github:-a/b"):
        with pytest.raises(UserError, match="github:"):
            place.mine(request)


def test_a_rename_loses_nothing_and_lets_nothing_through(place: Place) -> None:
    github = place.serve(place.real(1), place.real(2))
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    for name in ("zeta/p1", "alpha/p1"):
        github.world.rename(1, name)
        write(place.root, {"sources/s.toml": SEARCH})
        pipeline = place.pipeline()
        mine(pipeline, ["sources/s.toml"], Options(), lambda summary: None, Mining(refresh=True))
        rows = pipeline.store.rows("SELECT name FROM current_snapshots", pipeline.view)
        assert {row["name"] for row in rows} == {name, "team/p2"}
        write(place.root, {"sources/s.toml": SEARCH + "take = 1\n[require]\ntests = 1000\n"})
        place.mine("sources/s.toml", refresh=True)
        assert place.reasons() == {name: "few_tests", "team/p2": "few_tests"}


def test_a_refresh_that_fails_takes_nothing_away(place: Place) -> None:
    github = place.serve(place.real(1, stars=900), place.real(2, stars=800))
    write(place.root, {"sources/s.toml": SEARCH + "take = 1\n"})
    place.mine("sources/s.toml")
    known = place.rows("SELECT full_name, etags FROM current_repositories")
    github.fault("repositories", "502", times=1000)
    place.mine("sources/s.toml", refresh=True)
    assert place.reasons() == {"team/p1": "", "team/p2": "enough"}
    assert place.rows("SELECT full_name, etags FROM current_repositories") == known
    assert len(place.rows("SELECT * FROM current_hits")) == 2


def test_a_failure_does_not_set_off_a_cascade(place: Place) -> None:
    github = place.serve(*(made(number, stars=1000 - number) for number in range(1, 30)))
    write(place.root, {"sources/s.toml": SEARCH + "take = 1\n"})
    github.fault(r"^/repositories/", "502", times=1000)
    place.mine("sources/s.toml")
    assert place.reasons()["team/p1"] == "network"
    assert {reason for name, reason in place.reasons().items() if name != "team/p1"} == {"enough"}
    assert github.counts["core"] <= 5


@pytest.mark.parametrize("then", ["private", "gone", "empty"])
def test_a_refresh_asks_again_about_what_was_refused(place: Place, then: str) -> None:
    change = {"private": True} if then == "private" else {"state": then}
    github = place.serve(place.real(1))
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml", dry_run=True)
    github.world.change(1, **change)
    place.mine("sources/s.toml")
    assert place.reasons()["team/p1"] in {"not_found", "empty_repository"}
    github.world.change(1, private=False, state="normal")
    place.mine("sources/s.toml", refresh=True)
    assert place.reasons() == {"team/p1": ""}


def test_choices_follow_the_source_file_back_and_forth(place: Place) -> None:
    place.serve(place.real(1), place.real(2))
    taken = []
    for deny in ("", 'deny = ["team/p1"]\n', "", 'deny = ["team/*"]\n', ""):
        write(place.root, {"sources/s.toml": SEARCH.replace("[search]", deny + "[search]")})
        place.mine("sources/s.toml")
        taken.append(sorted(request.partition("@")[0] for request in known(place.pipeline(), ["sources/s.toml"])))
    both = ["github:team/p1", "github:team/p2"]
    assert taken == [both, both[1:], both, [], both]
    place.mine("sources/s.toml", only="p1")
    assert len(known(place.pipeline(), ["sources/s.toml"])) == 2, "a part of it is no choice"


def test_a_name_that_another_took_over_is_not_the_same_repository(place: Place) -> None:
    github = place.serve(place.real(1), place.real(9, owner="other", name="new"))
    place.mine("github:team/p1")
    github.world.rename(1, "x/y")
    github.world.rename(9, "team/p1")
    place.mine("github:team/p1", refresh=True)
    newest = place.rows("SELECT repository_id, former_names FROM current_repositories")
    assert newest == [(9, [])]


def test_a_window_that_reaches_into_the_future_is_asked_up_to_yesterday(place: Place) -> None:
    github = place.serve(made(1))
    write(place.root, {"sources/s.toml": SEARCH + 'created = "2010-01-01..2199-12-31"\n'})
    place.mine("sources/s.toml", dry_run=True)
    ((last,),) = place.rows("SELECT max(created_to) FROM searches")
    assert last.replace(tzinfo=UTC) < datetime.now(UTC)
    write(place.root, {"sources/s.toml": SEARCH + 'created = "2199-01-01.."\n'})
    place.mine("sources/s.toml", dry_run=True)
    assert github.counts["search"] == 1


def test_a_query_that_creation_does_not_cut_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    github = place.serve(*(made(number) for number in range(1, 20)))
    every = [github.world.by_id[number] for number in sorted(github.world.by_id)] * 60
    monkeypatch.setattr("tests.github_double.routes.search", lambda *given, **more: every)
    write(place.root, {"sources/s.toml": SEARCH})
    with pytest.raises(UserError, match="whatever the time of creation"):
        place.mine("sources/s.toml", dry_run=True)
    assert github.counts["search"] == 3


def test_a_token_does_not_follow_a_redirect(place: Place) -> None:
    token = "ghp_0123456789abcdefghijklmnop"
    github = place.serve(place.real(1), tokens=(token,))
    head = git(github.world.by_id[1].folder, "rev-parse", "HEAD")  # type: ignore[arg-type]
    place.monkeypatch.setenv("GITHUB_TOKEN", token)
    github.world.rename(1, "team/elsewhere")
    github.fault("^/repos/", "502", times=1000)
    place.mine(f"github:team/p1@{head}")
    assert ("moved",) in place.rows("SELECT reason FROM failures WHERE stage = 'mine'")


def test_what_a_later_search_does_not_find_is_no_hit_any_more(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    github = place.serve(place.real(1), place.real(2))
    write(place.root, {"sources/s.toml": SEARCH + 'created = "2019-01-01..2025-01-01"\n'})
    place.mine("sources/s.toml")
    github.world.change(1, topics=())
    # As on a later day: the span of the whole search is another one.
    later = Search.window(Search(created="2019-01-01..2025-06-01"), datetime.now(UTC))
    monkeypatch.setattr(Search, "window", lambda self, today: later)
    place.mine("sources/s.toml", refresh=True)
    assert place.reasons() == {"team/p2": ""}


def test_two_githubs_in_one_workspace_are_kept_apart(place: Place) -> None:
    place.serve(place.real(1))
    write(place.root, {"sources/s.toml": SEARCH})
    place.mine("sources/s.toml")
    other = place.serve(place.real(1, owner="inhouse", name="other"), made(2, stars=50))
    place.mine("sources/s.toml")
    assert other.counts["search"] == 1
    assert place.reasons() == {"inhouse/other": ""}


def test_a_source_that_is_a_folder_is_told(place: Place) -> None:
    (place.root / "sources/x.toml").mkdir()
    with pytest.raises(UserError, match=r"sources/x\.toml: cannot be read"):
        place.mine("sources/x.toml")
