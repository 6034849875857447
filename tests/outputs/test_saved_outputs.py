"""Outputs in files: everything comes back with its type, and what is damaged is told in one line."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simstudy.metrics import METRICS, FBeta, Ratio
from simstudy.metrics.mean import Mean
from simstudy.outputs import Outputs
from simstudy.outputs.columns import decode, encode

FLOATS = st.floats() | st.sampled_from([1e-12, 5e-324, 1.7976931348623157e308, -0.0])
NAIVE = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
MIXED = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | FLOATS
    | st.text(st.characters(), max_size=4)
    | st.dates()
    | NAIVE
    | st.decimals(allow_nan=False)
    | st.sampled_from([pd.NA, pd.NaT, np.int64(5), np.float32(0.1), np.float64(0.1), np.bool_(True)])
    | NAIVE.map(pd.Timestamp)
)


def columns(n: int) -> st.SearchStrategy[pd.Series[Any]]:
    """Columns of n cells of every type that files keep."""
    plain = st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8"])
    times = st.sampled_from(["M8[s]", "M8[ms]", "M8[us]", "M8[ns]", "m8[s]", "m8[ns]"])

    def lists(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(of, min_size=n, max_size=n)

    def of_type(dtype: str) -> Callable[[list[Any]], pd.Series[Any]]:
        return lambda cells: pd.Series(cells, dtype=dtype)

    words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    moments = lists(st.none() | NAIVE)
    return st.one_of(
        plain.flatmap(lambda kind: hnp.arrays(kind, n)).map(pd.Series),
        times.flatmap(
            lambda kind: hnp.arrays("i8", n, elements=st.integers(-(2**40), 2**40)).map(lambda a: a.view(kind))
        ).map(pd.Series),
        *(lists(st.none() | st.integers(0, 100)).map(of_type(kind)) for kind in ("Int64", "UInt8", "Int16")),
        lists(st.none() | FLOATS).map(of_type("Float64")),
        lists(st.none() | st.booleans()).map(of_type("boolean")),
        *(lists(st.none() | words).map(of_type(kind)) for kind in ("str", "string", "object")),
        lists(st.none() | st.sampled_from("pqr")).map(
            lambda cells: pd.Series(pd.Categorical(cells, categories=["r", "q", "p", "unused"], ordered=True))
        ),
        lists(st.none() | st.sampled_from([3, 1])).map(
            lambda cells: pd.Series(pd.Categorical(cells, categories=[3, 1]))
        ),
        moments.map(lambda cells: pd.Series(pd.to_datetime(pd.Series(cells, dtype="M8[ns]")).dt.tz_localize("UTC"))),
        moments.map(lambda cells: pd.Series(cells, dtype="M8[us]").dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        lists(MIXED).map(of_type("object")),
    )


def same(one: Any, other: Any) -> bool:
    """Whether two cells have one type and one value, missing ones by their kind."""
    if type(one) is not type(other):
        return False
    if one is None or one is pd.NA or one is pd.NaT:
        return one is other
    return bool(one == other) or bool(one != one and other != other)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_every_column_comes_back_with_its_type(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    cells = data.draw(columns(n))
    kind, arrays = encode(cells, "c")
    # Longer columns stand beside it in a file.
    again = decode(kind, [pa.concat_arrays([array, pa.nulls(2, array.type)]) for array in arrays])
    expected = cells.dtype.newbyteorder("=") if isinstance(cells.dtype, np.dtype) else cells.dtype
    assert again.dtype == expected
    assert all(same(*cells) for cells in zip(again.tolist(), cells.tolist(), strict=True))


@given(st.data(), st.sampled_from(["i1", "u2", "i8", "f2", "f4", "f8"]))
@settings(max_examples=12, deadline=None)
def test_outputs_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str
) -> None:
    k, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    statistics = np.stack([data.draw(hnp.arrays(kind, (k, n), elements=st.integers(0, 9))), np.ones((k, n), kind)], -1)
    systems = pd.DataFrame(
        {"name": ["item", "0:correct", "a,b|c", "名"][:k], "own": data.draw(columns(k)), 7: data.draw(columns(k))}
    )
    items = pd.DataFrame({"id": [f"i{i}" for i in range(n)], "cluster": data.draw(columns(n))})
    outputs = Outputs.from_statistics(statistics, "mean", systems, items, task="t", test_set="s")
    path = tmp_path_factory.mktemp("outputs") / "o.parquet"
    outputs.save(path)
    again = Outputs.load(path)
    np.testing.assert_array_equal(again.statistics, outputs.statistics)
    assert again.statistics.dtype == outputs.statistics.dtype
    for one, other in ((again.systems, outputs.systems), (again.items, outputs.items)):
        assert one.columns.tolist() == other.columns.tolist()
        for name in one.columns:
            assert str(one[name].dtype).lstrip("<>") == str(
                other[name].dtype.name if isinstance(other[name].dtype, np.dtype) else other[name].dtype
            )
            assert all(same(*cells) for cells in zip(one[name].tolist(), other[name].tolist(), strict=True))
    assert (again.metric, again.task, again.test_set) == (outputs.metric, "t", "s")
    assert again.fingerprint() == outputs.fingerprint()


def tabled(column: Any) -> Outputs:
    return Outputs.from_statistics([[[1, 1]], [[0, 1]]], "accuracy", pd.DataFrame({"name": ["a", "b"], "own": column}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.Series([["x"], ["y"]]), r"a cell of it is \['x'\], of the type list$"),
        (pd.interval_range(0, 2), "it is of the type interval"),
        ([1j, 2j], "it is of the type complex128$"),
        (pd.Series(pd.period_range("2020", periods=2, freq="Y")), "it is of the type period"),
        ([object(), "x"], "a cell of it is <object .*, of the type object$"),
        (
            pd.Series([datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), "x"]),
            "a cell of it is .*, of the type datetime$",
        ),
    ],
)
def test_what_a_file_cannot_keep_is_refused(tmp_path: Path, column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^column 'own' cannot be saved: {message}"):
        tabled(column).save(tmp_path / "o.parquet")
    assert not list(tmp_path.iterdir())


def test_a_name_of_a_column_that_is_no_text_is_refused(tmp_path: Path) -> None:
    outputs = tabled([1, 2])
    odd = replace(outputs, systems=outputs.systems.rename(columns={"own": (1, 2)}))
    with pytest.raises(ValueError, match=r"^column \(1, 2\) of the systems cannot be saved: its name is not text$"):
        odd.save(tmp_path / "o.parquet")


def test_the_metric_is_the_one_that_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    own = Mean("share", low=0, high=1)
    Outputs.from_statistics([[[0.5, 1]]], own).save(path)
    assert Outputs.load(path, Mean("share", low=0, high=1)).metric == own
    with pytest.raises(ValueError, match="has outputs of a user-defined metric, 'share'"):
        Outputs.load(path)
    for other in (Mean("share", low=0, high=1, scale=100), Mean("share"), METRICS["f1"]):
        with pytest.raises(ValueError, match="has outputs of the metric Mean.*, unlike ") as error:
            Outputs.load(path, other)
        assert "\n" not in str(error.value)
    Outputs.from_statistics([[[1, 1, 2]]], FBeta(3)).save(path)
    assert Outputs.load(path, FBeta(3)).metric == FBeta(3)
    ratio = Ratio("r", ("a", "b"), numerator=(1, 0), denominator=(0, 1))
    Outputs.from_statistics([[[1, 1]]], ratio).save(path)
    with pytest.raises(ValueError, match="unlike"):
        Outputs.load(path, replace(ratio, scale=1.0))


def test_a_file_of_an_earlier_version_is_read() -> None:
    """Written by version 0.2.0, whose fingerprint it has: how metrics and tables are told may not change."""
    outputs = Outputs.load(Path(__file__).with_name("written_by_0.2.parquet"))
    assert outputs.fingerprint() == "2ac7a02ca03372cbce684cb3f1b9074ac2fd3058"
    assert outputs.statistics.tolist() == [[[1, 1, 2], [0, 1, 1], [0, 0, 3]]] * 2
    assert (outputs.metric, outputs.names, outputs.task, outputs.test_set) == (METRICS["f1"], ["a", "b"], "t", "s")
    assert outputs.answers is not None
    assert outputs.answers.tolist() == [[1, 2, 3], [1, 2, 4]]
    first, second, third = outputs.items.astype(object).where(outputs.items.notna(), None).to_numpy().tolist()
    assert first == ["x", "p", pd.Timestamp(2020, 1, 1), 1, 1]
    assert second == ["y", None, pd.Timestamp(2021, 1, 1), "a", None]
    assert third == ["z", "q", None, None, 3]


def test_how_texts_were_counted_is_kept(tmp_path: Path) -> None:
    outputs = Outputs.from_statistics([[[1, 1]]], METRICS["rouge1"].signed("stemmer:porter"))
    outputs.save(tmp_path / "o.parquet")
    assert Outputs.load(tmp_path / "o.parquet").metric.signature == "stemmer:porter"


def test_a_file_that_was_written_again_with_another_content_is_told(tmp_path: Path, tagged: Outputs) -> None:
    path = tmp_path / "o.parquet"
    tagged.save(path)
    table = pq.read_table(path)
    for name in ("0:0", "4:1", "items:1:0", "systems:1:0"):
        swapped = table[name].to_pylist()[::-1] if name != "systems:1:0" else ["q", *table[name].to_pylist()[1:]]
        changed = table.set_column(table.column_names.index(name), name, pa.array(swapped, table[name].type))
        pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
        with pytest.raises(ValueError, match="is damaged: its content is not what was written$"):
            Outputs.load(path)


def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, tagged: Outputs) -> None:
    """150 bytes flipped in turn: the same Outputs, or one line."""
    path = tmp_path / "o.parquet"
    tagged.head(5).save(path)
    content, expected = path.read_bytes(), tagged.head(5).fingerprint()
    damaged = tmp_path / "damaged.parquet"
    told = []
    for at in range(0, len(content), max(len(content) // 150, 1)):
        damaged.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        try:
            assert Outputs.load(damaged).fingerprint() == expected
        except ValueError as error:
            told.append(str(error))
    assert len(told) > 75
    assert all(line.startswith(str(damaged)) and "\n" not in line for line in told)
    with pytest.raises(FileNotFoundError, match="no such file: .*none.parquet"):
        Outputs.load(tmp_path / "none.parquet")
    pd.DataFrame({"a": [1]}).to_parquet(damaged)
    with pytest.raises(ValueError, match="not one of Outputs"):
        Outputs.load(damaged)
    for n in (0, 4, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:n])
        with pytest.raises(ValueError, match="cannot be read as a Parquet file"):
            Outputs.load(damaged)
