"""Statistics in a unit in which they are whole numbers or at most 1, so that no test depends on the unit of scores.

Scores of 0.5 and 2.5 are whole numbers of halves. Only ratios are rescaled: other metrics (BLEU) have counts.
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, Metric, Ratio, whole
from simstudy.validation import InputError

# Sizes of scores that double precision can add, square and compare: sums are at most `_MOST`, and the largest score of
# a system, if it is not 0, is at least `_LEAST` and at least `_LEAST_PART` of another system's largest.
_MOST, _LEAST, _LEAST_PART = 2.0**960, 2.0**-960, 2.0**-400

# The least common unit, as a part of the largest value.
_LEAST_UNIT = 2.0**-20


def check_range(statistics: Array, names: list[str]) -> None:
    """Raise an InputError if double precision cannot add up statistics (K, n items, S) of these sizes."""
    if statistics.dtype.kind in "iu":
        return
    sizes = np.abs(statistics).max(axis=1)
    largest = sizes.max(axis=0)
    too_small = (sizes > 0) & (sizes < np.maximum(_LEAST, _LEAST_PART * largest))
    refused = too_small | (sizes > _MOST / statistics.shape[1])
    if refused.any():
        k, s = np.argwhere(refused)[0]
        rule = f"must be in another unit: the largest of system '{names[k]}' is {sizes[k, s]:.3g}"
        raise InputError("statistics", f"{rule}, of all systems {largest[s]:.3g}: double precision cannot add them up")


def rescaled(statistics: Array, metric: Metric) -> tuple[Array, float]:
    """Statistics (K systems, n items, S) in units in which they are whole numbers, or else at most 1, and a factor.

    Scores of the new statistics times the factor are the scores.
    """
    if not isinstance(metric, Ratio) or whole(statistics):
        return statistics, 1.0
    above, below = (np.flatnonzero(weights) for weights in (metric.numerator, metric.denominator))
    groups = [(above, 1), (below, -1)]
    if np.intersect1d(above, below).size:
        # One unit for all: it cancels.
        groups = [(np.union1d(above, below), 0)]
    new = statistics.astype(np.float64)
    factor = 1.0
    for columns, sign in groups:
        if whole(statistics[..., columns]):
            continue
        unit = _common_unit(new[..., columns])
        if unit:
            new[..., columns] = np.rint(new[..., columns] / unit)
        else:
            # A power of two does not round.
            unit = ldexp(1.0, frexp(float(np.abs(new[..., columns]).max()))[1])
            new[..., columns] /= unit
        factor *= unit**sign
    return (new.astype(np.int64) if whole(new) else new), factor


def _common_unit(values: FloatArray) -> float | None:
    """The largest number of which all values are whole multiples, up to rounding: 0.37 is 37 hundredths.

    Euclid's algorithm, for units of at least a millionth of the largest value; None if there is none.
    """
    largest = float(np.abs(values).max())
    if largest == 0:
        return 1.0
    unit = largest
    for rows in values:
        left = np.abs(rows)
        while True:
            left = np.abs(left - unit * np.rint(left / unit))
            left = left[left > TIE_TOLERANCE * largest]
            if not len(left):
                break
            left, unit = np.append(left, unit), float(left.min())
            if unit < _LEAST_UNIT * largest:
                return None
    unit = largest / float(np.rint(largest / unit))
    if float(np.rint(largest / unit)) * values[..., 0].size >= 2**53:
        return None
    exact = np.abs(values - unit * np.rint(values / unit)).max() <= TIE_TOLERANCE * largest
    return unit if exact else None


def on_grid(rows: Array) -> FloatArray:
    """Numbers (..., n) rounded to multiples of a power of two for each row, which add up to the same in any order.

    The steps are so fine that a row's sums use all of double precision.
    """
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    exponent = np.frexp(np.where(largest > 0, largest, 1.0) * rows.shape[-1])[1] - 52
    steps = np.ldexp(1.0, exponent)
    return np.asarray(np.rint(rows / steps) * steps)
