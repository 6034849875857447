"""P-values of many test sets: those of one test set at a time, and one-sided ones of a system that was named."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from simstudy.engines.drawn_pairs import DrawnPairs

SCORES = np.random.default_rng(0).beta(1, 3, (60, 2, 40, 1))
SETS = DrawnPairs(np.concatenate([SCORES, np.ones_like(SCORES)], axis=-1), "mean")
DIFFERENCES = SCORES[:, 0, :, 0] - SCORES[:, 1, :, 0]
TESTS = ("t_paired", "wilcoxon", "sign", "bootstrap", "randomization")


def test_named_systems_are_asked_about_whether_they_are_better_or_not() -> None:
    found = SETS.p_values(TESTS, named=True)
    expected = stats.ttest_1samp(DIFFERENCES, 0, axis=1, alternative="greater").pvalue
    assert_allclose(found["t_paired", "greater"], expected, atol=1e-12)
    expected = stats.wilcoxon(DIFFERENCES, axis=1, alternative="greater", method="exact").pvalue
    assert_allclose(found["wilcoxon", "greater"], expected, atol=1e-12)
    expected = stats.binom.sf((DIFFERENCES > 0).sum(axis=1) - 1, 40, 0.5)
    assert_allclose(found["sign", "greater"], expected, atol=1e-12)
    for test in ("bootstrap", "randomization"):
        assert_allclose(found[test, "greater"], found["t_paired", "greater"], atol=0.08)
        assert (found[test, "greater"][~SETS.first_is_better] > 0.4).all()


def test_two_sided_p_values_are_the_same_and_so_are_those_of_better_systems() -> None:
    named, better = SETS.p_values(TESTS, named=True), SETS.p_values(TESTS)
    first = SETS.first_is_better
    assert first.tolist() == (DIFFERENCES.mean(axis=1) >= 0).tolist()
    assert 0 < first.sum() < 60
    for (test, alternative), p in better.items():
        kept = slice(None) if alternative == "two-sided" else first
        assert named[test, alternative][kept].tolist() == p[kept].tolist()
    rows = {(row["test"], row["alternative"]): row for row in SETS.decisions(list(TESTS), [0.2])}
    for key, p in better.items():
        assert rows[key]["n_rejected"] == (p <= 0.2).sum()
        assert rows[key]["n_rejected_first"] == ((p <= 0.2) & first).sum()


def test_sets_on_which_a_score_is_0_by_0_are_counted_apart() -> None:
    """Precision: in every third set the second system accepts nothing."""
    rng = np.random.default_rng(5)
    accepted = rng.random((30, 2, 60)) < 0.5
    accepted[::3, 1] = False
    right = accepted & (rng.random(accepted.shape) < np.array([0.8, 0.5])[:, None])
    statistics = np.stack([right, accepted, np.ones_like(right)], axis=-1).astype(np.int64)
    sets = DrawnPairs(statistics, "precision")
    defined = accepted.any(axis=2).all(axis=1)
    assert defined.sum() == 20
    sums = right.sum(axis=2) / np.maximum(accepted.sum(axis=2), 1)
    gains = 100 * np.abs(sums[:, 0] - sums[:, 1])
    tests, undefined = ["sign_flips", "randomization"], 0
    p_values = sets.p_values(tests)
    for row in sets.decisions(tests, [0.05, 0.3]):
        rejected = p_values[row["test"], row["alternative"]] <= row["alpha"]
        assert (row["n_sets"], row["n_undefined"]) == (20, 10)
        assert row["n_rejected"] == (rejected & defined).sum()
        assert row["n_rejected_undefined"] == (rejected & ~defined).sum()
        assert_allclose(row["sum_gain"], gains[rejected & defined].sum())
        assert_allclose(row["sum_square"], (gains[rejected & defined] ** 2).sum())
        undefined += row["n_rejected_undefined"]
    assert undefined > 0
