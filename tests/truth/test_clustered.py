from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from simstudy.truth.synthetic import all_alike, clustered_accuracies, correlated_accuracies, outcome_correlation


def right(accuracies: list[float], n_clusters: int, cluster_size: int, **options: float) -> np.ndarray:
    """Right or wrong, shape (systems, clusters, items of the cluster)."""
    outputs = clustered_accuracies(accuracies, n_clusters, cluster_size, **options)  # type: ignore[arg-type]
    return outputs.statistics[..., 0].reshape(len(accuracies), n_clusters, cluster_size)


def test_margins_and_correlations_are_what_was_asked_for() -> None:
    true = [0.6, 0.85]
    outcomes = right(true, 100_000, 2, within=0.3, between=0.45, seed=2)
    # Standard error of a mean is at most 0.0015, of a correlation about 0.003.
    np.testing.assert_allclose(outcomes.mean(axis=(1, 2)), true, atol=0.008)
    observed = np.corrcoef(outcomes.transpose(0, 2, 1).reshape(4, -1))  # system 1 item 1, system 1 item 2, system 2 …
    same_item = outcome_correlation(*true, 0.45)
    own = [outcome_correlation(accuracy, accuracy, 0.3) for accuracy in true]
    expected = [
        [1, own[0], same_item, 0],
        [own[0], 1, 0, same_item],
        [same_item, 0, 1, own[1]],
        [0, same_item, own[1], 1],
    ]
    np.testing.assert_allclose(observed, expected, atol=0.018)


def test_clusters_are_columns_of_consecutive_items() -> None:
    outputs = clustered_accuracies([0.5, 0.6, 0.7], 4, 3)
    assert outputs.items["cluster"].tolist() == np.repeat([f"cluster-{j}" for j in (1, 2, 3, 4)], 3).tolist()
    assert outputs.systems["true_score"].tolist() == pytest.approx([50, 60, 70])
    assert outputs.sum_by("cluster").n_items == 4


def test_items_of_different_clusters_are_independent() -> None:
    outcomes = right([0.5], 40_000, 1, within=0.9, between=0.1, seed=4)[0, :, 0]
    table = np.histogram2d(outcomes[::2], outcomes[1::2], bins=2)[0]
    assert stats.chi2_contingency(table, correction=False).pvalue > 1e-6


def test_without_dependence_within_clusters_items_are_those_of_independent_items() -> None:
    """The joint law of two systems is that of `correlated_accuracies`, and counts in a cluster are binomial."""
    size, n = 3, 40_000
    outcomes = right([0.6, 0.7], n, size, within=0, between=0.5, seed=1)
    flat = correlated_accuracies([0.6, 0.7], n * size, between=0.5, within=0.5, seed=2).statistics[..., 0]
    joint = [np.bincount(pair[0] * 2 + pair[1], minlength=4) for pair in (outcomes.reshape(2, -1), flat)]
    assert stats.chi2_contingency(joint).pvalue > 1e-6
    counts = np.bincount(outcomes[0].sum(axis=1), minlength=size + 1)
    assert stats.chisquare(counts, n * stats.binom.pmf(np.arange(size + 1), size, 0.6)).pvalue > 1e-6


def test_equal_systems_are_exchangeable_on_clusters_as_wholes() -> None:
    """Bowker's test of symmetry of the table of both systems' patterns of right and wrong on clusters of two."""
    outcomes = right([0.6, 0.6], 60_000, 2, within=0.4, between=0.3, seed=3)
    patterns = outcomes[..., 0] * 2 + outcomes[..., 1]
    table = np.zeros((4, 4))
    np.add.at(table, (patterns[0], patterns[1]), 1)
    upper = np.triu_indices(4, 1)
    one_way, other_way = table[upper], table.T[upper]
    assert stats.chi2.sf(((one_way - other_way) ** 2 / (one_way + other_way)).sum(), 6) > 1e-6
    # Items alone are not: swapping one of a cluster's two would make the systems' own items less alike.
    swapped = outcomes.copy()
    swapped[:, :, 1] = outcomes[::-1, :, 1]
    kept, mixed = (np.corrcoef(each[0, :, 0], each[0, :, 1])[0, 1] for each in (outcomes, swapped))
    assert kept > 0.2
    assert abs(mixed) < 5.5 / np.sqrt(60_000)


