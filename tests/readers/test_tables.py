"""Tables in files: cells as written, rows that know their line, and the shapes of JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from simstudy.notes import notes_kept
from simstudy.readers.load import load
from simstudy.readers.tables import read_table
from simstudy.validation import NoSuchFile
from tests.readers.line_files import input_error


def table(folder: Path, content: str | bytes, name: str = "t.csv") -> pd.DataFrame:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with notes_kept() as notes:
        frame = read_table(folder / name)
    assert notes == []
    return frame


@pytest.mark.parametrize(
    ("name", "content", "rows", "lines"),
    [
        ("t.csv", 'a,b\n01,"two\nlines"\n\n02,NA\n1e3,"a ""b"""\n', ["01|two\nlines", "02|NA", '1e3|a "b"'], [2, 5, 6]),
        ("t.csv", "a,b\n01,NA\n1e3, x \n", ["01|NA", "1e3| x "], [2, 3]),
        ("t.csv", "a,b\nx,1\n\ny,2\n\n", ["x|1", "y|2"], [2, 4]),
        ("t.csv", "a\n \n  x\nNA\n#1\n", [" ", "  x", "NA", "#1"], [2, 3, 4, 5]),
        ("t.tsv", 'a\tb\n1\t"open\n2\t5" wide\n', ['1|"open', '2|5" wide'], [2, 3]),
        ("t.CSV", b"\xef\xbb\xbfa,b\r\nx,1\r\ny,2\r\n", ["x|1", "y|2"], [2, 3]),
        ("t.csv.gz", gzip.compress(b"a,b\nx,1\ny,2", mtime=0), ["x|1", "y|2"], [2, 3]),
        ("t.csv", ",b\n0,1\n", ["0|1"], [2]),
        ("t.csv", "a , b\nx,1\n", ["x|1"], [2]),
        # As R and spreadsheets leave them.
        ("t.tsv", '"a"\t"b"\n"x"\t1\n"y ""z"""\t2\n', ["x|1", 'y "z"|2'], [2, 3]),
        ("t.csv", "a,b,,\nx,1,,\n,,,\ny,2,,\n,,,\n", ["x|1", "y|2"], [2, 4]),
    ],
)
def test_cells_stay_as_written_and_rows_know_their_line(
    tmp_path: Path, name: str, content: str | bytes, rows: list[str], lines: list[int]
) -> None:
    """Whether the fast parser or Python's reads them."""
    frame = table(tmp_path, content, name)
    assert ["|".join(row) for row in frame.to_numpy(dtype=object)] == rows
    assert (frame.index.name, frame.index.tolist()) == ("line", lines)
    assert set(frame) <= {"a", "b", "Unnamed: 0"}


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("t.csv", "", None),
        ("t.csv", "a,b\n", None),
        ("t.csv", "a\n1\r2\n", 2),
        ("t.csv", "a\n\n1,2\n", 3),
        ("t.csv", "a,b\n1,2\n\n3\n", 4),
        ("t.csv", 'a,b\n"1\n",2\n3\n', 4),
        ("t.tsv", "a\tb\n1\t2\t3\n", 2),
        ("t.csv", 'a,b\n1,2\n3,"4\n5,6\n', 3),
        ("t.csv", "a,b,a\n1,2,3\n", 1),
        ("t.csv", "a,,c\n1,2,3\n", 1),
        ("t.csv", "a,b,\n1,2,3\n", 1),
        ("t.csv", 'a,"b\nc"\n1,2\n', 1),
        ("t.csv", b"a,b\n1,\x00\n", 2),
        ("t.csv", b"a,b\n1,\xe9\n", 2),
        ("t.csv", f"a,b\n1,{'x' * (2**23 + 1)}\n", 2),
        ("t.csv.gz", b"\x1f\x8b\x08\x00cut", None),
        ("t.xlsx", "PK", None),
        ("t.csv", b"PK\3\4", None),
        ("t.csv", "a;b\n1;2\n", None),
        ("t.csv", "a\tb\n1\t2\n", None),
        ("t.docx", "PK", None),
        ("t.parquet", "PAR1", None),
        ("t.json", '{"a": 1,\n"b":', 2),
        ("t.jsonl", '{"id": 1}\n{"id": 2', 2),
        ("t.jsonl", '{"id": 1}\n\n[2]\n', 3),
        ("t.jsonl", '{"id": 1, "id": 2}\n', 1),
        ("t.json", '{"accuracy": 0.5, "correct_count": 1, "total_count": 2}\n{"id": "q1", "valid": false}\n', None),
        ("t.json", "[]", None),
        ("t.json", " {}\n", None),
        ("t.json", "3", None),
        ("t.json", '[{"id": 1}, [2]]', "record 2"),
        ("t.json", '{"a": [1, 0], "b": [1, 1]}', None),
        ("t.json", '{"a": [{"x": 1}], "b": [{"x": 1}], "c": 1}', None),
        ("t.json", '{"a": {"q": 1}, "b": 2}', None),
        ("t.json", '{"a": {"q": {"correct": 1}}}', None),
        ("t.json", '{"columns": ["a"], "data": [[1], [1, 2]]}', "record 2"),
        ("t.json", '[{"a.b": 1, "a": {"b": 2}}]', "record 1"),
        ("t.json", "[" * 9**5, 1),
        ("t.json", "1" * 5000, 1),
        ("t.json", '[{"a": ' + '{"a":' * 60 + "1" + "}" * 60 + "}]", "record 1"),
        ("t.json", '[{"id": "\\ud83d"}]', "record 1"),
        ("t.json", '[{"a\\nb": 1}]', None),
        ("t.json", json.dumps([{f"q{k}": 1 for k in range(20_001)}]), None),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, line: int | str | None
) -> None:
    error = input_error(tmp_path, content, name, by=table)
    place = "" if line is None else f", {line}" if isinstance(line, str) else f", line {line}"
    assert f"{tmp_path / name}{place}" in str(error)
    assert line is None or error.at.endswith(place)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("none.csv", "none.parquet", "none.json"):
        input_error(tmp_path / name, by=read_table, kind=NoSuchFile, match=name)


