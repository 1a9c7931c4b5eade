"""The package index: where distributions are listed and downloaded from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from curate.errors import ItemError

if TYPE_CHECKING:
    from pypi_simple import PyPISimple

VARIABLES = ("CURATE_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
"""Where the address of the index is looked for, in this order; without any, the client's own default counts."""

TIMEOUT = (4.0, 60.0)
"""Seconds to connect, and to wait for data."""


def client() -> PyPISimple:
    """Return a client for the index that the environment names."""
    from pypi_simple import PyPISimple

    for variable in VARIABLES:
        if address := os.environ.get(variable):
            # uv allows NAME=ADDRESS.
            name, _, rest = address.partition("=")
            return PyPISimple(rest if rest and "/" not in name else address)
    return PyPISimple()


def download(name: str, version: str, kinds: Sequence[str], dest: Path) -> Path:
    """Download one distribution of a version into the folder `dest`, of the first of `kinds` (sdist, wheel) there is.

    Its hash is checked against the one that the index states. Raises ItemError: `not_on_index`, or, worth another try,
    `index_unreachable`.
    """
    from pypi_simple import NoSuchProjectError
    from pypi_simple.errors import DigestMismatchError, UnsupportedRepoVersionError
    from requests import RequestException

    try:
        with client() as index:
            packages = index.get_project_page(name, timeout=TIMEOUT).packages
            found = [p for kind in kinds for p in packages if p.package_type == kind and p.version == version]
            if not found:
                raise ItemError("not_on_index", f"the index has no {' or '.join(kinds)} of {name} {version}")
            path = dest / found[0].filename
            index.download_package(found[0], path, timeout=TIMEOUT)
            return path
    except NoSuchProjectError as error:
        raise ItemError("not_on_index", f"the index has no project {name}") from error
    except (RequestException, DigestMismatchError, UnsupportedRepoVersionError, ValueError) as error:
        # Not the message: it may hold the index's address with a password in it.
        reason = f"{name} {version}: {type(error).__name__}"
        raise ItemError("index_unreachable", reason, transient=True) from error
