"""Laying out a new workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

from curate.errors import UserError

GITIGNORE = ".curate/\n# Built from the store and the recipe.\nreleases/*/*/data/\n"


def lay_out(folder: Path) -> list[str]:
    """Write sources, label axes and the quick-start recipe into `folder`, leaving what lies there alone.

    Returns the files written, relative to the folder. Raises UserError when `folder` cannot be written.
    """
    project = _own_project()
    written: list[str] = []
    try:
        for part in ("sources", "schema", "releases"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        for source in sorted(_laid_out(project)):
            name = source.relative_to(project)
            if not (folder / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, folder / name)
                written.append(name.as_posix())
        if not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text(GITIGNORE)
            written.append(".gitignore")
    except OSError as error:
        raise UserError(f"{folder} cannot be laid out: {error.strerror}") from error
    return written


def _laid_out(project: Path) -> list[Path]:
    patterns = ("sources/*.toml", "sources/recipes/*.toml", "schema/axes/*.toml", "releases/quickstart.toml")
    return [path for pattern in patterns for path in project.glob(pattern)]


def _own_project() -> Path:
    """Return where the files lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "_project"
    return installed if installed.is_dir() else package.parent
