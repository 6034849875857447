"""The compiled loops of betting: what many fixed bets on bounded numbers have earned, number by number.

Numbers x and their supposed mean are from 0 to 1. A bet that stakes the fraction f of its capital multiplies it by
1 + f (x / mean - 1).
"""

from __future__ import annotations

import numpy as np

from simstudy.compiled import compiled

# Capital is kept within powers of two, which cost no accuracy. A bet that has lost more than all but this is given up:
# numbers below are slow, and giving capital away is no advantage.
_LARGE, _SMALL, _UNIT = 2.0**500, 2.0**-400, 2.0**500
_GIVEN_UP = 2.0**-1000


@compiled
def _bet(capital, fractions, ratio):
    """Settle all bets on one number, given x / mean - 1; the capital of all together."""
    total = 0.0
    for j in range(len(fractions)):
        own = capital[j] * (1.0 + fractions[j] * ratio)
        capital[j] = own
        total += own
    return total


@compiled
def _scaled(capital, factor):
    for j in range(len(capital)):
        capital[j] *= factor
        if capital[j] < _GIVEN_UP:
            capital[j] = 0.0


@compiled
def log_capital(x, mean, fractions, logs):
    """Write into logs (n,) the logarithm of the mean capital of all bets after each number; they begin with 1."""
    capital = np.full(len(fractions), 1.0 / len(fractions))
    log_unit = 0.0
    for i in range(len(x)):
        total = _bet(capital, fractions, x[i] / mean - 1.0)
        if total > _LARGE:
            _scaled(capital, 1.0 / _UNIT)
            log_unit += np.log(_UNIT)
            total /= _UNIT
        elif total < _SMALL:
            _scaled(capital, _UNIT)
            log_unit -= np.log(_UNIT)
            total *= _UNIT
        elif i % 1024 == 0:
            _scaled(capital, 1.0)
        logs[i] = np.log(total) + log_unit


@compiled
def first_reached(x, mean, fractions, capital_wanted):
    """After how many numbers the mean capital of all bets is first at least what is wanted; n + 1 for never."""
    capital = np.full(len(fractions), 1.0 / len(fractions))
    lost = 1.0
    for i in range(len(x)):
        total = _bet(capital, fractions, x[i] / mean - 1.0)
        if total * lost >= capital_wanted:
            return i + 1
        if total < _SMALL:
            _scaled(capital, _UNIT)
            lost /= _UNIT
            if lost == 0.0:
                return len(x) + 1
        elif i % 1024 == 0:
            _scaled(capital, 1.0)
    return len(x) + 1
