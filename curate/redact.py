"""Keeping credentials out of whatever is shown or stored."""

from __future__ import annotations

import re

TOKEN = re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,})")
"""How the tokens of GitHub, GitLab and the Hub begin."""


def redact(text: str) -> str:
    """Return a text with tokens, and the user names, passwords and queries of the addresses in it, taken out."""
    text = re.sub(r"(://)[^/\s'\"]*@", r"\1", text)
    text = re.sub(r"(://[^\s?#'\"]*)[?#][^\s'\"]*", r"\1", text)
    return TOKEN.sub("***", text)
