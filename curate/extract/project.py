"""One project from its files to rows: every file is read, parsed and walked once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from curate.conventions import conventions
from curate.errors import ItemError
from curate.extract.discover import tests
from curate.extract.facts import Scope, set_roles
from curate.extract.files import dotted_name, parse, read_bytes, source_files
from curate.extract.functions import Options, Part, function_rows
from curate.extract.links import Linker
from curate.extract.notebook import code_cells, set_aside
from curate.extract.resolver import Resolver
from curate.extract.walk import Walker
from curate.ids import stable_id
from curate.records import Failure, Function, Link, Test
from curate.splice import of_text, read

if TYPE_CHECKING:
    from curate.extract import Settings


class Project:
    """The scopes and rows of one snapshot."""

    def __init__(self, root: Path, snapshot_id: str, name: str, settings: Settings) -> None:
        self.snapshot_id, self.name, self.settings = snapshot_id, name, settings
        self.rules = conventions(root)
        self.failures: list[Failure] = []
        self.functions: list[Function] = []
        self.modules: list[Scope] = []
        self.in_tests: set[str] = set()
        files = list(source_files(root))
        self.packages = {str(PurePosixPath(path).parent) for path, _ in files if path.endswith("/__init__.py")}
        for path, file in files:
            self._read(path, file)
        self.resolver = Resolver(self.modules)
        self.rows = {row.function_id: row for row in self.functions}

    def _read(self, path: str, file: Path | ItemError) -> None:
        try:
            if isinstance(file, ItemError):
                raise file
            raw = read_bytes(file, self.settings.max_file_bytes)
            if path.endswith(".ipynb"):
                self._notebook(path, raw)
            else:
                self._module(path, raw)
        except ItemError as error:
            self._failed(path, error)
        except RecursionError:
            self._failed(path, ItemError("too_deep", "expressions nested deeper than can be followed"))

    def _failed(self, path: str, error: ItemError) -> None:
        self.failures.append(
            Failure(
                stage="extract",
                item_id=f"{self.snapshot_id}:{path}",
                subject=f"{self.name}:{path}",
                reason=error.reason,
                detail=f"{path}: {error.detail}".encode("utf-8", "replace").decode(),
            )
        )

    def _scope(self, path: str) -> Scope:
        dotted = dotted_name(path, self.packages)
        return Scope(dotted.rpartition(".")[2], "module", None, path=path, module=dotted)

    def _package(self, module: Scope) -> str:
        return module.module if module.path.endswith("__init__.py") else module.module.rpartition(".")[0]

    def _module(self, path: str, raw: bytes) -> None:
        text = read(raw)
        module = self._scope(path)
        tree = parse(text.text)
        Walker(module, self._package(module)).all(tree.body)
        self._finish(module, [Part(text, module.strings)])

    def _notebook(self, path: str, raw: bytes) -> None:
        module = self._scope(path)
        parts = []
        for cell, source in code_cells(raw):
            try:
                tree = parse(set_aside(source))
                text = of_text(source)
            except ItemError as error:
                self._failed(f"{path}#cell{cell}", error)
                continue
            module.strings = []
            Walker(module, self._package(module), cell).all(tree.body)
            parts.append(Part(text, module.strings, cell))
        self._finish(module, parts)

    def _finish(self, module: Scope, parts: list[Part]) -> None:
        """Turn a walked module into rows, and let go of its tree."""
        set_roles(module)
        in_tests = self.rules.belongs_to_tests(module.path)
        options = Options(self.snapshot_id, in_tests, self.settings.max_context)
        rows = [row for part in parts for row in function_rows(module, part, options)]
        self.functions.extend(rows)
        self.modules.append(module)
        if in_tests:
            self.in_tests.add(module.path)
        for scope in module.below():
            scope.node = None

    def tests(self) -> list[Test]:
        """Return the tests, by file and name."""
        return [self._test(*found) for found in self._tests()]

    def _tests(self) -> Iterator[tuple[Scope, str, str]]:
        for module in self.modules:
            if module.path in self.in_tests and module.path.endswith(".py"):
                yield from tests(module, self.rules, self.resolver)

    def _test(self, scope: Scope, node_id: str, framework: str) -> Test:
        row = self.rows[scope.function_id]
        return Test(
            test_id=stable_id(self.snapshot_id, node_id),
            snapshot_id=self.snapshot_id,
            path=scope.path,
            qualname=scope.qualname,
            node_id=node_id,
            framework="unittest" if framework == "unittest" else "pytest",
            first_line=row.first_line,
            last_line=row.last_line,
            source=row.source,
            found_by="static",
        )

    def links(self) -> list[Link]:
        """Return the static links, by test and then by place of the function."""
        linker = Linker(self.resolver, self.in_tests)
        found = []
        for scope, node_id, _ in self._tests():
            test_id = stable_id(self.snapshot_id, node_id)
            linked = [self.rows[function.function_id] for function in linker.functions(scope)]
            for row in sorted(linked, key=lambda row: (row.path, row.cell or 0, row.start_byte)):
                found.append(Link(function_id=row.function_id, test_id=test_id, how="static"))
        return found
