"""Python code as tokens, as a canonical text, and as a set of shingles: what copies are recognised by.

Code is read by a lexer of our own that accepts anything: prompts, snippets, half functions, Python 2. Layout inside a
statement, comments, the kind of quotes, trailing commas and strings that stand alone (docstrings) do not count;
statements and their nesting do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

SHINGLE = 5
"""Tokens in a shingle, unless a caller wants another number."""

_STRING = r"""[A-Za-z]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
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
                    found.append(Line(indent, tuple(tokens), first))
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
        found.append(Line(indent, tuple(tokens), first))
    return [Line(line.indent, tuple(_without_trailing_commas(line.tokens)), line.first) for line in found]


_STATEMENT = re.compile(r"[ \t]*(?:async[ \t]+def|def|class|return|import|from|while|try|with)\b(?![ \t]*=)")


def _string(text: str) -> str:
    quote = 3 if text.endswith(('"""', "'''")) and len(text) >= 6 else 1
    prefix = text[: re.search("[\"']", text).start()]  # type: ignore[union-attr]
    body = text[len(prefix) + quote : len(text) - quote].replace("\\'", "'").replace('\\"', '"')
    return prefix.lower().replace("u", "") + '"' + body


def _without_trailing_commas(tokens: Sequence[str]) -> Iterator[str]:
    """Drop the comma before a closing bracket, which formatters put and remove, but for tuples of one."""
    opened: list[tuple[bool, int]] = []
    for place, token in enumerate(tokens):
        if token in _OPEN:
            opened.append((token == "(" and not (place and _ends_operand(tokens[place - 1])), 0))
        elif token in _CLOSE and opened:
            opened.pop()
        elif token == "," and opened:
            may_be_tuple, commas = opened[-1]
            opened[-1] = (may_be_tuple, commas + 1)
            last = place + 1 < len(tokens) and tokens[place + 1] in _CLOSE
            if last and not (may_be_tuple and commas == 0):
                continue
        yield token


def _ends_operand(token: str) -> bool:
    return token in _CLOSE or (_is_name(token) and token not in KEYWORDS)


KEYWORDS = frozenset(
    "False None True and as assert async await break class continue def del elif else except finally for from global "
    "if import in is lambda nonlocal not or pass raise return try while with yield".split()
)


def _is_name(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_" if '"' not in token else False


def tokens(source: str) -> list[str]:
    """Return the tokens of a piece of code; layout, comments and docstrings leave no trace."""
    return [token for line in logical_lines(source) for token in line.tokens]


def shingles(words: Sequence[str], n: int = SHINGLE) -> set[int]:
    """Return the hashes of all runs of n words (of the whole, if it is shorter), the same on every machine."""
    if not words:
        return set()
    runs = {"\x1f".join(words[start : start + n]) for start in range(max(1, len(words) - n + 1))}
    return {int.from_bytes(blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest()) for run in runs}


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
        while start and lines[start - 1].tokens[0] == "@" and lines[start - 1].indent == line.indent:
            start -= 1
        found.append(list(lines[start:end]))
    return found


def jaccard(one: set[int], other: set[int]) -> float:
    """Return the Jaccard similarity of two sets; 1.0 for two empty ones."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0
