"""From the scopes of one file to rows of `functions`."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from curate.extract.complexity import complexities
from curate.extract.context import Skeleton, import_lines
from curate.extract.docstrings import sections
from curate.extract.facts import Scope, called_names, imported_names, resolve
from curate.extract.normal import canonical, count_tokens, drop_docstrings
from curate.ids import stable_id
from curate.records import Function
from curate.splice import Definition, Text, dedent, docstring_of, does_nothing

_NEWLINE = re.compile(r"\r\n|\r")
_PIECE = re.compile(
    r"""(?P<string>\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<comment>\#[^\r\n]*)|(?P<space>(?:\\?\s)+)|(?P<rest>[^\s"'\#\\]+|.)""",
    re.DOTALL,
)

Kind = Literal["function", "method", "getter", "setter", "deleter"]


@dataclass(frozen=True)
class Part:
    """A file, or a code cell of a notebook, that has been parsed."""

    text: Text
    strings: list[tuple[int, int]]
    """First and last line of its multi-line strings."""
    cell: int | None = None


@dataclass(frozen=True)
class Options:
    """What shapes the rows of one file."""

    snapshot_id: str
    in_tests: bool
    max_context: int


def function_rows(module: Scope, part: Part, options: Options) -> Iterator[Function]:
    """Yield a row for every function of a part, overload stubs excepted, in order of position.

    Takes the docstrings out of the tree: no part's rows can be made twice. RecursionError may come through.
    """
    scopes = [scope for scope in module.functions() if scope.cell == part.cell and scope.role != "overload"]
    inside = _string_lines(module, part)
    views = {scope: _View(scope, part.text) for scope in scopes}
    signatures = {scope: view.signature() for scope, view in views.items()}
    counted = complexities(view.node for view in views.values())
    skeletons: dict[Scope, Skeleton] = {}
    partial: list[tuple[Scope, dict[str, Any]]] = []
    for scope in scopes:
        used = imported_names(scope)
        context = import_lines(used.values())
        holder = scope.holder()
        if holder is not None:
            if holder not in skeletons:
                skeletons[holder] = Skeleton(holder, signatures, options.max_context)
            context += ["", "", skeletons[holder].around(scope)] if context else [skeletons[holder].around(scope)]
        row = views[scope].columns(inside)
        row |= {"signature": signatures[scope], "imports": sorted(used), "context": "\n".join(context)}
        row["cyclomatic_complexity"] = counted[row["first_line"], views[scope].node.col_offset]
        partial.append((scope, row))
    drop_docstrings(module, part.cell)
    ordinals: Counter[tuple[str, str]] = Counter()
    for scope, row in partial:
        yield _row(scope, row, ordinals, options)


def _row(scope: Scope, row: dict[str, Any], ordinals: Counter[tuple[str, str]], options: Options) -> Function:
    node, holder = cast("Definition", scope.node), scope.holder()
    in_class: Kind = "method" if holder else "function"
    kind: Kind = in_class if scope.role == "fixture" else scope.role  # type: ignore[assignment]
    ordinal = ordinals[scope.qualname, kind]
    ordinals[scope.qualname, kind] += 1
    scope.function_id = stable_id(options.snapshot_id, scope.path, scope.cell, scope.qualname, kind, ordinal)
    normalised = canonical(node)
    return Function(
        function_id=scope.function_id,
        snapshot_id=options.snapshot_id,
        path=scope.path,
        module=scope.module,
        qualname=scope.qualname,
        kind=kind,
        cell=scope.cell,
        normalised=normalised,
        normalised_sha256=hashlib.sha256(normalised.encode()).hexdigest(),
        arguments=scope.arguments,
        calls=list(called_names(scope)),
        bases=[resolve(holder.parent, base) for base in holder.bases] if holder else [],
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_nested=scope.nested(),
        in_tests=options.in_tests,
        tokens=count_tokens(normalised),
        **row,
    )


