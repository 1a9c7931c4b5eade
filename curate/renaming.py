"""Code with its local names replaced by placeholders, so that a copy with other names is seen as one.

Replaced are the names that the code itself binds: the functions and classes it defines, parameters, and variables that
are assigned to, looped over or caught. Kept are attributes, names of arguments in calls, builtins, and whatever is
imported or global, so that two functions of one shape that call different things stay different. Works on tokens, so
that code that does not parse is treated like any other; scopes are not told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from curate.shingles import KEYWORDS, Line, canonical, words

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", ">>=", "<<=", "@="])
_FIELD = re.compile(r"\{([^{}:!]+)")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")


def renamed(lines: Sequence[Line], *, keep_own_name: bool = False) -> str:
    """Return the canonical text of code in which the n-th local name reads `$n`.

    `keep_own_name` leaves the name of the function itself, for code so short that little else tells it from others.
    """
    kept = _defined(lines[0].tokens) if keep_own_name and lines else frozenset()
    numbers: dict[str, str] = {}
    local = local_names(lines) - kept

    def number(name: str) -> str:
        return numbers.setdefault(name, f"${len(numbers)}") if name in local else name

    return canonical(replace(line, tokens=tuple(_replaced(line.tokens, number))) for line in lines)


def erased(lines: Iterable[Line]) -> list[str]:
    """Return the tokens of code in which every local name reads `$`, wherever in it a part stands."""
    lines = list(lines)
    local = local_names(lines)

    def erase(name: str) -> str:
        return "$" if name in local else name

    return words(replace(line, tokens=tuple(_replaced(line.tokens, erase))) for line in lines)


def local_names(lines: Iterable[Line]) -> frozenset[str]:
    """Return the names that a piece of code binds itself, imports left out."""
    bound: set[str] = set()
    foreign: set[str] = set()
    for line in lines:
        if line.tokens[0] in {"import", "from"}:
            foreign.update(_imported(line.tokens))
        elif line.tokens[0] in {"global", "nonlocal"}:
            foreign.update(line.tokens[1::2] if line.tokens[0] == "global" else ())
        else:
            bound.update(_bound(line.tokens))
    return frozenset(bound - foreign)


def _imported(tokens: Sequence[str]) -> Iterator[str]:
    for word, after in zip(tokens, [*tokens[1:], ""], strict=True):
        if _is_name(word) and after in {"", ",", ")", ";"}:
            yield word


def _defined(tokens: Sequence[str]) -> frozenset[str]:
    return frozenset(name for word, name in pairwise(tokens) if word in {"def", "class"})


def _bound(tokens: Sequence[str]) -> Iterator[str]:
    """Yield what one statement binds."""
    yield from _defined(tokens)
    yield from _parameters(tokens)
    depth, start = 0, 0
    for place, word in enumerate(tokens):
        depth += (word in _OPEN) - (word in _CLOSE)
        annotates = word == ":" and place == start + 1
        if depth == 0 and (word in _ASSIGN or annotates):
            yield from _targets(tokens[start:place])
            start = len(tokens) if annotates else place + 1
        elif depth == 0 and word in {";", ":"}:
            start = place + 1
        elif word == ":=":
            yield from _targets(tokens[place - 1 : place])
        elif word == "for":
            yield from _targets(tokens[place + 1 : _next(tokens, "in", place)])
        elif word == "as":
            yield from _targets(tokens[place + 1 : _next_of(tokens, {":", ",", ")"}, place)])


def _parameters(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the parameters of a `def` and of every lambda."""
    for place, word in enumerate(tokens):
        if word == "def":
            start = _next(tokens, "(", place)
            yield from _declared(tokens, start + 1, frozenset(")"))
        elif word == "lambda":
            yield from _declared(tokens, place + 1, frozenset(":"))


def _declared(tokens: Sequence[str], start: int, ends: frozenset[str]) -> Iterator[str]:
    """Yield the names in a list of parameters that ends with one of `ends`, annotations and defaults left out."""
    depth, expected = 0, True
    for word in tokens[start:]:
        if depth == 0 and word in ends:
            return
        depth += (word in _OPEN) - (word in _CLOSE)
        if depth == 0 and word == ",":
            expected = True
        elif expected and _is_name(word):
            yield word
            expected = False
        elif expected and word not in {"*", "**", "/", "("}:
            expected = False


def _targets(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the plain names among the targets of an assignment; `a[i]`, `a.b` and `f(x).y` bind none."""
    inside = 0
    for place, word in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if word in _OPEN and (inside or _is_operand(before)):
            inside += 1
        elif word in _CLOSE and inside:
            inside -= 1
        elif not inside and _is_name(word) and before != "." and after not in {".", "[", "("}:
            yield word


def _is_operand(word: str) -> bool:
    return bool(word) and (word in _CLOSE or _is_name(word))


def _is_name(word: str) -> bool:
    return word.isidentifier() and word not in KEYWORDS


def _next(tokens: Sequence[str], wanted: str, start: int) -> int:
    return _next_of(tokens, {wanted}, start)


def _next_of(tokens: Sequence[str], wanted: set[str], start: int) -> int:
    depth = 0
    for place in range(start + 1, len(tokens)):
        if depth == 0 and tokens[place] in wanted:
            return place
        depth += (tokens[place] in _OPEN) - (tokens[place] in _CLOSE)
    return len(tokens)


def _replaced(tokens: Sequence[str], new: Callable[[str], str]) -> Iterator[str]:
    """Pass every name through `new`, but for attributes and the names of arguments in calls."""
    is_def = "def" in tokens[:2]
    frames: list[str] = []
    before = ""
    for word, after in zip(tokens, [*tokens[1:], ""], strict=True):
        if word in _OPEN:
            parameters = is_def and not frames and word == "("
            frames.append("call" if word == "(" and _is_operand(before) and not parameters else "other")
        elif word in _CLOSE and frames:
            frames.pop()
        elif word == "lambda" or (word == ":" and frames[-1:] == ["lambda"]):
            frames[-1:] = _lambda_frames(word, frames)
        argument = after == "=" and before in {"(", ","} and frames[-1:] == ["call"]
        if _is_name(word) and before != "." and not argument:
            yield new(word)
        elif '"' in word and word[0] in "fFrRtT" and "{" in word:
            yield _FIELD.sub(lambda field: _NAME.sub(lambda name: new(name.group()), field.group()), word)
        else:
            yield word
        before = word


def _lambda_frames(word: str, frames: list[str]) -> list[str]:
    """Return the innermost frame with a lambda opened on it, or without the one that its colon closes."""
    return [*frames[-1:], "lambda"] if word == "lambda" else []
