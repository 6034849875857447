from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from simstudy.truth.redrawn import redraw
from simstudy.truth.synthetic import correlated_accuracies, outcome_correlation


def test_margins_and_correlations_are_what_was_asked_for() -> None:
    true = [0.6, 0.7, 0.75, 0.9]
    outputs = correlated_accuracies(true, 200_000, families=["x", "x", "y", "y"], between=0.4, within=0.85, seed=2)
    right = outputs.statistics[..., 0]
    # Standard error of a mean is at most 0.0011, of a correlation about 0.0025.
    np.testing.assert_allclose(right.mean(axis=1), true, atol=0.006)
    np.testing.assert_allclose(outputs.systems["true_score"], 100 * np.array(true))
    observed = np.corrcoef(right)
    for i, j, latent in [(0, 1, 0.85), (2, 3, 0.85), (0, 2, 0.4), (1, 3, 0.4)]:
        assert observed[i, j] == pytest.approx(outcome_correlation(true[i], true[j], latent), abs=0.015)


def test_outcome_correlation_has_its_closed_form_at_one_half() -> None:
    """Sheppard: P(both) = 1/4 + arcsin(rho) / 2 pi."""
    for latent in (0.0, 0.3, 0.9):
        assert outcome_correlation(0.5, 0.5, latent) == pytest.approx(2 / np.pi * np.arcsin(latent), abs=1e-5)


def test_families_without_correlation_are_independent() -> None:
    right = correlated_accuracies([0.5] * 3, 50_000, between=0, within=0, seed=1).statistics[..., 0]
    table = np.histogram2d(right[0], right[1], bins=2)[0]
    assert stats.chi2_contingency(table, correction=False).pvalue > 1e-6


def test_perfect_correlation_within_a_family_nests_the_systems() -> None:
    outputs = correlated_accuracies([0.6, 0.7], 1000, families=["x", "x"], between=0.3, within=1.0)
    right = outputs.statistics[..., 0]
    assert (right[0] <= right[1]).all()


def test_a_longer_test_set_begins_with_the_shorter() -> None:
    short, long = (correlated_accuracies([0.6, 0.7], n, seed=9) for n in (50, 80))
    np.testing.assert_array_equal(long.head(50).statistics, short.statistics)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracies": []}, "accuracies must be"),
        ({"accuracies": [0.5, 1.0]}, "accuracies must be"),
        ({"n_items": 0}, "n_items must be at least 1"),
        ({"between": 0.9}, "0 <= between <= within <= 1, not 0.9 and 0.8"),
        ({"within": 1.1}, "between and within"),
        ({"families": ["x", None]}, "families must name a family for each system"),
        ({"seed": None}, "seed must be a whole number"),
        ({"families": ["x"]}, "families must have 2 names"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        correlated_accuracies(**{"accuracies": [0.5, 0.6], "n_items": 10, **options})  # type: ignore[arg-type]


def test_redrawn_test_sets(tagged: Outputs) -> None:
    drawn = redraw(tagged, 100, draw=3, unit="item", seed=1)
    assert (drawn.n_items, drawn.test_set) == (100, "made up, redrawn")
    np.testing.assert_array_equal(drawn.statistics, redraw(tagged, 100, draw=3, unit="item", seed=1).statistics)
    assert (drawn.statistics != redraw(tagged, 100, draw=4, unit="item", seed=1).statistics).any()
    original = drawn.items["id"].str.split("#").str[0]
    positions = [tagged.items["id"].tolist().index(name) for name in original]
    np.testing.assert_array_equal(drawn.statistics, tagged.statistics[:, positions])
    with pytest.raises(ValueError, match="size must be at least 1"):
        redraw(tagged, 0, draw=1)


def test_redrawn_clusters_stay_whole(tagged: Outputs) -> None:
    drawn = redraw(tagged, 10, draw=1, unit="cluster")
    assert drawn.n_items == 40  # documents have four sentences
    assert drawn.items["cluster"].nunique() == 10
    for _, rows in drawn.items.groupby("cluster"):
        original = rows["id"].str.split("#").str[0]
        assert len(set(tagged.items.set_index("id").loc[original, "cluster"])) == 1
