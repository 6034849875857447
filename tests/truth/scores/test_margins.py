"""Margins against scipy's distributions, and means that are set exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.truth.scores.discrete import Empirical, Ordinal, Smoothed, tilted
from simstudy.truth.scores.margins import Bernoulli, Beta, BetaBinomial, LogNormal, Margin, StudentT

JUDGE = Ordinal(range(1, 11), (0.02, 0.03, 0.05, 0.05, 0.1, 0.1, 0.2, 0.3, 0.1, 0.05))
REAL = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.25, 1 / 3, 0.7, 1.0, 1.0])
MARGINS: dict[str, tuple[Margin, float]] = {
    "right or wrong": (Bernoulli(0.3), 0.8),
    "beta": (Beta(0.3, 1.5), 0.8),
    "beta-binomial": (BetaBinomial(10, 0.3, 1.5), 8.0),
    "judge": (JUDGE, 2.5),
    "real": (Empirical.of(REAL), 0.8),
    "smoothed": (Smoothed.of(REAL, np.unique(REAL), 0.3), 0.9),
    "log-normal": (LogNormal(2.0, 1.2), 9.0),
    "t": (StudentT(3.0, 2.0, 2.5), -40.0),
}
each = pytest.mark.parametrize(("margin", "mean"), MARGINS.values(), ids=MARGINS)
U = (np.arange(200_000) + 0.5) / 200_000


@each
def test_the_mean_is_the_integral_of_the_quantiles(margin: Margin, mean: float) -> None:
    """By the midpoint rule on quantiles: its error is small but where tails are long."""
    long = isinstance(margin, LogNormal | StudentT)
    for one in (margin, margin.with_mean(mean)):
        assert one.quantile(U).mean() == pytest.approx(one.mean, rel=1e-2 if long else 2e-5)
    assert margin.with_mean(mean).mean == pytest.approx(mean, abs=1e-12, rel=1e-13)
    assert type(margin.with_mean(mean)) is type(margin)


def test_quantiles_are_those_of_scipy() -> None:
    u = np.array([0.001, 0.2, 0.5, 0.8, 0.999])
    for margin, theirs in [
        (Bernoulli(0.3), stats.bernoulli(0.3)),
        (Beta(0.3, 1.5), stats.beta(0.45, 1.05)),
        (BetaBinomial(10, 0.3, 1.5), stats.betabinom(10, 0.45, 1.05)),
        (LogNormal(2.0, 1.2), stats.lognorm(1.2, scale=2 * np.exp(-0.72))),
        (StudentT(3.0, 2.0, 2.5), stats.t(2.5, 3.0, 2.0)),
    ]:
        np.testing.assert_allclose(margin.quantile(u), theirs.ppf(u), rtol=1e-9)
        assert margin.mean == pytest.approx(float(theirs.mean()))


def test_tilted_probabilities_are_nearest_in_divergence() -> None:
    """Any step that keeps sum and mean makes the Kullback-Leibler divergence larger."""
    values, shares = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.4, 0.3, 0.2, 0.1])
    found = tilted(values, shares, 2.2)

    def divergence(p: np.ndarray) -> float:
        return float(p @ np.log(p / shares))

    for step in ([1, -1.5, 0.5, 0], [0, 0.5, -1.5, 1], [1, -4 / 3, 0, 1 / 3]):
        direction = 1e-3 * np.array(step)
        assert abs(direction.sum()) < 1e-12
        assert abs(direction @ values) < 1e-12
        assert divergence(found + direction) > divergence(found) < divergence(found - direction)
    assert found @ values == pytest.approx(2.2, abs=1e-14)


@pytest.mark.parametrize("mean", [1e-9, 0.001, 0.5, 0.999, 1 - 1e-9])
def test_means_near_the_ends_are_reached(mean: float) -> None:
    assert Empirical.of(REAL).with_mean(mean).mean == pytest.approx(mean, abs=1e-13)
    assert Empirical.of(REAL).with_mean(1.0).support == (1.0, 1.0)


def test_ties_are_kept() -> None:
    margin = Empirical.of(REAL)
    np.testing.assert_allclose(margin.quantile((np.arange(10) + 0.5) / 10), np.sort(REAL))


def test_smoothing_keeps_totals_and_the_mean() -> None:
    """Against the sum written out: weights h^|i - j| of each score, 1 in sum, tilted to the mean."""
    lattice, scores, h = np.arange(1.0, 7), np.array([1.0, 1, 2, 6]), 0.4
    shares = np.zeros(6)
    for score in scores:
        weights = h ** np.abs(lattice - score)
        shares += weights / weights.sum() / 4
    margin = Smoothed.of(scores, lattice, h)
    np.testing.assert_allclose(margin.probabilities, tilted(lattice, shares, 2.5), rtol=1e-12)
    assert margin.mean == pytest.approx(2.5)


def test_many_scores_of_a_smooth_law_get_a_bandwidth_that_brings_them_nearer() -> None:
    lattice = np.arange(40.0)
    law = stats.binom(39, 0.5).pmf(lattice)
    scores = np.random.default_rng(0).choice(lattice, 60, p=law)
    counts = np.bincount(scores.astype(int), minlength=40) / 60
    smooth = np.array(Smoothed.of(scores, lattice).probabilities)
    assert np.abs(smooth - law).sum() < 0.7 * np.abs(counts - law).sum()


@pytest.mark.parametrize("seed", range(5))
def test_the_bandwidth_is_the_one_under_which_left_out_scores_are_the_most_likely(seed: int) -> None:
    """Each score's probability under the others', written out for every bandwidth that is tried."""
    rng, lattice = np.random.default_rng(seed), np.arange(9.0)
    # Few values and many ties are not smoothed; scores that lie all over the lattice are.
    scores = np.repeat([1.0, 7.0], 8) if seed == 0 else rng.choice(lattice, 6 + 4 * seed)
    tried = (0.0, 0.05, *np.arange(1, 10) / 10, 0.95)

    def likelihood(h: float) -> float:
        total = 0.0
        for k, own in enumerate(scores):
            others = [h ** np.abs(lattice - one) for one in np.delete(scores, k)]
            mean = np.mean([weights / weights.sum() for weights in others], axis=0)
            total += np.log(max(mean[int(own)], 1e-300))
        return total

    best = max(tried, key=likelihood)
    assert (best == 0) == (seed == 0)
    np.testing.assert_allclose(
        Smoothed.of(scores, lattice).probabilities, Smoothed.of(scores, lattice, best).probabilities
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.2), "probability must be a finite number from 0 to 1, not 1.2"),
        (lambda: Beta(0.0, 1.0), "average must be from 1e-12 to 1 - 1e-12, not 0.0"),
        (lambda: Beta(0.5, -1.0), "concentration must be a finite number from 1e-06 to 1e\\+06, not -1"),
        (lambda: BetaBinomial(0, 0.5, 1.0), "trials must be at least 1 and below 2.20, not 0"),
        (lambda: StudentT(0.0, 1.0, 1.0), "df must be above 1"),
        (lambda: LogNormal(0.0, 1.0), "average must be a finite number from 1e-100 to"),
        (lambda: Ordinal((1, 1), (0.5, 0.5)), "values must be distinct numbers from -1e\\+100 to 1e\\+100, ascending"),
        (lambda: Ordinal((1, 2), (0.5, 0.6)), "probabilities must be at least 0 and 1 in sum"),
        (lambda: Ordinal((1, 2), (1.0,)), "probabilities must be 2, as values are, not 1"),
        (lambda: JUDGE.with_mean(0.5), "mean must be from 1 to 10, as scores of Ordinal.* are, not 0.5"),
        (lambda: Beta(0.5, 1.0).with_mean(1.0), "mean must be above 0 and below 1"),
        (lambda: LogNormal(1.0, 1.0).with_mean(np.inf), "mean must be above 0 and below inf"),
        (lambda: Smoothed.of(np.array([1.5]), [1, 2]), "scores must lie on the lattice, unlike 1.5"),
        (lambda: Smoothed.of(np.array([1.0]), [1, 2], 1), "bandwidth must be at least 0 and below 1, not 1"),
        (lambda: Empirical.of(np.array([])), "scores must be a list of finite numbers"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
