"""What a reader needs beside a definition: the imports it uses and the skeleton of its class."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import cast

from curate.extract.facts import Import, Scope
from curate.splice import Definition

_LONG = 160


def import_lines(imports: Iterable[Import]) -> list[str]:
    """Return import statements as written, names from one module together."""
    together: dict[str, list[str]] = {}
    for item in imports:
        names = together.setdefault(item.source, [])
        if item.name not in names:
            names.append(item.name)
    found = []
    for source, names in together.items():
        found.extend([source + name for name in names] if source == "import " else [source + ", ".join(names)])
    return sorted(found, key=lambda line: (line.startswith("from"), line))


class Skeleton:
    """A class without bodies: its line, docstring, attributes and the signatures of its methods."""

    def __init__(self, scope: Scope, signatures: dict[Scope, str], limit: int) -> None:
        node = cast("ast.ClassDef", scope.node)
        bases = ", ".join([*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)])
        self.head = [f"class {scope.name}({bases}):" if bases else f"class {scope.name}:"]
        docstring = ast.get_docstring(node)
        if docstring:
            self.head += ("    " + line if line else "" for line in _quoted(docstring, limit // 2).split("\n"))
        self.head += (
            "    " + _attribute(inner) for inner in node.body if isinstance(inner, (ast.Assign, ast.AnnAssign))
        )
        self.methods = {
            child: [*("    @" + name for name in decorated(child)), f"    {signatures[child]}: ..."]
            for child in scope.children
            if child in signatures
        }

        self.limit = limit

    def around(self, method: Scope) -> str:
        """Return the skeleton without one method; what would make it longer than the limit is left out."""
        lines = list(self.head)
        size = sum(map(len, lines)) + len(lines)
        for other, text in self.methods.items():
            if other is method:
                continue
            size += sum(map(len, text)) + len(text)
            if size > self.limit:
                return "\n".join([*lines, "    ...", "    # further methods left out"])
            lines += text
        return "\n".join(lines if len(lines) > 1 else [*lines, "    ..."])


def decorated(scope: Scope) -> list[str]:
    """Return the decorators of a definition in one line each."""
    node = scope.node
    return [ast.unparse(decorator) for decorator in node.decorator_list] if isinstance(node, Definition) else []


def _quoted(docstring: str, limit: int) -> str:
    """Return a docstring as a literal; only its first paragraph when it is long."""
    if len(docstring) > limit:
        docstring = docstring.partition("\n\n")[0][:limit]
    docstring = docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    docstring = docstring if docstring.isascii() else docstring.encode("utf-8", "replace").decode()
    return f'"""{docstring[:-1]}\\""""' if docstring.endswith('"') else f'"""{docstring}"""'


def _attribute(node: ast.Assign | ast.AnnAssign) -> str:
    """Return an attribute of a class in one line; a long value is left out."""
    text = ast.unparse(node)
    if len(text) <= _LONG and "\n" not in text:
        return text
    if isinstance(node, ast.AnnAssign):
        return f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)} = ..."
    return " = ".join([*map(ast.unparse, node.targets), "..."])
