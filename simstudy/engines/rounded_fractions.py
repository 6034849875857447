"""Scores that are fractions, from the digits in which they were written: 0.333333 is a third.

The mean of k sampled answers is a multiple of 1 / k; k may differ from item to item. Written in six decimals it is a
multiple of a millionth, no more, and sums of such numbers that were equal differ in the sixth digit. Tests would take
them for different: the tails of sign flips are then unknown, and ranks have no ties.

Two fractions with denominators of at most B are 1 / B^2 apart or more. So at most one of them rounds to a written
score if the scores are written in steps of less than 1 / B^2. Here the steps are a hundredth of that, at most: less
than one in a hundred numbers of that many digits is the rounding of such a fraction, and all scores have to be.
"""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import Array, FloatArray, Metric
from simstudy.metrics.ratio import Ratio, combine, whole
from simstudy.metrics.scaling import rescaled

#: The largest denominator that is looked for.
MOST_BELOW = 100

# The part of 1 / its square that the steps may be.
_PART = 0.01

# Scores of more decimals than this are not rounded to decimals, but to the digits of their type.
_MOST_DECIMALS = 9

# What a mean in double precision loses, as a part of the largest score.
_OF_DOUBLES = 2.0**-48

# Of so many systems and items scores are looked at first.
_FEW = 64

# The largest score may have so many steps of the common denominator.
_MOST_STEPS = 2**20


def as_fractions(statistics: Array, metric: Metric) -> tuple[Array, float]:
    """Statistics (K, n items, S) with whole multiples of a common fraction as scores, and what this fraction is.

    They stay as they are, with 1, unless all scores are fractions with a small common denominator, rounded to decimals,
    to single or to double precision. So do scores that `metrics.scaling.rescaled` has whole numbers for, without a
    loss, and those of items that have weights.
    """
    columns = np.flatnonzero(metric.numerator) if isinstance(metric, Ratio) else np.zeros(0, dtype=np.intp)
    if statistics.dtype.kind in "iu" or not isinstance(metric, Ratio) or len(columns) != 1:
        return statistics, 1.0
    if metric.denominator[columns[0]] or not np.isin(combine(statistics, metric.denominator), (0, 1)).all():
        return statistics, 1.0
    scores = statistics[..., columns[0]]
    # Most scores are no fractions, and a few of them tell.
    if not _few_are(scores) or (found := _fractions(scores)) is None:
        return statistics, 1.0
    values, where, below, common = found
    above = np.rint(values * below)
    exact = _OF_DOUBLES * np.abs(values).max()
    if (np.abs(above / below - values) <= exact).all() and whole(rescaled(statistics, metric)[0]):
        return statistics, 1.0
    new = statistics.copy()
    new[..., columns[0]] = (above * (common // below))[where].reshape(scores.shape)
    return new, 1 / common


def _few_are(scores: FloatArray) -> bool:
    """Whether some scores, if they are not all 0, are fractions."""
    some = scores[:_FEW, :_FEW]
    return bool(scores.any()) and (not some.any() or _fractions(some) is not None)


def _fractions(scores: FloatArray) -> tuple[FloatArray, Array, Array, int] | None:
    """The different scores, which each is, the denominators of the former and a common one; None if there is none."""
    rounding = _rounding(scores)
    most = min(MOST_BELOW, int(np.sqrt(_PART / (2 * rounding))))
    values, where = np.unique(scores, return_inverse=True)
    # There are no more fractions than this.
    if len(values) > most**2 * (values[-1] - values[0] + 1):
        return None
    below = _denominators(values, rounding, most)
    common = int(np.lcm.reduce(below))
    return (values, where, below, common) if 0 < common * np.abs(values).max() <= _MOST_STEPS else None


def _rounding(scores: FloatArray) -> float:
    """What rounding has changed scores by, at most."""
    largest = np.abs(scores).max()
    if largest < 2.0**100 and (scores == scores.astype(np.float32)).all():
        return float(np.spacing(np.float32(largest))) / 2
    for decimals in range(_MOST_DECIMALS, -1, -1):
        steps = scores * 10.0**decimals
        if (np.abs(steps - np.rint(steps)) > 4 * np.spacing(np.abs(steps))).any():
            break
    else:
        decimals = -1
    return float(_OF_DOUBLES * largest if decimals == _MOST_DECIMALS else 0.5 * 10.0 ** -(decimals + 1))


def _denominators(values: FloatArray, rounding: float, most: int) -> Array:
    """The smallest denominator of a fraction that each value (V,) may be the rounding of; 0 if it is over `most`."""
    found = np.zeros(len(values), dtype=np.int64)
    room = rounding + 4 * np.spacing(np.abs(values))
    for below in range(most, 0, -1):
        found[np.abs(np.rint(values * below) / below - values) <= room] = below
    return found
