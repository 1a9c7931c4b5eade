"""The stage `repositories`: what GitHub says of one repository now: who it is, where it came from, its newest commit.

A repository that was looked up before is asked about with the etags of then: what has not changed costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from curate.errors import ItemError
from curate.mine.github.client import Client
from curate.mine.github.facts import moment, shared
from curate.mine.github.limits import Answer
from curate.mine.github.session import Settings, client_of
from curate.records import Etag, Repository, Row
from curate.work import Context, Done

__all__ = ["Settings", "look_up", "work"]

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def work(rows: Iterable[Mapping[str, Any]], context: Context) -> Done:
    """Look repositories up: yield (item_id, [Repository]) or (item_id, ItemError).

    A row has full_name, repository_id (None: asked by name), ref (None: the default branch), roots (whether to ask for
    the oldest commit), known (the row of an earlier run, or None) and again (whether a later run is to ask again after
    any failure).
    """
    client = client_of(context)
    for row in rows:
        known = Repository.model_validate(row["known"]) if row.get("known") else None
        try:
            name, number = row["full_name"], row.get("repository_id")
            found: list[Row] = [look_up(client, name, number, row.get("ref"), known, roots=bool(row.get("roots")))]
        except ItemError as error:
            again = error.transient or bool(row.get("again"))
            yield row["item_id"], ItemError(error.reason, error.detail, transient=again)
        else:
            yield row["item_id"], found


def look_up(
    client: Client,
    name: str,
    number: int | None = None,
    ref: str | None = None,
    known: Repository | None = None,
    *,
    roots: bool = False,
) -> Repository:
    """Return a repository by its number, or by OWNER/NAME, at a branch, tag or commit; raises ItemError."""
    etags = {etag.path: etag.etag for etag in known.etags} if known else {}
    fresh: dict[str, str] = {}

    def get(path: str) -> Answer:
        answer = client.get(path, etag=etags.get(path))
        fresh[path] = answer.headers.get("etag") or etags.get(path, "")
        return answer

    answer = get(f"/repositories/{number}" if number is not None else f"/repos/{name}")
    if answer.status == 304 and known is not None:
        facts = known.model_dump(include=_SAID)
        branch = known.ref if ref is None else ref
    else:
        facts, branch = _facts(client, answer.json())
        if known and (known.host, known.repository_id) != (facts["host"], facts["repository_id"]):
            known = None  # another repository has taken over the name
        branch = branch if ref is None else ref
    place = f"/repositories/{facts['repository_id']}/commits"
    revision, committed_at = _commit(get, place, branch, known)
    root = known.root_commit if known and known.root_commit else (_root(client, place, revision) if roots else None)
    return Repository(
        **facts,
        former_names=_former(facts["full_name"], name, known),
        ref=branch,
        revision=revision,
        committed_at=committed_at,
        root_commit=root,
        etags=[Etag(path=path, etag=etag) for path, etag in sorted(fresh.items()) if etag],
    )


_SAID = {
    "host", "repository_id", "full_name", "url", "fork_of", "fork_of_id", "template", "stars", "archived",
    "private", "size_kb", "language", "topics", "license", "created_at", "pushed_at",
}  # fmt: skip
"""Columns of `Repository` that stand in the answer about it."""


def _facts(client: Client, found: Any) -> tuple[dict[str, Any], str]:
    """Return the facts of an answer about one repository, and its default branch."""
    if not isinstance(found, dict):
        raise ItemError("bad_answer", "not a repository", transient=True)
    origin, template = (
        one if isinstance(one, dict) else {}
        for one in (found.get("source") or found.get("parent"), found.get("template_repository"))
    )
    facts = shared(found)
    facts |= {
        "host": client.address.host,
        "url": f"{client.address.web}/{facts['full_name']}",
        "fork_of": origin.get("full_name"),
        "fork_of_id": origin.get("id"),
        "template": template.get("full_name"),
    }
    return facts, str(found.get("default_branch") or "HEAD")


def _commit(get: Any, place: str, ref: str, known: Repository | None) -> tuple[str, Any]:
    if COMMIT.fullmatch(ref.lower()):
        same = known is not None and known.revision == ref.lower()
        return ref.lower(), known.committed_at if same and known else None
    try:
        answer = get(f"{place}/{quote(ref, safe='/')}")
    except ItemError as error:
        if error.reason in {"not_found", "refused"}:
            raise ItemError("ref_not_found", f"no branch, tag or commit {ref}: {error.detail}") from None
        raise
    if answer.status == 304 and known is not None:
        return known.revision, known.committed_at
    found = answer.json()
    try:
        if not COMMIT.fullmatch(found["sha"]):
            raise ValueError(found["sha"])
        return str(found["sha"]), moment(found["commit"]["committer"]["date"])
    except (KeyError, TypeError, ValueError):
        raise ItemError("bad_answer", f"commit {ref} lacks its hash or its date", transient=True) from None


def _root(client: Client, place: str, revision: str) -> str | None:
    """Return the oldest commit behind a revision: the only one of the last page when pages hold one commit."""
    asked = {"sha": revision, "per_page": 1}
    answer = client.get(place, asked)
    last = re.search(r'<[^>]*[?&]page=(\d+)[^>]*>;\s*rel="last"', answer.headers.get("link", ""))
    if last:
        answer = client.get(place, {**asked, "page": int(last[1])})
    try:
        commits: Sequence[Any] = answer.json()
        return str(commits[-1]["sha"]) if commits else None
    except (KeyError, TypeError):
        raise ItemError("bad_answer", "the list of commits lacks hashes", transient=True) from None


def _former(full_name: str, asked: str, known: Repository | None) -> list[str]:
    names = {asked} | ({*known.former_names, known.full_name} if known else set())
    return sorted(name for name in names if name.lower() != full_name.lower())
