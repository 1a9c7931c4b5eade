"""The functions of one version of a file, at the price of those pieces of it that were never seen before.

A file is cut where a line begins with `def`, `class` or `@`, a class also before its methods. A cut may lie inside a
string or a bracket; then the piece before it has no end and does not parse, and it is joined with the next one. Read
from the left, a piece that parses therefore ends where a statement does, and the pieces together say what the whole
file says. What a piece holds is remembered by the hash of its text, so of a history only what changed is parsed.
"""

from __future__ import annotations

import ast
import hashlib
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from curate.errors import ItemError
from curate.extract.files import parse
from curate.extract.normal import canonical, drop_docstring
from curate.splice import Definition, read

_START = rb"(?:@|(?:async[ \t]+def|def|class)\b)"
_TOP = re.compile(rb"^" + _START, re.MULTILINE)
_INNER = re.compile(rb"^([ \t]+)" + _START, re.MULTILINE)
_AFTER = re.compile(rb"^[^\s#)\]}]", re.MULTILINE)
"""A line that no class goes on in, or the middle of a string, in which case the class will not parse."""
JOINED = 3
"""So many pieces are joined before the rest of the file is parsed as a whole."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A function of a version of a file: hashes and no text."""

    qualname: str
    body: bytes
    """`normalised_sha256` of the function, as extraction gives it."""
    trace: bytes
    """Hash of its statements alone, without name, parameters and decorators."""
    size: int
    """Length of these statements in normal form, in characters."""
    lines: array[int]
    """Checksums of their lines, sorted."""

    @property
    def name(self) -> str:
        """Last part of its qualified name."""
        return self.qualname.rpartition(".")[2]


Facts = tuple[Fact, ...]


class Pieces:
    """Reads versions of files; remembers every piece."""

    def __init__(self) -> None:
        self.known: dict[bytes, Facts | None] = {}
        self.same: dict[tuple[str, bytes], Fact] = {}
        self.parsed = 0
        """Number of pieces that had to be parsed."""

    def facts(self, raw: bytes) -> Facts:
        """Return the functions of a file in order of position; raises ItemError when it does not parse."""
        text = _as_utf8(raw)
        cuts = _cuts(text, _TOP)
        bounds = [*(start for start, _ in cuts), len(text)]
        found: list[Fact] = []
        at = 0
        while at < len(cuts):
            for end in [*range(at + 1, min(at + JOINED, len(cuts)) + 1), len(cuts)]:
                inner = cuts[at][1] - bounds[at] if end == at + 1 else -1
                facts = self._piece(text[bounds[at] : bounds[end]], inner)
                if facts is not None:
                    break
            else:
                return whole(raw)  # says what is wrong
            found += facts
            at = end
        return tuple(found)

    def _piece(self, text: bytes, inner: int) -> Facts | None:
        """Return the functions of a piece, None when it does not parse; `inner`: where its `class` stands, else -1."""
        key = _key(b"", text)
        if key not in self.known:
            facts = self._klass(text, inner) if inner >= 0 else None
            self.known[key] = self._parsed(text, "") if facts is None else facts
        return self.known[key]

    def _klass(self, text: bytes, inner: int) -> Facts | None:
        """Return the functions of a class, one method after the other; None when that does not work out."""
        after = _AFTER.search(text, inner + 1)
        end = after.start() if after else len(text)
        first = _INNER.search(text, inner, end)
        if first is None:
            return None
        cuts = _cuts(text[:end], _indented(first[1]), first.start())[1:]
        head = self._head(text[: first.start()] + first[1] + b"pass\n")
        if head is None:
            return None
        found: list[Fact] = []
        bounds = [*(start for start, _ in cuts), end]
        for start, stop in pairwise(bounds):
            key = _key(head.encode(), text[start:stop])
            if key not in self.known:
                self.known[key] = self._parsed(b"if 1:\n" + text[start:stop], f"{head}.")
            facts = self.known[key]
            if facts is None:
                return None
            found += facts
        if after:
            rest = self._piece(text[end:], -1)
            if rest is None:
                return None
            found += rest
        return tuple(found)

    def _head(self, text: bytes) -> str | None:
        tree = _tree(text)
        if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.ClassDef):
            return None
        return tree.body[0].name

    def _parsed(self, text: bytes, prefix: str) -> Facts | None:
        self.parsed += 1
        tree = _tree(text)
        if tree is None:
            return None
        if prefix and (len(tree.body) != 1 or not isinstance(tree.body[0], ast.If) or tree.body[0].orelse):
            return None
        try:
            return tuple(self.same.setdefault((fact.qualname, fact.body), fact) for fact in _facts(tree, prefix))
        except RecursionError:
            return None


