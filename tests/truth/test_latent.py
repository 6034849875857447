"""Latent correlations against scipy's bivariate normal distribution, closed forms and loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from simstudy.truth import GaussianCopula, Ordinal
from simstudy.truth.latent import Classes, common_share, intra_cluster, latent_correlation
from tests.truth.bivariate import outcome_correlation

JUDGE = Ordinal((1, 2, 3, 4, 5), (0.1, 0.2, 0.3, 0.3, 0.1))


@pytest.mark.parametrize("latent", [-0.8, -0.2, 0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.6), (0.95, 0.97)])
def test_of_right_and_wrong_it_is_the_tetrachoric_correlation(shares: tuple[float, float], latent: float) -> None:
    """Covariances by scipy's bivariate normal distribution function, turned back."""
    scores = np.array([np.arange(100) >= 100 * (1 - share) - 1e-9 for share in shares], dtype=float)
    spread = np.sqrt(np.prod([p * (1 - p) for p in shares]))
    covariance = outcome_correlation(*shares, latent) * spread
    inverted, _ = Classes(scores).inverse(np.array([[1.0, covariance], [covariance, 1.0]]))
    # Of shares that differ much the covariance says little of an extreme correlation.
    assert outcome_correlation(*shares, inverted[0, 1]) == pytest.approx(outcome_correlation(*shares, latent), abs=2e-4)
    if shares == (0.5, 0.5) or -0.5 < latent < 0.95:
        assert inverted[0, 1] == pytest.approx(latent, abs=1e-3)


def test_of_ordinal_scores_it_inverts_the_mean_product() -> None:
    """E[xy] by the probabilities of cells, and its root by brentq."""
    rng = np.random.default_rng(0)
    first, second = JUDGE.quantile(rng.random(60)), rng.integers(0, 3, 60) / 2.0
    second[:30] = np.round(first[:30] / 5, 1)
    cov = float(np.cov(first, second, bias=True)[0, 1])
    (values_1, p_1), (values_2, p_2) = (
        (v, c / 60) for v, c in (np.unique(x, return_counts=True) for x in (first, second))
    )

    def off(latent: float) -> float:
        normal = stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]])
        cuts_1, cuts_2 = (np.r_[-9, stats.norm.ppf(np.cumsum(p)[:-1]), 9] for p in (p_1, p_2))
        below = np.array([[normal.cdf([a, b]) for b in cuts_2] for a in cuts_1])
        cells = np.diff(np.diff(below, axis=0), axis=1)
        return float(values_1 @ cells @ values_2 - (values_1 @ p_1) * (values_2 @ p_2) - cov)

    expected = optimize.brentq(off, -0.99, 0.99, xtol=1e-6)
    assert latent_correlation(Classes(np.array([first, second])))[0][0, 1] == pytest.approx(expected, abs=1e-3)


def test_common_share_is_the_root_of_both_equations() -> None:
    """The correlations that a share makes, turned back; noise beyond what a share makes is 0 or 1."""
    for own, within, share in ((0.5, 0.25, 0.6), (-0.2, 0.9, 0.1), (0.9, 0.05, 1.0)):
        between, of_two = own + within * share * (1 - own), within * (share + (1 - share) * own)
        assert common_share(within, of_two, between) == pytest.approx(share)
    assert common_share(0.2, 0.3, 0.5) == 1
    assert common_share(0.2, 0.05, 0.5) == 0
    assert common_share(0.2, 0.2, 1.0) == 0


def test_many_values_are_as_good_as_few() -> None:
    rng = np.random.default_rng(2)
    latent = GaussianCopula(0.7).normals(4000, 2, rng)
    correlation = latent_correlation(Classes(np.exp(latent).T))[0][0, 1]
    assert correlation == pytest.approx(np.corrcoef(latent.T)[0, 1], abs=0.025)


def test_correlations_within_clusters_have_the_closed_form_of_balanced_answers() -> None:
    """Systems right on half of the items, on scales of their own: sin(pi phi / 2), phi by a loop over pairs of items.

    One system's correlations are averaged before the sine, and those of two systems after it; one that does not vary
    counts in neither.
    """
    rng = np.random.default_rng(7)
    codes = np.repeat(np.arange(9), [3, 1, 4, 1, 5, 9, 2, 6, 5])
    leaning = rng.normal(size=9)[codes]
    ranks = np.argsort(np.argsort(leaning + rng.normal(size=(3, 36)), axis=1), axis=1)
    right = (ranks >= 18).astype(float)
    scores = np.vstack([right * np.array([1.0, 30.0, 0.2])[:, None], np.full(36, 5.0)])
    same = (codes[:, None] == codes) & ~np.eye(36, dtype=bool)
    phi = np.array([[np.outer(2 * a - 1, 2 * b - 1)[same].mean() for a in right] for b in right])
    by_one, of_two = intra_cluster(Classes(scores), codes)
    assert by_one == pytest.approx(np.sin(np.pi / 2 * np.diag(phi).mean()), abs=1e-3)
    above = np.triu_indices(3, 1)
    assert of_two == pytest.approx(np.sin(np.pi / 2 * (phi + phi.T)[above] / 2).mean(), abs=1e-3)
    assert 0.1 < of_two < by_one < 0.9


@pytest.mark.parametrize("n", [12, 40])
def test_answers_as_alike_as_can_be_are_put_half_an_item_from_that(n: int) -> None:
    """Two systems right on the same half of n items, and on the other half: sines of 2 pi times the covariance."""
    first = np.repeat([0.0, 1.0], n // 2)
    for second, sign in ((30 * first, 1), (30 * (1 - first), -1)):
        correlations, n_bound = latent_correlation(Classes(np.array([first, second])))
        assert correlations[0, 1] == pytest.approx(sign * np.sin(2 * np.pi * (0.25 - 1 / (2 * n))), abs=1e-3)
        assert n_bound == 1


def test_seventeen_values_and_more_go_into_sixteenths_by_the_middle_of_their_ties() -> None:
    """Each value by a loop: the sixteenth that holds the middle of its items; classes' means are their items'."""
    counts = [1, 1, 7, 2, 1, 9, 3, 1, 1, 4, 2, 6, 1, 5, 1, 1, 3, 2]
    values = np.arange(18.0) ** 1.5
    scores = np.repeat(values, counts)
    n, before, classes = len(scores), 0, []
    for count in counts:
        classes += [int(16 * (before + count / 2) / n)] * count
        before += count
    of_class = pd.Series(scores).groupby(classes)
    classed = Classes(np.random.default_rng(0).permutation(scores)[None])
    sizes = of_class.size().to_numpy()
    assert 8 < len(sizes) < 16
    np.testing.assert_allclose(classed.cuts, stats.norm.ppf(np.cumsum(sizes)[:-1] / n))
    np.testing.assert_allclose(classed.steps[:, 0], np.diff(of_class.mean()))
    np.testing.assert_allclose(np.sort(classed.deviations[0]), of_class.transform("mean") - scores.mean(), atol=1e-12)
