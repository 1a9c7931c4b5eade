"""What people see: progress while it runs, a summary at the end; JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

import click


class Console:
    """Where commands report to: text for people, or one JSON object at the end."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.data: dict[str, Any] = {}
        self.bugs: list[str] = []

    def say(self, text: str) -> None:
        """Print text for people."""
        if not self.quiet and not self.as_json:
            click.echo(text)

    def stage(self, summary: Any) -> None:
        """Report what a run of a stage did."""
        self.bugs += summary.bugs
        plain = {**vars(summary), "written": dict(summary.written), "reasons": dict(summary.reasons)}
        self.data.setdefault("stages", []).append({**plain, "bugs": len(summary.bugs)})
        if summary.stage != "date" or summary.pending or summary.earlier:  # most have no history to be dated by
            self.say(stage_line(summary))

    def notice(self, text: str) -> None:
        """Say on standard error why nothing happens for a while."""
        if not self.quiet:
            click.echo(f"curate: {text}", err=True)

    def put(self, **facts: Any) -> None:
        """Add facts to the JSON object."""
        self.data.update(facts)

    def finish(self) -> None:
        """Print the JSON object, when one is wanted."""
        if self.as_json:
            click.echo(json.dumps(self.data, indent=2, default=str, ensure_ascii=False))

    def progress(self, stage: str, total: int) -> Any:
        """Return a progress bar on standard error, or None where nobody looks."""
        if self.quiet or self.as_json or not sys.stderr.isatty():
            return None
        from tqdm import tqdm

        return tqdm(total=total, desc=stage, unit="", delay=2, leave=False, file=sys.stderr)


def stage_line(summary: Any) -> str:
    """Return the summary of a stage as text: in, out, reasons."""
    head = f"{summary.stage:<14}"
    before = f"{summary.earlier} done before" if summary.earlier else ""
    if summary.earlier_failed:
        before += f", {summary.earlier_failed} of them failed"
    if not summary.pending:
        return head + (f"nothing new ({before})" if before else "nothing to do")
    text = f"{head}{summary.pending} in, {summary.done} done"
    if summary.failed:
        text += f", {summary.failed} failed"
    written = {table: count for table, count in summary.written.items() if table not in {"failures", "runs"}}
    if written:
        text += " -> " + ", ".join(f"{count} {table.replace('_', ' ')}" for table, count in sorted(written.items()))
    text += f" ({summary.seconds:.1f} s" + (f"; {before})" if before else ")")
    for reason in sorted(summary.reasons, key=lambda reason: (-summary.reasons[reason], reason)):
        said = " ".join(summary.examples[reason].split())
        text += f"\n{'':<14}{reason} {summary.reasons[reason]}, such as {said[:200]}"
    return text
