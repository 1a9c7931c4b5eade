"""Python code as tokens, as a canonical text, and as a set of shingles: what copies are recognised by.

Code is read by a lexer of our own that accepts anything: prompts, snippets, half functions, Python 2. Layout inside a
statement, comments, the kind of quotes, trailing commas, parentheses around a whole expression and strings that stand
alone (docstrings) do not count; statements and their nesting do.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
    """Return the logical lines of any text that looks like Python, without comments and strings that stand alone."""
    found: list[Line] = []
    tokens: list[str] = []
    depth, indent, first, number, column = 0, 0, 0, 0, 0
    only_strings, at_start = True, True
    for match in _LEXEMES.finditer(source):
        kind, text = match.lastgroup, match.group()
        if kind == "newline":
            # A bracket that a fragment leaves open must not swallow what follows: no call contains a statement.
            if tokens and (depth <= 0 or _STATEMENT.match(source, match.end())):
                if not only_strings:
                    found.append(Line(indent, tuple(tokens), first, number))
                tokens, depth, only_strings = [], 0, True
            number, at_start, column = number + 1, True, 0
            continue
        if kind == "space":
            number += text.count("\n")
            column = len(text.expandtabs(_TAB)) if at_start else column
            continue
        at_start = False
        if kind == "comment":
            continue
        if not tokens:
            indent, first = column, number
        if kind == "string":
            number += text.count("\n")
            text = _string(text)
        elif kind == "operator":
            depth += (text in _OPEN) - (text in _CLOSE)
        elif kind == "number":
            text = text.lower()
        only_strings = only_strings and kind == "string"
        tokens.append(text)
    if tokens and not only_strings:
        found.append(Line(indent, tuple(tokens), first, number))
    return [replace(line, tokens=_settled(line.tokens)) for line in found]


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
    dropped: set[int] = set()
    for bracket, close in _brackets(tokens):
        after = tokens[close + 1] if close + 1 < len(tokens) else ""
        last = tokens[close - 1] == "," and bracket.commas
        if last and not (bracket.is_group and bracket.commas == 1):
            dropped.add(close - 1)
        if not bracket.is_group or (bracket.before == "in" and tokens[0] != "for"):
            continue
        # A tuple needs no parentheses of its own, but only where no other bracket is open.
        if bracket.before in _BEFORE and after in _AFTER and not (bracket.commas and _depth(tokens[: bracket.place])):
            dropped.update((bracket.place, close))
    return tuple(token for place, token in enumerate(tokens) if place not in dropped)


_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", ">>=", "<<=", "@="])
_BEFORE = (
    _ASSIGN
    | _OPEN
    | frozenset(
        [
            "",
            ",",
            ":",
            "->",
            ";",
            "return",
            "if",
            "elif",
            "while",
            "assert",
            "for",
            "in",
            "del",
            "import",
            "with",
            "raise",
        ]
    )
)
_AFTER = _CLOSE | frozenset(["", ":", ",", "=", ";", "in"])


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
