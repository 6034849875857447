"""Kept results: what is read is what was written, to the last bit and type, or nothing."""

from __future__ import annotations

import json
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import simstudy as ss
from simstudy.running.cells import DamagedCell, damaged, decoded, encoded, kept, note_seconds, seconds, write
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared

SAMPLE = {"scores": np.arange(6.0).reshape(2, 3), "table": pd.DataFrame({"a": [1, 2], "b": ["x", None]}), "n": 3}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(lambda name: not name.startswith("@")), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_json_values_come_back(value: Any) -> None:
    assert decoded("k", encoded("k", "", value)) == value


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(arrays.scalar_dtypes().filter(lambda kind: kind.kind in "biufcUS"), arrays.array_shapes(min_dims=0))
)
def test_arrays_come_back_to_the_bit(value: np.ndarray[Any, Any]) -> None:
    (found,) = decoded("k", encoded("k", "", (value,)))
    assert found.dtype == value.dtype
    assert found.shape == value.shape
    np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("value", [np.float64(0.1), np.float32(0.1), np.int64(3), np.bool_(True)])
def test_numbers_of_numpy_stay_what_they_are(value: np.generic) -> None:
    """A mean has a dtype and can be rounded, whether it was computed now or is read."""
    (found,) = decoded("k", encoded("k", "", [value]))
    assert (type(found), found) == (type(value), value)


def test_comparisons_and_leaderboards_come_back() -> None:
    outputs = correlated_accuracies([0.5, 0.6, 0.9], 40)
    for table in (compared(outputs), ss.leaderboard(outputs), ss.groups(compared(outputs))):
        pd.testing.assert_frame_equal(decoded("k", encoded("k", "", table)), table)


def test_all_parts_of_a_result_come_back_in_their_places_and_types() -> None:
    """Several arrays and tables, each with numbers of its own; arrays of any order; numpy's text and numbers."""
    column = np.asfortranarray(np.arange(6).reshape(2, 3))
    value = {
        "list": [column, {"table": pd.DataFrame({"x": [7]})}, np.arange(9)[::3]],
        "tuple": (np.array(5), np.float64(6), pd.DataFrame({"y": [8.5]}), ()),
        "text": np.str_("nine"),
        "none": [None, True, 10, 11.5, "twelve", float("nan")],
    }
    found = decoded("k", encoded("k", "", value))
    assert list(found) == list(value)
    first, inner, strided = found["list"]
    np.testing.assert_array_equal(first, column)
    assert inner["table"]["x"].tolist() == [7]
    assert strided.tolist() == [0, 3, 6]
    alone, number, other, empty = found["tuple"]
    assert isinstance(found["tuple"], tuple)
    assert (type(alone), alone.shape, alone.item()) == (np.ndarray, (), 5)
    assert (type(number), number) == (np.float64, 6)
    assert other["y"].tolist() == [8.5]
    assert empty == ()
    assert (type(found["text"]), found["text"]) == (np.str_, "nine")
    assert found["none"][:-1] == value["none"][:-1]
    assert [type(one) for one in found["none"]] == [type(one) for one in value["none"]]
    assert np.isnan(found["none"][-1])


def test_a_table_of_a_column_of_several_types_is_not_kept() -> None:
    with pytest.raises(TypeError, match="a kept table must have columns of one type each"):
        encoded("k", "", pd.DataFrame({"a": [1, "x"]}))


def test_bytes_that_are_no_result_of_the_cell_are_not_written(tmp_path: Path) -> None:
    for content in (encoded("other", "", 1), encoded("key", "", 1)[:-1], b""):
        with pytest.raises(DamagedCell):
            write(tmp_path, "key", content)
    assert not list(tmp_path.iterdir())


def test_damaged_files_are_named_in_order_but_not_what_is_being_written(tmp_path: Path) -> None:
    for name in ("z", "y", "x"):
        write(tmp_path, name, encoded(name, "", 1))
    for name in ("z.cell", "x.cell", ".w.123.cell", "note.txt"):
        (tmp_path / name).write_text("half")
    (tmp_path / "v.cell").mkdir()
    assert damaged(tmp_path) == ["v.cell", "x.cell", "z.cell"]


