from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.analyses.thresholds import size_fit, thresholds, weighted_percentile
from simstudy.engines.comparisons import compare
from simstudy.generators.synthetic import correlated_accuracies


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """90 systems of three families on the first 200, 400 and 800 items of a test set."""
    accuracies = [0.7 + 0.1 * k / 90 for k in range(90)]
    outputs = correlated_accuracies(accuracies, 800, families=list("xyz") * 30, between=0.5, within=0.9, seed=4)
    return pd.concat([compare(outputs.head(n), n_resamples=4000) for n in (200, 400, 800)], ignore_index=True)


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
        assert row.low <= row.threshold <= row.high + 1e-12


def test_specially_correlated_systems_need_smaller_gains(pairs: pd.DataFrame) -> None:
    """The paper's finding (3.1.1, 3.2.2), and the reason for relation classes: here by construction."""
    table = thresholds(pairs, min_pairs=10).set_index(["n_items", "relation"])["threshold"]
    for n in (200, 400, 800):
        assert table[n, "same family"] < table[n, "different families"]


def test_interval_resamples_systems(pairs: pd.DataFrame) -> None:
    """By brute force: a new collection of systems, each pair there as often as the product of its systems."""
    members = pairs[pairs["n_items"] == 400]
    row = thresholds(members, n_bootstrap=2000).set_index("relation").loc["all pairs"]
    names = sorted(set(members["system_a"]) | set(members["system_b"]))
    window = members[members["p_value"].between(0.04, 0.06)]
    rng = np.random.default_rng(99)
    found = []
    for _ in range(1500):
        drawn = dict(zip(names, rng.multinomial(len(names), [1 / len(names)] * len(names)), strict=True))
        repeats = [drawn[a] * drawn[b] for a, b in zip(window["system_a"], window["system_b"], strict=True)]
        found.append(np.percentile(np.repeat(window["gain"], repeats), 95))
    low, high = np.percentile(found, [2.5, 97.5])
    step = 100 / 400  # gains of accuracy on 400 items come in steps of this
    assert row.low == pytest.approx(low, abs=step)
    assert row.high == pytest.approx(high, abs=step)


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
    fitted = size_fit(thresholds(pairs, min_pairs=10))
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


def test_bad_tables(pairs: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no column gain, p_value"):
        thresholds(pairs.drop(columns=["gain", "p_value"]))
    with pytest.raises(ValueError, match="at least one row"):
        thresholds(pairs.head(0))
    with pytest.raises(ValueError, match="table must be one of thresholds; no column relation, threshold"):
        size_fit(pairs.drop(columns="relation"))
