"""Statistics on a scale of their own, so that no test depends on the unit in which scores are given.

Scores of 0.5 and 2.5 are whole numbers of halves; scores of 1e200 are those of 1 in other units. Only where the
score is a ratio is its scale free: other metrics (BLEU) have counts, whose scale means something.
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, Metric, Ratio, whole
from simstudy.validation import InputError

#: Sizes of scores that double precision can add, square and compare: sums are at most `MOST`, and the largest score of
#: a system, if it is not 0, is at least `LEAST` and at least `LEAST_PART` of another system's largest.
MOST, LEAST, LEAST_PART = 2.0**960, 2.0**-960, 2.0**-400

# The least unit that is looked for, as a part of the largest value.
_LEAST_UNIT = 2.0**-20


def check_range(statistics: Array, names: list[str]) -> None:
    """Raise a ValueError where the sizes of statistics (K, n items, S) are beyond what double precision can hold."""
    if statistics.dtype.kind in "iu":
        return
    sizes = np.abs(statistics).max(axis=1)
    largest = sizes.max(axis=0)
    refused = (sizes > MOST / statistics.shape[1]) | (sizes < np.maximum(LEAST, LEAST_PART * largest))
    if (refused & (sizes > 0)).any():
        k, s = np.argwhere(refused & (sizes > 0))[0]
        rule = f"must be in another unit: the largest of system '{names[k]}' is {sizes[k, s]:.3g}"
        raise InputError("statistics", f"{rule}, of all systems {largest[s]:.3g}: double precision cannot add them up")


def rescaled(statistics: Array, metric: Metric) -> tuple[Array, float]:
    """The same statistics in units in which they are whole numbers, or else at most 1, and what such a unit is worth.

    Scores of the new statistics (K systems, n items, S) times that factor are the scores. Where nothing is to be done,
    it is these statistics and 1.
    """
    if not isinstance(metric, Ratio) or whole(statistics):
        return statistics, 1.0
    above = {s for s, weight in enumerate(metric.numerator) if weight}
    below = {s for s, weight in enumerate(metric.denominator) if weight}
    if above & below:
        # One unit for all: it cancels.
        groups, signs = [above | below], [0]
    else:
        groups, signs = [above, below], [1, -1]
    new = statistics.astype(np.float64)
    factor = 1.0
    for group, sign in zip(groups, signs, strict=True):
        columns = sorted(group)
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
    """The largest number of which all values are whole multiples but for their rounding: 0.37 is 37 hundredths.

    Euclid's algorithm, for units of at least a millionth of the largest value.
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
    """Numbers (..., n) rounded to a grid of each row's own, so fine that a row's sums use all of double precision.

    Whole steps of a power of two add up to the same in any order, and a row's grid is not coarse because another row's
    numbers are large.
    """
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    exponent = np.frexp(np.where(largest > 0, largest, 1.0) * rows.shape[-1])[1] - 52
    steps = np.ldexp(1.0, exponent)
    return np.asarray(np.rint(rows / steps) * steps)