def test_the_time_of_a_result_is_that_of_its_last_making(tmp_path: Path) -> None:
    for key, taken in (("a", 1.5), ("b", 12.34567), ("a", 0.25)):
        note_seconds(tmp_path, 32 * key, taken)
    assert seconds(tmp_path) == {32 * "a": 0.25, 32 * "b": 12.346}
    # Where it cannot be written down it is not known, and nothing else is lost.
    note_seconds(tmp_path / "none", 32 * "a", 1)


@pytest.mark.parametrize("value", [object(), {1: 2}, {"@table": 0}, np.array([object()]), {1, 2}, Path(".")])
def test_what_is_no_data_is_not_kept(value: Any) -> None:
    with pytest.raises(TypeError, match="a kept result must"):
        encoded("k", "", value)


def test_every_flipped_bit_is_seen() -> None:
    """Each byte in turn, one of its bits: the very value or nothing."""
    content = encoded("key", "a cell", SAMPLE)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        with pytest.raises(DamagedCell):
            decoded("key", bytes(changed))


def test_every_cut_is_seen() -> None:
    content = encoded("key", "a cell", SAMPLE)
    for length in range(len(content)):
        with pytest.raises(DamagedCell):
            decoded("key", content[:length])


def test_a_cell_belongs_to_its_key(tmp_path: Path) -> None:
    write(tmp_path, "one", encoded("one", "label", 1))
    assert kept(tmp_path, "one") == 1
    (tmp_path / "one.cell").rename(tmp_path / "two.cell")
    with pytest.raises(DamagedCell, match="belongs to another cell"):
        kept(tmp_path, "two")
    with pytest.raises(FileNotFoundError):
        kept(tmp_path, "one")
    assert damaged(tmp_path) == ["two.cell"]


def test_half_a_line_of_a_killed_run_is_no_time(tmp_path: Path) -> None:
    assert seconds(tmp_path) == {}
    note_seconds(tmp_path, 32 * "a", 1.5)
    with (tmp_path / "seconds.txt").open("a") as file:
        file.write(f"{32 * 'b'} 12")
    assert seconds(tmp_path) == {32 * "a": 1.5}


class Trap:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (exec, ("raise SystemExit('executed')",))


def forged(header: Any, part: bytes = b"") -> bytes:
    """A cell whose checksum fits, made by hand."""
    rest = json.dumps(header).encode() + b"\n" + part
    first = encoded("key", "", None).split(b"\n")[0]
    return first + b"\n" + sha256(rest).hexdigest().encode() + b"\n" + rest


def test_nothing_in_a_cell_is_executed() -> None:
    """A cell that is well formed and malicious: arrays of objects are pickles, and are refused."""
    trap = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    trap += pickle.dumps([Trap()])
    with pytest.raises(DamagedCell, match="allow_pickle=False"):
        decoded("key", forged({"key": "key", "label": "", "value": {"@array": 0}, "sizes": [len(trap)]}, trap))


@pytest.mark.parametrize(
    "header",
    [
        [], 1, {}, {"key": "key"}, {"key": "key", "sizes": "x", "value": 1},
        {"key": "key", "sizes": [5], "value": {"@table": 0}},
        {"key": "key", "sizes": [], "value": {"@array": 3}}
    ],
)  # fmt: skip
def test_forged_cells_are_damaged_ones(header: Any) -> None:
    with pytest.raises(DamagedCell):
        decoded("key", forged(header))


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["x", "y"]),
        pd.Index([7, 3], name="size"),
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["group", "n"]),
    ],
)
def test_tables_come_back_with_their_index(index: pd.Index) -> None:
    table = pd.DataFrame({"score": [0.5, 0.25]}, index=index)
    pd.testing.assert_frame_equal(decoded("k", encoded("k", "", table)), table)
