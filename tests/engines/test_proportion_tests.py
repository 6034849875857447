"""Tests of proportions against scipy's of two-by-two tables, and Yeh's figures for them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.classical_tests import gain_sd
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, compared


@pytest.mark.parametrize("metric", ["precision", "recall", "accuracy", "error rate"])
def test_proportions_are_two_by_two_tables(metric: str, guesses: Outputs, rng: np.random.Generator) -> None:
    """Chi-square as scipy has it, z by its formula, and z squared is chi-square."""
    if metric in ("precision", "recall"):
        outputs = guesses.with_metric(metric)
        right, of = outputs.statistics.sum(axis=1)[:, 0], outputs.statistics.sum(axis=1)[:, 1 + (metric == "recall")]
    else:
        total = rng.integers(1, 9, size=50)
        counted = rng.binomial(total, [[0.5], [0.6], [0.62]])
        statistics = np.stack([counted, np.broadcast_to(total, counted.shape)], axis=-1)
        outputs = Outputs.from_statistics(statistics, ERROR_RATE if metric == "error rate" else metric, list("abc"))
        right, of = statistics.sum(axis=1).T
        right = of - right if metric == "error rate" else right
    chi = compared(outputs, test="chi_square")
    one_sided, both = (compared(outputs, test="two_proportions", alternative=a) for a in ("greater", "two-sided"))
    for k, row in enumerate(chi.itertuples()):
        i, j = (outputs.names.index(name) for name in (row.system_a, row.system_b))
        table = [[right[i], of[i] - right[i]], [right[j], of[j] - right[j]]]
        expected = stats.chi2_contingency(table, correction=False)
        assert row.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=0)
        assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=0)
        pooled = (right[i] + right[j]) / (of[i] + of[j])
        z = (right[i] / of[i] - right[j] / of[j]) / np.sqrt(pooled * (1 - pooled) * (1 / of[i] + 1 / of[j]))
        assert one_sided.statistic[k] == pytest.approx(z, rel=1e-9, abs=0)
        assert one_sided.p_value[k] == pytest.approx(stats.norm.sf(z), rel=1e-9, abs=0)
        assert both.statistic[k] ** 2 == pytest.approx(row.statistic, rel=1e-9, abs=0)
        assert both.p_value[k] == pytest.approx(row.p_value, rel=1e-9, abs=0)


def test_yehs_chi_square_for_precision() -> None:
    """Section 2.2: 47 right of 95 and 25 of 39 give 2.38, "a 10 % to 20 % chance"; the randomization test below 4 %."""
    gold = [f"gold {k}" for k in range(103)]
    first = [*gold[:47], *(f"spurious {k}" for k in range(48))]
    second = [*gold[:19], *gold[47:53], *(f"spurious {k}" for k in range(5)), *(f"other {k}" for k in range(9))]
    outputs = Outputs.from_responses(gold, {"I": first, "II": second}, "precision")
    row = compared(outputs, test="chi_square").iloc[0]
    assert round(row.statistic, 2) == 2.38
    assert 0.10 < row.p_value < 0.20
    assert compared(outputs, test="randomization", alternative="two-sided").p_value[0] < 0.04


def test_yehs_table_of_what_independence_costs() -> None:
    """Section 2.1: correlations of 0.38, 0.50 and 0.80 and how much larger the estimate is that ignores them."""
    for r12, ratio in ((0.38, 1.27), (0.50, 1.41), (0.80, 2.24)):
        assert round(float(gain_sd(1, 1, 0) / gain_sd(1, 1, r12)), 2) == ratio
        assert gain_sd(1.0, 1.0, r12) == pytest.approx(np.sqrt(2 - 2 * r12))


@pytest.mark.parametrize("test", ["two_proportions", "chi_square"])
def test_a_system_without_a_guess_shows_nothing(test: str, guesses: Outputs) -> None:
    """No guesses, no proportion: z and chi-square are 0, and no warning is raised."""
    silent = guesses.statistics.copy()
    silent[3, :, :2] = 0
    pairs = compared(Outputs.from_statistics(silent, "precision", list("abcd")), test=test)
    assert (pairs.loc[pairs["system_b"] == "d", "statistic"] == 0).all()
    assert (pairs.loc[pairs["system_b"] != "d", "statistic"] > 0).all()
    nobody = np.zeros_like(silent)
    nobody[..., 2] = 1
    assert (compared(Outputs.from_statistics(nobody, "precision"), test=test)["p_value"] == 1).all()
