"""The stage `search`: one span of one query, asked until everything is there or known to be missing.

A search over many hits is not stable: pages are answered one after the other while repositories gain stars, and under
load GitHub leaves some out (`incomplete_results`). So every page's flag is looked at, the number of different
repositories is compared with the total, and a span that falls short is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from curate.errors import ItemError
from curate.mine.github.client import Client
from curate.mine.github.facts import shared
from curate.mine.github.queries import CAP, Span
from curate.mine.github.session import Settings, client_of
from curate.records import Failure, Hit, Row, Search
from curate.work import Context, Done

__all__ = ["Settings", "work"]

PAGE = 100
"""As many hits as a page may have."""
ROUNDS = 4
"""How often a span is asked before it counts as incomplete."""


def work(rows: Iterable[Mapping[str, Any]], context: Context) -> Done:
    """Ask for spans: yield (item_id, [Search, Hit...]) or (item_id, ItemError)."""
    client = client_of(context)
    for row in rows:
        span = Span(row["created_from"], row["created_to"])
        try:
            yield row["item_id"], _ask(client, row["query"], span)
        except ItemError as error:
            yield row["item_id"], error


def _ask(client: Client, query: str, span: Span) -> list[Row]:
    hits: dict[int, Hit] = {}
    total = 0
    for _ in range(ROUNDS):
        total, sure = _pages(client, query, span, hits)
        if total > CAP and span.divisible:
            return [_row(query, span, "split", total)]
        if sure and len(hits) >= min(total, CAP):
            break
    else:
        if total > PAGE and span.divisible:  # a smaller question may be answered in time
            return [_row(query, span, "split", total)]
    short = total > len(hits) or not sure
    found: list[Row] = [hits[number] for number in sorted(hits)]
    if short:
        found.append(_missing(query, span, total, len(hits)))
    return [_row(query, span, "incomplete" if short else "complete", total, len(hits)), *found]


def _pages(client: Client, query: str, span: Span, hits: dict[int, Hit]) -> tuple[int, bool]:
    """Ask for every page, adding to `hits`; return the total, and whether GitHub was sure of every page."""
    sure, page, total = True, 1, 0
    while page == 1 or (page - 1) * PAGE < min(total, CAP):
        asked = {"q": f"{query} {span.qualifier()}".strip(), "per_page": PAGE, "page": page}
        answer = client.get("/search/repositories", asked).json()
        try:
            total, items = int(answer["total_count"]), list(answer["items"])
            sure = sure and not answer["incomplete_results"]
        except (KeyError, TypeError, ValueError):
            raise ItemError("bad_answer", f"{query}: the answer lacks hits", transient=True) from None
        if total > CAP and span.divisible:
            break
        for item in items:
            hit = _hit(client, query, item)
            hits[hit.repository_id] = hit
        page += 1
    return total, sure


def _hit(client: Client, query: str, item: Mapping[str, Any]) -> Hit:
    facts = shared(item)
    return Hit(
        query=query,
        host=client.address.host,
        fork=bool(item.get("fork")),
        is_template=bool(item.get("is_template")),
        **facts,
    )


def _row(query: str, span: Span, status: Any, total: int, found: int = 0) -> Search:
    return Search(query=query, created_from=span.start, created_to=span.end, status=status, total=total, found=found)


def _missing(query: str, span: Span, total: int, found: int) -> Failure:
    return Failure(
        stage="search",
        item_id=f"{query} {span.qualifier()}",
        subject=f"{query} {span.qualifier()}",
        reason="incomplete_search",
        detail=f"GitHub handed out {found} of {total} repositories in {ROUNDS} attempts; the next run asks again",
    )
