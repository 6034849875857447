"""Outputs in files: everything comes back with its type, and what is damaged is refused in one line."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from simstudy.metrics import METRICS, FBeta, Metric, Ratio
from simstudy.metrics.mean import Mean
from simstudy.outputs import Outputs

PLAIN = {
    "numbers": [3, -1, 2],
    "decimals": [0.1, np.nan, -0.0],
    "bytes": pd.array([255, 0, 1], dtype="uint8"),
    "single": pd.array([0.1, 2, 3], dtype="float32"),
    "missing": pd.array([2**52 + 1, None, 1], dtype="Int64"),
    "flags": [True, False, True],
    "unsure": pd.array([True, None, False], dtype="boolean"),
    "words": ["名", None, "a,b|c"],
    "text": pd.array(["x", None, ""], dtype="string"),
    "times": pd.to_datetime(["2020-01-01", None, "2021-02-03 04:05:06.789"], format="ISO8601"),
    "zoned": pd.to_datetime(["2020-01-01", None, "2021-02-03"]).tz_localize("Asia/Tokyo"),
    "item:id": [1, 2, 3],
    "statistics:0:0": [7, 8, 9],
}


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_outputs_come_back_as_they_were(tmp_path: Path, dtype: str) -> None:
    """Two systems, three items: the tables have different lengths, and every array keeps its axes."""
    counts = np.array([[[1, 5, 5], [0, 2, 4], [3, 3, 6]], [[2, 2, 5], [4, 4, 4], [0, 1, 6]]], dtype=dtype)
    systems = pd.DataFrame({"name": ["new", "old"], "year": [2024, 2019], "open": [True, False]})
    items = pd.DataFrame({"id": ["p", "q", "r"], **PLAIN})
    answers, samples = [[1, 2, 3], [1, 5, 3]], np.dstack([np.full((2, 3), 4), [[0.5, np.nan, 2], [0, 1, 3]]])
    outputs = Outputs.from_statistics(
        counts, "f1", systems, items, answers=answers, samples=samples, task="t", test_set="s"
    )
    outputs.save(tmp_path / "o.parquet")
    again = Outputs.load(tmp_path / "o.parquet")
    np.testing.assert_array_equal(again.statistics, counts)
    assert again.statistics.dtype == dtype
    assert again.answers is not None
    assert again.answers.tolist() == answers
    assert again.samples is not None
    np.testing.assert_array_equal(again.samples, samples)
    pd.testing.assert_frame_equal(again.items, outputs.items)
    pd.testing.assert_frame_equal(again.systems, outputs.systems)
    assert (again.metric, again.task, again.test_set) == (METRICS["f1"], "t", "s")
    assert again.fingerprint() == outputs.fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        again.statistics[0] = 1


@pytest.mark.parametrize(
    "column",
    [
        [["x"], ["y"]], [1, "a"], [datetime.timedelta(1), None], [1j, 2j], np.array([1, 2], dtype="float16"),
        pd.period_range("2020", periods=2, freq="Y"), pd.interval_range(0, 2), pd.Categorical(["x", "y"]),
        [object(), "x"],
    ],
)  # fmt: skip
def test_columns_of_other_types_are_refused(tmp_path: Path, column: Any) -> None:
    """In one line that names the column, and before anything is written."""
    table = pd.DataFrame({"name": ["a", "b"], "own": pd.Series(column)})
    outputs = Outputs.from_statistics([[[1, 1]], [[0, 1]]], "accuracy", table)
    with pytest.raises(ValueError, match="^systems must have columns of numbers, .* column 'own' is of another type"):
        outputs.save(tmp_path / "o.parquet")
    with pytest.raises(ValueError, match="column 7 is of another type"):
        replace(outputs, systems=outputs.systems.rename(columns={"group": 7})).save(tmp_path / "o.parquet")
    assert not list(tmp_path.iterdir())


def test_the_metric_is_the_one_that_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    share = Mean("share", low=0, high=1)
    Outputs.from_statistics([[[0.5, 1]]], share).save(path)
    assert Outputs.load(path, Mean("share", low=0, high=1)).metric == share
    with pytest.raises(ValueError, match="has outputs of a user-defined metric, 'share'"):
        Outputs.load(path)
    others: list[Metric] = [Mean("share", low=0, high=1, scale=100), Mean("share"), METRICS["f1"]]
    for other in others:
        with pytest.raises(ValueError, match="has outputs of the metric Mean.*, unlike "):
            Outputs.load(path, other)
    Outputs.from_statistics([[[1, 1, 2]]], FBeta(3)).save(path)
    assert Outputs.load(path, FBeta(3)).metric == FBeta(3)
    ratio = Ratio("r", ("a", "b"), numerator=(1, 0), denominator=(0, 1))
    Outputs.from_statistics([[[1, 1]]], ratio).save(path)
    with pytest.raises(ValueError, match="unlike"):
        Outputs.load(path, replace(ratio, scale=1.0))
    Outputs.from_statistics([[[1, 1]]], METRICS["rouge1"].signed("stemmer:porter")).save(path)
    assert Outputs.load(path).metric.signature == "stemmer:porter"


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, tagged: Outputs) -> None:
    """Columns that are exchanged or lacking, torn files, files of others; attacks/test_damage.py flips bits."""
    path, damaged = tmp_path / "o.parquet", tmp_path / "damaged.parquet"
    tagged.head(5).save(path)
    content = path.read_bytes()
    table = pq.read_table(path)
    names = [
        {"statistics:0:0": "statistics:1:0", "statistics:1:0": "statistics:0:0"}.get(n, n) for n in table.column_names
    ]
    pq.write_table(table.rename_columns(names).replace_schema_metadata(table.schema.metadata), damaged)
    with pytest.raises(ValueError, match="is damaged: its content is not what was written$"):
        Outputs.load(damaged)
    pq.write_table(table.drop_columns(["statistics:1:0"]), damaged)
    with pytest.raises(ValueError, match="is damaged: .*statistics:1:0"):
        Outputs.load(damaged)
    for n in (0, 4, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:n])
        with pytest.raises(ValueError, match="cannot be read as a Parquet file"):
            Outputs.load(damaged)
    pd.DataFrame({"a": [1]}).to_parquet(damaged)
    with pytest.raises(ValueError, match="not one of Outputs"):
        Outputs.load(damaged)
    with pytest.raises(FileNotFoundError, match="no such file: .*none.parquet"):
        Outputs.load(tmp_path / "none.parquet")
