"""The interval of a gain, its standard error, and the least gain that a pair would detect.

No test is needed for them: the jackknife gives the covariances of all scores as one Gram matrix. Where items are right
or wrong and taken one by one, the interval is Tango's (1998), which covers for few items too: 0.95 to 1.00 on 5 to 50
items with accuracies of 0.8 and 0.95. The jackknife's is approximate: the study error_rates has its coverage by
condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from simstudy.engines.array_scores import bootstrap_deviations
from simstudy.engines.question import Question, products
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import deviations
from simstudy.statistics.proportions import tango

#: Coverage of the interval; level (two-sided) and power of the minimum detectable gain.
LEVEL, ALPHA, POWER = 0.95, 0.05, 0.8

# Variances of a difference below this part of both systems' are rounding.
_ROUNDING = 1e-12


def intervals(question: Question, gain: FloatArray, better: IntArray, worse: IntArray) -> dict[str, Any]:
    """Columns of Comparisons that tell how well the gains (P,) are known; NaN where there is no number.

    `better` and `worse` are on how many units the better system of each pair is better, and worse. A jackknife interval
    is the gain and t times its standard error, where there is one (`spread`).
    """
    df = question.n_units - (len(question.strata) - 1)
    se, skewness = spread(question)
    by_score = question.right_or_wrong and len(question.strata) == 2
    if by_score:
        low, high = (question.metric.scale * bound for bound in tango(better, worse, question.n_units, LEVEL))
    else:
        reach = special.stdtrit(df, (1 + LEVEL) / 2) * se
        low, high = gain - reach, gain + reach
    return {
        "gain_se": se,
        "gain_low": low,
        "gain_high": high,
        "minimum_detectable_gain": (special.stdtrit(df, 1 - ALPHA / 2) + special.stdtrit(df, POWER)) * se,
        "interval": "score" if by_score else "jackknife" if question.metric.of_sums else "bootstrap",
        "df": df,
        "skewness": skewness,
    }


def spread(question: Question) -> tuple[FloatArray, FloatArray]:
    """The standard error of each pair's gain, and the skewness of what the units contribute to it; (P,) each.

    Both are by the jackknife (`metrics.influence.contributions`), of a metric of arrays by the bootstrap
    (`engines.array_scores.bootstrap_deviations`). The skewness of a mean's contributions is that of the
    units' differences: the third central moment over the 1.5th power of the second, positive where a few units favour
    the better system by much. Both are NaN where no unit tells the two systems apart, and where a system's score is
    undefined without one of the units: the whole denominator is there.
    """
    (i, j), n = question.pairs, question.n_units
    if isinstance(question.metric, ArrayMetric):
        centred = bootstrap_deviations(
            question.metric, question.statistics, question.members, question.strata, question.seed
        ) * (1 if question.metric.higher_is_better else -1)
        # Its skewness is that of the gain, not of n contributions.
        n *= centred.shape[1]
        moments = _moments(centred, question)
    elif question.right is not None and len(question.strata) == 2:
        moments = _moments_of_answers(question.right, question)
    else:
        moments = _moments(deviations(question.contributions, question.strata), question)
    own, cubes, mixed, row = moments
    variance = own[i] + own[j] - 2 * mixed[0]
    third = cubes[i] - cubes[j] - 3 * (mixed[1] - mixed[2])
    # What is left of two nearly equal systems is rounding: their own difference tells.
    for p in np.flatnonzero(variance <= 1e-6 * (own[i] + own[j])):
        difference = row(i[p]) - row(j[p])
        variance[p], third[p] = (difference**2).sum(), (difference**3).sum()
    variance[variance <= _ROUNDING**2 * (own[i] + own[j])] = np.nan
    if question.metric.of_sums:
        variance[question.undefined[i] | question.undefined[j]] = np.nan
    return question.factor * np.sqrt(variance), third / variance**1.5 * np.sqrt(n)


class _Moments(NamedTuple):
    """Sums of what the units of systems deviate: of squares and cubes (K,), of x y, x x y and x y y (3, P)."""

    squares: FloatArray
    cubes: FloatArray
    mixed: FloatArray
    #: A system's deviations (n,).
    row: Callable[[int], FloatArray]


def _moments(rows: FloatArray, question: Question) -> _Moments:
    """The moments of rows (K, n)."""
    squares = rows**2
    own, cubes = (np.einsum("kn,kn->k", power, rows) for power in (rows, squares))
    mixed = products(rows, question), products(squares, question, rows), products(rows, question, squares)
    return _Moments(own, cubes, np.stack(mixed), rows.__getitem__)


def _moments_of_answers(right: NDArray[np.bool_], question: Question) -> _Moments:
    """The same of right and wrong answers (K, n): a system deviates by one of two numbers, so answers are counted."""
    values, own = question.answers
    (i, j), (first, second) = question.pairs, question.won
    both = right.sum(axis=1)[i] - first
    neither = question.n_units - both - first - second
    (x0, x1), (y0, y1) = values[i].T, values[j].T
    powers = ((x0, x1, y0, y1), (x0**2, x1**2, y0, y1), (x0, x1, y0**2, y1**2))
    mixed = [both * a1 * b1 + first * a1 * b0 + second * a0 * b1 + neither * a0 * b0 for a0, a1, b0, b1 in powers]
    return _Moments(own[:, 0], own[:, 1], np.stack(mixed), lambda k: values[k][right[k].astype(np.int8)])
