"""Parquet files: within the limit of packed files, whole, and in the fewest bytes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simstudy.files.packed import VARIABLE
from simstudy.files.parquet import read_frame, read_parquet
from simstudy.outputs import Outputs
from simstudy.readers.load import load
from tests.readers.line_files import input_error


@pytest.mark.parametrize(
    "column",
    [lambda: np.zeros(2**27, np.int8), lambda: ["x" * 50_000] * 4_000, lambda: ["x" * 2**27]],
    ids=["numbers", "text", "page"],
)
def test_what_unpacks_to_too_much_is_refused_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: Callable[[], Any]
) -> None:
    """Numbers of one value, one long text in a dictionary, and a page of one text take no room in the file."""
    pq.write_table(pa.table({"item": column()}), tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 2**19
    monkeypatch.setenv(VARIABLE, "1M")
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        input_error(tmp_path / "t.parquet", by=read_parquet, match="unpacks to more than 1M")
        assert tracemalloc.get_traced_memory()[1] < 2**24
        assert pool.max_memory() < 2**26
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def test_saved_outputs_have_the_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = Outputs.from_statistics(np.ones((2, 3000, 2), int), "accuracy")
    outputs.save(tmp_path / "o.parquet")
    assert Outputs.load(tmp_path / "o.parquet").fingerprint() == outputs.fingerprint()
    monkeypatch.setenv(VARIABLE, "1 KiB")
    input_error(tmp_path / "o.parquet", by=Outputs.load, match="more than 1 KiB")


def test_a_page_that_was_damaged_is_no_other_number(tmp_path: Path) -> None:
    """One bit of a number that is stored as it is: only the checksum of its page can tell."""
    path, number = tmp_path / "a.parquet", 1.25
    pq.write_table(
        pa.table({"a": [number, 2.5]}), path, compression="none", use_dictionary=False, write_page_checksum=True,
        write_statistics=False,
    )  # fmt: skip
    content, stored = path.read_bytes(), np.float64(number).tobytes()
    assert read_parquet(path)["a"].to_pylist() == [number, 2.5]
    path.write_bytes(content.replace(stored, np.float64(1.5).tobytes()))
    assert pq.read_table(path)["a"].to_pylist() == [1.5, 2.5]
    input_error(path, by=read_parquet, match=r"a\.parquet")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("bits", "wider"), [(8, 16), (16, 32), (32, 64)])
def test_a_narrow_column_has_room_for_its_ends(tmp_path: Path, bits: int, wider: int, sign: int) -> None:
    """A byte holds -128 to 127, and so on."""
    fits = 2 ** (bits - 1) - (sign > 0)
    for largest, size in ((fits, bits), (fits + 1, wider)):
        pq.write_table(pa.table({"a": np.array([0, sign * largest], np.int64)}), tmp_path / "t.parquet")
        table = read_parquet(tmp_path / "t.parquet", narrow=True)
        assert table["a"].to_pylist() == [0, sign * largest]
        assert table.schema.field("a").type.bit_width == size


def test_nested_columns_have_dotted_names_and_lists_are_lists(tmp_path: Path) -> None:
    """In files and in memory, as records of JSON have them; samples are a list of scores."""
    rows = [{"doc": {"id": f"q{i}", "a": {"b": i}}, "score": [1, i % 2], "model": m} for m in "xy" for i in range(3)]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "t.parquet")
    frame = read_frame(tmp_path / "t.parquet")
    assert frame.iloc[1].to_dict() == {"doc.id": "q1", "doc.a.b": 1, "score": [1, 1], "model": "x"}
    for source in (tmp_path / "t.parquet", table):
        outputs = load(source, "accuracy", columns={"item": "doc.id"}).outputs
        assert (outputs.names, outputs.n_items) == (["x", "y"], 6)
        assert outputs.scores() == pytest.approx(100 * 4 / 6)