def test_swapping_clusters_is_exact_where_swapping_items_is_not() -> None:
    """2,000 test sets of eight clusters: all 2^8 swaps of clusters, and the sign test, which swaps items."""
    n_sets, n_clusters, size, level = 2000, 8, 10, 0.05
    outcomes = right([0.7, 0.7], n_sets * n_clusters, size, within=0.4, between=0.3, seed=6)
    difference = (outcomes[0] - outcomes[1]).reshape(n_sets, n_clusters, size)
    by_cluster = difference.sum(axis=2)
    signs = np.array(list(product([1, -1], repeat=n_clusters)))
    swapped = np.abs(by_cluster @ signs.T)
    p_clusters = (swapped >= np.abs(by_cluster.sum(axis=1))[:, None]).mean(axis=1)
    wins, losses = (difference > 0).sum(axis=(1, 2)), (difference < 0).sum(axis=(1, 2))
    p_items = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))
    rejected_clusters, rejected_items = (int((p <= level).sum()) for p in (p_clusters, p_items))
    assert stats.binom.sf(rejected_clusters - 1, n_sets, level) > 1e-6
    assert stats.binom.cdf(rejected_clusters, n_sets, level / 2) > 1e-6  # and it does reject
    assert stats.binom.sf(rejected_items - 1, n_sets, 2 * level) < 1e-6  # more than twice too often


def test_a_longer_test_set_begins_with_the_shorter() -> None:
    short, long = (clustered_accuracies([0.6, 0.7], n, 4, seed=9) for n in (5, 8))
    np.testing.assert_array_equal(long.head(20).statistics, short.statistics)
    assert (clustered_accuracies([0.6, 0.7], 5, 4, seed=8).statistics != short.statistics).any()


def test_all_of_the_latent_score_may_be_shared() -> None:
    outcomes = right([0.5, 0.5], 500, 2, within=0.7, between=0.2 + 0.1)
    assert 0 < outcomes.mean() < 1
    own = right([0.4, 0.4], 500, 3, within=1, between=0)
    assert (own == own[..., :1]).all()
    assert (own[0] != own[1]).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracies": [1.0]}, "accuracies must be one or more fractions"),
        ({"accuracies": []}, "accuracies must be one or more fractions"),
        ({"n_clusters": 0}, "n_clusters must be at least 1, not 0"),
        ({"cluster_size": 1.5}, "cluster_size must be a whole number"),
        ({"within": 0.6}, "at most 1 in sum, not 0.6 and 0.5"),
        ({"within": -0.1}, "within and between must be at least 0"),
        ({"between": float("nan")}, "between must be a number, not nan"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    given = {"accuracies": [0.5, 0.6], "n_clusters": 10, "cluster_size": 2, **options}
    with pytest.raises(ValueError, match=message):
        clustered_accuracies(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_flips_that_fall_alike_are_beta_binomial(n: int) -> None:
    for correlation in (0.01, 0.3, 0.5, 0.9):
        shape = (1 - correlation) / (2 * correlation)  # the correlation of two flips is 1 / (2 shape + 1)
        assert all_alike(n, correlation) == pytest.approx(stats.betabinom.pmf(n, n, shape, shape), rel=1e-9)


def test_five_flips() -> None:
    assert all_alike(5, 0) == 1 / 32
    assert all_alike(5, 1) == 1 / 2
    chances = [all_alike(5, correlation) for correlation in np.linspace(0, 1, 30)]
    assert (np.diff(chances) > 0).all()
    for n, correlation, message in (
        (0, 0.5, "n must be at least 1"),
        (5, -0.1, "correlation must lie between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            all_alike(n, correlation)
