"""A store as the stages would have filled it: two projects, every reason to leave, hand-made rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from curate.pipeline import stage_version
from curate.records import (
    Appearance,
    Cluster,
    Corpus,
    Environment,
    Function,
    Label,
    License,
    Link,
    Match,
    Record,
    Row,
    Run,
    Snapshot,
    Test,
    Verdict,
    Work,
)
from curate.stages import BY_NAME
from curate.store import Store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def function(name: str, snapshot: str = "s1", **other: Any) -> Function:
    source = other.pop(
        "source", f'def {name}(x):\n    """Return {name} of x, a number."""\n    return x + len("{name}")\n'
    )
    facts: dict[str, Any] = {
        "function_id": f"f-{name}",
        "snapshot_id": snapshot,
        "path": "lib/core.py",
        "module": "lib.core",
        "qualname": name,
        "kind": "function",
        "cell": None,
        "first_line": 3,
        "last_line": 5,
        "start_byte": 10,
        "end_byte": 90,
        "body_byte": 60,
        "signature": f"def {name}(x)",
        "docstring": f"Return {name} of x, a number.",
        "sections": [],
        "source": source,
        "normalised": source,
        "normalised_sha256": name,
        "context": "import math",
        "decorators": [],
        "arguments": ["x"],
        "imports": [],
        "calls": ["len"],
        "bases": [],
        "is_async": False,
        "is_nested": False,
        "in_tests": False,
        "is_stub": False,
        "cyclomatic_complexity": 1,
        "lines": 3,
        "tokens": 12,
    }
    return Function.model_validate(facts | other)


def snapshot(snapshot_id: str, name: str, **other: Any) -> Snapshot:
    facts: dict[str, Any] = {
        "snapshot_id": snapshot_id,
        "source": "pypi",
        "name": name,
        "url": f"https://example.org/{name}-1.0.tar.gz",
        "revision": "1.0",
        "sha256": "ab" * 32,
        "committed_at": NOON,
        "license_expression": "MIT",
        "license_path": "LICENSE",
        "license_from": "text",
        "requires_python": None,
        "files": 2,
        "bytes": 200,
    }
    return Snapshot.model_validate(facts | other)


def verdict(name: str, outcome: str = "verified", **other: Any) -> Verdict:
    facts: dict[str, Any] = {
        "function_id": f"f-{name}",
        "outcome": outcome,
        "reason": f"because of {outcome}",
        "detail": "",
        "runs": 3,
        "tests": 2,
        "tests_failing_on_stub": 1,
        "mutants": 0,
        "mutants_killed": 0,
        "environment_id": "e1",
        "sandbox": "bubblewrap",
    }
    return Verdict.model_validate(facts | other)


def licence(snapshot_id: str, path: str, expression: str) -> License:
    where = f"{path}/LICENSE" if path else "LICENSE"
    return License(
        snapshot_id=snapshot_id,
        path=path,
        expression=expression,
        read_from=where,
        how="text",
        text=f"The {expression} licence.\nCopyright A. Uthor of {snapshot_id}.\n",
        score=1.0,
        decides=True,
        reason="",
    )


def appearance(name: str, first: datetime, body: datetime, **other: Any) -> Appearance:
    facts: dict[str, Any] = {
        "function_id": f"f-{name}",
        "first_seen_at": first,
        "first_seen_commit": "c1",
        "first_seen_path": "lib/old.py",
        "body_seen_at": body,
        "body_seen_commit": "c2",
        "changed_at": body,
        "changed_commit": "c2",
        "complete": True,
        "how": "by hand",
    }
    return Appearance.model_validate(facts | other)


def label(name: str, axis: str, value: str, labeller: str = "rules", confidence: float = 0.7) -> Label:
    return Label(
        function_id=f"f-{name}", axis=axis, value=value, labeller=labeller, confidence=confidence, evidence="a signal"
    )


def cluster(name: str, relation: str = "representative", representative: str | None = None) -> Cluster:
    of = f"f-{representative or name}"
    facts = {
        "function_id": f"f-{name}",
        "cluster_id": of,
        "representative_id": of,
        "relation": relation,
        "similarity": 1,
    }
    return Cluster.model_validate(facts)


GOOD = '@cached\ndef good(x):\n    """Return good of x, a number."""\n    return "é€\U0001f600"\n'
FUNCTIONS = [
    function("good", source=GOOD, decorators=["cached"]),
    function("other", "s2", path="pkg/other.py"),
    function("silent", docstring=None),
    function("test_it", in_tests=True),
    function("alone"),
    function("copy"),
    function("leaked"),
    function("huge", lines=900),
    function("gpl", "s3"),
    function("vendored", path="lib/vendored/deep/code.py"),
]  # fmt: skip


def fill(store: Store) -> None:
    """Fill a store through its front door, each stage's rows as one run of it."""
    licenses = [
        licence("s1", "", "MIT"),
        licence("s1", "lib/vendored", "MIT"),
        licence("s1", "lib/vendored/deep", "GPL-3.0-only"),
        licence("s2", "", "MIT"),
        licence("s3", "", "GPL-3.0-only"),
    ]
    snapshots = [
        snapshot("s1", "lib"),
        snapshot("s2", "pkg"),
        snapshot("s3", "free", license_expression="GPL-3.0-only"),
    ]
    proven = [Link(function_id=f.function_id, test_id="t1", how="proven") for f in FUNCTIONS if not f.in_tests]
    test = Test(
        test_id="t1",
        snapshot_id="s1",
        path="tests/test_core.py",
        qualname="test_core",
        node_id="tests/test_core.py::test_core",
        framework="pytest",
        first_line=1,
        last_line=3,
        source="def test_core():\n    assert good(1)\n",
        found_by="static",
    )
    environment = Environment(
        environment_id="e1",
        snapshot_id="s1",
        python="3.11.7",
        requirements=["pytest"],
        requirements_from=["tests"],
        lock="pytest==9.0\n",
        resolved_as_of=NOON,
        steps=[],
        project="source",
    )
    verdicts = [verdict(f.qualname) for f in FUNCTIONS if f.qualname not in {"test_it", "silent", "alone"}]
    labels = [
        *[label(f.qualname, "phase", "training") for f in FUNCTIONS],
        *[label(f.qualname, "task", "general", confidence=0.5) for f in FUNCTIONS],
        label("good", "phase", "inference", "human:ada", 1.0),
    ]
    corpus = Corpus(corpus="c", revision="1", origin="a file", status="checked", items=9, reason="")
    missed = Corpus(corpus="far", revision="2", origin="hub", status="not_checked", items=0, reason="no network")
    per_stage: dict[str, list[Row]] = {
        "mine": [*snapshots, *licenses],
        "extract": [*FUNCTIONS, test],
        "date": [
            appearance("good", NOON - timedelta(days=30), NOON - timedelta(days=40)),
            appearance("other", NOON - timedelta(days=20), NOON, complete=False),
        ],
        "install": [environment],
        "trace": [],
        "prove": [*verdicts, verdict("alone", "no_tests"), *proven],
        "label": list(labels),
        "dedupe": [*(cluster(f.qualname) for f in FUNCTIONS if f.qualname != "copy"), cluster("copy", "near", "good")],
        "contamination": [
            corpus,
            missed,
            Match(function_id="f-leaked", corpus="c", item_id="c/7", part="code", relation="exact", overlap=1.0),
        ],
    }
    for hour, (stage, rows) in enumerate(per_stage.items()):
        store_stage(store, stage, rows, hour)


def store_stage(store: Store, stage: str, rows: list[Row], hour: int) -> None:
    settings = BY_NAME[stage].load().Settings()
    version = stage_version(BY_NAME[stage], settings)
    at = NOON + timedelta(hours=hour)
    run_id = f"r{hour}"
    tables: dict[str, list[Record]] = {"work": [], "runs": []}
    items = [f.function_id for f in FUNCTIONS] if stage == "contamination" else ["everything"]
    for row in rows:
        stored = row.model_copy(update={"run_id": run_id, "work_item": items[0]})
        tables.setdefault(row.table, []).append(stored)
    for item in items:
        tables["work"].append(
            Work(run_id=run_id, stage=stage, version=version, item_id=item, status="done", done_at=at)
        )
    for ended in (None, at):
        tables["runs"].append(
            Run(
                run_id=run_id,
                stage=stage,
                version=version,
                settings=settings.model_dump_json(),
                started_at=at,
                ended_at=ended,
                items=1,
                status="done" if ended else "started",
                curate="0",
            )
        )
    store.append(tables)


def workspace(folder: Path) -> Path:
    """Lay out the folders of a workspace."""
    for part in ("sources", "schema", "releases"):
        (folder / part).mkdir(parents=True)
    return folder
