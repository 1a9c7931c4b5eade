"""Under which licence a project is, and where that is written.

What the project declares counts first, in the order in which packaging has become more exact: the licence expression of
PEP 639, the older field, the classifiers; then the text of its licence files. Nothing found is None, never permissive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from curate.mine import licence_texts
from curate.mine.licence_names import PROPRIETARY, classified, keys, named, normalise
from curate.mine.metadata import Stated
from curate.records import OtherLicense

FILE = re.compile(r"(?i)(un)?licen[cs]e|copying|licen[cs]es|mit-licen[cs]e")
SUFFIX = re.compile(r"(?i)\.(txt|md|rst|markdown)$")
OF_OTHERS = re.compile(r"(?i)third|3rd|vendor|notice|bundled|depend")
MAX_BYTES = 1 << 20
HEADER_BYTES = 4096
"""A licence stands at the top of a file."""


@dataclass(frozen=True)
class Licence:
    """A licence expression, with its evidence."""

    expression: str | None = None
    path: str | None = None
    how: str | None = None


@dataclass(frozen=True)
class LicenceFile:
    """A licence file and what was recognised in it."""

    path: str
    found: tuple[str, ...]
    choice: bool

    @property
    def bare(self) -> bool:
        """Whether its name is LICENSE or the like, without the name of a licence or of a part."""
        return FILE.fullmatch(SUFFIX.sub("", self.path.rpartition("/")[2])) is not None


def read(root: Path, stated: Sequence[Stated]) -> Licence:
    """Return the project's licence; both are told when its metadata and its licence file disagree."""
    text = _of_texts(_files(root))
    declared = _declared(stated)
    if declared is None:
        return text
    if declared.expression and text.expression and not _agree(declared.expression, text.expression):
        return Licence(declared.expression, declared.path, f"{declared.how}; {text.path} text says {text.expression}")
    return declared


def others(root: Path, paths: Iterable[str], expression: str | None) -> list[OtherLicense]:
    """Return the files and folders that are under a licence the project's expression does not name."""
    own = {_family(key) for key in keys(expression)}
    found: list[OtherLicense] = []
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        if folder and not folder.endswith((".dist-info", ".dist-info/licenses")) and _is_licence_file(name):
            ids = licence_texts.recognise(_text(root / path))
            if not ids or not {_family(spdx) for spdx in ids} <= own:
                how = "text of " + path
                found.append(OtherLicense(path=folder, expression=" AND ".join(ids) or None, license_from=how))
        elif name.endswith((".py", ".pyi")):
            header = normalise(licence_texts.python_header(_text(root / path, HEADER_BYTES)))
            if header and not {_family(key) for key in keys(header)} <= own:
                found.append(OtherLicense(path=path, expression=header, license_from="header of the file"))
    return found


def _declared(stated: Sequence[Stated]) -> Licence | None:
    if any(PROPRIETARY in each.classifiers for each in stated):
        return Licence()  # whatever texts lie there, for its parts perhaps
    for each in stated:
        expression = normalise(each.expression)
        if expression:
            return Licence(expression, each.path, f"{each.path} {each.expression_field}")
    for each in stated:
        expression = _from_field(each.text)
        if expression:
            return Licence(expression, each.path, f"{each.path} {each.text_field}")
    for each in stated:
        expression = classified(each.classifiers)
        if expression:
            return Licence(expression, each.path, f"{each.path} classifier")
    return None


def _from_field(text: str | None) -> str | None:
    """Read a free-form field: a name in one line, or a whole text."""
    if text is None:
        return None
    if "\n" not in text.strip():
        return named(text.strip())
    found = licence_texts.recognise(text)
    return found[0] if len(found) == 1 else None


def _of_texts(files: Sequence[LicenceFile]) -> Licence:
    """Read the licence files together; None when they leave open what holds."""
    lesser = [file for file in files if any(spdx.startswith("LGPL") for spdx in file.found)]
    if len(lesser) == 1 and len(lesser[0].found) == 1:
        # The LGPL 3 comes with the GPL that it adds to.
        files = [file for file in files if not any(spdx.startswith("GPL") for spdx in file.found)]
    bare = [file for file in files if file.bare]
    known = [file for file in files if file.found and (file.bare or not OF_OTHERS.search(file.path))]
    spdx = sorted({name for file in known for name in file.found})
    if any(file.choice for file in bare) and len(spdx) == 2:
        return _text_licence(" OR ".join(spdx), next(file for file in bare if file.choice))
    deciding = [file for file in known if file.bare] or known
    ids = {file.found for file in deciding}
    if len(ids) == 1 and len(deciding[0].found) == 1:
        return _text_licence(deciding[0].found[0], deciding[0])
    if not bare and all(len(file.found) == 1 for file in deciding) and len(deciding) > 1:
        # LICENSE-MIT beside LICENSE-APACHE: the convention for a choice.
        return _text_licence(" OR ".join(spdx), deciding[0], " and ".join(file.path for file in deciding))
    return Licence()


def _text_licence(expression: str, file: LicenceFile, paths: str = "") -> Licence:
    return Licence(normalise(expression), file.path, f"text of {paths or file.path}")


def _files(root: Path) -> list[LicenceFile]:
    places = [*root.iterdir(), *root.glob("*.dist-info/*"), *root.glob("*.dist-info/licenses/*")]
    paths = sorted(path for path in places if path.is_file() and _is_licence_file(path.name))
    return [_file(path, path.relative_to(root).as_posix()) for path in paths]


def _file(path: Path, name: str) -> LicenceFile:
    text = _text(path)
    # Some licence files hold only the notice that belongs at the top of a source file.
    notice = normalise(licence_texts.header(text[:HEADER_BYTES]))
    found = licence_texts.recognise(text) or ([notice] if notice else [])
    return LicenceFile(name, tuple(found), licence_texts.offers_choice(text))


def _is_licence_file(name: str) -> bool:
    """LICENSE, COPYING and the like, with an ending or the name of a licence behind it; no source file."""
    head = re.match(rf"(?:{FILE.pattern.removeprefix('(?i)')})(?=$|[-_. ])", name, re.IGNORECASE)
    return head is not None and not re.search(r"(?i)\.(py|pyi|json|toml|ya?ml|html|js|cfg|ini|sh)$", name)


def _text(path: Path, size: int = MAX_BYTES) -> str:
    with path.open("rb") as content:
        return content.read(size).decode("utf-8", "replace")


def _agree(declared: str | None, text: str | None) -> bool:
    """Say whether an expression covers what the licence file says, "or later" apart, which the text cannot tell."""
    return {_family(key) for key in keys(text)} <= {_family(key) for key in keys(declared)}


def _family(spdx: str) -> str:
    return spdx.removesuffix("-only").removesuffix("-or-later")
