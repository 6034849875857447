"""The study planning_validation: its halves and tables, on simulated sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.experiments.programs import program

halves, tables = (program("planning_validation", part) for part in ("halves", "tables"))


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.clustered_accuracies([0.6 + k / 30 for k in range(8)], 60, 4, within=0.2, between=0.5)


def test_halves_share_no_cluster_and_miss_none(outputs: ss.Outputs) -> None:
    first, second = halves.halves(outputs, np.random.default_rng(0))
    one, other = (set(half.items["cluster"]) for half in (first, second))
    assert not one & other
    assert len(one) == len(other) == 30
    assert first.n_items + second.n_items == outputs.n_items
    assert halves.n_units(first) == 30


def test_a_split_has_a_row_for_each_measure_and_source(outputs: ss.Outputs) -> None:
    rows = pd.DataFrame(halves.split(outputs, [0], [10], 100, 200, 0))
    assert len(rows) == 3 * 6
    assert rows.groupby(["source", "target"]).size().to_dict() == {
        ("10 units", "half"): 6, ("half", "half"): 6, ("half", "half of it"): 6,
    }  # fmt: skip
    shown = rows[rows["measure"] == "share_significant"]["observed"]
    assert shown.between(0, 1).all()
    # What another half shows does not hang on what it was predicted from.
    same = rows[(rows["target"] == "half")].groupby("measure")["observed"].nunique()
    assert (same <= 1).all()


def test_a_transfer_is_planned_for_as_many_items_as_the_target_has(outputs: ss.Outputs) -> None:
    """Documents of four items, and items without documents: 120 items are 30 documents, 60 documents 240 items."""
    items = ss.truth.correlated_accuracies([0.6 + k / 30 for k in range(8)], 120, test_set="items")
    transfer = program("planning_validation").transfer
    for target, source, n_units in ((items, outputs, 30), (outputs, items, 240)):
        rows = pd.DataFrame(transfer(target, {"one": source}, 100, 99, 0))
        assert set(rows["measure"]) == {*halves.MEASURES, halves.DETECTABLE}
        assert set(rows["n_units"]) == {n_units}
        assert set(rows["source"]) == {"one"}
        assert set(rows["target"]) == {target.test_set}


def test_what_is_inside_is_counted_and_what_is_unknown_is_not() -> None:
    rows = pd.DataFrame(
        {
            "test_set": ["a", "a", "b", "b", "b"], "metric": "accuracy", "source": "half", "target": "half",
            "measure": "ranks",
            "n_units": 9, "predicted": [2.0, 2.0, 2.0, np.nan, 2.0], "observed": [2.0, 5.0, 1.0, 1.0, np.nan],
            "low80": [1.0, 1.0, 1.0, np.nan, 1.0], "high80": [3.0, 3.0, 3.0, np.nan, 3.0],
            "low95": [0.0, 0.0, 0.0, np.nan, 0.0], "high95": [4.0, 5.0, 4.0, np.nan, 4.0],
        }
    )  # fmt: skip
    judged = tables.judged(rows)
    assert judged["inside80"].tolist()[:3] == [1.0, 0.0, 1.0]
    assert judged[["inside80", "inside95"]].iloc[3:].isna().all(axis=None), "no interval, or no outcome"
    assert judged["ratio"].tolist()[:3] == [1.0, 0.4, 2.0]
    row = tables.calibration(judged).iloc[0]
    # Half of a's outcomes and all of b's.
    assert (row["share80"], row["share95"], row["worst80"], row["n_outcomes"]) == (0.75, 1.0, 0.5, 3)
    assert tables.errors(judged)["observed"].tolist() == [3.5, 1.0]
