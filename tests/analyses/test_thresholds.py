from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.analyses.thresholds import size_fit, thresholds, weighted_percentile
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """90 systems of three families on the first 200, 400 and 800 items of a test set."""
    accuracies = [0.7 + 0.1 * k / 90 for k in range(90)]
    outputs = correlated_accuracies(accuracies, 800, families=list("xyz") * 30, between=0.5, within=0.9, seed=4)
    tables = [compared(outputs.head(n), alternative="greater") for n in (200, 400, 800)]
    return pd.concat(tables, ignore_index=True)


def test_threshold_is_the_percentile_of_the_window(pairs: pd.DataFrame) -> None:
    table = thresholds(pairs, min_pairs=10)
    assert len(table) == 9
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
            assert (row.note[:37], len(gains) < 40) == ("too few pairs in the window for an int", True)
    assert table["low"].notna().sum() >= 5


def test_specially_correlated_systems_need_smaller_gains(pairs: pd.DataFrame) -> None:
    """The paper's finding (3.1.1, 3.2.2), and the reason for relation classes: here by construction."""
    table = thresholds(pairs, min_pairs=10).set_index(["n_items", "relation"])["threshold"]
    for n in (200, 400, 800):
        assert table[n, "same family"] < table[n, "different families"]


def test_two_sided_windows_are_of_half_the_one_sided_p_values(pairs: pd.DataFrame) -> None:
    """At 0.04 - 0.06 two-sided the gain is 1.96 standard errors, and not 1.645: a fifth more."""
    one = pairs[pairs["n_items"] == 400]
    two = one.assign(p_value=one["p_two_sided"], alternative="two-sided")
    halved = thresholds(one, window=(0.02, 0.03), min_pairs=1)["threshold"].to_numpy()
    found = thresholds(two, min_pairs=1)
    np.testing.assert_allclose(found["threshold"], halved, rtol=0.06)
    np.testing.assert_allclose(found["threshold"] / thresholds(one, min_pairs=1)["threshold"], 1.19, atol=0.1)
    assert set(found["alternative"]) == {"two-sided"}


def test_pairs_whose_test_speaks_for_the_other_system_are_not_just_significant(pairs: pd.DataFrame) -> None:
    members = pairs[(pairs["n_items"] == 400) & (pairs["relation"] == "different families")]
    window = members.index[members["p_value"].between(0.04, 0.06)]
    other = members["favours"].where(~members.index.isin(window[::2]), members["system_b"])
    row, before = (thresholds(table, min_pairs=1).iloc[0] for table in (members.assign(favours=other), members))
    assert (row["n_window"], before["n_window"]) == (len(window) // 2, len(window))
    assert row["threshold"] == np.percentile(members.loc[window[1::2], "gain"], 95)


def test_interval_is_the_spread_over_resampled_families() -> None:
    """By brute force, for 60 systems of 20 families: families are drawn with all their systems, and t has 19 df."""
    accuracies = [0.7 + 0.1 * k / 60 for k in range(60)]
    outputs = correlated_accuracies(accuracies, 2000, families=[f"f{k % 20}" for k in range(60)], within=0.8, seed=1)
    pairs = compared(outputs)
    members = pairs[pairs["relation"] == "different families"]
    row = thresholds(members, n_bootstrap=3000).iloc[0]
    window = members[members["p_value"].between(0.04, 0.06)]
    assert len(window) >= 40
    rng, names, found = np.random.default_rng(99), [f"f{k}" for k in range(20)], []
    for _ in range(2000):
        drawn = dict(zip(names, rng.multinomial(20, [1 / 20] * 20), strict=True))
        repeats = [drawn[a] * drawn[b] for a, b in zip(window["family_a"], window["family_b"], strict=True)]
        if sum(repeats):
            found.append(np.log(np.percentile(np.repeat(window["gain"], repeats), 95)))
    half, bias = 2.093024 * np.std(found) * np.sqrt(20 / 19), np.mean(found) - np.log(row["threshold"])
    assert row["interval_for"] == "other systems"
    assert bias < 0, "resamples have no larger gain than the largest"
    assert np.log(row["threshold"] / row["low"]) == pytest.approx(half, rel=0.08)
    assert np.log(row["high"] / row["threshold"]) == pytest.approx(half - bias, rel=0.08)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 4)), min_size=1, max_size=12),
    st.sampled_from([0, 5, 50, 90, 95, 100]),
)
@settings(max_examples=200, deadline=None)
def test_weighted_percentile_is_numpys_of_repeated_values(values: list[tuple[float, int]], percentile: int) -> None:
    numbers, weights = (np.array(column) for column in zip(*values, strict=True))
    result = weighted_percentile(numbers, weights[None], percentile)[0]
    if weights.sum() == 0:
        assert np.isnan(result)
    else:
        assert result == pytest.approx(np.percentile(np.repeat(numbers, weights), percentile), abs=1e-9)


def test_too_few_pairs_give_no_number(pairs: pd.DataFrame) -> None:
    few = pairs[pairs["n_items"] == 200].head(30)
    table = thresholds(few)
    assert table["threshold"].isna().all()
    assert table["low"].isna().all()
    assert table["note"].str.match(r"too few pairs in the window: \d+, not 20").all()


def test_fit_is_a_square_root_law(pairs: pd.DataFrame) -> None:
    fitted = size_fit(thresholds(pairs, min_pairs=5))
    for _, rows in fitted.groupby("relation"):
        # Least squares of log threshold = log c - log(n) / 2, solved as scipy would: the mean of the residuals is 0.
        residuals = np.log(rows["threshold"]) - np.log(rows["fit"])
        assert residuals.mean() == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(rows["fit"] * np.sqrt(rows["n_items"]), rows["c"])
        assert rows["exponent"].iloc[0] == pytest.approx(-0.5, abs=0.15)


def test_one_size_has_no_fit(pairs: pd.DataFrame) -> None:
    fitted = size_fit(thresholds(pairs[pairs["n_items"] == 400]))
    assert fitted[["c", "fit", "exponent"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": (0.06, 0.04)}, "window must be two p-values, the lower first"),
        ({"percentile": 0}, "percentile must be above 0"),
        ({"min_pairs": 0}, "min_pairs must be at least 1, not 0"),
        ({"n_bootstrap": 10.5}, "n_bootstrap must be a whole number"),
        ({"window": (0.1, 0.2, 0.3)}, "window must be two p-values"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_options(pairs: pd.DataFrame, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        thresholds(pairs, **options)  # type: ignore[arg-type]


def test_fits_of_one_sided_and_two_sided_thresholds_are_apart() -> None:
    table = pd.DataFrame(
        {
            "task": "t", "test_set": "s", "metric": "accuracy", "relation": "all pairs", "n_items": [100, 400] * 2,
            "alternative": ["greater"] * 2 + ["two-sided"] * 2, "threshold": [6.0, 3.0, 7.2, 3.6],
        }
    )  # fmt: skip
    assert size_fit(table)["c"].round(9).tolist() == [60, 60, 72, 72]


def test_bad_tables(pairs: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no column gain, p_value"):
        thresholds(pairs.drop(columns=["gain", "p_value"]))
    with pytest.raises(ValueError, match="at least one row"):
        thresholds(pairs.head(0))
    with pytest.raises(ValueError, match="table must be one of thresholds; no column relation, threshold"):
        size_fit(pairs.drop(columns="relation"))
