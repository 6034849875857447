"""Statistics on a scale of their own, so that no test depends on the unit in which scores are told.

Scores of 0.5 and 2.5 are whole numbers of halves; scores of 1e200 are those of 1 told in other units. Only where the
score is a ratio is its scale free: other metrics (BLEU) have counts, whose scale means something.
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, Metric
from simstudy.metrics.ratio import Ratio, combine, whole
from simstudy.validation import InputError

#: Sizes of scores that double precision can add, square and compare: sums stay below the one, and of each system that
#: does not have 0 everywhere some score is at least the other, or that part of another system's largest.
MOST, LEAST, LEAST_PART = 2.0**960, 2.0**-960, 2.0**-400

# Differences between systems below the first part of the largest score are lost in the rounding of sums, and in ties.
# If all are below the second, they are rounding themselves, unless scores are whole numbers.
_SMALL_DIFFERENCE, _NO_DIFFERENCE = 2.0**-20, 2.0**-50

# Parts of the largest value: the least unit that is looked for, and what rounding may have left of none.
_LEAST_UNIT, _LEFT = 2.0**-20, 1e-10


def check_range(statistics: Array, names: list[str]) -> None:
    """Raise a ValueError where the sizes of statistics (K, n items, S) are beyond what double precision can hold."""
    if statistics.dtype.kind in "iu":
        return
    largest = np.abs(statistics).max(axis=1)
    for s in range(statistics.shape[2]):
        for k in np.flatnonzero(largest[:, s] > 0):
            size, of = float(largest[k, s]), f"of system '{names[k]}' the largest is"
            if size < LEAST:
                raise InputError("statistics", f"must be told in another unit: {of} {size:.3g}, below {LEAST:.3g}")
            if size * statistics.shape[1] > MOST:
                raise InputError(
                    "statistics",
                    f"must be told in another unit: {of} {size:.3g}, and {statistics.shape[1]:,} such ones add up to "
                    f"more than {MOST:.3g}",
                )
            if size < LEAST_PART * float(largest[:, s].max()):
                raise InputError(
                    "statistics", f"must be of comparable sizes: {of} {size:.3g}, of another {largest[:, s].max():.3g}"
                )


def without_offset(statistics: Array, metric: Metric, *, by_item: bool = True) -> Array:
    """The same statistics (K systems, n items, S), less what the systems' scores have in common if that is nearly all.

    Gains do not change, but they would be lost in rounding where scores are as large as times in ms since 1970.
    Statistics are returned as they are if the score is no mean over items of the same weight for all systems, or if
    some system differs from another one by more than a millionth of the largest score. An offset for each item leaves
    differences between systems as they are, but not one system's spread over the items: that takes one for all.
    """
    columns = np.flatnonzero(metric.numerator) if isinstance(metric, Ratio) else np.zeros(0, dtype=np.intp)
    if not isinstance(metric, Ratio) or len(columns) != 1 or metric.denominator[columns[0]]:
        return statistics
    above, below = statistics[..., columns[0]], combine(statistics, metric.denominator)
    largest = float(max(above.max(), -float(above.min())))
    # Whole numbers of this size that differ do so by more.
    if (above.dtype.kind in "iu" and largest < 1 / _SMALL_DIFFERENCE) or (below != below[0]).any() or below.min() <= 0:
        return statistics
    offset = above.min(axis=0) if by_item else (above / below).min() * below[0]
    rest = above - offset
    least = 0.0 if (above == np.rint(above)).all() else _NO_DIFFERENCE * largest
    if not least < rest.max() <= _SMALL_DIFFERENCE * largest:
        return statistics
    new = statistics.copy()
    new[..., columns[0]] = rest
    return new


def rescaled(statistics: Array, metric: Metric) -> tuple[Array, float]:
    """The same statistics in units in which they are whole numbers, or else at most 1, and what such a unit is worth.

    Scores of the new statistics (K systems, n items, S) times that factor are the scores. Where nothing is to be done,
    it is these statistics and 1. Powers of two do not round, so the new statistics are the same for scores that differ
    by one.
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
        unit = _common_unit(statistics[..., columns]) or _decimal_unit(statistics[..., columns])
        if unit:
            new[..., columns] = np.rint(new[..., columns] / unit)
        else:
            unit = ldexp(1.0, frexp(float(np.abs(new[..., columns]).max()))[1])
            new[..., columns] /= unit
        factor *= unit**sign
    return (new.astype(np.int64) if whole(new) else new), factor


def _common_unit(values: Array) -> float | None:
    """The largest number of which all values (K, n, S) are whole multiples that add up exactly, if there is one."""
    exponent, divisor, largest = 2**15, 0, 0.0
    # Twice over the systems: by which power of two they are whole, then what is left in common.
    for rows in values:
        found = rows[rows != 0]
        if len(found):
            mantissa, exponents = np.frexp(np.abs(found))
            digits = (mantissa * 2.0**53).astype(np.int64)
            lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1
            exponent = min(exponent, int((exponents - 53 + lowest).min()))
            largest = max(largest, float(np.abs(found).max()))
            if frexp(largest)[1] - exponent > 62:
                return None
    if largest == 0:
        return 1.0
    for rows in values:
        divisor = int(np.gcd(divisor, np.gcd.reduce(np.ldexp(rows, -exponent).astype(np.int64), axis=None)))
    unit = ldexp(float(divisor), exponent)
    return unit if largest / unit * values.shape[1] * values.shape[2] < 2**53 else None


def _decimal_unit(values: Array) -> float | None:
    """The largest number of which all values are whole multiples but for their rounding: 0.37 is 37 hundredths.

    Euclid's algorithm, for units of at least a millionth of the largest value.
    """
    largest = float(np.abs(values).max())
    unit = largest
    for rows in values:
        left = np.abs(rows)
        while True:
            left = np.abs(left - unit * np.rint(left / unit))
            left = left[left > _LEFT * largest]
            if not len(left):
                break
            left, unit = np.append(left, unit), float(left.min())
            if unit < _LEAST_UNIT * largest:
                return None
    unit = largest / float(np.rint(largest / unit))
    multiples = values / unit
    nearest = np.rint(multiples)
    exact = bool((np.abs(multiples - nearest) <= TIE_TOLERANCE * np.abs(nearest)).all())
    return unit if exact and float(np.abs(nearest).max()) * values.shape[1] * values.shape[2] < 2**53 else None


def common_divisor(scores: Array) -> int:
    """The greatest common divisor of whole numbers, at least 1."""
    divisor = 0
    for row in scores:
        divisor = int(np.gcd(divisor, np.gcd.reduce(row)))
        if divisor == 1:
            break
    return max(divisor, 1)


def on_grid(rows: Array) -> FloatArray:
    """Numbers (..., n) rounded to a grid of each row's own, so fine that a row's sums use all of double precision.

    Whole steps of a power of two add up to the same in any order, and a row's grid is not coarse because another row's
    numbers are large.
    """
    steps = grid_steps(rows)[..., None]
    return np.asarray(np.rint(rows / steps) * steps)


def grid_steps(rows: Array) -> FloatArray:
    """The steps (...) of the grids that `on_grid` rounds rows (..., n) to: powers of two."""
    largest = np.abs(rows).max(axis=-1)
    exponent = np.frexp(np.where(largest > 0, largest, 1.0) * rows.shape[-1])[1] - 52
    return np.asarray(np.ldexp(1.0, exponent))
