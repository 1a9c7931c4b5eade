"""Keeping credentials out of whatever is shown or stored."""

from __future__ import annotations

import re
import unicodedata

TOKEN = re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,})")
"""How the tokens of GitHub, GitLab and the Hub begin."""


def printable(text: str) -> str:
    """Return a text on one line, without what a terminal would obey: control characters and changes of direction."""
    kept = "".join(" " if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else one for one in text)
    return " ".join(kept.split())


def redact(text: str) -> str:
    """Return a text with tokens, and the user names, passwords and queries of the addresses in it, taken out."""
    text = re.sub(r"(://)[^/\s'\"]*@", r"\1", text)
    text = re.sub(r"(://[^\s?#'\"]*)[?#][^\s'\"]*", r"\1", text)
    return TOKEN.sub("***", text)
