"""Contributions of units to a score, or to the difference of two scores.

Contributions to a score are by the jackknife, and give its standard error. For the difference of two systems, a unit
with equal statistics contributes 0, as readers of items expect.
"""

from __future__ import annotations

import numpy as np

from simstudy.metrics.arrays import ArrayMetric, not_of_sums
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray, Metric, summed, widened
from simstudy.validation import InputError

# The least part of a denominator without a unit: the weight of a unit with nearly all of it is large, not infinite.
_LEAST_LEFT = 1e-3

# Steps of the numerical derivative, as a part of a sum; and how small a difference is rounding.
_STEP, ROUNDING = 1e-4, 1e-9

# The way between two systems' sums has so many parts, of four points each: fewer for many statistics, where each point
# takes long. Brevity penalties begin somewhere on the way, so that few parts would not do.
_MOST_PARTS, _EVALUATIONS = 32, 2**12
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)

# Counts of items in memory at a time.
_TOGETHER = 2**22


def contributions(statistics: Array, metric: Metric) -> FloatArray:
    """Each unit's contribution (K, n) to each system's score, by the jackknife (Tukey 1958; Efron and Stein 1981).

    Statistics are (K systems, n units, S). Contributions add up to the score, on the metric's scale: each is
    score / n + (n - 1) / n * (mean of the scores without a unit - score without this unit). For a mean it is the unit's
    score over n. Their spread gives the standard error (`deviations`) for any function of sums, without a derivative;
    if few units carry a denominator it errs on the safe side, unlike the infinitesimal jackknife.
    """
    if not metric.of_sums:
        raise InputError(not_of_sums(metric))
    parts = np.empty(statistics.shape[:2])
    for k, rows in enumerate(statistics):
        parts[k] = _jackknife(rows, metric)
    return parts


def difference(one: Array, other: Array, metric: Metric, slope: FloatArray | None = None) -> FloatArray:
    """Each unit's contribution (n,) to the difference of two systems' scores, first less second, on the metric's scale.

    Statistics are (n units, S). A unit with equal statistics has 0, and contributions add up to the difference.

    - Mean: the difference of the unit's scores over n.
    - Ratio: the difference of numerators, less the difference of denominators times the pair's pooled ratio. The sum is
      exact.
    - Other functions of sums: the difference of statistics times the gradient, averaged on the straight way between the
      two systems' sums (Aumann and Shapley 1974). The sum is exact up to numerical integration. The averaged gradient
      (S,) may be given as `slope`.
    - Metric of arrays: the difference of two jackknives, in which equal units need not have 0.
    """
    if not metric.of_sums:
        return _jackknife(one, metric) - _jackknife(other, metric)
    both = widened(np.stack([one, other]))
    if (ratio := metric.ratio(both)) is not None:
        return _difference_of_ratios(*ratio, metric)
    if slope is None:
        slope = mean_slopes(metric, *summed(both)[:, None])[0]
    # Equal statistics are exactly 0, as whole numbers and as decimals.
    terms = (both[0] - both[1]) * slope
    parts = terms.sum(axis=1)
    parts[np.abs(parts) <= ROUNDING * np.abs(terms).sum(axis=1)] = 0.0
    return np.asarray(parts)


def _difference_of_ratios(above: Array, below: Array, metric: Metric) -> FloatArray:
    (above_one, above_other), (below_one, below_other) = above.sum(axis=1), below.sum(axis=1)
    if not below_one or not below_other:
        # A score of 0 stands for 0 / 0, whatever the units.
        one, other = (
            side / total if total else np.zeros(len(side))
            for side, total in zip(above, (below_one, below_other), strict=True)
        )
        parts = one - other
    elif (below[0] == below[1]).all():
        parts = _close_to_0(above[0] / below_one, above[1] / below_one, TIE_TOLERANCE)
    else:
        gained = (above[0] - above[1]) * (below_one + below_other)
        expected = (below[0] - below[1]) * (above_one + above_other)
        parts = _close_to_0(gained, expected, ROUNDING) / (2.0 * below_one * below_other)
    return np.asarray(metric.scale * parts, dtype=np.float64)


