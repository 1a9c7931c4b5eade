from __future__ import annotations

import pytest

from curate.errors import UserError
from curate.mine.github.address import address


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_API_URL", "GITHUB_TOKEN", "GITHUB_TOKENS", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("api", "web", "host"),
    [
        ("https://api.github.com/", "https://github.com", "github.com"),
        ("https://git.example.org/api/v3", "https://git.example.org", "git.example.org"),
        ("https://api.team.ghe.example", "https://team.ghe.example", "team.ghe.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://localhost:1/api/v3", "http://localhost:1", "localhost:1"),
    ],
)
def test_where_pages_and_clones_lie(api: str, web: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", api)
    assert (address().web, address().host) == (web, host)


@pytest.mark.parametrize(
    "api", ["http://git.example.org/api/v3", "git.example.org", "https://u:p@host/api", "https://"]
)
def test_a_token_is_never_sent_in_the_clear(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", api)
    with pytest.raises(UserError, match="GITHUB_API_URL"):
        address()


def test_several_tokens_each_once_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address().tokens == ()
    monkeypatch.setenv("GITHUB_TOKENS", "ghp_aaaaaaaa, ghp_bbbbbbbb\n")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_bbbbbbbb")
    found = address()
    assert [token.get_secret_value() for token in found.tokens] == ["ghp_aaaaaaaa", "ghp_bbbbbbbb"]
    assert "ghp_" not in repr(found)
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_\u00e9\u00e9\u00e9\u00e9\u00e9")
    with pytest.raises(UserError, match=r"^GITHUB_TOKEN: this is not a token$"):
        address()
