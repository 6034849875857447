"""Intervals of a proportion of right answers, and of the difference of two proportions on the same items."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]


def tango(wins: ArrayLike, losses: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """The score interval of a difference of two paired proportions (Tango 1998, equations 11 - 13).

    Of n items (one number, or (P,)), only the better system has b right, only the worse one c, (P,). The interval holds
    the differences d with |b - c - n d| <= z SE(d), where SE(d) is the standard error of b - c if the true difference
    is d. Bounds are fractions between -1 and 1.

    Examples
    --------
    Without an item that differs it is -z^2 / (n + z^2) … z^2 / (n + z^2):

    >>> low, high = tango([0, 9], [0, 3], 40)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.0876, -0.022], [0.0876, 0.3209])
    """
    counts = np.stack(np.broadcast_arrays(wins, losses, n)).astype(np.float64)
    # Pairs with equal counts have equal intervals.
    (b, c, n), pair = np.unique(counts.reshape(3, -1), axis=1, return_inverse=True)
    z = float(special.ndtri((1 + level) / 2))
    # The statistic falls as the difference grows: z below the gain, -z above it. Both are found by bisection at once.
    gain = (b - c) / n
    below, above = np.stack([-np.ones_like(gain), gain]), np.stack([gain, np.ones_like(gain)])
    for _ in range(60):
        middle = (below + above) / 2
        outside = tango_z(b, c, n, middle) > [[z], [-z]]
        below, above = np.where(outside, middle, below), np.where(outside, above, middle)
    low, high = ((below + above) / 2)[:, pair].reshape(2, *counts.shape[1:])
    return low, high


def tango_z(wins: FloatArray, losses: FloatArray, n: ArrayLike, difference: FloatArray) -> FloatArray:
    """Tango's statistic (b - c - n d) / SE(d), for wins b, losses c and a true `difference` d."""
    b, c, d, n = wins, losses, difference, np.asarray(n, dtype=np.float64)
    # The likeliest share of losses if the true difference is d.
    linear = -b - c + (2 * n - b + c) * d
    constant = -c * d * (1 - d)
    loss_share = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0)) - linear) / (4 * n)
    variance = n * (2 * loss_share + d * (1 - d))
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
    return np.clip(middle - reach, 0, p), np.clip(middle + reach, p, 1)