def _string_lines(module: Scope, part: Part) -> set[int]:
    """Return the lines of a part that start inside a multi-line string which is not a docstring."""
    docstrings = set()
    for scope in module.below():
        node = scope.node
        if scope.cell == part.cell and isinstance(node, (Definition, ast.ClassDef)) and (first := docstring_of(node)):
            docstrings.add((first.value.lineno, first.value.end_lineno))
    spans = (span for span in part.strings if span not in docstrings)
    return {line for first, last in spans for line in range(first + 1, last + 1)}


class _View:
    """A definition in its file's text."""

    def __init__(self, scope: Scope, text: Text) -> None:
        self.node = cast("Definition", scope.node)
        self.text = text
        self.start = _start(text, self.node)
        self.end = text.offset(self.node.end_lineno or 0, self.node.end_col_offset or 0)

    def signature(self) -> str:
        """Return the `def` line as written, in one line and without the colon."""
        node, first = self.node, self.node.body[0]
        head = self.text.cut(self.text.offset(node.lineno, node.col_offset), _start(self.text, first)).rstrip()
        if "\n" in head or "\r" in head or "#" in head:
            head = one_line(head)
        return head.rstrip("\\ \t\f").removesuffix(":").rstrip()

    def columns(self, inside: set[int]) -> dict[str, Any]:
        """Return the columns of the row that need the text; `inside` are the lines that start inside a string."""
        node, text = self.node, self.text
        docstring_node = docstring_of(node)
        docstring = ast.get_docstring(node) if docstring_node else None
        if docstring is not None and not docstring.isascii():
            docstring = docstring.encode("utf-8", "replace").decode()
        rest = node.body[1:] if docstring_node else node.body
        last = node.end_lineno or node.lineno
        return {
            "first_line": node.lineno,
            "last_line": last,
            "lines": last - node.lineno + 1,
            "start_byte": self.start,
            "end_byte": self.end,
            "body_byte": _start(text, rest[0]) if rest else self.end,
            "docstring": docstring,
            "sections": sections(docstring),
            "source": self.source(inside),
            "decorators": [one_line(text.cut(*_span(text, decorator))) for decorator in node.decorator_list],
            "is_stub": all(map(does_nothing, rest)),
        }

    def source(self, inside: set[int]) -> str:
        source = self.text.cut(self.start, self.end)
        source = _NEWLINE.sub("\n", source) if "\r" in source else source
        if not self.node.col_offset:
            return source
        first = self.text.line_of(self.start)
        before = self.text.cut(self.text.starts[first - 1], self.start).rpartition("\f")[2]
        here = {line - first + 1 for line in range(first, (self.node.end_lineno or first) + 1) if line in inside}
        return dedent(source, before, here)


def _span(text: Text, node: ast.stmt | ast.expr) -> tuple[int, int]:
    end = text.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    return text.offset(node.lineno, node.col_offset), end


def _start(text: Text, node: ast.stmt) -> int:
    """Return where a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", None)
    if not decorators:
        return text.offset(node.lineno, node.col_offset)
    expression = text.offset(decorators[0].lineno, decorators[0].col_offset)
    at = text.raw.rfind(b"@", 0, expression)
    while text.raw[at + 1 : expression].strip(b" \t\f\r\n\\("):  # an @ in a comment between the sign and its expression
        at = text.raw.rfind(b"@", 0, at)
    return at


def one_line(text: str) -> str:
    """Return a piece of code in one line, without comments; strings stay as they are."""
    if "\n" not in text and "\r" not in text and "#" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for match in _PIECE.finditer(text):
        piece, kind = match.group(), match.lastgroup
        if kind == "space" and kept and kept[-1] != " " and not kept[-1].endswith(("(", "[", "{")):
            kept.append(" ")
        elif kind in {"string", "rest"}:
            if piece[0] in ")]}" and kept[-1:] == [" "]:
                kept.pop()
                # A comma may be what makes a tuple, but not before the outermost bracket of a definition or call.
                kept[-1:] = [kept[-1].removesuffix(",") if depth == 1 else kept[-1]]
            kept.append(piece)
            if kind == "rest":
                depth += sum(map(piece.count, "([{")) - sum(map(piece.count, ")]}"))
    return "".join(kept).strip()
