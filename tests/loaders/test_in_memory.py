"""Tables in memory: read as the same table in a file is, and refused with the row that is wrong."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from simstudy.examination import examine
from simstudy.loaders.base import Loaded
from simstudy.loaders.door import load

RNG = np.random.default_rng(0)
WIDE = pd.DataFrame(
    {
        "item": [f"q{i}" for i in range(6)],
        "old": RNG.integers(0, 2, 6),
        "new": RNG.integers(0, 2, 6),
        "domain": ["news", "web"] * 3,
        "doc": ["d1", "d1", "d2", "d2", "d3", "d3"],
    }
)
LONG = WIDE.melt(["item", "domain", "doc"], var_name="system", value_name="score")
COUNTS = WIDE[["item"]].assign(**{"gold": 3, "a:correct": 1, "a:guessed": 2, "b:correct": 2, "b:guessed": 2})


class Exchanged:
    """A table of a library that nobody here has heard of: it only speaks Arrow, as polars does."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def said(loaded: Loaded, origin: object) -> dict[str, Any]:
    outputs = loaded.outputs
    return {
        "statistics": (outputs.statistics.tolist(), outputs.statistics.dtype.kind),
        "items": outputs.items.astype(str).to_dict("list"),
        "systems": outputs.systems.astype(str).to_dict("list"),
        "notes": [note.replace(str(origin), "the table") for note in loaded.notes],
        "metric": outputs.metric.name,
    }


@pytest.mark.parametrize(
    ("frame", "metric", "options"),
    [
        (WIDE, "accuracy", {}),
        (LONG, "accuracy", {}),
        (COUNTS, "f1", {}),
        (WIDE.rename(columns={"item": "qid", "doc": "size"}), "accuracy", {"columns": {"item": "qid", "doc": "size"}}),
        (LONG.rename(columns={"score": "wer"}), "mean", {"columns": {"score": "wer"}}),
        (LONG.iloc[:-1], "accuracy", {"missing": "drop"}),
        (LONG.iloc[:-1], "accuracy", {"missing": "zero", "domain": "web"}),
        (WIDE.assign(old=WIDE["old"].astype(bool), new=WIDE["new"] / 4), "mean", {"lower_is_better": True}),
        (LONG.astype({"system": "category", "domain": "category", "score": "Int64"}), "accuracy", {}),
    ],
)
def test_a_table_is_what_its_file_is(frame: pd.DataFrame, metric: str, options: dict[str, Any], tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "t.csv", index=False)
    of_file = said(load(tmp_path / "t.csv", metric, **options), tmp_path / "t.csv")
    same = [frame, frame.iloc[::-1].iloc[::-1], Exchanged(frame), pa.Table.from_pandas(frame, preserve_index=False)]
    for table in same:
        assert said(load(table, metric, **options), "the table") == of_file


def test_the_index_names_the_items() -> None:
    expected = said(load(WIDE, "accuracy"), "")
    for frame in (
        WIDE.set_index("item"),
        WIDE.set_index("item").rename_axis(None),
        WIDE.set_index("item").rename_axis("question"),
        WIDE.set_index(["domain", "item"]),
        WIDE.set_index(["domain", "item"]).rename_axis(["domain", None]),
    ):
        found = said(load(frame, "accuracy"), "")
        assert {**found, "items": dict(sorted(found["items"].items()))} == {
            **expected, "items": dict(sorted(expected["items"].items()))
        }  # fmt: skip
    qids = load(WIDE.set_index("item").rename_axis("qid"), "accuracy", columns={"item": "qid"})
    assert said(qids, "")["items"]["id"] == WIDE["item"].tolist()
    long = LONG.set_index(["system", "item"])
    assert said(load(long, "accuracy"), "")["statistics"] == expected["statistics"]
    # Labels that were left when rows were selected say nothing.
    assert load(WIDE[WIDE["domain"] == "web"], "accuracy").outputs.items["id"].tolist() == ["q1", "q3", "q5"]


