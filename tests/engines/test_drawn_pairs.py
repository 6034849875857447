"""P-values of many test sets: those of one test set at a time, and one-sided ones of a system that was named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics import METRICS
from simstudy.metrics.mean import LOWER_MEAN
from simstudy.outputs import Outputs
from tests.engines.pairs import by_item
from tests.oracles import ascending, compared

SCORES = np.random.default_rng(0).beta(1, 3, (60, 2, 40))
SETS = DrawnPairs(by_item(SCORES), "mean")
DIFFERENCES = SCORES[:, 0] - SCORES[:, 1]
TESTS = ("t_paired", "wilcoxon", "sign", "bootstrap", "randomization")


def test_named_systems_are_asked_about_whether_they_are_better_or_not() -> None:
    p_values = SETS.p_values(TESTS, named=True)
    expected = {
        "t_paired": stats.ttest_1samp(DIFFERENCES, 0, axis=1, alternative="greater").pvalue,
        "wilcoxon": stats.wilcoxon(DIFFERENCES, axis=1, alternative="greater", method="exact").pvalue,
        "sign": stats.binom.sf((DIFFERENCES > 0).sum(axis=1) - 1, 40, 0.5),
    }
    for test, p in expected.items():
        assert_allclose(p_values[test, "greater"], p, atol=1e-12)
    # Without a name the better system is asked about.
    better = SETS.p_values(["t_paired"])["t_paired", "greater"]
    assert_allclose(better, np.minimum(expected["t_paired"], 1 - expected["t_paired"]), atol=1e-12)
    for test in ("bootstrap", "randomization"):
        assert_allclose(p_values[test, "greater"], expected["t_paired"], atol=0.08)
        assert (p_values[test, "greater"][~SETS.first_is_better] > 0.4).all()


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
    sets = DrawnPairs(np.stack([right, accepted, np.ones_like(right)], axis=-1).astype(np.int64), "precision")
    defined = np.arange(30) % 3 > 0
    assert sets.defined.tolist() == defined.tolist()
    gains = 100 * np.abs(np.diff(right.sum(axis=2) / np.maximum(accepted.sum(axis=2), 1))[:, 0])
    p_values = sets.p_values(["sign_flips"])
    rows = sets.decisions(["sign_flips"], [0.05, 0.3])
    for row in rows:
        rejected = p_values[row["test"], row["alternative"]] <= row["alpha"]
        counts = ((rejected & defined).sum(), (rejected & ~defined).sum())
        assert (row["n_sets"], row["n_undefined"]) == (20, 10)
        assert (row["n_rejected"], row["n_rejected_undefined"]) == counts
        assert_allclose(row["sum_gain"], gains[rejected & defined].sum())
        assert_allclose(row["sum_square"], (gains[rejected & defined] ** 2).sum())
    assert sum(row["n_rejected_undefined"] for row in rows) > 0


def test_intervals_of_each_test_set_are_those_of_students_t() -> None:
    low, high = SETS.first_interval()
    expected = stats.ttest_1samp(DIFFERENCES, 0, axis=1).confidence_interval(0.95)
    assert_allclose(low, expected.low, rtol=1e-9)
    assert_allclose(high, expected.high, rtol=1e-9)
    first = SETS.first_is_better
    assert SETS.intervals["interval"] == "jackknife"
    assert_allclose(SETS.intervals["gain_low"], np.where(first, expected.low, -expected.high), rtol=1e-9)
    assert SETS.defined.all()


def drawn(kind: str, rng: np.random.Generator, m: int = 8, n: int = 40) -> tuple[str, np.ndarray]:
    shape = (m, 2, n)
    if kind == "clusters":
        size = np.broadcast_to(rng.integers(1, 9, size=(m, 1, n)), shape)
        return "accuracy", np.stack([rng.binomial(size, 0.6), size], axis=-1)
    if kind == "f1":
        return "f1", np.stack([ascending(pair) for pair in rng.integers(0, 5, size=(*shape, 3))])
    if kind == "acceptances":
        accepted = rng.random(shape) < 0.5
        return "precision_of_accepted", np.stack([accepted & (rng.random((m, 1, n)) < 0.8), accepted], -1).astype(int)
    scores = rng.integers(0, 4, size=shape) / 3 if kind == "thirds" else rng.lognormal(sigma=1.2, size=shape)
    scores = rng.integers(0, 2, size=shape) if kind == "answers" else scores
    return {"answers": "accuracy", "errors": LOWER_MEAN}.get(kind, "mean"), by_item(scores)


#: Kind of test sets -> how many of the tests below apply.
APPLY = {"clusters": 4, "f1": 2, "acceptances": 4, "skewed": 3, "errors": 3, "answers": 4, "thirds": 3}


@pytest.mark.parametrize(("kind", "n_tests"), APPLY.items())
def test_each_test_set_is_compared_as_if_it_were_alone(kind: str, n_tests: int) -> None:
    metric, statistics = drawn(kind, np.random.default_rng(len(kind)))
    sets = DrawnPairs(statistics, metric, n_resamples=150, seed=3)
    outputs = [Outputs.from_statistics(pair, METRICS[metric], ["first", "second"]) for pair in statistics]
    tests = ["sign_flips", "bootstrap", "wilcoxon", "two_proportions", "precision_score"]
    p_values = sets.p_values(tests, ["two-sided"])
    assert len(p_values) == n_tests
    rows = pd.DataFrame()
    for (test, _), p in p_values.items():
        how = {"test": test, "monte_carlo": sets.is_resampled(test), "n_resamples": 150, "seed": 3}
        rows = pd.concat([compared(pair, **how) for pair in outputs])
        assert_allclose(p, rows["p_value"], rtol=1e-9, err_msg=test)
    first = (rows["system_a"] == "first").to_numpy()
    assert sets.first_is_better.tolist() == first.tolist()
    assert 0 < first.sum() < len(first)
    low, high = rows["gain_low"].to_numpy(), rows["gain_high"].to_numpy()
    for gain in (0.0, 5.0, -5.0):
        row, true = sets.coverage(gain), np.where(first, gain, -gain)
        assert row["interval"] == rows["interval"].iloc[0]
        assert row["n_covered"] == ((low <= true) & (true <= high)).sum()
        assert row["n_cautioned"] == (rows["caution"] != "").sum()
        assert row["sum_width"] == pytest.approx((high - low).sum())
    # The gain of the first system lies between these, whichever system is better.
    least, most = np.where(first, low, -high), np.where(first, high, -low)
    for margin in np.quantile(np.abs([low, high]), [0.3, 0.5, 0.7, 0.9]):
        not_worse, equivalent = sets.shown_within(margin)
        assert not_worse.tolist() == (least > -margin).tolist()
        assert equivalent.tolist() == ((least > -margin) & (most < margin)).tolist()
    assert (sets.coverage(0.0)["n_cautioned"] > 0) == (kind in ("skewed", "errors", "acceptances"))


def test_sign_flips_and_means_are_computed_and_the_rest_drawn() -> None:
    """999 flips cannot be significant at 0.0005."""
    rng = np.random.default_rng(1)
    tests = ("sign_flips", "skew_corrected", "randomization", "bootstrap", "t_paired")
    for kind, n, resampled in (
        ("f1", 30, ["bootstrap"]),
        ("f1", 31, ["randomization", "bootstrap"]),
        ("clusters", 31, ["bootstrap"]),
        ("skewed", 31, ["bootstrap"]),
        ("answers", 90, []),
    ):
        metric, statistics = drawn(kind, rng, 2, n)
        sets = DrawnPairs(statistics, metric)
        assert [test for test in tests if sets.is_resampled(test)] == resampled, (kind, n)
    sets = DrawnPairs(by_item(rng.normal(size=(20, 2, 100)) + np.array([1.0, 0.0])[:, None]), "mean")
    assert [row["n_rejected"] for row in sets.decisions(["sign_flips"], [0.0005], ["two-sided"])] == [20]
