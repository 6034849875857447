"""Margins: tables of distribution functions against scipy's, and scores smoothed over a lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats

from tests.experiments.programs import program

MARGINS = program("urbano_2019", "margins")
POINTS, KINDS, Tabulated = MARGINS.POINTS, MARGINS.KINDS, MARGINS.Tabulated
SKEWED = Tabulated(np.interp(POINTS, (0.0, 0.1, 0.5, 1.0), (0.0, 0.5, 0.9, 1.0)))


@pytest.mark.parametrize("mean", [0.06, 0.1, 0.21, 0.4, 0.7])
def test_another_mean_bends_the_distribution_function(mean: float) -> None:
    assert SKEWED.quantile(np.array([0.25, 0.5, 0.7, 0.95])).tolist() == pytest.approx([0.05, 0.1, 0.3, 0.75])
    moved = SKEWED.with_mean(mean)
    assert moved.mean == pytest.approx(mean, abs=1e-12)
    area = integrate.quad(lambda x: 1 - np.interp(x, POINTS, moved.cumulative), 0, 1, points=[0.1, 0.5], limit=200)[0]
    assert area == pytest.approx(mean, abs=1e-6)
    before, after = SKEWED.cumulative[[100, 500]], moved.cumulative[[100, 500]]
    powers = np.log(after) / np.log(before) if mean > SKEWED.mean else np.log(1 - after) / np.log(1 - before)
    assert powers[0] == pytest.approx(powers[1]), "one power of F, or of 1 - F"


def test_the_beta_law_is_scipys_most_likely_one() -> None:
    scores = np.random.default_rng(0).beta(2, 5, 3000)
    aic, cumulative = MARGINS.beta(scores)
    a, b, _, _ = stats.beta.fit(scores, floc=0, fscale=1)
    assert aic == pytest.approx(4 - 2 * stats.beta(a, b).logpdf(scores).sum(), abs=0.01)
    assert_allclose(cumulative, stats.beta(a, b).cdf(np.linspace(0, 1, 1001)), atol=2e-3)


def test_a_mean_out_of_reach_is_refused() -> None:
    with pytest.raises(ValueError, match="mean must be above 0 and below 1"):
        SKEWED.with_mean(1.0)
    lower_half = Tabulated(np.interp(POINTS, (0.0, 0.5, 1.0), (0.0, 1.0, 1.0)))
    with pytest.raises(ValueError, match=r"mean must be within reach of reweighting, not 0\.6"):
        lower_half.with_mean(0.6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_kernel_estimate_is_weighed_by_its_likelihood_inside_the_unit_interval(seed: int) -> None:
    """Its AIC by numerical integration: the density that is cut at 0 and 1 integrates to 1 between them."""
    scores = np.random.default_rng(seed).beta(0.6, 3, 80)
    spread = min(scores.std(ddof=1), stats.iqr(scores) / 1.34)
    kernel = stats.gaussian_kde(scores, bw_method=0.9 * spread * len(scores) ** -0.2 / scores.std(ddof=1))
    inside = integrate.quad(lambda x: float(kernel(x)[0]), 0, 1, limit=500)[0]
    assert inside < 0.95, "much of it lies outside"
    used = stats.norm.pdf(0, scale=0.9 * spread * len(scores) ** -0.2) / kernel(scores)
    expected = 2 * used.mean() - 2 * np.log(kernel(scores) / inside).sum()
    aic, cumulative = MARGINS.kernel(scores)
    assert aic == pytest.approx(expected, rel=1e-6)
    assert cumulative[300] == pytest.approx(kernel.integrate_box_1d(0, 0.3) / inside, abs=1e-9)


@pytest.mark.parametrize(("mean", "spread"), [(-0.2, 0.3), (0.3, 0.2), (1.1, 0.4)])
def test_the_truncated_normal_is_the_most_likely_one_by_scipys_density(mean: float, spread: float) -> None:
    """With its middle below, inside and above the unit interval."""

    def law(point: Any) -> Any:
        middle, width = point[0], np.exp(point[1])
        return stats.truncnorm(-middle / width, (1 - middle) / width, loc=middle, scale=width)

    scores = law([mean, np.log(spread)]).rvs(200, random_state=np.random.default_rng(4))
    best = optimize.minimize(
        lambda point: -law(point).logpdf(scores).sum(), [mean, np.log(spread)], method="Nelder-Mead"
    )
    aic, cumulative = MARGINS.truncated_normal(scores)
    assert aic == pytest.approx(4 + 2 * best.fun, abs=0.02)
    assert_allclose(cumulative, law(best.x).cdf(np.linspace(0, 1, 1001)), atol=0.01)


@pytest.mark.parametrize(("mean", "spread"), [(-3.0, 0.05), (-1.0, 0.1), (-0.5, 0.071), (4.0, 0.05), (1.6, 0.09)])
def test_a_normal_distribution_far_from_the_unit_interval_is_truncated_to_it(mean: float, spread: float) -> None:
    """In its far tail, scipy's own distribution function is that of an exponential one (Mills' ratio)."""
    cumulative = MARGINS.normal_inside(mean, spread)
    points, rate = np.linspace(0, 1, 1001), max(-mean, mean - 1) / spread**2
    expected = 1 - np.exp(-rate * points - points**2 / (2 * spread**2))
    expected = expected if mean < 0 else 1 - expected[::-1]
    assert_allclose(cumulative, expected, atol=0.02)
    assert (cumulative[0], cumulative[-1]) == (0, 1)


@pytest.mark.parametrize("step", [0.1, 0.01, 1e-4, 1e-12])
@pytest.mark.parametrize("n_others", [1, 10])
def test_scores_that_hardly_vary_have_a_law_without_a_warning(step: float, n_others: int) -> None:
    for first, other in ((0.0, step), (0.5, 0.5 + step), (1.0, 1 - step)):
        for fitted in KINDS:
            aic, cumulative = fitted(np.r_[[first] * 10, [other] * n_others])
            assert np.isfinite(aic)
            assert (cumulative[0], cumulative[-1]) == (0, 1)
            assert (np.diff(cumulative) >= 0).all()


@pytest.mark.parametrize("k", range(3))
def test_the_law_that_is_taken_is_the_one_with_the_least_criterion(k: int) -> None:
    """Of scores that are Beta's, normal and with two humps, which are none of both."""
    rng = np.random.default_rng(k)
    humps = np.r_[rng.beta(30, 200, 30), rng.beta(90, 9, 30)]
    scores = [rng.beta(2, 9, 60), np.clip(rng.normal(0.5, 0.2, 60), 0, 1), humps][k]
    fits = [fitted(scores) for fitted in KINDS]
    expected = fits[int(np.argmin([aic for aic, _ in fits]))][1]
    assert_allclose(MARGINS.effectiveness(scores).cumulative, expected)


