from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons.other_systems import weighted_percentile
from simstudy.comparisons.thresholds import thresholds
from simstudy.truth import correlated_accuracies
from tests.oracles import compared


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """60 systems of three families on the first 200 and 400 items of a test set."""
    accuracies = [0.7 + 0.1 * k / 60 for k in range(60)]
    outputs = correlated_accuracies(accuracies, 400, families=list("xyz") * 20, between=0.5, within=0.9, seed=4)
    tables = [compared(outputs.head(n), test="z_paired", alternative="greater") for n in (200, 400)]
    return pd.concat(tables, ignore_index=True)


def test_threshold_is_the_percentile_of_the_window(pairs: pd.DataFrame) -> None:
    table = thresholds(pairs, min_pairs=10)
    assert len(table) == 6
    for row in table.itertuples():
        members = pairs[pairs["n_items"] == row.n_items]
        if row.relation != "all pairs":
            members = members[members["relation"] == row.relation]
        gains = members.loc[(members["p_value"] >= 0.04) & (members["p_value"] <= 0.06), "gain"]
        assert (row.n_pairs, row.n_window) == (len(members), len(gains))
        assert row.threshold == np.percentile(gains, 95)
        assert row.alternative == "greater"
        if row.interval_for:
            assert (row.low < row.threshold < row.high, row.interval_for) == (True, "other variants of these families")
        else:
            assert row.note == f"too few pairs in the window for an interval: {len(gains)}, not 40"
            assert len(gains) < 40
    assert table["low"].notna().sum() >= 2


def test_pairs_whose_test_prefers_the_other_system_are_not_just_significant(pairs: pd.DataFrame) -> None:
    members = pairs[(pairs["n_items"] == 400) & (pairs["relation"] == "different families")]
    window = members.index[members["p_value"].between(0.04, 0.06)]
    other = members["better"].where(~members.index.isin(window[::2]), members["system_b"])
    row, before = (thresholds(table, min_pairs=1).iloc[0] for table in (members.assign(better=other), members))
    assert (row["n_window"], before["n_window"]) == (len(window) // 2, len(window))
    assert row["threshold"] == np.percentile(members.loc[window[1::2], "gain"], 95)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 4)), min_size=1, max_size=12),
    st.sampled_from([0, 5, 50, 90, 95, 100]),
)
@settings(max_examples=100, deadline=None)
def test_weighted_percentile_is_numpys_of_repeated_values(values: list[tuple[float, int]], percentile: int) -> None:
    numbers, weights = (np.array(column) for column in zip(*values, strict=True))
    result = weighted_percentile(numbers, weights[None], percentile)[0]
    if weights.sum() == 0:
        assert np.isnan(result)
    else:
        assert result == pytest.approx(np.percentile(np.repeat(numbers, weights), percentile), abs=1e-9)


def test_a_window_goes_up(pairs: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="window must be two p-values, the lower first"):
        thresholds(pairs, window=(0.06, 0.04))
