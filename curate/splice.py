"""Read Python source with exact byte positions, and put other text in without touching a byte around it.

Positions are byte offsets in the file as it lies on disk: byte order mark, coding declaration, CRLF, tabs, form feeds
and characters beyond the BMP neither shift them nor change when something else is replaced.
"""

from __future__ import annotations

import ast
import bisect
import io
import json
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from curate.errors import ItemError

_NEWLINE = re.compile(r"\r\n|\r|\n")
_NEWLINE_BYTES = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Text:
    """Source text that knows where each of its positions lies in the file's bytes."""

    raw: bytes
    text: str
    """Decoded, without byte order mark, newlines as they are."""
    encoding: str
    starts: list[int]
    """Byte offset of each line; lines end where Python's tokenizer ends them: LF, CRLF or CR."""

    def offset(self, line: int, column: int) -> int:
        """Return the byte offset of an `ast` position: 1-based line, column in UTF-8 bytes of the decoded line."""
        start = self.starts[line - 1]
        if self.encoding == "utf-8" or column == 0:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.raw)
        before = self.raw[start:end].decode(self.encoding).encode()[:column]
        return start + len(before.decode().encode(self.encoding))

    def cut(self, start: int, end: int) -> str:
        """Return the text between two byte offsets, newlines as they are."""
        return self.raw[start:end].decode(self.encoding)

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that a byte offset lies in."""
        return bisect.bisect_right(self.starts, offset)


def read(raw: bytes) -> Text:
    """Decode a source file as Python does (PEP 263); raises ItemError(undecodable) when Python could not."""
    header = raw if b"\r" not in raw else _NEWLINE_BYTES.sub(b"\n", raw)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(header).readline)
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        skipped = len(_BOM) if raw.startswith(_BOM) else 0
        text = raw[skipped:].decode(encoding)
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise ItemError("undecodable", f"{type(error).__name__}: {error}") from error
    if "\0" in text:
        raise ItemError("undecodable", f"a null character at offset {raw.index(0)}")
    if encoding == "utf-8":
        starts = [skipped, *(found.end() for found in _NEWLINE_BYTES.finditer(raw, skipped))]
    else:
        starts = _line_starts(text, encoding, len(raw))
    return Text(raw, text, encoding, starts)


def of_text(text: str) -> Text:
    """Return text that lies in no file of its own, such as a notebook cell; its bytes are UTF-8."""
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise ItemError("undecodable", str(error)) from error
    return Text(raw, text, "utf-8", [0, *(found.end() for found in _NEWLINE_BYTES.finditer(raw))])


def _line_starts(text: str, encoding: str, size: int) -> list[int]:
    starts, at, last = [0], 0, 0
    for found in _NEWLINE.finditer(text):
        at += len(text[last : found.end()].encode(encoding))
        last = found.end()
        starts.append(at)
    if at + len(text[last:].encode(encoding)) != size:
        # A stateful encoding (iso-2022-jp), or one with two spellings of a character: no line stands on its own.
        raise ItemError("undecodable", f"positions in {encoding} text cannot be told exactly")
    return starts


def replace(raw: bytes, start: int, end: int, new_text: str) -> bytes:
    """Return the file with bytes start to end replaced, in the file's encoding and in the newline style of that place.

    Text that holds CRs has its newlines left alone. Raises ItemError(unencodable) when the file's encoding lacks a
    character of the new text.
    """
    if "\n" in new_text and "\r" not in new_text:
        new_text = new_text.replace("\n", newline_at(raw, start, end))
    encoding = read(raw).encoding
    try:
        return raw[:start] + new_text.encode(encoding) + raw[end:]
    except UnicodeEncodeError as error:
        raise ItemError("unencodable", f"the file is {encoding}: {error}") from error


def newline_at(raw: bytes, start: int, end: int) -> str:
    """Return the newline that a span uses, or the next after it, or the first of the file; LF when there is none."""
    found = _NEWLINE_BYTES.search(raw, start, end) or _NEWLINE_BYTES.search(raw, end) or _NEWLINE_BYTES.search(raw)
    return found.group().decode() if found else "\n"


def indent_at(raw: bytes, start: int) -> str:
    """Return the white space before a definition on its line."""
    line = re.search(rb"[ \t\f]*\Z", raw[max(0, start - 1000) : start])
    return line.group().decode("ascii").rpartition("\f")[2] if line else ""


def lift(raw: bytes, start: int, end: int) -> str:
    """Return a definition as text of its own: dedented, newlines as LF, other strings than docstrings untouched."""
    indent = indent_at(raw, start)
    text = _NEWLINE.sub("\n", read(raw).cut(start, end))
    return dedent(text, indent, set(string_lines(_parse(text, indent)))) if indent else text


def put(raw: bytes, start: int, end: int, definition: str) -> bytes:
    """Return the file with the definition at start to end replaced by another, indented as that place is.

    The inverse of `lift`. Lines inside its multi-line strings stay as they are, docstrings excepted.
    """
    indent = indent_at(raw, start)
    definition = definition.strip("\n")
    if indent:
        try:
            inside = set(string_lines(_parse(definition, "")))
        except SyntaxError:
            inside = set()  # It will not run either way.
        lines = definition.split("\n")
        shifted = [line if not line.strip() or n in inside else indent + line for n, line in enumerate(lines, 1)]
        definition = "\n".join([lines[0], *shifted[1:]])
    return replace(raw, start, end, definition)


def dedent(text: str, indent: str, inside: set[int]) -> str:
    """Take `indent` off every line but those `inside` a string (1-based)."""
    if not indent:
        return text
    lines = text.split("\n")
    # A form feed restarts the count of columns.
    return "\n".join(line if n in inside else line.lstrip("\f").removeprefix(indent) for n, line in enumerate(lines, 1))


def string_lines(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of a tree that start inside a multi-line string which is not a docstring."""
    docstrings: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, (Definition, ast.ClassDef)) and (docstring := docstring_of(node)):
            docstrings.add(docstring.value)
        elif isinstance(node, (ast.JoinedStr, ast.Constant)) and node not in docstrings:
            yield from range(node.lineno + 1, (node.end_lineno or 0) + 1)