def whole(raw: bytes) -> Facts:
    """Return the functions of a file, parsed as a whole; raises ItemError."""
    try:
        return tuple(_facts(parse(_as_utf8(raw).decode("utf-8", "surrogatepass")), ""))
    except RecursionError:
        raise ItemError("too_deep", "expressions nested deeper than can be followed") from None


def _as_utf8(raw: bytes) -> bytes:
    """Return a file's text as UTF-8 without byte order mark; raises ItemError when Python could not decode it."""
    first = raw.find(b"\n", raw.find(b"\n") + 1)
    if raw.startswith(b"\xef\xbb\xbf") or b"coding" in raw[: first if first >= 0 else len(raw)] or b"\0" in raw:
        return read(raw).text.encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise ItemError("undecodable", str(error)) from None
    return raw


def _cuts(text: bytes, start: re.Pattern[bytes], begin: int = 0) -> list[tuple[int, int]]:
    """Return (start, place of its `class` or -1) of each piece; a definition goes with its decorators."""
    found = [(0, -1)]
    decorated = False
    for match in start.finditer(text, begin):
        kind = match[0].lstrip()
        if not decorated:
            found.append((match.start(), -1))
        if kind == b"class":
            found[-1] = (found[-1][0], match.end() - len(kind))
        decorated = kind == b"@"
    return found


@cache
def _indented(indent: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"^" + re.escape(indent) + _START, re.MULTILINE)


def _key(holder: bytes, text: bytes) -> bytes:
    hashed = hashlib.blake2b(holder + b"\0", digest_size=16)
    hashed.update(text)
    return hashed.digest()


def _tree(text: bytes) -> ast.Module | None:
    try:
        return parse(text.decode())
    except (ItemError, UnicodeDecodeError):
        return None


def _facts(tree: ast.Module, prefix: str) -> Iterator[Fact]:
    found = list(definitions(tree.body, prefix))
    for _, node in found:
        drop_docstring(node)
    for qualname, node in found:
        if isinstance(node, Definition):
            yield _fact(qualname, node)


def _fact(qualname: str, node: Definition) -> Fact:
    text = canonical(node)
    lines = text.split("\n")[len(node.decorator_list) + 1 :]
    statements = "\n".join(lines).encode()
    return Fact(
        qualname,
        hashlib.sha256(text.encode()).digest(),
        hashlib.blake2b(statements, digest_size=16).digest(),
        len(statements),
        array("I", sorted(zlib.crc32(line.strip().encode()) for line in lines if line)),
    )


def definitions(nodes: Iterable[ast.AST], prefix: str) -> Iterator[tuple[str, Definition | ast.ClassDef]]:
    """Yield (qualified name, node) for every function and class below, in order of appearance."""
    for node in nodes:
        if isinstance(node, (Definition, ast.ClassDef)):
            yield prefix + node.name, node
            yield from definitions(
                node.body, prefix + node.name + (_IN_FUNCTION if isinstance(node, Definition) else ".")
            )
        elif isinstance(node, _BLOCKS):
            for block in ("body", "handlers", "orelse", "finalbody", "cases"):
                yield from definitions(getattr(node, block, ()), prefix)


_IN_FUNCTION = ".<locals>."
_BLOCKS = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.ExceptHandler,
    ast.Match, ast.match_case,
)  # fmt: skip
