"""Release: from verified rows to a versioned data set.

select.py    which functions become problems (the pipeline's stage): gates.py, splits.py
assemble     the problems of a selection, read from the store
build.py     the folder: Parquet, card.py, changelog.py, lock, checksums
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curate.recipe import Recipe
    from curate.release.build import Content
    from curate.store import Store, View


def assemble(store: Store, view: View, name: str, version: str, recipe: Recipe) -> Content:
    """Return the content of a release whose functions have been selected; raises UserError when none were."""
    from curate.errors import UserError
    from curate.release.build import Content, group, to_problem
    from curate.release.funnel import funnel
    from curate.release.select import best_labels
    from curate.store import sql_text

    rows = store.rows(sql_text("release/problems.sql"), view, release=name, version=version)
    labels = best_labels(store.rows(sql_text("release/labels.sql"), view), recipe.precedence)
    corpora = store.rows("SELECT * FROM current_corpora ORDER BY corpus", view)
    snapshots = store.rows("SELECT * FROM current_snapshots ORDER BY name, revision", view)
    licenses = store.rows(sql_text("release/licenses.sql"), view, release=name, version=version)
    environments = store.rows(sql_text("release/environments.sql"), view)
    refusals: list[tuple[Any, str]] = [
        (row["gate"], row["reason_class"])
        for row in store.rows("SELECT gate, reason_class FROM current_selections", view)
    ]
    missing = {row["reason"]: row["count"] for row in store.rows(sql_text("sql/missing.sql"), view)}
    steps = funnel(len(snapshots), refusals, missing)
    if not rows:
        reasons = ", ".join(f"{reason} {count}" for step in steps for reason, count in step.left.items())
        raise UserError(
            f"no problem passed the gates of {name}, so there is nothing to release ({reasons or 'no functions'})"
        )
    problems = group(
        (row["split"], to_problem(row, version, labels.get(row["function_id"], []), corpora)) for row in rows
    )
    used = {problem.environment for part in problems.values() for problem in part}
    return Content(
        name=name,
        version=version,
        recipe=recipe,
        problems=problems,
        funnel=steps,
        snapshots=snapshots,
        corpora=corpora,
        environments={row["environment_id"]: row for row in environments if row["environment_id"] in used},
        licenses=licenses,
        stages=view.versions,
    )
