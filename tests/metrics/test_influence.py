"""Contributions to a score, and to the difference of two: by leaving units out, by algebra and by integration."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import METRICS, Metric, Ratio, find_metric
from simstudy.metrics.influence import (
    contributions,
    deviations,
    difference,
    left_out,
    mean_slopes,
    n_undefined,
    over_denominator,
)
from simstudy.metrics.user_metrics import metric
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
        matched = correct + partial
        return np.stack([matched + missing, matched + spurious, correct, partial], axis=-1)
    if n_statistics == 2:
        return np.stack([rng.binomial(1, 0.6, (2, n)), np.ones((2, n), int)], axis=-1)
    return np.sort(counts, axis=-1)


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("n", [2, 7])
def test_contributions_are_what_each_unit_takes_away(metric: Metric, n: int, rng: np.random.Generator) -> None:
    """Tukey's pseudo-values over n, by scores of the other units; their sum is the score, bias taken off or not."""
    statistics = statistics_of(metric, n, rng)
    parts = contributions(statistics, metric)
    for rows, values in zip(statistics, parts, strict=True):
        score = float(metric.score(rows.sum(axis=0)))
        without = [float(metric.score(np.delete(rows, u, axis=0).sum(axis=0))) for u in range(n)]
        expected = [score / n + (n - 1) / n * (fsum(without) / n - one) for one in without]
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(left_out(rows, metric, np.array([1, 0])), without[1::-1], rtol=1e-12)


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


def test_units_that_carry_a_denominator_are_counted() -> None:
    """A denominator that is 0 without a unit: of system 0 without none, of 1 without the first, of 2 always."""
    counts = np.zeros((3, 4, 3), dtype=int)
    counts[0], counts[1, 0] = 1, 1
    assert [n_undefined(counts, METRICS[name]).tolist() for name in ("f1", "precision", "recall")] == [[0, 1, 4]] * 3


