"""`Outputs.from_scores` of wide and long tables, whatever library they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from simstudy.outputs import Outputs

WIDE = pd.DataFrame({"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}, index=["q1", "q2", "q3", "q4"])
DOMAINS = ["news", "web", "news", "web"]
LONG = (
    WIDE.rename_axis("item")
    .assign(domain=DOMAINS)
    .reset_index()
    .melt(["item", "domain"], var_name="system", value_name="score")
)


def test_wide_and_long_are_the_same_outputs() -> None:
    wide = Outputs.from_scores(WIDE, "accuracy")
    mixed = LONG.sample(frac=1, random_state=1)
    for table in (
        LONG,
        LONG.set_index(["system", "item"]),
        LONG.astype({"score": "Int64", "system": "category"}),
        pa.Table.from_pandas(LONG),
        mixed,
        WIDE.rename_axis("item").reset_index().assign(domain=DOMAINS),
        pa.Table.from_pandas(WIDE.assign(domain=DOMAINS).rename_axis("item").reset_index()),
        WIDE.assign(domain=DOMAINS).rename_axis("item").set_index("domain", append=True).swaplevel(),
    ):
        found = Outputs.from_scores(table, "accuracy")
        if table is mixed:
            found = found.select(wide.names)
            found = found.take(np.argsort(found.items["id"].to_numpy(dtype=str)))
        assert found.names == wide.names
        assert found.statistics.tolist() == wide.statistics.tolist()
        assert found.statistics.dtype == wide.statistics.dtype
        assert found.items[["id", "domain"]].to_dict("list") == {"id": list(WIDE.index), "domain": DOMAINS}
    by_system = Outputs.from_scores({"old": WIDE["old"], "new": WIDE["new"][::-1].to_dict()}, "accuracy")
    assert by_system.scores().tolist() == wide.scores().tolist()
    assert by_system.items["id"].tolist() == list(WIDE.index)


def test_what_is_said_beside_the_scores_goes_first() -> None:
    items = pd.DataFrame({"id": WIDE.index, "domain": ["a", "a", "b", "b"], "length": [1, 2, 3, 4]})
    found = Outputs.from_scores(LONG.assign(cluster=LONG["item"].str[:1]), "accuracy", items=items)
    assert found.items.to_dict("list") == {**items.to_dict("list"), "cluster": ["q"] * 4}


def test_other_columns_of_a_long_table_are_not_lost_in_silence() -> None:
    with pytest.warns(UserWarning, match=r"columns of the scores left out: year; simstudy.load\(table, metric\) reads"):
        found = Outputs.from_scores(LONG.assign(year=2024, doc="d"), "accuracy")
    assert found.items["cluster"].tolist() == ["d"] * 4


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (WIDE.set_index(pd.Index(["a", None, "c", "d"])), "an item in every row; row 2 has none"),
        (WIDE.set_index(pd.Index([1.0, 2.0, np.nan, 4.0])), "an item in every row; row 3 has none"),
        (WIDE.set_index(pd.DatetimeIndex(["2020-01-01", pd.NaT, "2021-01-01", "2022-01-01"])), "row 2 has none"),
        (LONG.assign(item=[None, *LONG["item"][1:]]), "an item in every row; row 1 has none"),
        (LONG.assign(system=["old"] * 7 + [np.nan]), "a system in every row; row 8 has none"),
        (LONG.drop(columns="item"), "scores must have a column 'item' among domain, system, score"),
        (LONG.rename(columns={"score": "acc"}), "scores must have a column 'score' among item, domain, system, acc"),
        (LONG.iloc[1:], "scores must be complete; system 'old' lacks item 'q1'"),
        (pd.concat([LONG, LONG.iloc[[1]]]), "'q2' of 'old' occurs twice"),
        (LONG.assign(score=[np.nan, *LONG["score"][1:]]), "item 'q1' of system 'old' is missing"),
        (LONG.assign(domain=[*"abababac"]), "one domain for each item; 'q4' has 2"),
        (WIDE.reset_index(drop=True).assign(question_id=range(4)), "is it column 'question_id'"),
        (pd.DataFrame({"caf\u00e9": [1, 0], "cafe\u0301": [1, 1]}), "in two normal forms of Unicode"),
        ({"a": "10"}, "a list of scores for each system"),
        (3, "must be a pandas DataFrame, a table of polars or pyarrow, or a dictionary"),
        (WIDE["old"], "must be a pandas DataFrame"),
    ],
)
def test_what_is_refused(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Outputs.from_scores(scores, "accuracy")
