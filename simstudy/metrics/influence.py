"""What each unit does to a score, or to the difference of two: contributions that add up to it.

Of one score they are by the jackknife, which tells its standard error. Of two systems' difference a unit on which they
are alike contributes nothing: that is what people ask who look at items.
"""

from __future__ import annotations

import numpy as np

from simstudy.metrics.arrays import ArrayMetric, not_of_sums
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray, Metric, summed
from simstudy.validation import InputError

# A unit that carries nearly all of a denominator says nothing of its ratio: its weight is large, not infinite.
_LEAST_LEFT = 1e-3

# Steps of the numerical derivative, as a part of a sum; and how small a difference is rounding.
_STEP, ROUNDING = 1e-4, 1e-9

# Between two systems' sums a score is followed in so many parts, of four points each: fewer for many statistics, where
# each point takes long. Brevity penalties begin somewhere between the two, so that few parts would not do.
_MOST_PARTS, _EVALUATIONS = 32, 2**12
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(4)

# Counts of a jackknife that are held together.
_TOGETHER = 2**22


def contributions(statistics: Array, metric: Metric) -> FloatArray:
    """Each unit's part (K, n) of each system's score, by the jackknife (Tukey 1958; Efron and Stein 1981).

    Statistics are (K systems, n units, S). A system's parts add up to its score, on the metric's scale. A unit's part
    is the score's n-th, plus what leaving that unit out takes away, centred. Of a mean it is the unit's own score over
    n. Their spread tells the score's standard error (`deviations`) for any function of sums, without a derivative;
    where few units carry a denominator it errs on the safe side, unlike the infinitesimal jackknife.
    """
    if not metric.of_sums:
        raise InputError(not_of_sums(metric))
    n = statistics.shape[1]
    parts = np.empty(statistics.shape[:2])
    for k, of_system in enumerate(statistics):
        # One system at a time: what is held is n x S numbers, whatever K is.
        exact = of_system.astype(np.int64 if of_system.dtype.kind in "iu" else np.float64)
        total = summed(exact, exact.dtype)
        without = metric.score(total - exact)
        parts[k] = (n - 1) / n * (without.mean() - without) + metric.score(total) / n
    return parts


def difference(one: Array, other: Array, metric: Metric, slope: FloatArray | None = None) -> FloatArray:
    """Each unit's part (n,) of how much the first of two systems' scores is above the second, on the metric's scale.

    Statistics are (n units, S). A unit with equal statistics has 0, and the parts add up to the difference of the
    scores. Of a mean a part is the difference of the unit's scores over n. Of a ratio it is by how much more the first
    has in the numerator than the pair's pooled ratio makes of its denominator: the sum is exact. Of other functions of
    sums it is the gradient, averaged on the straight way from the sums of the one to those of the other, times the
    difference of the unit's statistics (Aumann and Shapley 1974): the sum is exact up to numerical integration. A
    metric of arrays has the difference of two jackknives, in which equal units need not have 0. The averaged gradient
    (S,) of the pair may be given as `slope`, where it is known.
    """
    if not metric.of_sums:
        parts = [_jackknife(rows, metric) for rows in (one, other)]
        return np.asarray(parts[0] - parts[1])
    both = np.stack([one, other])
    if (ratio := metric.ratio(both)) is not None:
        return _of_ratio(*ratio, metric)
    # What is equal is exactly 0, as whole numbers and as decimals.
    if slope is None:
        slope = mean_slopes(metric, *summed(both, np.float64)[:, None])[0]
    return weighted(one - other, slope)


def _of_ratio(above: Array, below: Array, metric: Metric) -> FloatArray:
    (first, second), (whole, price) = above.sum(axis=1), below.sum(axis=1)
    if not whole or not price:
        # A score of 0 stands for 0 / 0, whatever the units.
        sides = [
            side / total if total else np.zeros(len(side)) for side, total in zip(above, (whole, price), strict=True)
        ]
        return np.asarray(metric.scale * (sides[0] - sides[1]), dtype=np.float64)
    if (below[0] == below[1]).all():
        parts = _close_to_0(above[0] / whole, above[1] / whole)
    else:
        more, cost = (above[0] - above[1]) * (whole + price), (below[0] - below[1]) * (first + second)
        parts = _close_to_0(more, cost, ROUNDING) / (2.0 * whole * price)
    return np.asarray(metric.scale * parts)


