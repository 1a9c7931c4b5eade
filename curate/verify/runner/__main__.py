"""Start the runner under a private package name, so that nothing of ours can shadow a module of the project."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

NAME = "_curate_runner"
HERE = Path(__file__).parent

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location(NAME, HERE / "__init__.py", submodule_search_locations=[str(HERE)])
    if spec is None or spec.loader is None:
        raise SystemExit(f"{HERE} is not readable")
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    sys.path[:] = [entry for entry in sys.path if Path(entry) != HERE]
    importlib.import_module(f"{NAME}.serve").main(*sys.argv[1:])