def docstring_of(node: Definition | ast.ClassDef) -> ast.Expr | None:
    """Return the statement that is the docstring, if there is one."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first
    return None


def does_nothing(node: ast.stmt) -> bool:
    """Say whether a statement of a body does no work: `pass`, `...`, a string or `raise NotImplementedError`."""
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and (node.value.value is ... or isinstance(node.value.value, str))
    if isinstance(node, ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return False


def stub_source(raw: bytes, start: int, end: int, body: int, message: str = "stub") -> bytes:
    """Return the file with the statements of one definition, docstring excepted, replaced by a raise.

    `start`, `end` and `body` are a function's start_byte, end_byte and body_byte. Signature, decorators, docstring and
    everything around stay byte-identical. A stubbed function or generator raises NotImplementedError when called, a
    coroutine when awaited, an asynchronous generator (which stays one) when iterated.
    """
    statement = f"raise NotImplementedError({json.dumps(message)})"
    text, indent = read(raw).cut(start, end), indent_at(raw, start)
    tree = _parse(text, indent)
    if isinstance(tree, ast.AsyncFunctionDef) and _yields(tree):
        statement += "; yield"
    if body < end:
        return replace(raw, body, end, statement)
    docstring = tree.body[0]
    line = _NEWLINE.split(text)[docstring.lineno - 1]
    before = line.encode()[: docstring.col_offset].decode()
    apart = "; " if docstring.lineno == 1 or before.strip() else newline_at(raw, start, end) + before
    return replace(raw, end, end, apart + statement)


def _parse(text: str, indent: str) -> Definition:
    """Parse a definition that stands indented; lines count from its own first one, columns as in the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree: ast.AST = ast.parse(f"if 1:\n{indent}{text}" if indent else text)
    if indent:
        ast.increment_lineno(tree, -1)
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            return node
    raise SyntaxError("not a function definition")


def _yields(node: Definition) -> bool:
    """Say whether a function's own body yields."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(inner, (Definition, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(inner))
    return False
