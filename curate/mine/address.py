"""Which package index to ask."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from curate.errors import UserError

VARIABLES = ("CURATE_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


def address() -> str | None:
    """Return the address of the index that the environment names, or None for the client library's own.

    Raises UserError when it is not one that can be asked over HTTP.
    """
    for variable in VARIABLES:
        named = re.sub(r"^[\w.-]+=(?=\w+://)", "", os.environ.get(variable, "").strip())  # uv allows NAME=ADDRESS
        if named:
            if urlsplit(named).scheme not in {"http", "https"}:
                raise UserError(f"{variable}: the address of a package index begins with http:// or https://")
            return named
    return None