def test_parquet(tmp_path: Path) -> None:
    """Whole numbers as they are, or in the fewest bytes; rows are counted from 1."""
    frame = pd.DataFrame({"id": ["a", "b"], "x": [1, -128], "y": [128, 0], "z": [0.5, None]})
    frame.to_parquet(tmp_path / "t.parquet")
    plain, narrow = (read_table(tmp_path / "t.parquet", narrow) for narrow in (False, True))
    assert (plain.index.name, plain.index.tolist()) == ("row", [1, 2])
    assert [str(narrow[name].dtype) for name in "xyz"] == ["int8", "int16", "float64"]
    for read in (plain, narrow):
        assert read[["x", "y"]].to_numpy().tolist() == [[1, 128], [-128, 0]]
    pa.parquet.write_table(pa.table([[1], [2]], ["a", "a"]), tmp_path / "t.parquet")
    input_error(tmp_path / "t.parquet", by=read_table)


def test_records_know_their_place_and_nested_keys_have_dotted_names(tmp_path: Path) -> None:
    frame = table(tmp_path, '{"id": 1, "a": {"b": null, "c": [1]}}\n\n{"id": "01", "a": {}}\n', "t.jsonl")
    assert frame.to_dict("list") == {"id": [1, "01"], "a.b": [None, None], "a.c": [[1], None]}
    assert (frame.index.name, frame.index.tolist()) == ("line", [1, 3])
    frame = table(tmp_path, '[\n{"id": 1},\n{"id": 2}]', "t.json")
    assert (frame.index.name, frame.index.tolist()) == ("record", [1, 2])


ITEMS = [f"q{i}" for i in range(12)]
RIGHT = pd.DataFrame(np.random.default_rng(4).integers(0, 2, (12, 3)), ITEMS, ["new", "old", "tiny"])
RECORDS: list[dict[str, Any]] = [
    {"model": system, "question_id": item, "metrics": {"exact_match": bool(RIGHT.loc[item, system])}}
    for system in RIGHT
    for item in RIGHT.index
]
WIDE = RIGHT.rename_axis("item").reset_index()

#: Shape -> name of the file and its text.
SHAPES: dict[str, tuple[str, str]] = {
    "a list of records": ("s.json", json.dumps(RECORDS, indent=1)),
    "JSON lines": ("s.jsonl", "\n\n".join(map(json.dumps, RECORDS))),
    "JSON lines under another name": ("s.json", "\n".join(map(json.dumps, RECORDS))),
    "records under a key": ("s.json", json.dumps({"version": 2, "config": {"a": [1]}, "results": RECORDS})),
    "systems of items": ("s.json", RIGHT.to_json()),
    "columns and data": ("s.json", WIDE.to_json(orient="split")),
    "records of items": ("s.json", WIDE.to_json(orient="records")),
    "lines of items": ("s.ndjson", WIDE.to_json(orient="records", lines=True)),
    "CSV": ("s.csv", WIDE.to_csv(index=False)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_the_numbers_of_the_table(shape: str, tmp_path: Path) -> None:
    name, text = SHAPES[shape]
    (tmp_path / name).write_text(text)
    outputs = load(tmp_path / name, "accuracy").outputs
    assert outputs.names == ["new", "old", "tiny"]
    assert outputs.items["id"].tolist() == ITEMS
    np.testing.assert_array_equal(outputs.statistics[..., 0], RIGHT.T)


def test_what_a_file_says_beside_its_records_is_in_each(tmp_path: Path) -> None:
    """What a record says goes first: the mean of all may stand beside the score of each."""
    for system, right in (("a/1", [1, 0]), ("b/2", [1, 1])):
        rows = [{"id": i, "acc": x} for i, x in enumerate(right)]
        text = json.dumps({"model": system, "acc": 0.5, "results": rows})
        (tmp_path / f"{system[0]}.json").write_text(text)
    outputs = load(tmp_path, "accuracy").outputs
    assert (outputs.names, outputs.scores().tolist()) == (["a/1", "b/2"], [50, 100])
