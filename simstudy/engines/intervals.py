"""The interval of a gain, its standard error, and the least gain that a pair would detect.

No test is needed for them: the jackknife gives the covariances of all scores as one Gram matrix. Where items are right
or wrong and taken one by one, the interval is Tango's (1998), which covers for few items too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from simstudy.engines.question import Question, products
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import deviations, n_undefined

#: Coverage of the interval; level (two-sided) and power of the detectable gain.
LEVEL, ALPHA, POWER = 0.95, 0.05, 0.8

# Variances of a difference below this part of both systems' are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Intervals:
    """One entry for each of the P pairs; NaN where there is no number.

    Attributes
    ----------
    se
        Standard error of the gain, metric's scale.
    low, high
        95 % interval of the true gain, metric's scale.
    detectable
        The least true gain that a pair with this standard error detects with power 0.8, two-sided at 0.05.
    score
        Whether the interval is Tango's score interval, rather than the jackknife's.
    df
        Degrees of freedom of t: units less strata.
    """

    se: FloatArray
    low: FloatArray
    high: FloatArray
    detectable: FloatArray
    score: bool
    df: int


def intervals(question: Question, gain: FloatArray, better: IntArray, worse: IntArray) -> Intervals:
    """Intervals of the gains (P,), given on how many units the better system is better and worse.

    A jackknife interval is the gain and t times its standard error. A pair has none where no unit tells the two
    systems apart, and where a system's score is undefined without one of the units: the whole denominator is there.
    """
    df = question.n_units - (len(question.strata) - 1)
    se = _standard_errors(question)
    if question.right_or_wrong and len(question.strata) == 2:
        scale = getattr(question.metric, "scale", 1.0)
        low, high = (scale * bound for bound in tango(better, worse, question.n_units, LEVEL))
    else:
        reach = stats.t.ppf((1 + LEVEL) / 2, df) * se
        low, high = gain - reach, gain + reach
    detectable = (stats.t.ppf(1 - ALPHA / 2, df) + stats.t.ppf(POWER, df)) * se
    return Intervals(se, low, high, detectable, question.right_or_wrong and len(question.strata) == 2, df)


def _standard_errors(question: Question) -> FloatArray:
    i, j = question.pairs
    centred = deviations(question.contributions, question.strata)
    own = np.einsum("kn,kn->k", centred, centred)
    variance = own[i] + own[j] - 2 * products(centred, question)
    # What is left of two nearly equal systems is rounding: their own difference tells.
    for p in np.flatnonzero(variance <= 1e-6 * (own[i] + own[j])):
        variance[p] = ((centred[i[p]] - centred[j[p]]) ** 2).sum()
    variance[variance <= _ROUNDING**2 * (own[i] + own[j])] = np.nan
    undefined = n_undefined(question.statistics, question.metric) > 0
    variance[undefined[i] | undefined[j]] = np.nan
    return np.asarray(np.sqrt(variance))


def tango(better: ArrayLike, worse: ArrayLike, n: int, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
    """The score interval of a difference of two paired proportions (Tango 1998, equations 11 - 13).

    It holds the differences that the score test does not reject: the values d with |b - c - n d| at most z times the
    standard error that b - c has where the true difference is d.

    Parameters
    ----------
    better, worse
        (P,) numbers of items that only the first, and only the second, system has right: b and c.
    n
        Items.
    level
        Coverage, a fraction.

    Returns
    -------
    low, high
        (P,) fractions, between -1 and 1.

    Examples
    --------
    Without a pair that differs it is -z^2 / (n + z^2) … z^2 / (n + z^2):

    >>> low, high = tango([0, 9], [0, 3], 40)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.0876, -0.022], [0.0876, 0.3209])
    """
    b, c = np.asarray(better, dtype=np.float64), np.asarray(worse, dtype=np.float64)
    z = float(stats.norm.ppf((1 + level) / 2))

    def statistic(d: FloatArray) -> FloatArray:
        return score_z(b, c, n, d)

    gain = (b - c) / n
    return _solve(statistic, -np.ones_like(gain), gain, z), _solve(statistic, gain, np.ones_like(gain), -z)


def score_z(better: FloatArray, worse: FloatArray, n: int, difference: FloatArray) -> FloatArray:
    """Tango's statistic: how many standard errors b - c lies above what a true `difference` makes expect."""
    b, c, d = better, worse, difference
    # The likeliest share of items that only the second has right, where the true difference is d.
    linear = -b - c + (2 * n - b + c) * d
    constant = -c * d * (1 - d)
    only_second = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0)) - linear) / (4 * n)
    variance = n * (2 * only_second + d * (1 - d))
    above = b - c - n * d
    with np.errstate(divide="ignore", invalid="ignore"):
        z = above / np.sqrt(np.maximum(variance, 0))
    return np.where(above == 0, 0.0, z)


def _solve(statistic: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, z: float) -> FloatArray:
    """Where a statistic that falls from `low` to `high` passes z, by bisection."""
    low, high = low.copy(), high.copy()
    for _ in range(60):
        middle = (low + high) / 2
        above = statistic(middle) > z
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)
