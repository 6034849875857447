"""Sign flips with Hall's correction, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from tests.engines.pairs import scored
from tests.oracles import all_signs, compared


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("side", [1, -1])
def test_it_is_the_larger_of_flips_and_of_halls_t(alternative: str, side: int) -> None:
    """All 2^12 flips of twelve differences, and the t statistic and skewness as scipy has them."""
    differences = side * (np.random.default_rng(4).exponential(size=12) - 1) + 0.6
    row = compared(scored([5 + differences, np.full(12, 5.0)]), test="skew_corrected", alternative=alternative).iloc[0]
    better = differences * np.sign(differences.mean())
    two = alternative == "two-sided"
    sums = all_signs(12) @ better
    flips = np.mean((np.abs(sums) if two else sums) >= better.sum() - 1e-9)
    t, a = stats.ttest_1samp(better, 0).statistic, stats.skew(better) / np.sqrt(12)
    # Hall's transformation is a cube: ((1 + a t / 3)^3 - 1) / (3 a) - a (1 - 1) / 6 + a / 6.
    g = ((1 + a * t / 3) ** 3 - 1) / a + a / 6
    by_hall = (2 if two else 1) * stats.t.sf(abs(g) if two else g, 11)
    assert row.p_value == pytest.approx(max(flips, by_hall), rel=1e-9)
    assert (by_hall > flips) == (stats.skew(better) < 0), "skewness against the gain makes it less sure"
    assert row.computation == ("approximated" if by_hall > flips else "exact")
    assert row.p_low == row.p_value == row.p_high


def test_flips_that_were_drawn_are_told_only_where_they_decide(found: Outputs) -> None:
    flips, corrected = (
        compared(found, test=test, unit="item", n_resamples=500, monte_carlo=True)
        for test in ("sign_flips", "skew_corrected")
    )
    assert (corrected["p_value"] >= flips["p_value"]).all()
    by_flips = corrected["p_value"] == flips["p_value"]
    assert 0 < by_flips.sum() < len(flips)
    pd.testing.assert_series_equal(corrected["n_resamples"], flips["n_resamples"].where(by_flips, 0))
    pd.testing.assert_series_equal(corrected["n_extreme"], flips["n_extreme"].where(by_flips, 0))


def test_of_right_and_wrong_answers_it_is_sign_flips() -> None:
    """The better system wins 30 items of 40 and loses none: a skewness that would make Hall's p-value the larger."""
    row = compared(scored([np.repeat([1, 0], [30, 10]), np.zeros(40, int)]), test="skew_corrected").iloc[0]
    assert row.p_value == 2 / 2**30
