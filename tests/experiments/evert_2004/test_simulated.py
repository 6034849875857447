"""Simulated sets of candidates against Poisson and normal distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.rankings.candidates import Candidates
from tests.experiments.programs import program
from tests.oracles import average_precision
from tests.truth.bivariate import outcome_correlation

SIMULATED = program("evert_2004", "simulated")

#: A check that holds fails by chance once in a million.
FALSE_ALARM = 1e-6


def simulated_candidates(n_sets: int, **options: Any) -> list[Candidates]:
    """Sets of the model; what a test does not set is as here."""
    usual = {"n_candidates": 30, "share_true": 0.1, "separations": {"g1": 1.5, "g2": 1.0}, "correlation": 0.5}
    sets: list[Candidates] = SIMULATED.simulated_candidates(
        n_sets, **{**usual, "cluster_size": 1, "within": 0.0, "seed": 0, **options}
    )
    return sets


def one_large_set(n: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores (K, about n) and truth of one set."""
    large = simulated_candidates(1, n_candidates=n, **options)[0]
    return large.scores, large.true


def contents(each: Candidates) -> tuple[str, list[str], list[bool], list[list[float]]]:
    return each.test_set, each.ids, each.true.tolist(), each.scores.tolist()


def test_counts_in_regions_are_independent_poisson_variables() -> None:
    """Section 3.1: true and false ones in the four regions that two thresholds make, over 500 sets."""
    sets = simulated_candidates(
        500, n_candidates=60, share_true=0.3, separations={"g": 1.0, "h": 0.5}, correlation=0.6, seed=1
    )
    counts = np.empty((len(sets), 8))
    for row, each in zip(counts, sets, strict=True):
        regions = 4 * each.true + 2 * each.accepted("g", 0.8) + each.accepted("h", 0.3)
        row[:] = np.bincount(regions, minlength=8)
    means = counts.mean(axis=0)
    # Each count: variance = mean (Poisson's index of dispersion, chi-square).
    index = (len(sets) - 1) * counts.var(axis=0, ddof=1) / means
    tails = 2 * np.minimum(stats.chi2.cdf(index, len(sets) - 1), stats.chi2.sf(index, len(sets) - 1))
    assert tails.min() > FALSE_ALARM / 8
    # Two counts: no correlation.
    correlations = np.corrcoef(counts.T)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < stats.norm.isf(FALSE_ALARM / 56) / np.sqrt(len(sets))
    # Their means are 60 times the probabilities of two bivariate normals.
    noise = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]])
    for true, share, gaps in ((0, 0.7, (0, 0)), (1, 0.3, (1.0, 0.5))):
        both = noise.cdf([gaps[0] - 0.8, gaps[1] - 0.3])
        g, h = stats.norm.cdf([gaps[0] - 0.8, gaps[1] - 0.3])
        expected = 60 * share * np.array([1 - g - h + both, h - both, g - both, both])
        off = (means[4 * true : 4 * true + 4] - expected) / np.sqrt(expected / len(sets))
        assert np.abs(off).max() < stats.norm.isf(FALSE_ALARM / 16)


def test_correlations_within_and_between_are_what_was_asked_for() -> None:
    """About 50,000 clusters of two: standard errors of correlations are at most 0.0045."""
    scores, true = one_large_set(
        100_000, share_true=0.3, separations={"g": 1.5, "h": 0.7}, correlation=0.6, cluster_size=2, within=0.4, seed=2
    )
    noise = scores - true * np.array([[1.5], [0.7]])
    first, second = noise[:, ::2], noise[:, 1::2]
    expected = [
        [1, 0.6, 0.4, 0.4 * 0.6],
        [0.6, 1, 0.4 * 0.6, 0.4],
        [0.4, 0.4 * 0.6, 1, 0.6],
        [0.4 * 0.6, 0.4, 0.6, 1],
    ]
    np.testing.assert_allclose(np.corrcoef(np.r_[first, second]), expected, atol=0.025)
    alike = np.corrcoef(true[::2], true[1::2])[0, 1]
    assert alike == pytest.approx(outcome_correlation(0.3, 0.3, 0.4), abs=0.025)
    # Neighbours of two clusters, and truth and noise, have nothing to do with each other.
    assert abs(np.corrcoef(true[1:-1:2], true[2::2])[0, 1]) < 0.025
    assert np.abs(np.corrcoef(noise, true)[-1, :-1]).max() < 0.025


