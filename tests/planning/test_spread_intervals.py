"""Intervals of a spread: the jackknife's, and those of differences of two values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.planning.spreads import spread_interval


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("two", [True, False])
def test_the_interval_of_a_spread_moves_with_the_scale_and_with_nothing_else(share: float, two: bool) -> None:
    """Neither sign nor place of the differences matters, whether they have two values or many."""
    rng = np.random.default_rng(5)
    values = np.repeat([1.0, 0.0], [round(100 * share), 100 - round(100 * share)])
    values = values if two else values * rng.normal(2, 1, 100)
    plain = np.array(spread_interval(values))
    assert (np.diff(plain[[1, 0, 2]]) >= 0).all()
    assert plain[0] == pytest.approx(values.std(ddof=1))
    for scale, place in ((-1.0, 0.0), (1.0, 40.0), (-0.03, 7.0)):
        np.testing.assert_allclose(spread_interval(scale * values + place), abs(scale) * plain, rtol=1e-6)
    if two:
        # A share that is above or below one half has the spread of the nearest and the farthest share that may be.
        ends = stats.binomtest(round(100 * share), 100).proportion_ci()
        possible = np.sqrt([p * (1 - p) for p in np.linspace(ends.low, ends.high, 2001)])
        assert plain[1:] == pytest.approx([possible.min(), max(possible.max(), plain[0])], rel=1e-4)


@pytest.mark.parametrize("tails", [0.3, 2.0])
def test_the_interval_of_a_spread_is_the_jackknifes(tails: float) -> None:
    """By leaving out each value; the upper end has the degrees of freedom of a sum of so unequal squares."""
    values = np.random.default_rng(5).lognormal(0, tails, 40)
    logs = np.array([np.log(np.delete(values, i).var(ddof=1)) for i in range(40)])
    squares = (logs - logs.mean()) ** 2
    # The variance of a variance has the jackknife's part, (kurtosis - 1) / n, and 2 / (n (n - 1)).
    se = np.sqrt(39 / 40 * squares.sum() + 2 / (40 * 39))
    # Satterthwaite's: twice the squared mean over the variance, of the sum of 40 squares.
    df = 2 * squares.sum() ** 2 / (40 * squares.var())
    down, up = (np.exp(stats.t.isf(0.025, degrees) * se / 2) for degrees in (39, min(df, 39)))
    sd = values.std(ddof=1)
    assert spread_interval(values) == pytest.approx((sd, sd / down, sd * up))


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.36, 0.44, 0.5])
def test_the_interval_of_differences_of_two_values_holds_the_truth(n: int, share: float) -> None:
    """Over all numbers of the one value that a pilot may have, but 0 and n."""
    counts = np.arange(1, n)
    ends = np.array([spread_interval(np.repeat([-0.7, 0.3], [k, n - k]))[1:] for k in counts])
    held = (ends[:, 0] <= np.sqrt(share * (1 - share))) & (np.sqrt(share * (1 - share)) <= ends[:, 1] + 1e-12)
    chance = stats.binom.pmf(counts, n, share)
    assert chance @ held / chance.sum() >= 0.95
