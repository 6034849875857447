from __future__ import annotations

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest

from simstudy.loaders.tables import read_table
from simstudy.notes import notes_kept


def test_cells_stay_as_written_and_rows_know_their_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,text\n01,"two\nlines"\n\n02,NA\n1e3,"a ""b"""\n')
    frame = read_table(path)
    assert frame.to_dict("list") == {"id": ["01", "02", "1e3"], "text": ["two\nlines", "NA", 'a "b"']}
    assert (frame.index.name, frame.index.tolist()) == ("line", [2, 5, 6])


def test_empty_lines_count_where_nothing_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\na,1\n\nb,2\n")
    assert read_table(tmp_path / "t.csv").index.tolist() == [2, 4]


def test_cells_of_spaces_are_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n \n  x\nNA\n#1\n")
    assert read_table(tmp_path / "t.csv")["a"].tolist() == [" ", "  x", "NA", "#1"]


def test_tsv_has_no_quoting(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('id\ttext\n1\t"open\n2\t5" wide\n')
    assert read_table(path)["text"].tolist() == ['"open', '5" wide']


def test_packed_parquet_and_windows_files(tmp_path: Path) -> None:
    plain = "id,x\na,1\nb,2\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(plain.encode()))
    (tmp_path / "w.csv").write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    pd.DataFrame({"id": ["a", "b"], "x": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    packed = read_table(tmp_path / "t.csv.gz")
    with notes_kept() as notes:
        windows = read_table(tmp_path / "w.csv")
    pd.testing.assert_frame_equal(packed, windows)
    assert [note.rpartition(": ")[2] for note in notes] == ["byte order mark removed", "Windows line ends converted"]
    frame = read_table(tmp_path / "t.parquet")
    assert (frame["x"].tolist(), frame.index.name, frame.index.tolist()) == ([1, 2], "row", [1, 2])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", " is empty"),
        ("t.csv", "a,b\n", " has a header, but no rows"),
        ("t.csv", "a,b", " has a header, but no rows"),
        (
            "t.csv",
            "a\n1\r2\n",
            ", line 2: new-line character seen in unquoted field - do you need to open the file in "
            "universal-newline mode?; lines must end with LF or CR LF",
        ),
        ("t.csv", "a\n\n1,2\n", ", line 3: 2 cells, but the header has 1"),
        ("t.csv", "a,b\n1,2\n\n3\n", ", line 4: 1 cell, but the header has 2"),
        ("t.tsv", "a\tb\n1\t2\t3\n", ", line 2: 3 cells, but the header has 2"),
        ("t.csv", 'a,b\n1,2\n3,"4\n5,6\n', ", line 3: a quote opens here that does not close"),
        ("t.csv", "a,b,a\n1,2,3\n", ", line 1: columns must have different names, but 'a' is there twice"),
        ("t.csv", "a,,c\n1,2,3\n", ", line 1: columns must be named, but column 2 of 3 has no name"),
        ("t.csv", 'a,"b\nc"\n1,2\n', r", line 1: the name of a column must be of one line, unlike 'b\nc'"),
        ("t.csv", b"a,b\n1,\x00\n", ", line 2: a NUL byte; is this a binary file?"),
        ("t.csv", b"a,b\n1,\xe9\n", ", line 2: not UTF-8 (byte 0xe9); convert the file to UTF-8"),
        ("t.csv.gz", b"\x1f\x8b\x08\x00cut", " is not a whole gzip file"),
        ("t.xlsx", "PK", " is a workbook: save it as CSV"),
        ("t.csv", b"PK\3\4", ": not text but a workbook (.xlsx) or a zip file; save it as CSV"),
        ("t.csv", "a\tb\n1\t2\n", ": the columns are separated by tabs: name the file .tsv"),
        (
            "t.docx",
            "PK",
            ": a table must be a file .csv, .tsv, .json or .jsonl (all may be packed, .gz or .zst) or .parquet",
        ),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=f"^{re.escape(str(path) + message)}$"):
        read_table(path)


def test_damaged_parquet_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("PAR1")
    with pytest.raises(ValueError, match="t.parquet is not a Parquet file, or a damaged one: "):
        read_table(tmp_path / "t.parquet")
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(FileNotFoundError, match=f"no such file: .*{name}"):
            read_table(tmp_path / name)
