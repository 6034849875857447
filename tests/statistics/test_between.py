"""The interval of a variance between units: against the textbook's, and its coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.statistics.between import between_variance


def test_without_noise_within_it_is_the_interval_of_a_variance() -> None:
    """Of normal values the jackknife finds nearly n - 1 degrees of freedom, and the limits are the textbook's."""
    values = np.random.default_rng(0).normal(size=5000)
    found, low, high = between_variance(values, np.zeros(5000), level=0.9)
    expected = values.var(ddof=1) * 4999 / stats.chi2(4999).ppf([0.5, 0.95, 0.05])
    assert found == pytest.approx(values.var(ddof=1))
    assert [low, high] == pytest.approx(expected[1:], rel=0.005)


def test_degrees_of_freedom_fit_the_variance_by_leaving_values_out() -> None:
    values = np.array([0.0, 1.0, 3.0, 4.0, 9.0])
    left_out = [np.delete(values, k).var(ddof=1) for k in range(5)]
    df = 2 * values.var(ddof=1) ** 2 / (4 * np.var(left_out))
    expected = values.var(ddof=1) * df / stats.chi2(df).ppf([0.975, 0.025])
    assert between_variance(values, np.zeros(5))[1:] == pytest.approx(expected)


def test_an_estimate_below_0_has_the_interval_of_an_estimate_of_0() -> None:
    """The values are stretched until their variance is the noise's."""
    rng = np.random.default_rng(3)
    values, within = rng.normal(size=40), rng.gamma(8.0, 0.25, size=40)
    stretched = values * np.sqrt(within.mean() / values.var(ddof=1))
    estimate, low, high = between_variance(values, within)
    assert estimate == pytest.approx(values.var(ddof=1) - within.mean())
    assert estimate < -0.1
    assert low == 0 < high
    assert between_variance(stretched, within)[0] == pytest.approx(0, abs=1e-9)
    assert (low, high) == pytest.approx(between_variance(stretched, within)[1:])
    assert np.isnan(between_variance(values[:3], within[:3])[1:]).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("alike", [0.0, 0.8, 0.98, 1.0])
def test_the_interval_covers_the_variance_of_right_and_wrong_answers(n: int, k: int, alike: float) -> None:
    """From systems that have nothing in common to systems of the same chances, where the variance is 0.

    The interval is of 95 %, its upper end of 97.5 %; at level 0.6 the upper end is a bound of 80 %, as plans take it.
    """
    rng = np.random.default_rng(n + k)
    hard, own = rng.normal(size=200_000), rng.normal(size=(2, 200_000))
    chances = 1 / (1 + np.exp(-1.5 * (hard + own * np.sqrt(1 - alike))))
    true = (chances[0] - chances[1]).var()
    n_sets, covered, below = 1000, 0, 0
    for _ in range(n_sets):
        mean = rng.binomial(k, chances[:, rng.integers(0, 200_000, n)]) / k
        values, within = mean[0] - mean[1], (mean * (1 - mean) / (k - 1)).sum(axis=0)
        _, low, high = between_variance(values, within)
        covered += low <= true <= high
        below += true <= between_variance(values, within, level=0.6)[2]
    least = 0.88 if n == 20 else 0.92
    assert least < covered / n_sets < 1.0
    assert below / n_sets > (0.73 if n == 20 else 0.76)