def _close_to_0(one: Array, other: Array, tolerance: float) -> FloatArray:
    """The difference; 0 if it may be a rounding error."""
    gaps = np.asarray(one - other, dtype=np.float64)
    gaps[np.abs(gaps) <= tolerance * np.maximum(np.abs(one), np.abs(other))] = 0.0
    return gaps


def mean_slopes(metric: Metric, one: Array, other: Array) -> FloatArray:
    """The score's derivatives (P, S), averaged on the straight way between P pairs of sums (P, S)."""
    s = one.shape[1]
    parts = int(np.clip(_EVALUATIONS // s**2, 1, _MOST_PARTS))
    slopes = np.zeros(one.shape)
    for part in range(parts):
        for point, weight in zip((_POINTS + 1) / 2, _WEIGHTS / 2, strict=True):
            share = (part + point) / parts
            slopes += weight / parts * _derivatives(metric, other + share * (one - other))
    return slopes


def _derivatives(metric: Metric, sums: FloatArray) -> FloatArray:
    """The score's derivatives (P, S) at sums (P, S), by central differences."""
    step = _STEP * np.maximum(np.abs(sums), 1)
    # Counts do not go below 0, where a metric need not be defined.
    down = np.where(sums >= 0, np.minimum(step, sums), step)
    unit = np.eye(sums.shape[1])
    above, below = (metric.score(sums[:, None] + unit * by[:, None]) for by in (step, -down))
    return np.asarray((above - below) / (step + down))


def left_out(rows: Array, metric: Metric, units: IntArray) -> FloatArray:
    """Scores (U,) of a system's statistics (n, S) without each of these units."""
    if metric.of_sums:
        exact = widened(rows)
        return np.asarray(metric.score(summed(exact) - exact[units]))
    assert isinstance(metric, ArrayMetric)
    scores = np.empty(len(units))
    step = max(1, _TOGETHER // len(rows))
    for first in range(0, len(units), step):
        some = units[first : first + step]
        counts = np.ones((len(some), len(rows)), dtype=np.int64)
        counts[np.arange(len(some)), some] = 0
        scores[first : first + step] = metric.resampled(rows, counts)
    return scores


def _jackknife(rows: Array, metric: Metric) -> FloatArray:
    n = len(rows)
    without = left_out(rows, metric, np.arange(n))
    return np.asarray((n - 1) / n * (without.mean() - without) + metric.test_set_scores(rows[None])[0] / n)


def n_undefined(statistics: Array, metric: Metric) -> IntArray:
    """The number of units (K,) without which each system's score is undefined (0 / 0)."""
    totals = summed(statistics)
    return np.array(
        [int((~metric.defined(total - rows)).sum()) for total, rows in zip(totals, statistics, strict=True)],
        dtype=np.int64,
    )


def deviations(parts: FloatArray, strata: Array | None = None) -> FloatArray:
    """Contributions (K, n) less their mean, scaled so that the sum of their squares is the score's variance.

    Strata (H + 1,) are bounds of runs of units, each drawn to its own size; None: one run.
    """
    bounds = [0, parts.shape[1]] if strata is None else [int(bound) for bound in strata]
    centred = np.empty_like(parts)
    for first, end in zip(bounds, bounds[1:], strict=False):
        run, n = parts[:, first:end], end - first
        centred[:, first:end] = (run - run.mean(axis=1, keepdims=True)) * np.sqrt(n / max(n - 1, 1))
    return centred


def over_denominator(side: Array, below: Array) -> FloatArray:
    """Numerators or denominators of units over their system's denominator, with larger weights for large units.

    A unit that has a share h of the denominator draws the ratio to itself, so that its residual is too small: it
    is divided by sqrt(1 - h), as in heteroscedasticity-consistent standard errors (HC2; MacKinnon and White 1985).
    Both arrays are (K systems, n units); below are the denominators.
    """
    of = below.sum(axis=1, dtype=np.float64)
    total = np.where(of != 0, of, 1.0)[:, None]
    return np.asarray(side / total / np.sqrt(np.maximum(1 - below / total, _LEAST_LEFT)))
