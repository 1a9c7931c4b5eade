"""Python code as tokens, as a canonical text, and as a set of shingles: what copies are recognised by.

Code is read by a lexer of our own that accepts anything: prompts, snippets, half functions, Python 2. Layout inside a
statement, comments, the kind of quotes, trailing commas, parentheses around a whole expression and strings that stand
alone (docstrings) do not count; statements and their nesting do.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

SHINGLE = 5
"""Tokens in a shingle, unless a caller wants another number."""

_STRING = (
    r"""[A-Za-z]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
)
_LEXEMES = re.compile(
    rf"""(?P<space>[^\S\n]+|\\\r?\n)|(?P<newline>\n)|(?P<comment>\#[^\n]*)|(?P<string>{_STRING})
    |(?P<number>(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*)|(?P<name>\w+)
    |(?P<operator>\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|<>|[-+*/%&|^@=!<>]=|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_TAB = 8


@dataclass(frozen=True, slots=True)
class Line:
    """A logical line: one statement, or the head of a compound one."""

    indent: int
    """Column of its first token."""
    tokens: tuple[str, ...]
    """Its tokens; strings are rewritten to one kind of quotes."""
    first: int
    """Number of its first physical line, from 0."""
    last: int
    """Number of its last physical line."""


def logical_lines(source: str) -> list[Line]:
    """Return the logical lines of any text that looks like Python, without comments and strings that stand alone.

    What follows a colon or a semicolon on the same line counts as a line of its own, as formatters write it.
    """
    reader = _Reader()
    for match in _LEXEMES.finditer(source):
        kind, text = str(match.lastgroup), match.group()
        if kind == "newline":
            # A bracket that a fragment leaves open must not swallow what follows: no call contains a statement.
            if reader.depth <= 0 or _STATEMENT.match(source, match.end()):
                reader.end(0)
            reader.number, reader.at_start = reader.number + 1, True
        elif kind == "space":
            reader.number += text.count("\n")
            if reader.at_start and not reader.tokens:
                reader.column = len(text.expandtabs(_TAB))
        elif kind != "comment":
            reader.add(kind, text)
    reader.end(0)
    return reader.lines


@dataclass(slots=True)
class _Reader:
    """The lines read so far, and the one being read."""

    lines: list[Line] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    only_strings: bool = True
    depth: int = 0
    column: int = 0
    indent: int = 0
    first: int = 0
    number: int = 0
    at_start: bool = True

    def add(self, kind: str, text: str) -> None:
        """Take in a token."""
        self.at_start = False
        if not self.tokens:
            self.indent, self.first = self.column, self.number
        if kind == "string":
            self.number += text.count("\n")
            text = _string(text)
        elif kind == "number":
            text = _number(text)
        elif text in _OPEN:
            self.depth += 1
        elif text in _CLOSE:
            self.depth -= 1
        elif text == ";" and self.depth <= 0:
            self.end(self.indent)
            return
        self.only_strings = self.only_strings and kind == "string"
        self.tokens.append(text)
        if text == ":" and self.depth <= 0 and self.tokens[0] in _COMPOUND and "lambda" not in self.tokens:
            self.end(self.indent + 1)

    def end(self, column: int) -> None:
        """End the line being read; what comes next on the same line counts as standing at `column`."""
        if self.tokens and not self.only_strings:
            self.lines.append(Line(self.indent, _settled(self.tokens), self.first, self.number))
        self.tokens, self.depth, self.only_strings, self.column = [], 0, True, column


_COMPOUND = frozenset(
    ["if", "elif", "else", "for", "while", "with", "try", "except", "finally", "def", "class", "async"]
)


def _number(text: str) -> str:
    """Write a number as formatters do: lower case, a digit on both sides of the point."""
    text = text.lower()
    return ("0" if text.startswith(".") else "") + text + ("0" if text.endswith(".") else "")


_STATEMENT = re.compile(r"[ \t]*(?:async[ \t]+def|def|class|return|import|from|while|try|with)\b(?![ \t]*=)")


def _string(text: str) -> str:
    quote = 3 if text.endswith(('"""', "'''")) and len(text) >= 6 else 1
    prefix = text[: re.search("[\"']", text).start()]  # type: ignore[union-attr]
    body = text[len(prefix) + quote : len(text) - quote].replace("\\'", "'").replace('\\"', '"')
    return prefix.lower().replace("u", "") + '"' + body


@dataclass(slots=True)
class _Bracket:
    """An opening bracket, and what stands between it and the closing one, nested brackets left out."""

    place: int
    before: str
    commas: int = 0
    is_group: bool = False
    """Whether it only groups: no call, no parameters, no subscript, no generator."""


def _settled(tokens: Sequence[str]) -> tuple[str, ...]:
    """Leave out what formatters put and remove: trailing commas, and parentheses around a whole expression."""
    if not any(token in _OPEN for token in tokens):
        return tuple(tokens)
    dropped: set[int] = set()
    for bracket, close in _brackets(tokens):
        after = tokens[close + 1] if close + 1 < len(tokens) else ""
        last = tokens[close - 1] == "," and bracket.commas
        if last and not (bracket.is_group and bracket.commas == 1):
            dropped.add(close - 1)
        if not bracket.is_group or (bracket.before == "in" and tokens[0] != "for"):
            continue
        # A tuple needs no parentheses where it is all that stands there.
        before, behind = (_BEFORE_TUPLE, _AFTER_TUPLE) if bracket.commas else (_BEFORE, _AFTER)
        if bracket.before in before and after in behind and not (bracket.commas and _depth(tokens[: bracket.place])):
            dropped.update((bracket.place, close))
    return tuple(token for place, token in enumerate(tokens) if place not in dropped)


_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", ">>=", "<<=", "@="])
_BEFORE_TUPLE = _ASSIGN | {"", "return", "for", "in", "del", "import", "with"}
_AFTER_TUPLE = frozenset(["", ":", "=", "in"])
_BEFORE = _BEFORE_TUPLE | _OPEN | {",", ":", "->", "if", "elif", "while", "assert", "raise"}
_AFTER = _AFTER_TUPLE | _CLOSE | {",", "for"}


def _depth(tokens: Iterable[str]) -> int:
    return sum((token in _OPEN) - (token in _CLOSE) for token in tokens)


def _brackets(tokens: Sequence[str]) -> Iterator[tuple[_Bracket, int]]:
    """Yield each bracket with the place of its closing one, inner ones first."""
    opened: list[_Bracket] = []
    for place, word in enumerate(tokens):
        if word in _OPEN:
            before = tokens[place - 1] if place else ""
            opened.append(_Bracket(place, before, is_group=word == "(" and not _ends_operand(before)))
        elif word in _CLOSE and opened:
            bracket = opened.pop()
            bracket.is_group = bracket.is_group and place > bracket.place + 1
            yield bracket, place
        elif word == "," and opened:
            opened[-1].commas += 1
        elif word in {"for", "yield", ":="} and opened:
            opened[-1].is_group = False


def _ends_operand(token: str) -> bool:
    return token in _CLOSE or (_is_name(token) and token not in KEYWORDS)


KEYWORDS = frozenset(keyword.kwlist)


def _is_name(token: str) -> bool:
    return token.isidentifier()


def words(lines: Iterable[Line]) -> list[str]:
    """Return the tokens of some lines as one run, parentheses that only group left out: what shingles are made of."""
    found: list[str] = []
    for line in lines:
        if "(" not in line.tokens:
            found += line.tokens
            continue
        groups = {
            place
            for bracket, close in _brackets(line.tokens)
            if bracket.is_group and not bracket.commas
            for place in (bracket.place, close)
        }
        found += [token for place, token in enumerate(line.tokens) if place not in groups]
    return found


def shingles(run: Sequence[str], n: int = SHINGLE) -> set[int]:
    """Return the hashes of all n tokens in a row (of all, if there are fewer), the same on every machine."""
    if not run:
        return set()
    found = {"\x1f".join(run[start : start + n]) for start in range(max(1, len(run) - n + 1))}
    return {int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) for text in found}


def canonical(lines: Iterable[Line]) -> str:
    """Return code as one line a statement, nested by steps: equal for two texts that differ in layout only."""
    levels: list[int] = []
    written = []
    for line in lines:
        while levels and line.indent < levels[-1]:
            levels.pop()
        if not levels or line.indent > levels[-1]:
            levels.append(line.indent)
        written.append("\t" * (len(levels) - 1) + " ".join(line.tokens))
    return "\n".join(written)


def functions(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of each function in a piece of code, nested ones and methods too, decorators included."""
    found = []
    for start, line in enumerate(lines):
        if line.tokens[0] != "def" and line.tokens[:2] != ("async", "def"):
            continue
        end = start + 1
        while end < len(lines) and lines[end].indent > line.indent:
            end += 1
        first = start
        while first and lines[first - 1].tokens[0] == "@" and lines[first - 1].indent == line.indent:
            first -= 1
        found.append(list(lines[first:end]))
    return found


def jaccard(one: set[int], other: set[int]) -> float:
    """Return the Jaccard similarity of two sets; 1.0 for two empty ones."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0
