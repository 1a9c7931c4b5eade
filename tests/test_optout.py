from __future__ import annotations

from pathlib import Path

import pytest

from curate.errors import UserError
from curate.optout import OptOut, read


def test_lists_are_read_without_comments(tmp_path: Path) -> None:
    assert read(tmp_path) == OptOut()
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/opt-out.txt").write_text("# who asked\n\nTeam/One # in May\n12345\n")
    assert read(tmp_path, ["a/b"]) == OptOut(("a/b",), ("Team/One", "12345"))
    (tmp_path / "other.txt").write_text("x/*\n")
    assert read(tmp_path, file="other.txt").opted_out == ("Team/One", "12345", "x/*"), "a further file adds to it"
    with pytest.raises(UserError, match=r"none\.txt"):
        read(tmp_path, file="none.txt")


def test_lists_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    file = tmp_path / "sources/opt-out.txt"
    file.write_bytes(b"\xef\xbb\xbfhttps://github.com/team/one.git\r\nhttps://github.com/team/two/\r\n")
    assert read(tmp_path).opted_out == ("team/one", "team/two")
    for text in (b"@team\n", b"caf\xe9/x\n", b"a b\n", b"a/b/c\n"):
        file.write_bytes(text)
        with pytest.raises(UserError, match=r"sources/opt-out\.txt"):
            read(tmp_path)


def test_a_number_is_not_part_of_a_name() -> None:
    assert OptOut(opted_out=("12",)).refusal(["team/12"], 5) is None
    assert OptOut(opted_out=("12",)).refusal(["team/x"], 12) == (
        "opted_out", "team/x: its authors asked to be left out (12)"
    )  # fmt: skip
