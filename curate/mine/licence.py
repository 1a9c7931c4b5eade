"""Under which licence a project, its folders and its files are, with every place that says so.

For the project as a whole, its metadata and its licence files are read together. An expression of PEP 639 goes before
older fields and classifiers; a vague name (BSD) leaves it to the text of the licence file which one it is. Where exact
statements contradict each other, nobody can tell from the files which was meant, so all of them have to be allowed:
`MIT AND Apache-2.0`. That a text cannot say "or later" is no contradiction. Nothing found is None, never permissive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from curate.mine import licence_notices, licence_reuse, licence_texts
from curate.mine.licence_files import OF_OTHERS, LicenceFile, is_licence_file, read_file, text_of
from curate.mine.licence_names import PROPRIETARY, classified, family, joined, keys, named, normalise
from curate.mine.metadata import Stated
from curate.records import License

HEADER_BYTES = 4096
"""A licence stands at the top of a file."""
MAX_TEXT = 50_000
"""Characters of a text that are kept: the whole of every common licence."""


def read(root: Path, paths: Iterable[str], stated: Sequence[Stated], snapshot_id: str) -> list[License]:
    """Return everything in a project that says under which licence it, or a part of it, is; sorted by path."""
    reader = _Reader(root, sorted(paths), snapshot_id)
    found = [*reader.project(stated), *reader.folders(), *reader.headers()]
    return sorted(found, key=lambda row: (row.path, not row.decides))


def deciding(rows: Iterable[License]) -> License | None:
    """Return what counts for the project as a whole; None when nothing does."""
    return next((row for row in rows if row.decides and not row.path), None)


class _Reader:
    def __init__(self, root: Path, paths: Sequence[str], snapshot_id: str) -> None:
        self.root, self.paths, self.snapshot_id = root, paths, snapshot_id
        self.expression: str | None = None

    def project(self, stated: Sequence[Stated]) -> list[License]:
        named_there = {path for each in stated for path in self._license_files(each)}
        files = [read_file(self.root, path) for path in self.paths if _for_all(path) or path in named_there]
        if not any(file.bare for file in files):
            files += [read_file(self.root, path) for path in self.paths if re.fullmatch(r"LICENSES/[^/]+\.txt", path)]
        declared = [row for each in stated for row in self._declared(each)]
        declared.sort(key=lambda row: ("expression", "field", "classifier").index(row.how))
        rows = self._decide(declared, self._texts("", files), files, stated)
        self.expression = next((row.expression for row in rows if row.decides), None)
        return rows

    def folders(self) -> Iterator[License]:
        """Read the licence files of folders, which hold for all that is in them."""
        places: dict[str, list[str]] = {}
        for path in self.paths:
            folder = path.rpartition("/")[0]
            if folder and not _for_all(path) and is_licence_file(path) and not path.startswith("LICENSES/"):
                places.setdefault(folder, []).append(path)
        for folder, paths in places.items():
            files = [read_file(self.root, path) for path in paths]
            files = [file for file in files if file.text.strip() and not OF_OTHERS.search(file.name)]
            if ".dist-info" in folder:
                yield from self._installed(folder, files)
            elif files:
                yield from self._folder(folder, files)

    def headers(self) -> Iterator[License]:
        """Read what the files say at their top, and what REUSE says of them."""
        reuse = licence_reuse.read(self.root)
        for path in self.paths:
            if not path.endswith((".py", ".pyi")):
                continue
            text = licence_notices.top(text_of(self.root / path, HEADER_BYTES))
            notice = licence_notices.read(text) if text else None
            said = reuse.of(path)
            if notice and not (said and said.overrides):
                yield self._row(path, notice.expression, path, notice.how, text, score=notice.score, decides=True)
            elif said:
                yield self._row(path, normalise(said.expression), said.read_from, "reuse", said.text, decides=True)

    # --- parts of the above

    def _declared(self, each: Stated) -> Iterator[License]:
        if each.expression:
            line = f"{each.expression_field}: {each.expression}"
            yield self._row("", normalise(each.expression), each.path, "expression", line)
        if each.text and not (each.expression and each.text == each.expression and normalise(each.expression)):
            yield self._row("", _from_field(each.text), each.path, "field", f"{each.text_field}: {each.text}")
        if each.classifiers:
            yield self._row("", classified(each.classifiers), each.path, "classifier", "\n".join(each.classifiers))

    def _texts(self, path: str, files: Sequence[LicenceFile]) -> list[License]:
        """Return a row a licence file, and one that combines them; at most one decides."""
        rows = {file.path: self._file(path, file) for file in files}
        known = [file for file in files if file.found and (file.bare or not OF_OTHERS.search(file.name))]
        lesser = [file for file in known if len(file.found) == 1 and file.found[0].startswith("LGPL")]
        if lesser:  # The LGPL 3 comes with the GPL that it adds to.
            known = [file for file in known if not all(spdx.startswith("GPL") for spdx in file.found)]
        bare = [file for file in files if file.bare]
        ids = sorted({spdx for file in known for spdx in file.found})
        choice = next((file for file in bare if file.choice), None)
        if choice and len(ids) == 2:
            return [*rows.values(), self._combined(path, "OR", ids, choice.path, "it lets the reader choose")]
        those = [file for file in known if file.bare] or known
        exact = all(file.exact for file in those)
        if exact and len({file.found for file in those}) == 1:
            rows[those[0].path] = rows[those[0].path].model_copy(update={"decides": True})
        elif exact and those and not bare and len({file.path.rpartition("/")[0] for file in those}) == 1:
            names = " and ".join(file.path for file in those)
            return [*rows.values(), self._combined(path, "OR", ids, those[0].path, f"{names} are a choice")]
        return list(rows.values())

    def _decide(
        self, declared: list[License], texts: list[License], files: Sequence[LicenceFile], stated: Sequence[Stated]
    ) -> list[License]:
        text = next((row for row in texts if row.decides), None)
        exact = [row for row in declared if row.expression]
        if exact and exact[0].how == "expression":
            exact = exact[:1]
        rows = [*declared, *(row.model_copy(update={"decides": False}) for row in texts)]
        open_reason = ""
        if any(PROPRIETARY in each.classifiers for each in stated):
            open_reason = "its classifiers call it proprietary"  # whatever texts lie there, for its parts perhaps
        elif any(file.bare and file.restricted for file in files):
            open_reason = "its licence file adds conditions to the licence"
        elif text and not exact and not _may_be(text.expression, declared):
            open_reason = f"its metadata does not fit {text.read_from}, which is {text.expression}"
        if open_reason:
            return [row.model_copy(update={"reason": open_reason}) for row in rows]
        says = _apart([*exact, *([text] if text else [])])
        if len(says) > 1:
            reason = ", ".join(f"{row.read_from} ({row.how}) says {row.expression}" for row in says)
            together = [row.expression or "" for row in says]
            return [*rows, self._combined("", "AND", together, says[0].read_from, f"{reason}: all have to be allowed")]
        return [row.model_copy(update={"decides": True}) if says and _same(row, says[0]) else row for row in rows]

    def _folder(self, folder: str, files: Sequence[LicenceFile]) -> list[License]:
        rows = self._texts(folder, files)
        own = next((row for row in rows if row.decides), None)
        if own is None:
            return [rows[0].model_copy(update={"decides": True, "expression": None}), *rows[1:]]
        if any(file.bare for file in files) or self.expression is None or own.expression is None:
            return rows
        if _families(own.expression) <= _families(self.expression):
            return [row.model_copy(update={"decides": False}) for row in rows]
        # LICENSE_DOP lies there for some of the files, nobody knows which.
        both = self._combined(
            folder, "AND", [self.expression, own.expression], own.read_from, "it holds for some of the files"
        )
        return [*(row.model_copy(update={"decides": False}) for row in rows), both]

    def _installed(self, folder: str, files: Sequence[LicenceFile]) -> Iterator[License]:
        """Read the licence of a package that was installed into a folder of the project."""
        info = folder[: folder.index(".dist-info") + len(".dist-info")]
        place = info.rpartition("/")[0]
        inside = {path for path in self.paths if path.startswith(f"{place}/")}
        tops = {line.split(",")[0].split("/")[0] for line in text_of(self.root / info / "RECORD").splitlines()}
        tops |= set(text_of(self.root / info / "top_level.txt").split())
        for top in sorted(tops):
            scope = f"{place}/{top}"
            if top and not top.endswith(".dist-info") and ".." not in top:
                scope = f"{scope}.py" if f"{scope}.py" in inside else scope
                if files and (scope in inside or any(path.startswith(f"{scope}/") for path in inside)):
                    yield from self._folder(scope, files)

    def _license_files(self, each: Stated) -> set[str]:
        base = each.path.rpartition("/")[0]
        found = {path for pattern in each.files for path in self._glob(f"{base}/{pattern}" if base else pattern)}
        return {path for path in found if not path.endswith((".py", ".pyi"))}

    def _glob(self, pattern: str) -> list[str]:
        matches = licence_reuse.glob(pattern)
        return [path for path in self.paths if matches.fullmatch(path)]

    def _file(self, path: str, file: LicenceFile) -> License:
        several = f"it holds several texts: {', '.join(file.found)}" if len(file.found) > 1 else ""
        expression = file.found[0] if file.exact else None
        return self._row(path, expression, file.path, file.how, file.text, score=file.score, reason=several)

    def _combined(self, path: str, operator: str, expressions: list[str], read_from: str, reason: str) -> License:
        expression = joined(operator, expressions)
        text = text_of(self.root / read_from)
        return self._row(path, expression, read_from, "combined", text, decides=True, reason=reason)

    def _row(
        self, path: str, expression: str | None, read_from: str, how: str, text: str,
        *, score: float = 1.0, decides: bool = False, reason: str = "",
    ) -> License:  # fmt: skip
        facts: Mapping[str, object] = {
            "snapshot_id": self.snapshot_id,
            "path": path,
            "expression": expression,
            "read_from": read_from,
            "how": how,
            "text": text.replace("\r\n", "\n").replace("\r", "\n")[:MAX_TEXT],
            "score": score if expression else 0.0,
            "decides": decides,
            "reason": reason,
        }
        return License.model_validate(facts)


def _for_all(path: str) -> bool:
    """Say whether it is a licence file of the project itself: at its top, or in the metadata of its wheel."""
    return is_licence_file(path) and ("/" not in path or re.match(r"[^/]+\.dist-info/", path) is not None)


def _from_field(text: str) -> str | None:
    """Read a free-form field: a name in one line, or a whole text."""
    if "\n" not in text.strip():
        return named(text.strip())
    found = licence_texts.recognise(text)
    return found[0].spdx if len(found) == 1 else None


def _may_be(expression: str | None, declared: Iterable[License]) -> bool:
    """Say whether a text fits what the metadata leaves open: one of several, or a name such as BSD."""
    starts: set[str] = set()
    for row in declared:
        lines = row.text.splitlines() if row.how == "classifier" else [row.text]
        names = [re.split(r" :: |: ", line)[-1] for line in lines]
        starts |= {start for name in names if (start := family(name))}
        starts |= {key for name in names for key in _families(named(name)) if row.how == "classifier"}
    return not starts or any(key.startswith(tuple(starts)) for key in keys(expression))


def _apart(rows: Iterable[License]) -> list[License]:
    """Return the rows that say something else than those before them: neither contains what the other names."""
    kept: list[License] = []
    for row in rows:
        own = _families(row.expression)
        if not any(own <= (other := _families(each.expression)) or other <= own for each in kept):
            kept.append(row)
    return kept


def _same(row: License, other: License) -> bool:
    return (row.read_from, row.how, row.expression) == (other.read_from, other.how, other.expression)


def _families(expression: str | None) -> frozenset[str]:
    return frozenset(key.removesuffix("-only").removesuffix("-or-later") for key in keys(expression))
