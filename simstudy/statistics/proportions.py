"""Intervals of proportions of right answers: of one system's, and of the difference of two on the same items."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]


def tango(better: ArrayLike, worse: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """The score interval of a difference of two paired proportions (Tango 1998, equations 11 - 13).

    It holds the differences that the score test does not reject: the values d with |b - c - n d| at most z times the
    standard error that b - c has where the true difference is d. Of n items (one number, or (P,)), b and c (P,) are
    those that only the better, and only the worse, system has right. Bounds are fractions between -1 and 1.

    Examples
    --------
    Without a pair that differs it is -z^2 / (n + z^2) … z^2 / (n + z^2):

    >>> low, high = tango([0, 9], [0, 3], 40)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.0876, -0.022], [0.0876, 0.3209])
    """
    b, c, n = np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in (better, worse, n)))
    # Pairs with equal counts have equal intervals: of many pairs few are unlike.
    keys = np.zeros(b.size, dtype=np.int64)
    for counts in (b, c, n):
        codes, known = pd.factorize(counts.ravel())
        keys = pd.factorize(keys * len(known) + codes)[0]
    first = np.empty(keys.max(initial=-1) + 1, dtype=np.int64)
    first[keys[::-1]] = np.arange(b.size)[::-1]
    low, high = _tango(b.ravel()[first], c.ravel()[first], n.ravel()[first], level)
    return low[keys].reshape(b.shape), high[keys].reshape(b.shape)


def _tango(b: FloatArray, c: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    z = float(special.ndtri((1 + level) / 2))
    # The statistic falls as the difference grows: z below the gain, -z above it. Both are found by bisection at once.
    gain = (b - c) / n
    limits = np.array([[z], [-z]])
    low, high = np.stack([-np.ones_like(gain), gain]), np.stack([gain, np.ones_like(gain)])
    for _ in range(60):
        middle = (low + high) / 2
        outside = tango_z(b, c, n, middle) > limits
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    ends = (low + high) / 2
    return ends[0], ends[1]


def tango_z(better: FloatArray, worse: FloatArray, n: ArrayLike, difference: FloatArray) -> FloatArray:
    """Tango's statistic: how many standard errors b - c lies above what a true `difference` makes expect."""
    b, c, d, n = better, worse, difference, np.asarray(n, dtype=np.float64)
    # The likeliest share of items that only the second has right, where the true difference is d.
    linear = -b - c + (2 * n - b + c) * d
    constant = -c * d * (1 - d)
    only_second = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0)) - linear) / (4 * n)
    variance = n * (2 * only_second + d * (1 - d))
    above = b - c - n * d
    with np.errstate(divide="ignore", invalid="ignore"):
        z = above / np.sqrt(np.maximum(variance, 0))
    return np.where(above == 0, 0.0, z)


def wilson(share: ArrayLike, n: int | NDArray[np.int64], level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """The score interval of binomial proportions, shares (K,) of n, or of n (K,) each (Wilson 1927)."""
    p = np.asarray(share, dtype=np.float64)
    z = float(special.ndtri((1 + level) / 2))
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    # At 0 and 1 one bound is the share itself, but for rounding.
    low, high = np.minimum(middle - reach, p), np.maximum(middle + reach, p)
    return np.maximum(low, 0), np.minimum(high, 1)
