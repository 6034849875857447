"""Files that several metrics need are read, parsed and hashed once, and their notes are said to each."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from simstudy.loaders import reading as lines
from simstudy.loaders.reading import once, read_lines, reading
from simstudy.notes import note, notes_kept


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    return path


def test_what_is_kept_is_read_once_and_its_notes_are_said_each_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    unpacked = lines.unpacked
    monkeypatch.setattr(lines, "unpacked", lambda path: read.append(path) or unpacked(path))
    with reading() as now:
        now.kept[file] = {}
        for _ in range(3):
            with notes_kept() as notes:
                assert read_lines(file) == ["one", "two"]
            assert notes == [f"{file}: Windows line ends converted"]
        assert read == [file]
        del now.kept[file]
        with notes_kept():
            read_lines(file)
    assert read == [file, file]


def test_what_is_kept_is_of_the_same_arguments(file: Path) -> None:
    @once
    def nth(path: Path, n: int, *, shout: bool = False) -> str:
        line = path.read_text().split()[n]
        return line.upper() if shout else line

    with reading() as now:
        now.kept[file] = {}
        assert [nth(file, 0), nth(file, 1), nth(file, 1, shout=True), nth(file, 0)] == ["one", "two", "TWO", "one"]


def test_every_file_that_is_read_has_its_hash(file: Path) -> None:
    other = file.with_name("b.txt")
    other.write_text("three\n")
    with notes_kept():
        with reading() as now:
            for path in (file, other, file):
                read_lines(path)
        assert now.hashes == {path: sha256(path.read_bytes()).hexdigest() for path in (file, other)}
        read_lines(file)


def test_notes_that_nobody_keeps_are_warnings(file: Path) -> None:
    with pytest.warns(UserWarning, match="Windows line ends converted"):
        read_lines(file)
    with notes_kept() as outer:
        note("before")
        with notes_kept() as inner:
            note("inside")
        note("after")
    assert (outer, inner) == (["before", "after"], ["inside"])
