"""Results as files: what comes back is what was kept, to the last bit, and nothing else is taken for it."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.running.cell_files import DamagedCell, damaged, decode, encode, read, write

KEY = "a" * 32

TABLE = pd.DataFrame(
    {
        "system": ["old", "new", "é\n", "old"],
        "gain": [0.1, -0.0, np.nan, np.inf],
        "n": np.array([1, 2, 3, 2**53], np.int64),
        "small": np.array([1, 2, 3, 4], np.uint8),
        "good": [True, False, True, True],
        "size": pd.array([1, None, 3, 4], "Int64"),
        "kind": pd.Categorical(["b", "a", None, "b"], categories=["b", "a"], ordered=True),
        "text": pd.Series(["x", None, "z", "x"], dtype=object),
        "mixed": pd.Series([1, None, "z", [1, 2]], dtype=object),
        "day": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"]),
    }
)


def again(value: Any) -> Any:
    return decode(KEY, encode(KEY, "a cell", value))


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 0.1 + 0.2, float("inf"), "", "é\x00\n", [], [1, "a", None], {}, {"a": {"b": [1.5]}}, (),
        ("a", (1, [2])), [{"rows": (1,)}],
    ],
)  # fmt: skip
def test_values_come_back(value: Any) -> None:
    assert again(value) == value
    assert type(again(value)) is type(value)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?", "c16", "U7", ">i4", "M8[s]"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_arrays_come_back_to_the_last_bit(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    for value in (array, np.asfortranarray(array)):
        found = again(value)
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        assert found.tobytes() == array.tobytes()


def test_a_number_of_numpy_stays_one() -> None:
    assert type(again(np.float32(0.1))) is np.float32
    assert type(again([np.int64(2**62)])[0]) is np.int64


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE[:0], TABLE[["gain"]].set_index(pd.Index(["p", "q", "r", "s"], name="id")), TABLE[1:], TABLE[[]]],
)
def test_tables_come_back_with_their_types(table: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(again(table), table, check_column_type=len(table.columns) > 0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "JSON values, arrays of numbers or text, and data frames, not <object"),
        ({1: 2}, "keys of text"), ({"@array": 2}, "without '@'"), (np.array([object()]), "arrays of numbers"),
        (pd.DataFrame({1: [2]}), "one name each, as text"), (pd.DataFrame({"a": [{1}]}), "JSON values"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "one name each"),
        (pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)])), "reset_index"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_named(value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        encode(KEY, "a cell", value)


def test_equal_results_have_equal_bytes(tmp_path: Path) -> None:
    value = {"table": TABLE, "array": np.arange(5)}
    assert encode(KEY, "a cell", value) == encode(KEY, "a cell", again(value))


def test_damage_is_seen_and_another_cells_result_is_not_taken(tmp_path: Path) -> None:
    content = encode(KEY, "a cell", {"array": np.arange(50.0), "table": TABLE})
    write(tmp_path, KEY, content)
    assert damaged(tmp_path) == []
    for wrong in (content[:-1], content[: len(content) // 2], b"", encode("b" * 32, "another", 1)):
        write(tmp_path, KEY, wrong)
        with pytest.raises(DamagedCell):
            read(tmp_path, KEY)
        assert damaged(tmp_path) == [f"{KEY}.npz"]
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 200, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(DamagedCell):
            decode(KEY, bytes(changed))


class Runs:
    def __reduce__(self) -> Any:
        return pytest.fail, ("it was executed",)


def test_nothing_in_a_forged_file_is_executed(tmp_path: Path) -> None:
    """The forger knows how a checksum is made."""
    header = json.dumps({"key": KEY, "label": "", "value": {"@array": "part0"}}).encode()
    objects, pickled = io.BytesIO(), io.BytesIO()
    np.savez(objects, header=np.frombuffer(header, np.uint8), part0=np.array([Runs()], object))
    with zipfile.ZipFile(pickled, "w") as file:
        file.writestr("header.npy", pickle.dumps(Runs()))
    for forged in (objects.getvalue(), pickled.getvalue(), pickle.dumps(Runs())):
        write(tmp_path, KEY, forged + sha256(forged).digest())
        with pytest.raises(DamagedCell, match="no result that was kept here"):
            read(tmp_path, KEY)


def test_whoever_has_numpy_can_read_a_cell(tmp_path: Path) -> None:
    write(tmp_path, KEY, encode(KEY, "a cell", {"scores": np.arange(3)}))
    with np.load(tmp_path / f"{KEY}.npz") as file:
        assert file["part0"].tolist() == [0, 1, 2]
        assert json.loads(file["header"].tobytes())["label"] == "a cell"
