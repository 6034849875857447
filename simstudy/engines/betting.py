"""Tests that may be asked again after every item: capital that is bet on bounded differences (e-values).

A gambler begins with capital 1 and bets on each difference before seeing it. If the null hypothesis is true, no bet has
an expected gain, so that the capital rarely becomes large: it ever reaches c with probability 1 / c at most (Ville
1939). The capital is the e-value, and it may be looked at as often as one likes.
"""

from __future__ import annotations

import numpy as np

from simstudy.compiled import compiled
from simstudy.metrics.base import FloatArray, IntArray

#: The fractions of its capital that each of 17 bets stakes, from everything to 1/256. All begin with the same share.
FRACTIONS: FloatArray = 2.0 ** (-np.arange(17) / 2)

# exp of more is not finite.
_MOST = 700.0

# Halvings of the range of means when a bound is looked for: an error of 10^-9 of the range, to the safe side.
_HALVINGS = 30

# Capital is kept within powers of two, which cost no accuracy. A bet that has lost more than all but this is given up:
# numbers below are slow, and giving capital away is no advantage.
_LARGE, _SMALL, _UNIT = 2.0**500, 2.0**-400, 2.0**500
_GIVEN_UP = 2.0**-1000


def log_e_values(differences: FloatArray, null: float = 0.0) -> FloatArray:
    """The logarithm of the e-value after each of n differences (n,), against a mean of `null` or less.

    Differences are from -1 to 1, `null` is between. With x = (1 + d) / 2 and m = (1 + null) / 2 the e-value is the mean
    over `FRACTIONS` f of the product of 1 + f (x / m - 1) over the differences: of 1 + f d if null is 0.
    """
    logs = np.empty(len(differences))
    with np.errstate(divide="ignore"):
        log_capital((1 + differences) / 2, (1 + null) / 2, FRACTIONS, np.inf, logs)
    return logs


def largest(logs: FloatArray) -> FloatArray:
    """The largest e-value so far, after each difference: what a decision at any time goes by."""
    return np.exp(np.minimum(np.maximum.accumulate(np.maximum(logs, 0.0)), _MOST))


def confidence_sequence(differences: FloatArray, level: float, looks: IntArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (looks,) of the mean difference, valid at all times at once with probability 1 - level.

    Each end has half of the level. The lower end is the largest mean that `log_e_values` has rejected by then: the
    capital falls as the supposed mean rises, so that bisection finds it. Looks are numbers of differences, ascending.
    """
    low, high = (_rejected_means((1 + sign * differences) / 2, 2 / level, looks) for sign in (1.0, -1.0))
    return 2 * low - 1, 1 - 2 * high


def _rejected_means(x: FloatArray, capital: float, looks: IntArray) -> FloatArray:
    """The largest mean against which bets have earned this capital by each look, (looks,)."""
    means, low = np.empty(len(looks)), 0.0
    for k, look in enumerate(looks):
        # Once rejected, a mean stays rejected.
        high = 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if log_capital(x[:look], middle, FRACTIONS, capital, np.empty(0)):
                low = middle
            else:
                high = middle
        means[k] = low
    return means


@compiled
def log_capital(x: FloatArray, mean: float, fractions: FloatArray, goal: float, logs: FloatArray) -> bool:
    """Whether the mean capital of all bets on numbers (n,) reaches a goal; its logarithms until then fill logs (n,).

    Numbers and their supposed mean are from 0 to 1. All bets begin with 1; a bet that stakes the fraction f of its
    capital multiplies it by 1 + f (x / mean - 1). Logs may be empty.
    """
    capital = np.full(len(fractions), 1.0 / len(fractions))
    log_unit = 0.0
    for i in range(len(x)):
        ratio, total = x[i] / mean - 1.0, 0.0
        for j in range(len(fractions)):
            capital[j] *= 1.0 + fractions[j] * ratio
            total += capital[j]
        if total >= goal:
            return True
        factor = 1.0 / _UNIT if total > _LARGE else _UNIT if total < _SMALL else 1.0
        if factor != 1.0 or i % 1024 == 0:
            for j in range(len(fractions)):
                capital[j] *= factor
                if capital[j] < _GIVEN_UP:
                    capital[j] = 0.0
            total *= factor
            goal *= factor
            log_unit -= np.log(factor)
        if len(logs):
            logs[i] = np.log(total) + log_unit
    return False