def _close_to_0(one: Array, other: Array, tolerance: float = TIE_TOLERANCE) -> FloatArray:
    """The difference; 0 where rounding may have made it."""
    found = np.asarray(one - other, dtype=np.float64)
    found[np.abs(found) <= tolerance * np.maximum(np.abs(one), np.abs(other))] = 0.0
    return found


def weighted(differences: Array, slope: FloatArray) -> FloatArray:
    """What differences of statistics (n, S) are worth at these slopes (S,); 0 where that may be rounding."""
    terms = differences * slope
    worth = terms.sum(axis=1)
    worth[np.abs(worth) <= ROUNDING * np.abs(terms).sum(axis=1)] = 0.0
    return np.asarray(worth)


def mean_slopes(metric: Metric, one: FloatArray, other: FloatArray) -> FloatArray:
    """The score's derivatives (P, S), averaged on the straight way between P pairs of sums (P, S)."""
    s = one.shape[1]
    parts = int(np.clip(_EVALUATIONS // s**2, 1, _MOST_PARTS))
    slopes = np.zeros(one.shape)
    for part in range(parts):
        for point, weight in zip((_POINTS + 1) / 2, _WEIGHTS / 2, strict=True):
            share = (part + point) / parts
            slopes += weight / parts * derivatives(metric, other + share * (one - other))
    return slopes


def derivatives(metric: Metric, sums: FloatArray) -> FloatArray:
    """The score's derivatives (P, S) at sums (P, S), by central differences."""
    step = _STEP * np.maximum(np.abs(sums), 1)
    # Counts do not go below 0, where a metric need not be defined.
    down = np.where(sums >= 0, np.minimum(step, sums), step)
    one = np.eye(sums.shape[1])
    above, below = metric.score(sums[:, None] + one * step[:, None]), metric.score(sums[:, None] - one * down[:, None])
    return np.asarray((above - below) / (step + down))


def left_out(rows: Array, metric: Metric, units: Array) -> FloatArray:
    """The score of a system (n, S) without each of these units."""
    if metric.of_sums:
        exact = rows.astype(np.int64 if rows.dtype.kind in "iu" else np.float64)
        return np.asarray(metric.score(summed(exact, exact.dtype) - exact[units]))
    assert isinstance(metric, ArrayMetric)
    counts = np.ones((len(units), len(rows)), dtype=np.int64)
    counts[np.arange(len(units)), units] = 0
    return metric.resampled(rows, counts)


def _jackknife(rows: Array, metric: Metric) -> FloatArray:
    n = len(rows)
    without = np.concatenate(
        [left_out(rows, metric, some) for some in np.array_split(np.arange(n), -(-n * n // _TOGETHER))]
    )
    return np.asarray((n - 1) / n * (without.mean() - without) + metric.test_set_scores(rows[None])[0] / n)


def n_undefined(statistics: Array, metric: Metric) -> IntArray:
    """For each system (K,), without how many of the units its score is undefined (0 / 0)."""
    totals = summed(statistics, np.float64)
    return np.array(
        [int((~metric.defined(total - of_system)).sum()) for total, of_system in zip(totals, statistics, strict=True)],
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
    """Numerators or denominators of units over their system's denominator, those of large units weighted up.

    A unit that has a share h of the denominator draws the ratio to itself, so that what is left of it is too small: it
    is divided by sqrt(1 - h), as in heteroscedasticity-consistent standard errors (HC2; MacKinnon and White 1985).
    Both arrays are (K systems, n units); below are the denominators.
    """
    of = below.sum(axis=1, dtype=np.float64)
    whole = np.where(of != 0, of, 1.0)[:, None]
    return np.asarray(side / whole / np.sqrt(np.maximum(1 - below / whole, _LEAST_LEFT)))