def kernel_shares(scores: Any, n_values: int, h: float) -> Any:
    """Weights h^|i - j| of each score, 1 in sum, written out."""
    weights = h ** np.abs(np.arange(n_values) - np.array(scores)[:, None])
    return (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_smoothed_by_the_bandwidth_under_which_left_out_ones_are_the_most_likely(seed: int) -> None:
    """Each score's probability under the others', written out for every bandwidth; then a tilt keeps the mean."""
    rng, lattice = np.random.default_rng(seed), np.arange(9.0)
    # Few values and many ties are not smoothed; scores that lie all over the lattice are.
    scores = np.repeat([1.0, 7.0], 8) if seed == 0 else rng.choice(lattice, 6 + 4 * seed)

    def likelihood(h: float) -> float:
        left_out = [kernel_shares(np.delete(scores, k), 9, h)[int(score)] for k, score in enumerate(scores)]
        return float(np.log(np.maximum(left_out, 1e-300)).sum())

    best = max((0.0, 0.05, *np.arange(1, 10) / 10, 0.95), key=likelihood)
    assert (best == 0) == (seed == 0)
    shares = kernel_shares(scores, 9, best)
    tilt = optimize.brentq(lambda t: shares * np.exp(t * lattice) @ (lattice - scores.mean()), -2, 2, xtol=1e-14)
    expected = shares * np.exp(tilt * lattice)
    margin = MARGINS.smoothed(scores / 8 + rng.uniform(-0.01, 0.01, scores.size), lattice / 8)
    assert_allclose(margin.probabilities, expected / expected.sum(), atol=1e-10)
    assert margin.mean == pytest.approx(scores.mean() / 8)
