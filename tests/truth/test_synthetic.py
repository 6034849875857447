"""Right-or-wrong outputs: each answer by its formula, and the laws that the formulas make."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies, outcome_correlation

THREE = [0.3, 0.6, 0.9]
BELOW = stats.norm.ppf(THREE)


def test_each_answer_has_its_difficulty_its_familys_part_and_its_own() -> None:
    """One row of normals an item: the difficulty, one number for each family as they come, one for each system."""
    families = ["x", "y", "x"]
    outputs = correlated_accuracies(THREE, 40, families=families, between=0.2, within=0.7, seed=5, test_set="t")
    for i, row in enumerate(np.random.default_rng(5).standard_normal((40, 6))):
        for k, family in enumerate(families):
            latent = 0.2**0.5 * row[0] + 0.5**0.5 * row[1 + "xy".index(family)] + 0.3**0.5 * row[3 + k]
            assert outputs.statistics[k, i].tolist() == [latent < BELOW[k], 1]
    assert outputs.systems["family"].tolist() == families
    assert outputs.systems["true_score"].tolist() == pytest.approx([30, 60, 90])
    assert (outputs.test_set, outputs.metric.name, set(outputs.systems["source"])) == ("t", "accuracy", {"synthetic"})


def test_each_answer_in_clusters_has_its_difficulty_its_systems_cluster_and_its_own() -> None:
    """One row of normals a cluster: its items' difficulties, a number for each system, one for each answer."""
    outputs = clustered_accuracies(THREE, 8, 4, within=0.3, between=0.2, seed=6)
    for j, row in enumerate(np.random.default_rng(6).standard_normal((8, 4 + 3 + 12))):
        for k, i in product(range(3), range(4)):
            latent = 0.2**0.5 * row[i] + 0.3**0.5 * row[4 + k] + 0.5**0.5 * row[7 + 4 * k + i]
            assert outputs.statistics[k, 4 * j + i].tolist() == [latent < BELOW[k], 1]
    assert outputs.items["cluster"].tolist() == [f"cluster-{j}" for j in range(1, 9) for _ in range(4)]
    assert outputs.systems["true_score"].tolist() == pytest.approx([30, 60, 90])


def test_margins_and_correlations_are_what_was_asked_for() -> None:
    """Standard errors: 0.0022 of a mean at most, 0.005 of a correlation. By default each system is a family."""
    true = [0.6, 0.7, 0.9]
    right = correlated_accuracies(true, 50_000, families=["x", "x", "y"], between=0.4, within=0.85).statistics[..., 0]
    np.testing.assert_allclose(right.mean(axis=1), true, atol=0.012)
    observed = np.corrcoef(right)
    for i, j, latent in [(0, 1, 0.85), (0, 2, 0.4), (1, 2, 0.4)]:
        assert observed[i, j] == pytest.approx(outcome_correlation(true[i], true[j], latent), abs=0.027)
    alone = correlated_accuracies([0.5, 0.5], 50_000, between=0, within=0.9, seed=1).statistics[..., 0]
    assert abs(np.corrcoef(alone)[0, 1]) < 5.5 / np.sqrt(50_000)


def test_correlations_in_clusters_are_what_was_asked_for() -> None:
    true, n = [0.6, 0.85], 50_000
    outcomes = clustered_accuracies(true, n, 2, within=0.3, between=0.45, seed=2).statistics[..., 0].reshape(4, -1)
    outcomes = outcomes.reshape(2, n, 2).transpose(0, 2, 1).reshape(4, n)  # system 1 item 1, system 1 item 2 …
    same_item = outcome_correlation(*true, 0.45)
    own = [outcome_correlation(accuracy, accuracy, 0.3) for accuracy in true]
    expected = [
        [1, own[0], same_item, 0],
        [own[0], 1, 0, same_item],
        [same_item, 0, 1, own[1]],
        [0, same_item, own[1], 1],
    ]
    np.testing.assert_allclose(np.corrcoef(outcomes), expected, atol=0.026)


def test_outcome_correlation_has_its_closed_form_at_one_half() -> None:
    """Sheppard: P(both) = 1/4 + arcsin(rho) / 2 pi."""
    for latent in (0.0, 0.3, 0.9):
        assert outcome_correlation(0.5, 0.5, latent) == pytest.approx(2 / np.pi * np.arcsin(latent), abs=1e-5)