def test_scores_by_system_are_a_table() -> None:
    a, b = WIDE.set_index("item")["old"], WIDE.set_index("item")["new"]
    expected = load(WIDE[["item", "old", "new"]], "accuracy").outputs
    for columns in ({"old": a, "new": b.iloc[::-1]}, {"old": a.to_dict(), "new": b.to_dict()}):
        found = load(columns, "accuracy").outputs
        assert found.names == ["old", "new"]
        assert found.scores().tolist() == expected.scores().tolist()
    listed = load({"old": a.tolist(), "new": b.to_numpy()}, "accuracy")
    assert listed.notes == ("the table does not name its items: they are numbered, 0 to 5",)
    assert listed.outputs.statistics.tolist() == expected.statistics.tolist()
    assert "old" in examine({"old": a, "new": b}, "accuracy").text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (WIDE.set_index(pd.Index(["a", "b", np.nan, "d", "e", "f"])).drop(columns="item"), "the table, row 3: no item"),
        (WIDE.set_index(pd.Index(["a", "b", " ", "d", "e", "f"])).drop(columns="item"), "the table, row 3: no item"),
        (WIDE.assign(old=["1", "x", "1", "1", "1", "1"]), "row 2: a score of system 'old' must be a number, not 'x'"),
        (LONG.assign(score=[np.inf, *LONG["score"][1:]]), "the table, row 1: a score must be a number, not inf"),
        (pd.concat([LONG, LONG.iloc[[2]]]), "the table, row 13: item 'q2' of system 'old' again, first in the table"),
        (WIDE.rename(columns={"item": "row_id"}), "is it column 'row_id'"),
        (LONG.drop(columns="item"), r"the table: no column 'item' \(columns: domain, doc, system, score\)"),
        (WIDE.iloc[:0], "the table has 5 columns, but no rows"),
        (WIDE.rename(columns={"old": "new"}), "the table must have each column once; 'new' occurs twice"),
        (WIDE.rename(columns={"old": np.nan}), "the table must have a name for every column; column 2 has none"),
        (pd.concat({"x": WIDE}, axis=1), "the table must have columns of one name each, not of 2 levels"),
        (WIDE.set_index(["domain", "item"]).rename_axis([None, "item"]), "unlike level 1"),
        (WIDE.set_index("domain", drop=False), "'domain' in the index or in a column, not in both"),
        ({"a": [1, 0], "b": [1]}, "as many scores for each system: 'a' has 2, 'b' 1"),
        ({"a": [1, 0], "b": 1}, "a list of scores for each system, not 1 for 'b'"),
        ({"a": [1, 0], "b": pd.Series([1, 0])}, "name the items of all systems"),
        ({}, "at least one system"),
        (pd.Series([1, 2]), "paths must be"),
        ([WIDE], "paths must be a path"),
        (SimpleNamespace(to_pandas=1), "paths must be a list of paths"),
    ],
)  # fmt: skip
def test_what_is_refused_of_a_table(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(table, "accuracy")


def test_what_is_for_files_is_refused() -> None:
    for options, message in (
        ({"references": __file__}, "references must not be given with a table in memory"),
        ({"format": "text"}, "format of a table in memory must be one of scores, not 'text'"),
        ({"ties": "keep"}, "ties must not be given with a table"),
    ):
        with pytest.raises(ValueError, match=message):
            load(WIDE, "accuracy", **options)  # type: ignore[arg-type]


def test_systems_are_never_two_in_silence_where_people_see_one() -> None:
    """As in files (test_column_names.py)."""
    composed, apart = "caf\u00e9", "cafe\u0301"
    frame = pd.DataFrame({"item": ["q1", "q2"], composed: [1, 0], apart: [1, 1]})
    for table in (frame, frame.melt("item", var_name="system", value_name="score")):
        with pytest.raises(ValueError, match="system 'caf.*' is there twice, in two normal forms of Unicode"):
            load(table, "accuracy")
    items = pd.DataFrame({"item": [composed, apart], "a": [1, 0], "b": [1, 1]})
    with pytest.raises(ValueError, match="item 'caf.*' is there twice, in two normal forms of Unicode"):
        load(items, "accuracy")


def test_polars_tables_are_read(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    for frame in (WIDE, LONG):
        frame.to_csv(tmp_path / "t.csv", index=False)
        expected = said(load(tmp_path / "t.csv", "accuracy"), tmp_path / "t.csv")
        assert said(load(polars.read_csv(tmp_path / "t.csv"), "accuracy"), "-") == expected
