"""Contributions, deviations and undefined scores, against leaving units out one by one."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.metrics.influence import contributions, deviations, n_undefined, over_denominator
from tests.oracles import ERROR_RATE, GEOMETRIC

EVERY = {**METRICS, ERROR_RATE.name: ERROR_RATE, GEOMETRIC.name: GEOMETRIC}


def statistics_of(metric: Metric, n: int, rng: np.random.Generator) -> np.ndarray:
    """Two systems' counts that keep the metric's rules."""
    n_statistics = len(metric.statistics)
    counts = rng.integers(0, 7, size=(2, n, n_statistics))
    if metric.name in ("bleu", "geometric"):
        half = 4 if metric.name == "bleu" else 2
        total = np.sort(rng.integers(1, 12, size=(2, n, half)), axis=-1)[..., ::-1]
        correct = rng.binomial(total, 0.6)
        lengths = np.stack([total[..., 0], rng.integers(5, 12, size=(2, n))], axis=-1)
        return np.concatenate([correct, total, *([lengths] if half == 4 else [])], axis=-1)
    if metric.name.startswith("chrf"):
        orders = n_statistics // 3
        hyp, ref = rng.integers(1, 20, size=(2, 2, n, orders))
        return np.concatenate([rng.binomial(np.minimum(hyp, ref), 0.5), hyp, ref], axis=-1)
    if metric.name.startswith("muc"):
        correct, partial, missing, spurious = np.moveaxis(counts, -1, 0)
        found = correct + partial
        return np.stack([found + missing, found + spurious, correct, partial], axis=-1)
    if n_statistics == 2:
        return np.stack([rng.binomial(1, 0.6, (2, n)), np.ones((2, n), int)], axis=-1)
    return np.sort(counts, axis=-1)


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("n", [2, 7])
def test_parts_are_what_leaving_each_unit_out_takes_away(metric: Metric, n: int, rng: np.random.Generator) -> None:
    """Tukey's pseudo-values over n, by scores of the other units; their sum is the score, bias taken off or not."""
    statistics = statistics_of(metric, n, rng)
    metric.check(statistics)
    parts = contributions(statistics, metric)
    assert parts.shape == (2, n)
    for rows, found in zip(statistics, parts, strict=True):
        score = float(metric.score(rows.sum(axis=0)))
        without = [float(metric.score(np.delete(rows, u, axis=0).sum(axis=0))) for u in range(n)]
        expected = [score / n + (n - 1) / n * (fsum(without) / n - one) for one in without]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        assert found.sum() == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
def test_squares_add_up_to_the_jackknife_variance(metric: Metric, rng: np.random.Generator) -> None:
    """(n - 1) / n times the sum of squares of the scores without a unit, around their mean (Efron and Stein 1981)."""
    n = 9
    statistics = statistics_of(metric, n, rng)
    centred = deviations(contributions(statistics, metric))
    assert centred.shape == (2, n)
    without = np.array(
        [[float(metric.score(np.delete(rows, u, axis=0).sum(axis=0))) for u in range(n)] for rows in statistics]
    )
    expected = (n - 1) * np.cov(without, ddof=0)
    np.testing.assert_allclose(centred @ centred.T, expected, rtol=1e-9, atol=1e-9)
    assert (np.diag(expected) > 0).all()


def test_the_variance_of_a_mean_is_that_of_its_items_over_n(rng: np.random.Generator) -> None:
    """And of two means, with their covariance."""
    scores = rng.normal(size=(2, 30)) + rng.normal(size=30)
    centred = deviations(contributions(np.stack([scores, np.ones_like(scores)], axis=-1), METRICS["mean"]))
    np.testing.assert_allclose(centred @ centred.T, np.cov(scores, ddof=1) / 30, rtol=1e-10)
    gain = centred[0] - centred[1]
    assert np.sqrt((gain**2).sum()) == pytest.approx(stats.sem(scores[0] - scores[1]), rel=1e-10)


@pytest.mark.parametrize(("kind", "most"), [(np.int8, 100), (np.uint8, 200), (np.int64, 10**6), (np.float64, 200)])
def test_whole_numbers_of_any_kind(kind: type, most: int) -> None:
    """Sums of small integers do not overflow, and unsigned ones are subtracted all the same."""
    statistics = np.full((1, 40, 3), most, dtype=kind)
    statistics[0, 0, 0] = most // 5
    parts = contributions(statistics, METRICS["f1"])
    n, score = 40, Fraction(39 * 5 + 1, 40 * 5)
    without = [Fraction(1), *[Fraction(38 * 5 + 1, 39 * 5)] * 39]
    expected = [100 * float(score / n + Fraction(n - 1, n) * (sum(without) / n - one)) for one in without]
    np.testing.assert_allclose(parts[0], expected, rtol=1e-12)


def test_strata_vary_each_on_its_own(rng: np.random.Generator) -> None:
    """The variance of a sum of independent means: of each stratum s^2 / n, weighted by its share squared."""
    scores = rng.normal([0.0] * 5 + [10.0] * 12 + [3.0] * 3, 1.0)
    bounds = np.array([0, 5, 17, 20])
    parts = contributions(np.stack([scores, np.ones(20)], axis=-1)[None], METRICS["mean"])
    centred = deviations(parts, bounds)
    expected = sum(
        ((end - first) / 20) ** 2 * scores[first:end].var(ddof=1) / (end - first)
        for first, end in zip(bounds, bounds[1:], strict=False)
    )
    assert (centred**2).sum() == pytest.approx(expected, rel=1e-10)
    # Between strata there is most of the spread, which a test set of fixed strata does not have.
    assert (deviations(parts) ** 2).sum() > 5 * expected


@pytest.mark.parametrize("metric", [m for m in EVERY.values() if isinstance(m, Ratio)], ids=lambda m: m.name)
def test_scores_that_one_unit_carries_are_counted(metric: Ratio) -> None:
    """A denominator that is 0 without a unit: of system 0 without none, of 1 without the first, of 2 always."""
    one = statistics_of(metric, 4, np.random.default_rng(1))[0]
    one[:, :] = one[0] if has_a_denominator(metric, one[0]) else np.ones_like(one[0])
    alone = np.concatenate([one[:1], np.zeros_like(one[1:])])
    found = n_undefined(np.stack([one, alone, np.zeros_like(one)]), metric)
    assert found.tolist() == [0, 1, 4]


def has_a_denominator(metric: Ratio, row: np.ndarray) -> bool:
    return int(row @ np.array(metric.denominator)) != 0


def test_a_unit_of_nearly_the_whole_denominator_has_the_weight_of_hc2() -> None:
    """One of 995 in 1,000, as one of 5 in 1,000: divided by the square root of what is left."""
    sizes = np.array([[995.0, 5.0]])
    expected = [0.995 / np.sqrt(0.005), 0.005 / np.sqrt(0.995)]
    assert over_denominator(sizes, sizes)[0] == pytest.approx(expected)
    found = over_denominator(np.array([[2.0, 1.0], [3.0, 0.0]]), np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [[2 / 4 / np.sqrt(3 / 4), 1 / 4 / np.sqrt(1 / 4)], [3, 0]])
