"""The data set's card: YAML that `datasets` loads by, and the text that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curate import derive
from curate.records import Evidence, Problem
from curate.release.funnel import as_text

if TYPE_CHECKING:
    from curate.release.build import Content

HUB_LICENSES = {
    "MIT": "mit",
    "Apache-2.0": "apache-2.0",
    "BSD-3-Clause": "bsd-3-clause",
    "BSD-2-Clause": "bsd-2-clause",
}


def card(content: Content, folder: Path) -> str:
    """Return README.md for a release whose Parquet files lie in `folder`."""
    rows = [problem for part in content.problems.values() for problem in part]
    head = _yaml(content, folder, rows)
    sections = [
        f"# {content.recipe.title}",
        content.recipe.description.strip(),
        _loading(content),
        _figures(content, rows),
        _made(content),
        _projects(content, rows),
        "## Fields\n\n" + derive.column_table(Problem) + "\n`evidence`:\n\n" + derive.column_table(Evidence),
        _limits(content),
    ]
    return f"---\n{head}\n---\n\n" + "\n\n".join(part.strip() for part in sections if part.strip()) + "\n"


def _yaml(content: Content, folder: Path, rows: Sequence[Problem]) -> str:
    from datasets import DatasetInfo
    from datasets.splits import SplitDict, SplitInfo
    from huggingface_hub import DatasetCardData

    splits, memory = SplitDict(), 0
    for name, part in content.problems.items():
        size = derive.arrow_table(Problem, part).nbytes
        splits.add(SplitInfo(name, size, len(part)))
        memory += size
    download = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    info = DatasetInfo(
        features=derive.features(Problem),
        splits=splits,
        download_size=download,
        dataset_size=memory,
        config_name="function",
    )
    files = [{"split": name, "path": f"data/function/{name}-*.parquet"} for name in content.problems]
    data = DatasetCardData(
        language=["en", "code"],
        license=hub_license({problem.license for problem in rows}),
        pretty_name=content.recipe.title,
        size_categories=[_size(len(rows))],
        tags=["code", "code-generation", "benchmark", "deep-learning"],
        task_categories=["text-generation"],
        configs=[{"config_name": "function", "data_files": files, "default": True}],
        dataset_info=info._to_yaml_dict(),
    )
    return str(data.to_yaml(line_break="\n"))


def hub_license(expressions: set[str]) -> str:
    """Return the Hub's identifier when all problems have one licence that the Hub names, else `other`."""
    if len(expressions) == 1:
        return HUB_LICENSES.get(next(iter(expressions)), "other")
    return "other"


def _size(count: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if count < limit:
            return name
    return "100K<n<1M"


def loading(place: str, split: str) -> str:
    """Return the three lines of Python that load a split from `place`."""
    return (
        "from datasets import load_dataset\n"
        f'problems = load_dataset("{place}", "function", split="{split}")\n'
        'print(problems[0]["prompt"])'
    )


def _loading(content: Content) -> str:
    split = next(iter(content.problems))
    lines = loading(f"releases/{content.name}/{content.version}", split)
    return f"## Loading\n\n```python\n{lines}\n```\n\nThe path is this folder; on the Hub, the data set's id."


def _figures(content: Content, rows: Sequence[Problem]) -> str:
    parts = ["## Figures", f"```text\n{as_text(content.funnel)}\n```"]
    parts += [_counts("split", Counter({split: len(part) for split, part in content.problems.items()}))]
    for axis in sorted({label.axis for problem in rows for label in problem.labels}):
        found = Counter(label.value for problem in rows for label in problem.labels if label.axis == axis)
        parts.append(_counts(axis, found))
    return "\n\n".join(parts)


def _counts(name: str, counts: Counter[str]) -> str:
    return _table([name, "problems"], sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _made(content: Content) -> str:
    checked = [row for row in content.corpora if row["status"] == "checked"]
    missed = [row for row in content.corpora if row["status"] != "checked"]
    lines = [
        "## How it was made",
        "Every function with a docstring of the projects below was a candidate. A problem is a candidate whose tests "
        "pass on the reference, in each of several runs, and of which at least one fails when the body is replaced by "
        "a `raise`; all ran in a sandbox without network. Duplicates are represented by one function. "
        "`lock.json` holds every version and hash.",
        _environments(content),
        "Compared for contamination with:",
        _table(
            ["corpus", "origin", "revision", "items"],
            [(row["corpus"], row["origin"], row["revision"], row["items"]) for row in checked],
        )
        if checked
        else "no corpus.",
    ]
    if missed:
        lines += [
            "Not compared, because it could not be read when this was built:",
            _table(["corpus", "reason"], [(row["corpus"], row["reason"]) for row in missed]),
        ]
    return "\n\n".join(lines)


def _environments(content: Content) -> str:
    dated = {name: row["resolved_as_of"] for name, row in sorted(content.environments.items())}
    rows = [(name, f"{day:%Y-%m-%d}" if day else "newest when it was made") for name, day in dated.items()]
    return "The packages of the environments (`environments/ID.txt`) are those of:\n\n" + _table(["id", "date"], rows)


def _projects(content: Content, rows: Sequence[Problem]) -> str:
    counts = Counter((problem.project, problem.revision) for problem in rows)
    table = _table(
        ["project", "revision", "licence", "read from", "problems"],
        [
            (row["name"], row["revision"], row["license_expression"] or "none", row["license_path"] or "", count)
            for row in content.snapshots
            if (count := counts[row["name"], row["revision"]]) or row["license_expression"]
        ],
    )
    about = "Every problem remains under the licence that holds for its file (`license`); the texts are in `LICENSES/`."
    return f"## Projects and licences\n\n{about}\n\n{table}"


def _limits(content: Content) -> str:
    labellers = sorted({label.labeller for part in content.problems.values() for row in part for label in row.labels})
    lines = [
        "## Limits",
        f"Labels were given by: {', '.join(labellers) or 'nobody'}. A model may have seen the projects, which are "
        "public; the corpora above are those that were compared, no others.",
    ]
    if not any(problem.evidence.mutants for part in content.problems.values() for problem in part):
        lines.append(
            "No mutants were run: that a stub fails says that a test notices the function, not how much it checks."
        )
    return "\n\n".join(lines)


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
