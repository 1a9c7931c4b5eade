"""What the API answers to whom, but for limits and failures."""

from __future__ import annotations

import random
import re
import threading
from collections import OrderedDict
from email.utils import formatdate
from typing import Any
from urllib.parse import unquote, urlencode

from tests.github_double import answers
from tests.github_double.answers import Site
from tests.github_double.queries import MalformedError, search
from tests.github_double.repository import Repository
from tests.github_double.world import World

CAP = 1000
MOST_CACHED = 50
REPOSITORY = re.compile(r"/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(?:/(commits|license|topics)(?:/(.+))?)?")
SHA_ONLY = "application/vnd.github.sha"
Reply = tuple[int, Any, dict[str, str]]
"""Status, body (JSON, or bytes as they are) and headers."""


class Routes:
    """Answers from a world. `drift`: share of search pages after which a hit slips over to the next page."""

    def __init__(self, world: World, *, drift: float = 0.0, seed: int = 0) -> None:
        self.world, self.drift = world, drift
        self.draw = random.Random(seed)
        self.lock = threading.Lock()
        self.found: OrderedDict[tuple[int, str, str, str, bool], list[Repository]] = OrderedDict()

    def answer(self, site: Site, path: str, query: dict[str, str], *, private: bool, accept: str = "") -> Reply:  # noqa: PLR0911
        """Answer a request; `private`: whether private repositories may be seen."""
        if path == "/search/repositories":
            return self._search(site, query, private=private)
        if path == "/user":
            who = {**answers.owner("user", site), "type": "User", "id": 1}
            return (200, who, {}) if private else (401, answers.error("Requires authentication", 401, "/users"), {})
        if path in {"", "/"}:
            return 200, {"repository_url": f"{site.api}/repos/{{owner}}/{{repo}}", "user_url": f"{site.api}/user"}, {}
        found = REPOSITORY.fullmatch(path)
        if found is None:
            return _not_found()
        name, number, part, ref = found.groups()
        with self.world.lock:
            one = self.world.named(unquote(name)) if name else self.world.by_id.get(int(number))
        if one is None or one.state == "gone" or (one.private and not private):
            return _not_found()
        if one.state == "blocked":
            return _blocked(one)
        if name and unquote(name).lower() != one.full_name.lower():
            return _moved(f"{site.api}/repositories/{one.id}" + path[found.end(1) :], query)
        return self._of_repository(site, one, part, unquote(ref) if ref else None, query, accept)

    def _of_repository(  # noqa: PLR0911 one line an answer
        self, site: Site, one: Repository, part: str | None, ref: str | None, query: dict[str, str], accept: str
    ) -> Reply:
        if part is None:
            said = answers.repository(self.world, one, site, whole=True)
            return 200, said, {"Last-Modified": formatdate(one.updated.timestamp(), usegmt=True)}
        if part == "topics":
            return 200, {"names": list(one.topics)}, {}
        if part == "license":
            file = None if one.state == "empty" else answers.license_file(one, site)
            return (200, file, {}) if file else _not_found()
        if one.state == "empty":
            return 409, answers.error("Git Repository is empty.", 409, "/commits/commits#list-commits"), {}
        if ref is not None:
            return _commit(site, one, ref, accept)
        start = one.resolve(query.get("sha") or "HEAD")
        if start is None:
            return _not_found()
        history = one.history(start)
        page, size = _page(query)
        address = f"{site.api}/repositories/{one.id}/commits"
        listed = [answers.commit(commit, site, one.full_name) for commit in history[(page - 1) * size : page * size]]
        return 200, listed, answers.links(address, query, page, -(-len(history) // size))

    # --- search

    def _search(self, site: Site, query: dict[str, str], *, private: bool) -> Reply:
        if not query.get("q", "").strip():
            return _invalid({"resource": "Search", "field": "q", "code": "missing"})
        page, size = _page(query)
        if (page - 1) * size >= CAP:
            # The page that starts past the cap; one that only reaches past it is served as far as there are hits.
            return 422, answers.error("Only the first 1000 search results are available", 422, "/search"), {}
        try:
            hits = self._hits(query, private=private)
        except MalformedError as error:
            return _invalid({"message": str(error), "resource": "Search", "field": "q", "code": "invalid"})
        with self.lock:
            total, part = len(hits), hits[:CAP][(page - 1) * size : page * size]
            if self.drift and page * size < total and self.draw.random() < self.drift:
                _slip(hits, page * size)
        items = [answers.repository(self.world, one, site, whole=False) for one in part]
        said = {"total_count": total, "incomplete_results": False, "items": items}
        last = max(1, -(-min(total, CAP) // size))
        return 200, said, answers.links(f"{site.api}/search/repositories", query, page, last)

    def _hits(self, query: dict[str, str], *, private: bool) -> list[Repository]:
        sort, order = query.get("sort", ""), query.get("order", "desc")
        key = (self.world.age, query["q"], sort, order, private)
        with self.lock:
            hits = self.found.get(key)
        if hits is None:
            hits = search(self.world, query["q"], sort, order, private=private)
            with self.lock:
                hits = self.found.setdefault(key, hits)
                while len(self.found) > MOST_CACHED:
                    self.found.popitem(last=False)
        return hits


def _slip(hits: list[Repository], border: int) -> None:
    """Let the first hit of the next page gain stars and rise to this page, which was read already."""
    hits[border].stars = max(hits[border].stars, hits[border - 1].stars + 1)
    hits[border - 1], hits[border] = hits[border], hits[border - 1]


def _commit(site: Site, one: Repository, ref: str, accept: str) -> Reply:
    sha = one.resolve(ref)
    history = one.history(sha) if sha else []
    if not history:
        return 422, answers.error(f"No commit found for SHA: {ref}", 422, "/commits/commits#get-a-commit"), {}
    if SHA_ONLY in accept:
        return 200, history[0].sha.encode(), {"Content-Type": f"{SHA_ONLY}; charset=utf-8"}
    return 200, answers.commit(history[0], site, one.full_name), {}


def _page(query: dict[str, str]) -> tuple[int, int]:
    """Return which page, and of what size; GitHub takes what makes no sense for the default."""
    page, size = (int(text) if (text := query.get(name, "")).isdecimal() else 0 for name in ("page", "per_page"))
    return page or 1, min(size or 30, 100)


def _not_found() -> Reply:
    return 404, answers.error("Not Found", 404, "/repos/repos#get-a-repository"), {}


def _moved(place: str, query: dict[str, str]) -> Reply:
    place += f"?{urlencode(query)}" if query else ""
    said = {"message": "Moved Permanently", "url": place}
    more = "/guides/best-practices-for-using-the-rest-api#follow-redirects"
    return 301, {**said, "documentation_url": f"{answers.DOCS}{more}"}, {"Location": place}


def _blocked(one: Repository) -> Reply:
    notice = f"https://github.com/github/dmca/blob/master/2024/01/{one.name}.md"
    block = {"reason": "dmca", "created_at": "2024-01-01T00:00:00Z", "html_url": notice}
    return 451, {"message": "Repository access blocked", "block": block}, {}


def _invalid(error: dict[str, str]) -> Reply:
    said = answers.error("Validation Failed", 422, "/search/search#search-repositories", errors=[error])
    return 422, said, {}
