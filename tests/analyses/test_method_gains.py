"""Gains of methods over seeds and items: algebra of a two-way layout, and simulated equal methods."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.analyses import method_gains


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
    by = pd.DataFrame({"name": table.columns, "kind": list("xxxxyyyy")})
    assert method_gains(ss.Outputs.from_scores(table, systems=by), by="kind")["method_a"].item() == "y"


def test_what_has_no_seeds_is_refused() -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.6], 40)
    with pytest.raises(ValueError, match="^outputs must have at least two methods of two systems each, not 0"):
        method_gains(outputs)
    with pytest.raises(ValueError, match="^by must be a column of the systems"):
        method_gains(outputs, by="method")


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "sd"), [(3, 0.0), (3, 0.3), (5, 0.1), (10, 0.05)])
def test_equal_methods_are_rejected_as_often_as_the_level_says(seeds: int, sd: float) -> None:
    rng = np.random.default_rng(seeds)
    found = [method_gains(ss.Outputs.from_scores(made(rng, seeds, sd)))["p_value"].item() <= 0.05 for _ in range(1500)]
    # Conservative where seeds do not vary: the larger of the two variances is taken.
    assert 0.02 < np.mean(found) < 0.065
