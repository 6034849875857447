"""Each unit's part of the difference of two scores: by algebra, by integration, and by leaving units out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simstudy.engines.question import Question
from simstudy.engines.wins import win_counts
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.base import combine
from simstudy.metrics.influence import difference, left_out, mean_slopes
from tests.engines.pairs import KINDS, made
from tests.metrics.test_influence import EVERY, statistics_of

OF_SUMS = {name: metric for name, metric in EVERY.items() if metric.of_sums}


def of_scores(one: np.ndarray, other: np.ndarray, metric: Metric) -> float:
    return float(metric.score(one.sum(axis=0)) - metric.score(other.sum(axis=0)))


@pytest.mark.parametrize("metric", OF_SUMS.values(), ids=OF_SUMS)
def test_parts_add_up_and_are_0_where_units_are_equal(metric: Metric, rng: np.random.Generator) -> None:
    """Exactly for ratios; for other functions of sums as well as an integral of four points a part is exact."""
    one, other = statistics_of(metric, 40, rng)
    other[10:20] = one[10:20]
    parts = difference(one, other, metric)
    assert (parts[10:20] == 0).all()
    whole = of_scores(one, other, metric)
    exact = metric.ratio(one[None]) is not None
    assert parts.sum() == pytest.approx(whole, rel=1e-12 if exact else 1e-5, abs=1e-12 if exact else 1e-5)
    np.testing.assert_allclose(difference(other, one, metric), -parts, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(difference(one.astype(np.uint8), other.astype(np.uint8), metric), parts)


def test_of_a_mean_a_part_is_the_difference_of_scores_over_n() -> None:
    scores = np.array([[0.5, 0.25, 1.0, 0.75], [0.25, 0.25, 0.0, 1.0]])
    one, other = np.stack([scores, np.ones_like(scores)], axis=-1)
    assert difference(one, other, METRICS["mean"]).tolist() == [0.0625, 0.0, 0.25, -0.0625]
    right = np.array([[[1, 1], [0, 1], [1, 1], [1, 1]], [[1, 1], [1, 1], [0, 1], [0, 1]]])
    assert difference(*right, METRICS["accuracy"]).tolist() == [0, -25, 25, 25]


@pytest.mark.parametrize("name", ["f1", "precision", "muc_f"])
def test_of_a_ratio_a_part_weighs_what_is_more_against_what_it_costs(name: str, rng: np.random.Generator) -> None:
    """In fractions: (more / whole - ratio * cost / whole), averaged so that both systems' wholes count alike."""
    metric = METRICS[name]
    assert isinstance(metric, Ratio)
    one, other = statistics_of(metric, 12, rng)
    above, below = (combine(np.stack([one, other]), weights) for weights in (metric.numerator, metric.denominator))
    sums, wholes = above.sum(axis=1).tolist(), below.sum(axis=1).tolist()
    pooled = Fraction(sum(sums), sum(wholes))
    scale = Fraction(sum(wholes), 2 * wholes[0] * wholes[1]) * 100
    expected = [
        float(scale * (int(more) - pooled * int(cost)))
        for more, cost in zip(above[0] - above[1], below[0] - below[1], strict=True)
    ]
    np.testing.assert_allclose(difference(one, other, metric), expected, rtol=1e-12, atol=1e-12)


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


# Of a system that guesses nothing precision is 0 / 0: no units can be held against its ratio.
@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind != "silent precision"), "bleu", "chrf"])
def test_signs_are_the_wins_and_losses_of_a_comparison(kind: str) -> None:
    rng = np.random.default_rng(5)
    metric, statistics = (
        (METRICS[kind], statistics_of(METRICS[kind], 50, rng)) if kind in METRICS else made(kind, 50, rng)
    )
    scores = metric.score(statistics.sum(axis=1)) * metric.sign
    pair = statistics if scores[0] >= scores[1] else statistics[::-1]
    parts = difference(*pair, metric) * metric.sign
    better, worse, _ = win_counts(Question(pair, metric, ["a", "b"], "item", np.array([0, 50])))
    assert ((parts > 0).sum(), (parts < 0).sum()) == (better[0], worse[0])


@pytest.mark.parametrize("name", ["accuracy", "bleu", "auc", "median"])
def test_scores_without_a_unit_are_those_of_the_others(name: str, rng: np.random.Generator) -> None:
    metric = {**METRICS, **ARRAYS}[name]
    if metric.of_sums:
        rows = statistics_of(metric, 9, rng)[0]
    else:
        rows = np.stack([np.arange(9) % 2, rng.normal(size=9)], axis=1)[:, -len(metric.statistics) :].astype(float)
    units = np.array([4, 0, 8])
    expected = [metric.test_set_scores(np.delete(rows, unit, axis=0)[None])[0] for unit in units]
    np.testing.assert_allclose(left_out(rows, metric, units), expected, rtol=1e-12)


def test_parts_of_a_metric_of_arrays_are_differences_of_jackknives(rng: np.random.Generator) -> None:
    metric = ARRAYS["auc"]
    gold = np.arange(20) % 2
    one, other = (np.stack([gold, gold + rng.normal(size=20)], axis=1) for _ in range(2))
    parts = difference(one, other, metric)
    scores = metric.test_set_scores(np.stack([one, other]))
    assert parts.sum() == pytest.approx(scores[0] - scores[1], abs=1e-12)
    gains = left_out(one, metric, np.arange(20)) - left_out(other, metric, np.arange(20))
    np.testing.assert_allclose(parts - parts.mean(), -(gains - gains.mean()) * 19 / 20, atol=1e-12)