@pytest.mark.parametrize(("cluster_size", "within"), [(1, 0.0), (10, 0.3)])
def test_every_candidate_has_the_same_margins(cluster_size: int, within: float) -> None:
    """Also in clusters: share of true ones, and the distributions of the scores of one candidate of each cluster."""
    scores, true = one_large_set(
        8_000 * cluster_size, share_true=0.2, separations={"g": 1.2}, cluster_size=cluster_size, within=within, seed=3
    )
    score, is_true = scores[0, ::cluster_size], true[::cluster_size]
    assert stats.binomtest(int(is_true.sum()), is_true.size, 0.2).pvalue > FALSE_ALARM
    assert stats.kstest(score[~is_true], "norm").pvalue > FALSE_ALARM
    assert stats.kstest(score[is_true] - 1.2, "norm").pvalue > FALSE_ALARM


def test_a_cluster_may_be_of_one_mind() -> None:
    scores, true = one_large_set(500, share_true=0.4, cluster_size=5, within=1)
    assert (true.reshape(-1, 5) == true[::5, None]).all()
    np.testing.assert_array_equal(
        scores.reshape(2, -1, 5), np.broadcast_to(scores[:, ::5, None], (2, true.size // 5, 5))
    )
    assert 0 < true.mean() < 1


def test_no_set_is_empty() -> None:
    """Of Poisson(1) clusters every third set would have none."""
    sizes = [each.n_candidates for each in simulated_candidates(60, n_candidates=1)]
    assert min(sizes) == 1 < max(sizes)


def test_more_sets_begin_with_the_fewer() -> None:
    few, many = (simulated_candidates(n, n_candidates=30, seed=5) for n in (2, 4))
    assert [each.test_set for each in many] == ["set-1", "set-2", "set-3", "set-4"]
    assert [contents(each) for each in many[:2]] == [contents(each) for each in few]
    assert few[0].ids == [str(i) for i in range(1, few[0].n_candidates + 1)]
    assert len({each.scores[0, 0] for each in many}) == 4
    # Nor do the sets of neighbouring seeds have anything in common.
    other = simulated_candidates(4, n_candidates=30, seed=6)
    assert not {each.scores[0, 0] for each in other} & {each.scores[0, 0] for each in many}


@pytest.mark.parametrize("threshold", [-1.0, 2.0])
@pytest.mark.parametrize(("cluster_size", "within"), [(1, 0.0), (4, 0.5)])
def test_the_average_precision_is_that_of_a_large_set(threshold: float, cluster_size: int, within: float) -> None:
    scores, true = one_large_set(
        100_000, share_true=0.15, separations={"g": 1.3}, cluster_size=cluster_size, within=within, seed=7
    )
    accepted = scores[0] >= threshold
    pi = average_precision(0.15, 1.3, threshold)
    # At worst all candidates of a cluster count as one.
    error = np.sqrt(pi * (1 - pi) * cluster_size / accepted.sum())
    assert abs(true[accepted].mean() - pi) < 5 * error


def test_candidates_differ_by_seed_set_function_and_place() -> None:
    seeds = (0, 1, 2, 71)
    sets = [each for seed in seeds for each in simulated_candidates(3, n_candidates=400, correlation=0, seed=seed)]
    # Scores less what true candidates get on average, by which no two normals become equal.
    scores = np.concatenate([each.scores.ravel() for each in sets])
    assert np.unique(scores).size == scores.size
    assert len({each.true.tobytes() for each in sets}) == len(sets)
