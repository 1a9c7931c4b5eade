"""The stage `search`: one span of one query, asked until everything is there or known to be missing.

A search over many hits is not stable: pages are answered one after the other while repositories gain stars, and under
load GitHub leaves some out (`incomplete_results`). So every page's flag is looked at, the number of different
repositories is compared with the total, and a span that falls short is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
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
SHORTEST = timedelta(days=30)
"""Spans are not cut below this when only GitHub's patience is at issue: it may never be sure."""
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
        total, found_now, sure = _pages(client, query, span, hits)
        if total > CAP and span.divisible:
            return [_row(client, query, span, "split", total)]
        # Hits of earlier rounds do not count: they may be others than those that are missing now.
        short = found_now < total or not sure
        if not short or (sure and found_now >= CAP):
            break
    else:
        if span.end - span.start > SHORTEST and (total > PAGE or not sure):
            return [_row(client, query, span, "split", total)]  # a smaller question may be answered in time
    found: list[Row] = [hits[number] for number in sorted(hits)]
    if short:
        found.append(_missing(query, span, total, len(hits)))
    return [_row(client, query, span, "incomplete" if short else "complete", total, len(hits)), *found]


def _pages(client: Client, query: str, span: Span, hits: dict[int, Hit]) -> tuple[int, int, bool]:
    """Ask for every page, adding to `hits`; return the largest total, how many were found, and whether all is sound.

    That is: GitHub was sure of every page, and every hit could be read.
    """
    sure, page, total = True, 1, 0
    seen: set[int] = set()
    while page == 1 or (page - 1) * PAGE < min(total, CAP):
        asked = {"q": f"{query} {span.qualifier()}".strip(), "per_page": PAGE, "page": page}
        answer = client.get("/search/repositories", asked).json()
        try:
            total, items = max(total, int(answer["total_count"])), list(answer["items"])
            sure = sure and not answer["incomplete_results"]
        except (KeyError, TypeError, ValueError):
            raise ItemError("bad_answer", f"{query}: the answer lacks hits", transient=True) from None
        if total > CAP and span.divisible:
            break
        for item in items:
            try:
                hit = _hit(client, query, item)
            except ItemError:
                sure = False  # one that cannot be read is missing, and costs no other
                continue
            if span.start <= hit.created_at <= span.end:
                hits[hit.repository_id] = hit
                seen.add(hit.repository_id)
        page += 1
    return total, len(seen), sure


def _hit(client: Client, query: str, item: Mapping[str, Any]) -> Hit:
    facts = shared(item)
    return Hit(
        query=query,
        host=client.address.host,
        fork=bool(item.get("fork")),
        is_template=bool(item.get("is_template")),
        **facts,
    )


def _row(client: Client, query: str, span: Span, status: Any, total: int, found: int = 0) -> Search:
    return Search(
        host=client.address.host,
        query=query,
        created_from=span.start,
        created_to=span.end,
        status=status,
        total=total,
        found=found,
    )


def _missing(query: str, span: Span, total: int, found: int) -> Failure:
    return Failure(
        stage="search",
        item_id=f"{query} {span.qualifier()}",
        subject=f"{query} {span.qualifier()}",
        reason="incomplete_search",
        detail=f"GitHub handed out {found} of {total} repositories in {ROUNDS} attempts; the next run asks again",
    )
