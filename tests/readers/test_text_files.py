"""Lines of text files; and files that several need are read, parsed and hashed once, with their notes told to each."""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from simstudy.files.packed import unzipped_folder
from simstudy.notes import note, notes_kept
from simstudy.readers.text_files import first_keys, once, parse_json, read_lines, reading
from simstudy.validation import NoSuchFile
from tests.readers.line_files import input_error, written


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\r\ntwo", ["one", "two"]),
        (b"\none\n\n", ["", "one", ""]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\rg\n".encode(), ["a\x0bb\x0cc\x1cd\x85e\u2028f\rg"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    """A byte order mark and Windows line ends are read without a note."""
    with notes_kept() as notes:
        assert read_lines(written(tmp_path / "a.txt", content)) == lines
        assert read_lines(written(tmp_path / "a.txt.gz", gzip.compress(content))) == lines
    assert notes == []


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xef\xbb\xbf", 0),
        (b"PK\3\4 a workbook", 0),
        (b"one\ntw\0\xe9\n", 2),
        ("one\n".encode("utf-16"), 1),
        ("one\n".encode("utf-16-le"), 1),
    ],
)
def test_what_is_no_utf8_text_is_named_with_its_line(tmp_path: Path, content: bytes, line: int) -> None:
    path = written(tmp_path / "a.txt", content)
    assert str(input_error(path, by=read_lines)).startswith(f"{path}, line {line}: " if line else str(path))


def test_no_file(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    for name in ("none", "x.zip/a.csv"):
        input_error(tmp_path / name, by=read_lines, kind=NoSuchFile)
    for name in (".", "pipe"):
        input_error(tmp_path / name, by=read_lines, match="must be a file")


def test_what_is_kept_is_read_once_and_its_notes_are_told_each_time(tmp_path: Path) -> None:
    path, calls = written(tmp_path / "a.txt", b"one two"), []

    @once
    def nth(path: Path, n: int, *, shout: bool = False) -> str:
        calls.append(n)
        note("text", text=f"word {n}")
        word = read_lines(path)[0].split()[n]
        return word.upper() if shout else word

    with reading(keep=True), notes_kept() as notes:
        assert [nth(path, 0), nth(path, 1), nth(path, 1, shout=True), nth(path, 0)] == ["one", "two", "TWO", "one"]
    assert calls == [0, 1, 1]
    assert notes == ["word 0", "word 1", "word 1", "word 0"]


def test_files_are_hashed_as_they_are_packed(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "one")
    with reading() as now:
        read_lines(unzipped_folder(path) / "a.txt")
    assert now.files() == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}
    assert not now.changed([path])
    path.write_bytes(b"")
    assert now.changed([path])


def test_a_key_that_comes_again_among_many_is_found_fast() -> None:
    keys = ", ".join(f'"k{i}": 0' for i in range(100_000))
    input_error(f'{{{keys}, "k7": 1}}', "x.json", by=parse_json, match="k7")


def test_first_keys_of_a_large_a_packed_and_another_file(tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text('{"status": 1, "eval": {"task": "x"}, "samples": [' + "1, " * 2**20)
    assert first_keys(tmp_path / "large.json") == {"status", "eval", "task", "samples"}
    assert first_keys(written(tmp_path / "lines.jsonl.gz", gzip.compress(b'{"a": 1}\n{"b": 1}\n'))) == {"a"}
    for name, content in (("text.txt", 'say "a": 1\n'), ("damaged.json.gz", b"\x1f\x8b")):
        assert first_keys(written(tmp_path / name, content)) == frozenset()
    assert first_keys(tmp_path / "missing.json") == frozenset()