def test_swapping_clusters_is_exact_where_swapping_items_is_not() -> None:
    """2,000 test sets of eight clusters: all 2^8 swaps of clusters, and the sign test, which swaps items."""
    n_sets, n_clusters, size, level = 2000, 8, 10, 0.05
    outputs = clustered_accuracies([0.7, 0.7], n_sets * n_clusters, size, within=0.4, between=0.3, seed=6)
    right = outputs.statistics[..., 0]
    difference = (right[0] - right[1]).reshape(n_sets, n_clusters, size)
    by_cluster = difference.sum(axis=2)
    swapped = np.abs(by_cluster @ np.array(list(product([1, -1], repeat=n_clusters))).T)
    p_clusters = (swapped >= np.abs(by_cluster.sum(axis=1))[:, None]).mean(axis=1)
    wins, losses = (difference > 0).sum(axis=(1, 2)), (difference < 0).sum(axis=(1, 2))
    p_items = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))
    rejected_clusters, rejected_items = (int((p <= level).sum()) for p in (p_clusters, p_items))
    assert stats.binom.sf(rejected_clusters - 1, n_sets, level) > 1e-6
    assert stats.binom.cdf(rejected_clusters, n_sets, level / 2) > 1e-6, "it does reject"
    assert stats.binom.sf(rejected_items - 1, n_sets, 2 * level) < 1e-6, "more than twice too often"


def test_a_longer_test_set_begins_with_the_shorter() -> None:
    short, long = (correlated_accuracies([0.6, 0.7], n, seed=9) for n in (50, 80))
    np.testing.assert_array_equal(long.head(50).statistics, short.statistics)
    short, long = (clustered_accuracies([0.6, 0.7], n, 4, seed=9) for n in (5, 8))
    np.testing.assert_array_equal(long.head(20).statistics, short.statistics)


def test_all_of_the_latent_score_may_be_shared() -> None:
    """What is left for an answer is then 0, or, as 0.7 + 0.2 + 0.1 is not 1 in binary, as little below 0."""
    nested = correlated_accuracies([0.6, 0.7], 500, families=["x", "x"], between=0.3, within=1.0).statistics[..., 0]
    assert (nested[0] <= nested[1]).all()
    assert 0 < clustered_accuracies([0.5], 500, 2, within=0.7, between=0.2 + 0.1).scores()[0] < 100
    own = clustered_accuracies([0.4, 0.4], 500, 3, within=1, between=0).statistics[..., 0].reshape(2, 500, 3)
    assert (own == own[..., :1]).all()
    assert (own[0] != own[1]).any()


CORRELATED = {"accuracies": [0.5, 0.6], "n_items": 10}
CLUSTERED = {"accuracies": [0.5, 0.6], "n_clusters": 10, "cluster_size": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (CORRELATED | {"accuracies": []}, "accuracies must be one or more fractions"),
        (CORRELATED | {"accuracies": [0.5, 1.0]}, "accuracies must be one or more fractions"),
        (CORRELATED | {"n_items": 0}, "n_items must be at least 1"),
        (CORRELATED | {"between": 0.9}, "0 <= between <= within <= 1, not 0.9 and 0.8"),
        (CORRELATED | {"within": 1.1}, "between and within"),
        (CORRELATED | {"families": ["x", None]}, "families must name a family for each system"),
        (CORRELATED | {"families": ["x"]}, "families must have 2 names"),
        (CORRELATED | {"seed": None}, "seed must be a whole number"),
        (CLUSTERED | {"accuracies": [0.0]}, "accuracies must be one or more fractions"),
        (CLUSTERED | {"n_clusters": 0}, "n_clusters must be at least 1, not 0"),
        (CLUSTERED | {"cluster_size": 1.5}, "cluster_size must be a whole number"),
        (CLUSTERED | {"within": 0.6}, "at most 1 in sum, not 0.6 and 0.5"),
        (CLUSTERED | {"within": -0.1}, "within and between must be at least 0"),
        (CLUSTERED | {"between": float("nan")}, "between must be a number, not nan"),
        (CLUSTERED | {"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    made = correlated_accuracies if "n_items" in options else clustered_accuracies
    with pytest.raises(ValueError, match=message):
        made(**options)  # type: ignore[operator]
