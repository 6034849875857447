"""Tests that may be asked again after every item: capital that is bet on bounded differences (e-values).

A gambler begins with capital 1 and bets on each difference before seeing it. If the null hypothesis is true, no bet has
an expected gain, so that the capital rarely becomes large: it ever reaches c with probability 1 / c at most (Ville
1939). The capital is the e-value, and it may be looked at as often as one likes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.betting_kernels import first_reached, log_capital
from simstudy.metrics.base import FloatArray, IntArray

#: The fractions of its capital that each of 17 bets stakes, from everything to 1/256. All begin with the same share.
FRACTIONS: FloatArray = 2.0 ** (-np.arange(17) / 2)

# exp of more is not finite.
_MOST = 700.0

# Halvings of the range of means when a bound is looked for: an error of 10^-9 of the range, to the safe side.
_HALVINGS = 30


def log_e_values(differences: FloatArray, null: float = 0.0) -> FloatArray:
    """The logarithm of the e-value after each of n differences (n,), against a mean of `null` or less.

    Differences are from -1 to 1, `null` is between. With x = (1 + d) / 2 and m = (1 + null) / 2 the e-value is the mean
    over `FRACTIONS` f of the product of 1 + f (x / m - 1) over the differences: of 1 + f d if null is 0.
    """
    logs = np.empty(len(differences))
    with np.errstate(divide="ignore"):
        log_capital(_shares(differences), (1 + null) / 2, FRACTIONS, logs)
    return logs


def largest(logs: FloatArray) -> FloatArray:
    """The largest e-value so far, after each difference: what a decision at any time goes by."""
    return np.exp(np.minimum(np.maximum.accumulate(np.maximum(logs, 0.0)), _MOST))


def confidence_sequence(differences: FloatArray, level: float, looks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (looks,) of the mean difference, valid at all times at once with probability 1 - level.

    Each end has half of the level. The lower end is the largest mean that `log_e_values` has rejected by then: the
    capital falls as the supposed mean rises, so that bisection finds it. Looks are numbers of differences, ascending.
    """
    low, high = (_rejected(_shares(sign * differences), 2 / level, looks) for sign in (1.0, -1.0))
    return 2 * low - 1, 1 - 2 * high


def _shares(differences: FloatArray) -> FloatArray:
    return np.ascontiguousarray((1 + differences) / 2, dtype=np.float64)


def _rejected(x: FloatArray, capital: float, looks: NDArray[np.int64]) -> FloatArray:
    """The largest mean that bets against it have rejected by each look."""
    found, low = np.empty(len(looks)), 0.0
    for k, look in enumerate(looks):
        # Once rejected, a mean stays rejected.
        seen, high = x[:look], 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if first_reached(seen, middle, FRACTIONS, capital) <= look:
                low = middle
            else:
                high = middle
        found[k] = low
    return found
