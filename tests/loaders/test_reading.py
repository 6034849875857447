"""Lines of text files; and what several metrics need is read, parsed and hashed once, with its notes said to each."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from simstudy.loaders import reading as reading_module
from simstudy.loaders.reading import once, read_lines, reading
from simstudy.notes import notes_kept


def written(folder: Path, content: bytes, name: str = "a.txt") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"\none\n\n", ["", "one", ""]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\rg\n".encode(), ["a\x0bb\x0cc\x1cd\x85e\u2028f\rg"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    with notes_kept() as notes:
        assert read_lines(written(tmp_path, content)) == lines
    assert notes == []


def test_byte_order_marks_and_windows_line_ends_are_taken_off_and_noted(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\n")
    with notes_kept() as notes:
        assert read_lines(path) == ["one", "two"]
    assert notes == [f"{path}: byte order mark removed", f"{path}: Windows line ends converted"]


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress("café\n".encode())
    assert read_lines(written(tmp_path, packed, "a.txt.gz")) == ["café"]
    path = written(tmp_path, packed[:-9], "cut.txt.gz")
    with pytest.raises(ValueError, match="is not a whole gzip file"):
        read_lines(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty"),
        (b" \n\n", " is empty"),
        (b"\xef\xbb\xbf", " is empty"),
        (b"one\ncaf\xe9\n", ", line 2: not UTF-8 (byte 0xe9); convert the file to UTF-8"),
        ("\u00a0\n\u2003\n".encode(), " is empty"),
        (b"one\ntw\0\xe9\n", ", line 2: a NUL byte; is this a binary file?"),
        ("one\ntwo\n".encode("utf-16-le"), ", line 1: a NUL byte; is this a binary file?"),
        ("one\ntwo\n".encode("utf-16"), ", line 1: not UTF-8 but UTF-16; convert the file to UTF-8"),
    ],
)
def test_what_is_no_utf8_text_is_named_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, content)
    with notes_kept(), pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        read_lines(path)
    assert str(error.value) == f"{path}{message}"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="^no such file: .*none.txt$"):
        read_lines(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="must be a file, but is a folder$"):
        read_lines(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    return path


def test_what_is_kept_is_read_once_and_its_notes_are_said_each_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    unpacked = reading_module.unpacked
    monkeypatch.setattr(reading_module, "unpacked", lambda path: read.append(path) or unpacked(path))
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