def test_a_unit_of_nearly_the_whole_denominator_has_the_weight_of_hc2() -> None:
    """One of 995 in 1,000, as one of 5 in 1,000: divided by the square root of what is left."""
    sizes = np.array([[995.0, 5.0]])
    expected = [0.995 / np.sqrt(0.005), 0.005 / np.sqrt(0.995)]
    assert over_denominator(sizes, sizes)[0] == pytest.approx(expected)
    weights = over_denominator(np.array([[2.0, 1.0], [3.0, 0.0]]), np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(weights, [[2 / 4 / np.sqrt(3 / 4), 1 / 4 / np.sqrt(1 / 4)], [3, 0]])


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
def test_contributions_add_up_to_the_difference_and_are_0_for_equal_units(
    metric: Metric, rng: np.random.Generator
) -> None:
    """Exactly for ratios; for other functions of sums as well as an integral of four points a part is exact."""
    one, other = statistics_of(metric, 40, rng)
    other[10:20] = one[10:20]
    parts = difference(one, other, metric)
    assert (parts[10:20] == 0).all()
    gain = float(metric.score(one.sum(axis=0)) - metric.score(other.sum(axis=0)))
    tolerance = 1e-12 if isinstance(metric, Ratio) else 1e-5
    assert parts.sum() == pytest.approx(gain, rel=tolerance, abs=tolerance)
    np.testing.assert_allclose(difference(other, one, metric), -parts, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(difference(one.astype(np.uint8), other.astype(np.uint8), metric), parts)


@pytest.mark.parametrize("name", ["accuracy", "f1", "precision", "muc_f"])
def test_contributions_to_a_ratio_are_gained_less_expected_numerators(name: str, rng: np.random.Generator) -> None:
    """In fractions, with the pooled ratio of both systems."""
    metric = METRICS[name]
    one, other = statistics_of(metric, 12, rng).tolist()
    above, below = ([[int(np.dot(weights, row)) for row in rows] for rows in (one, other)]
                    for weights in (metric.numerator, metric.denominator))  # type: ignore[attr-defined]  # fmt: skip
    pooled = Fraction(sum(map(sum, above)), sum(map(sum, below)))
    scale = Fraction(100 * sum(map(sum, below)), 2 * sum(below[0]) * sum(below[1]))
    expected = [float(scale * (n - m - pooled * (d - e))) for n, m, d, e in zip(*above, *below, strict=True)]
    np.testing.assert_allclose(difference(np.array(one), np.array(other), metric), expected, rtol=1e-12, atol=1e-12)


def test_a_system_without_a_denominator_has_a_score_of_0() -> None:
    one, other = np.array([[1, 2, 3], [1, 1, 3]]), np.array([[0, 0, 3], [0, 0, 3]])
    np.testing.assert_allclose(difference(one, other, METRICS["precision"]), [100 / 3, 100 / 3])


@pytest.mark.parametrize(("name", "bend"), [("bleu", 0), ("chrf", 0), ("bleu", 0.5), ("bleu", 0.02), ("bleu", 0.98)])
def test_slopes_are_those_of_a_fine_integral(name: str, bend: float, rng: np.random.Generator) -> None:
    """BLEU's brevity penalty may begin on the way between the two, or near one of them, where slopes are less exact."""
    metric = METRICS[name]
    one, other = statistics_of(metric, 30, rng).sum(axis=1).astype(np.float64)
    if bend:
        hypothesis, reference = (metric.statistics.index(f"{whose}_length") for whose in ("hyp", "ref"))
        one[reference] = other[reference] = 1000
        one[hypothesis], other[hypothesis] = 1000 + 100 * (1 - bend), 1000 - 100 * bend
    steps = 4000
    shares = (np.arange(steps) + 0.5) / steps
    sums = other + shares[:, None] * (one - other)
    eye = np.eye(len(one))
    fine = [(metric.score(sums + 0.01 * unit) - metric.score(sums - 0.01 * unit)).mean() / 0.02 for unit in eye]
    bounds = {"rtol": 5e-3, "atol": 3e-4} if bend in (0.02, 0.98) else {"rtol": 2e-3, "atol": 1e-4}
    np.testing.assert_allclose(mean_slopes(metric, one[None], other[None])[0], fine, **bounds)


def test_a_system_without_a_match_is_followed_from_nothing() -> None:
    """Smoothed BLEU jumps from a count of 0. A slope of that jump would make the parts five times the gain."""
    metric = METRICS["bleu"]
    one = np.array([[60, 30, 12, 5, 100, 95, 90, 85, 100, 100.0]])
    other = np.array([[58, 28, 10, 0, 100, 95, 90, 85, 100, 100.0]])
    gain = metric.score(one)[0] - metric.score(other)[0]
    assert ((one - other) * mean_slopes(metric, one, other)).sum() == pytest.approx(gain, rel=0.25)


def test_differences_that_cancel_contribute_exactly_0() -> None:
    """One more of a statistic and one less of another that counts as much: their slopes differ by rounding."""
    total = metric("total", lambda a, b: (a + b) / 7)
    one, other = np.array([[2, 200], [5, 1], [3, 3]]), np.array([[1, 201], [4, 1], [4, 2]])
    parts = difference(one, other, total)
    assert (parts == 0).tolist() == [True, False, True]
    assert parts[1] == pytest.approx(1 / 7)


@pytest.mark.parametrize("name", ["auc", "median"])
def test_contributions_to_a_difference_of_array_scores_are_differences_of_jackknives(
    name: str, rng: np.random.Generator
) -> None:
    metric = find_metric(name)
    assert metric is not None
    gold = np.tile(np.arange(20) % 2, (2, 1))
    rows = np.stack([gold, rng.normal(size=(2, 20))], axis=-1)[..., -len(metric.statistics) :]
    one, other = metric.test_set_scores(rows)
    without = [metric.test_set_scores(np.delete(rows, unit, axis=1)) for unit in range(20)]
    np.testing.assert_allclose(left_out(rows[0], metric, np.array([4, 0])), [without[4][0], without[0][0]], rtol=1e-12)
    gains = np.array([first - second for first, second in without])
    expected = (one - other) / 20 + (gains.mean() - gains) * 19 / 20
    np.testing.assert_allclose(difference(*rows, metric), expected, atol=1e-12)
