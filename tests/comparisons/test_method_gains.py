"""Gains of methods over seeds and items: algebra of a two-way layout, and simulated equal methods."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.comparisons import method_gains


def made(rng: np.random.Generator, seeds: int, sd: float, n: int = 100, gain: float = 0.0) -> pd.DataFrame:
    """Scores of two methods: items, items by method, seeds, and the rest."""
    skill = sd * rng.normal(size=2 * seeds) + np.repeat([0.0, gain], seeds)
    alike = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 2)).repeat(seeds, axis=1)
    names = [f"{method}/seed{k}" for method in "ab" for k in range(seeds)]
    return pd.DataFrame(alike + skill + rng.normal(size=(n, 2 * seeds)), columns=names)


def test_both_noises_are_those_of_means_over_seeds_and_of_means_over_items() -> None:
    table = made(np.random.default_rng(0), 4, 0.3, gain=1.0)
    row = method_gains(ss.Outputs.from_scores(table)).iloc[0]
    assert (row["method_a"], row["method_b"], row["seeds_a"]) == ("b", "a", 4)
    first, second = table.iloc[:, :4], table.iloc[:, 4:]
    assert row["gain"] == pytest.approx(second.to_numpy().mean() - first.to_numpy().mean())
    assert row["se_seeds"] ** 2 == pytest.approx((first.mean().var() + second.mean().var()) / 4)
    assert row["se_items"] == pytest.approx((second.mean(axis=1) - first.mean(axis=1)).sem())
    rest = sum((one.sub(one.mean(axis=1), axis=0) - one.mean() + one.to_numpy().mean()).to_numpy().ravel() @
               (one.sub(one.mean(axis=1), axis=0) - one.mean() + one.to_numpy().mean()).to_numpy().ravel()
               / (3 * 99) / (4 * 100) for one in (first, second))  # fmt: skip
    assert row["se"] ** 2 == pytest.approx(row["se_seeds"] ** 2 + row["se_items"] ** 2 - rest)
    items = row["se_items"] ** 2 - rest
    terms = [(first.mean().var() / 4, 3), (second.mean().var() / 4, 3), (items, 99)]
    assert row["df"] == pytest.approx(row["se"] ** 4 / sum(term**2 / df for term, df in terms))
    by = pd.DataFrame({"name": table.columns, "kind": list("xxxxyyyy")})
    assert method_gains(ss.Outputs.from_scores(table, systems=by), by="kind")["method_a"].item() == "y"
    errors = method_gains(ss.Outputs.from_scores(table, "mean (lower is better)")).iloc[0]
    assert (errors["method_a"], errors["gain"]) == ("a", pytest.approx(row["gain"]))


def test_items_on_which_methods_do_not_differ_leave_the_seeds_alone() -> None:
    """Without an interaction of items and methods the variance is that between seeds: Welch's t test of their means."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(100, 4)), columns=["a/seed0", "a/seed1", "b/seed0", "b/seed1"])
    first, second = table.iloc[:, :2], table.iloc[:, 2:]
    # Differences of the methods' means with hardly any variance: what is left is the seeds' own.
    table = pd.concat([first, second.add(first.mean(axis=1) - second.mean(axis=1) + 0.3, axis=0)], axis=1)
    row = method_gains(ss.Outputs.from_scores(table)).iloc[0]
    welch = stats.ttest_ind(table.iloc[:, :2].mean(), table.iloc[:, 2:].mean(), equal_var=False)
    assert row["df"] == pytest.approx(welch.df)
    assert row["p_value"] == pytest.approx(welch.pvalue)


def test_what_has_no_seeds_is_refused() -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.6], 40)
    with pytest.raises(ValueError, match="^outputs must have at least two methods of two systems each, not 0"):
        method_gains(outputs)
    with pytest.raises(ValueError, match="^by must be a column of the systems"):
        method_gains(outputs, by="method")


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("sd", [0.0, 0.3])
def test_equal_methods_are_rejected_as_often_as_the_level_says(seeds: int, n: int, sd: float) -> None:
    """2,000 test sets, with and without training variance: 3 to 6 %, with a standard error of half a percent."""
    rng = np.random.default_rng(seeds * n)
    n_sets = 2_000
    rejected = [
        method_gains(ss.Outputs.from_scores(made(rng, seeds, sd, n)))["p_value"].item() <= 0.05 for _ in range(n_sets)
    ]
    assert 0.025 < np.mean(rejected) < 0.066
