"""Archives that were made to do harm, or that broke."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from curate.errors import ItemError
from curate.mine import Settings
from curate.mine.tree import Tree
from curate.mine.unpack import unpack
from tests.mine.mining import files
from tests.mine.projects import FILES, tar_gz, tar_of, zipped


def _unpacked(tmp_path: Path, data: bytes, settings: Settings | None = None) -> Tree:
    archive = tmp_path / "archive"
    archive.write_bytes(data)
    tree = Tree(tmp_path / "out/files", settings or Settings())
    unpack(archive, tree, tree.settings)
    return tree


def _written(tmp_path: Path) -> dict[str, bytes]:
    """Everything below tmp_path but the archive: what leads out of the folder would show here."""
    found = files(tmp_path)
    found.pop("archive")
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    return {path.removeprefix("out/files/"): data for path, data in found.items()}


def _file(name: str, data: bytes = b"x", **facts: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    for key, value in facts.items():
        setattr(info, key, value)
    return info, data


def _link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return _file(name, b"", type=kind, linkname=target)


GOOD = _file("good.py", b"good")
HOSTILE = {
    "absolute": ([_file("/tmp/evil")], {"/tmp/evil": "unsafe_name"}),
    "parent": ([_file("../evil")], {"../evil": "unsafe_name"}),
    "parent_inside": ([_file("a/../../evil")], {"a/../../evil": "unsafe_name"}),
    "backslash": ([_file("..\\evil")], {"..\\evil": "unsafe_name"}),
    "drive": ([_file("C:evil")], {"C:evil": "unsafe_name"}),
    "through_a_link": ([_link("a", "/tmp"), _file("a/evil")], {"a": "link_outside"}),
    "through_a_link_up": ([_link("a", ".."), _file("a/evil")], {"a": "link_outside"}),
    "link_replaces_folder": ([_file("a/kept"), _link("a", "good.py")], {"a": "name_collision"}),
    "link_chain_out": ([_link("a", "b"), _link("b", "../x")], {"a": "broken_link", "b": "link_outside"}),
    "link_loop": ([_link("a", "b"), _link("b", "a")], {"a": "broken_link", "b": "broken_link"}),
    "hard_link_out": ([_link("a", "/etc/passwd", tarfile.LNKTYPE)], {"a": "link_outside"}),
    "hard_link_up": ([_link("x/a", "../../etc/passwd", tarfile.LNKTYPE)], {"x/a": "link_outside"}),
    "device": ([_file("a", b"", type=tarfile.CHRTYPE), _file("b", b"", type=tarfile.FIFOTYPE)],
               {"a": "not_a_file", "b": "not_a_file"}),
    "long_name": ([_file("n" * 256)], {"n" * 256: "name_too_long"}),
    "long_path": ([_file("/".join(["n" * 200] * 6))], {"/".join(["n" * 200] * 6)[:300]: "name_too_long"}),
    "not_utf8": ([_file("\udcff.py")], {"\\udcff.py": "unreadable_name"}),
    "git_folder": ([_file(".git/config"), _file(".git/hooks/x"), _file("sub/.GIT/config")],
                   {".git": "git_folder", "sub/.GIT": "git_folder"}),
    "duplicate": ([_file("good.py", b"good")], {"good.py": "duplicate_name"}),
    "file_as_folder": ([_file("good.py/x")], {"good.py/x": "name_collision"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_leads_out_of_the_project_is_left_out(tmp_path: Path, name: str) -> None:
    members, reasons = HOSTILE[name]
    tree = _unpacked(tmp_path, tar_of(GOOD, *members))
    written = _written(tmp_path)
    assert written.pop("good.py") == b"good"
    assert set(written) <= {"a/evil", "a/kept"}
    assert {out.path: out.reason for out in tree.left_out} == reasons
    assert {*written, "good.py"} == set(tree.files)


def test_links_inside_become_copies(tmp_path: Path) -> None:
    tree = _unpacked(
        tmp_path,
        tar_of(
            _link("p-1/before.py", "good.py"),
            _file("p-1/good.py", b"good", mode=0o4755),
            _link("p-1/hard.py", "p-1/good.py", tarfile.LNKTYPE),
            _link("p-1/sub/up.py", "../good.py"),
            _link("p-1/chain.py", "sub/up.py"),
        ),
    )
    tree.strip_top()
    assert tree.left_out == []
    assert tree.root is not None
    names = ["before.py", "chain.py", "good.py", "hard.py", "sub/up.py"]
    assert files(tree.root) == dict.fromkeys(names, b"good")
    for name in names:
        assert stat.S_IMODE((tree.root / name).stat().st_mode) == 0o755, "runnable, but no more than that"


@pytest.mark.parametrize(
    ("names", "stripped"),
    [
        (["d-1/a.py", "d-1/b/c.py"], ["a.py", "b/c.py"]),
        (["./d-1/a.py", "d-1//b.py"], ["a.py", "b.py"]),
        (["d-1/a.py", "._d-1", "pax_global_header"], ["a.py"]),
        (["d-1/a.py", "setup.py"], ["d-1/a.py", "setup.py"]),
        (["d-1/a.py", "e-1/b.py"], ["d-1/a.py", "e-1/b.py"]),
        (["a.py"], ["a.py"]),
    ],
)
def test_the_folder_around_an_sdist_goes(tmp_path: Path, names: list[str], stripped: list[str]) -> None:
    tree = _unpacked(tmp_path, tar_gz(dict.fromkeys(names, "x"), top=""))
    tree.strip_top()
    assert tree.root is not None
    assert sorted(files(tree.root)) == sorted(tree.files) == sorted(stripped)


@pytest.mark.parametrize("name", ["Readme and README", "ünïcode/名前.py", "e\u0301.py", "with space/tab\tnewline\n.py"])
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    for data in (tar_gz({name: "x"}, top=""), zipped({name: "x"})):
        assert set(_unpacked(tmp_path, data).files) == {name}
        (tmp_path / "out/files" / name).unlink()
    both = _unpacked(tmp_path, tar_gz({"README": "a", "Readme": "b"}, top=""))
    assert set(both.files) | {out.path for out in both.left_out} == {"README", "Readme"}


@pytest.mark.parametrize("squeeze", [gzip.compress, bz2.compress, lzma.compress])
def test_every_compression(tmp_path: Path, squeeze: object) -> None:
    raw = gzip.decompress(tar_gz(FILES, top=""))
    assert set(_unpacked(tmp_path, squeeze(raw)).files) == set(FILES)  # type: ignore[operator]


def test_zip_names_links_and_modes(tmp_path: Path) -> None:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as bundle:
        for name, data, mode in (
            ("good.py", "good", 0o100755), ("../evil", "x", 0o100644), ("/abs", "x", 0o100644),
            ("win\\dows.py", "w", 0o100644), ("..\\up", "x", 0o100644), ("link.py", "good.py", 0o120777),
            ("out.py", "../../etc/passwd", 0o120777), ("folder/", "", 0o040755),
        ):  # fmt: skip
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            bundle.writestr(info, data)
    tree = _unpacked(tmp_path, raw.getvalue())
    assert _written(tmp_path) == {"good.py": b"good", "link.py": b"good", "win/dows.py": b"w"}
    assert {out.path: out.reason for out in tree.left_out} == {
        "../evil": "unsafe_name", "/abs": "unsafe_name", "../up": "unsafe_name", "out.py": "link_outside",
    }  # fmt: skip


def _refused(tmp_path: Path, data: bytes, **limits: int) -> str:
    with pytest.raises(ItemError) as caught:
        _unpacked(tmp_path, data, Settings(**limits))
    assert not caught.value.transient
    return caught.value.reason


def test_bombs_are_refused_before_they_go_off(tmp_path: Path) -> None:
    zeros = bytes(32 << 20)
    for data in (tar_gz({"zeros": zeros}), zipped({"zeros": zeros})):
        assert len(data) < 100_000
        assert _refused(tmp_path, data) == "unsafe_archive"
    many = {f"copy{number}": zeros[: 4 << 20] for number in range(8)}
    assert _refused(tmp_path, zipped(many)) == "unsafe_archive"
    assert sum(len(data) for data in _written(tmp_path).values()) < 32 << 20


def test_a_file_that_is_left_out_still_counts_as_read(tmp_path: Path) -> None:
    assert _refused(tmp_path, tar_gz({"zeros": bytes(80 << 20)}), max_files=10, max_ratio=50) == "unsafe_archive"


def test_the_limits(tmp_path: Path) -> None:
    noise = random.Random(0).randbytes(3 << 20)
    for pack in (tar_gz, zipped):
        assert _refused(tmp_path, pack({str(number): "" for number in range(11)}), max_files=10) == "too_large"
        assert _refused(tmp_path, pack({"noise": noise}), max_bytes=2 << 20) == "too_large"
    folders = tar_of(GOOD, *(_file(f"d{number}", b"", type=tarfile.DIRTYPE) for number in range(20)))
    assert _refused(tmp_path, folders, max_files=10) == "too_large"


def test_a_header_does_not_fill_the_memory(tmp_path: Path) -> None:
    comment = _file("a")
    comment[0].pax_headers = {"comment": random.Random(0).randbytes(4 << 20).hex()}
    assert _refused(tmp_path, tar_of(comment)) == "unsafe_archive"


def test_a_zip_that_lies_about_sizes(tmp_path: Path) -> None:
    data = zipped({"a": random.Random(0).randbytes(5000)})
    lying = data.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != data
    try:
        tree = _unpacked(tmp_path, lying)
    except ItemError as error:
        assert error.reason == "damaged_archive"
    else:
        assert tree.bytes <= 10


@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_what_is_cut_short_or_changed_is_no_archive(tmp_path: Path, pack: object) -> None:
    data: bytes = pack({"a.py": random.Random(0).randbytes(20_000)})  # type: ignore[operator]
    for broken in (data[:-1], data[: len(data) // 2], data[:20], b"", data[:5000] + b"\0\0\0\0" + data[5004:]):
        assert _refused(tmp_path, broken) == "damaged_archive"
        (tmp_path / "out/files/demo-1.0/a.py").unlink(missing_ok=True)
        (tmp_path / "out/files/a.py").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "data", [b"<!DOCTYPE html><html>", b"PK but no zip", b"\x1f\x8b", gzip.compress(b"no tar", mtime=0)]
)
def test_what_only_looks_like_an_archive(tmp_path: Path, data: bytes) -> None:
    assert _refused(tmp_path, data) == "damaged_archive"


def test_an_archive_without_files(tmp_path: Path) -> None:
    assert _refused(tmp_path, tar_of(_file("d", b"", type=tarfile.DIRTYPE))) == "empty"
    assert _refused(tmp_path, zipped({})) in {"empty", "damaged_archive"}


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "/", "\\", "C:", ".git", "é", "x" * 90]), max_size=5)
KINDS = st.sampled_from([tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
MEMBERS = st.lists(st.tuples(NAMES, KINDS, NAMES, st.binary(max_size=20)), max_size=8)
QUICK = how(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(MEMBERS)
@QUICK
def test_no_tar_writes_outside_and_every_member_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, members: list[tuple[list[str], bytes, list[str], bytes]]
) -> None:
    tmp_path = tmp_path_factory.mktemp("any")
    made = [_file("/".join(name) or "n", data if kind == tarfile.REGTYPE else b"", type=kind, linkname="/".join(link))
            for name, kind, link, data in members]  # fmt: skip
    tree = _unpacked(tmp_path, tar_of(GOOD, *made))
    written = _written(tmp_path)
    assert set(written) == set(tree.files)
    assert tree.bytes == sum(map(len, written.values()))
    told = {*tree.files, *(out.path for out in tree.left_out)}
    for info, _ in made:
        plain = "/".join(part for part in info.name.split("/") if part not in {"", "."})
        hidden = plain.lower().split(".git")[0] + ".git" in {path.lower() for path in told}
        assert info.isdir() or {plain, info.name[:300], info.name.rstrip("/")} & told or hidden


@given(st.data())
@QUICK
def test_any_damage_is_an_error_of_the_item(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    tmp_path = tmp_path_factory.mktemp("any")
    raw = bytearray(data.draw(st.sampled_from([gzip.decompress(tar_gz(FILES)), zipped(FILES)])))
    for _ in range(data.draw(st.integers(1, 20))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        tree = _unpacked(tmp_path, bytes(raw) if raw[:2] == b"PK" else gzip.compress(bytes(raw)))
    except ItemError as error:
        assert error.reason in {"damaged_archive", "unsafe_archive", "too_large", "empty"}
    else:
        assert set(_written(tmp_path)) == set(tree.files)
