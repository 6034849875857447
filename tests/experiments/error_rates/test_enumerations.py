"""Rates of right and wrong answers against enumeration: rejections, wrong winners, exaggeration, undefined scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.truth import outcome_correlation
from tests.experiments.error_rates.small import CONDITIONS, TABLES, examine, study


def two_by_two(n: int, only_first: float, only_second: float) -> Any:
    """All results of n items of which some only the first system has right, some only the second: their chances."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = np.maximum(n - b - c, 0)
    chance = stats.multinomial.pmf(
        np.stack([b, c, rest], -1), n, [only_first, only_second, 1 - only_first - only_second]
    )
    return b, c, np.where(b + c <= n, chance, 0.0)


@pytest.mark.parametrize("turned", [False, True], ids=["first better", "second better"])
def test_power_and_exaggeration_are_those_of_all_results_there_can_be(turned: bool) -> None:
    """McNemar's test of right and wrong answers, enumerated: power, wrong winners and the mean significant gain.

    Both systems in either order.
    """
    n, sets, name = 60, 4000, "accuracy_gain"
    phi = outcome_correlation(0.83, 0.8, 0.5)
    both = 0.83 * 0.8 + phi * np.sqrt(0.83 * 0.17 * 0.8 * 0.2)
    b, c, chance = two_by_two(n, 0.83 - both, 0.8 - both)
    significant = np.minimum(2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5), 1) <= 0.05
    found, wrong = ((chance * (significant & side)).sum() for side in (b > c, b < c))
    mean = (chance * significant * np.abs(b - c)).sum() / n * 100 / (found + wrong)
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, conditions=[name], tests=["mcnemar"])
    settings.conditions[name].parameters["accuracies"] = [0.8, 0.83] if turned else [0.83, 0.8]
    rows = examine(settings, name, n, 0)["decisions"]
    counted = pd.DataFrame([{"condition": name, "n_units": n} | row for row in rows])
    table = TABLES.power(counted, settings)
    (row,) = table[(table["alternative"] == "two-sided") & (table["alpha"] == 0.05)].to_dict("records")
    assert stats.binomtest(round(row["share"] * sets), sets, found).pvalue > 1e-4
    assert stats.binomtest(row["n_wrong"], sets, wrong).pvalue > 1e-4
    assert row["type_s"] == row["n_wrong"] / row["n_rejected"]
    half = (row["type_m_high"] - row["type_m_low"]) / 2
    assert abs(row["type_m"] - mean / 3) < 2 * half < 0.5
    assert row["type_m"] > 3, "so few items find three points only where they seem many more"


def test_right_and_wrong_answers_are_rejected_as_often_as_coins_allow() -> None:
    """Each item differs with a known chance, and then the sign test's rejections are binomial."""
    n, sets, alpha = 60, 3000, 0.05
    model = CONDITIONS["accuracy"].pair
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, tests=["sign_flips", "mcnemar", "randomization"])
    phi = outcome_correlation(0.8, 0.8, 0.5)
    differ = 2 * 0.8 * 0.2 * (1 - phi)
    losses = np.arange(n + 1)
    by_items = [stats.binom.cdf(losses[: m + 1], m, 0.5) for m in range(n + 1)]
    rejected = {
        "two-sided": [2 * stats.binom.pmf(losses[: m + 1], m, 0.5) @ (2 * p <= alpha) for m, p in enumerate(by_items)],
        "greater": [2 * stats.binom.pmf(losses[: m + 1], m, 0.5) @ (p <= alpha) for m, p in enumerate(by_items)],
    }
    for row in examine(settings, "accuracy", n, 0)["decisions"]:
        if row["alpha"] != alpha:
            continue
        expected = stats.binom.pmf(losses, n, differ) @ rejected[str(row["alternative"])]
        assert 0.01 < expected < 0.1
        assert stats.binomtest(int(row["n_rejected"]), sets, expected).pvalue > 1e-6
        assert stats.binomtest(int(row["n_rejected_first"]), sets, expected / 2).pvalue > 1e-6
        assert row["n_sets"] == sets
    assert model.units == ("item",)


def test_undefined_scores_are_counted_apart() -> None:
    """A system that accepts 8 % of 6 candidates accepts none of them three times in five."""
    sets, n = 2000, 6
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, tests=["sign_flips"])
    row = examine(settings, "precision_few", n, 0)["decisions"][0]
    nothing = 1 - (1 - 0.92**n) * (1 - 0.7**n)
    assert stats.binomtest(int(row["n_undefined"]), sets, nothing).pvalue > 1e-6
    assert row["n_sets"] + row["n_undefined"] == sets
    assert row["n_rejected_undefined"] <= row["n_undefined"]
