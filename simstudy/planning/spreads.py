"""How well a pilot tells how much two systems differ from unit to unit."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.planning.cases import LEVEL
from simstudy.planning.forms import t_cut
from simstudy.pvalues import clopper_pearson


def spread_interval(values: FloatArray) -> tuple[float, float, float]:
    """The standard deviation of n units' differences with its 95 % interval: the jackknife of the log variance.

    Measured coverage of 20,000 pilots of 50 to 200 values each: 0.94 - 0.95 of normal ones, 0.95 of ratings, 0.93 -
    0.94 where nine of ten are 0, 0.90 - 0.92 of t with 5 degrees of freedom, 0.82 - 0.86 of normal values times
    log-normal ones (0.8); of two systems' differences 0.92 - 0.96 (F1, BLEU, AP, ratings), 0.90 - 0.92 (clusters of
    unequal sizes), 0.87 - 0.89 (log-normal scores; slow tests, tests/planning/test_plans_hold.py).

    Parameters
    ----------
    values
        (n,), at least three, not all equal.

    Examples
    --------
    >>> middle, low, high = spread_interval(np.random.default_rng(0).normal(size=400))
    >>> bool(0.9 < low < middle < high < 1.1)
    True
    """
    n = len(values)
    total, square = values.sum(), (values**2).sum()
    without = ((square - values**2) - (total - values) ** 2 / (n - 1)) / (n - 2)
    variance = float(values.var(ddof=1))
    logs = np.log(np.maximum(without, variance * 1e-9))
    se = np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    reach = t_cut((1 - LEVEL) / 2, n - 1) * se / 2
    sd = float(np.sqrt(variance))
    return sd, sd * float(np.exp(-reach)), sd * float(np.exp(reach))


def share_interval(count: int, n: int) -> tuple[float, float, float]:
    """A share of n units with its 95 % interval (Clopper and Pearson 1934), whose coverage is never less.

    Examples
    --------
    >>> [round(number, 3) for number in share_interval(5, 50)]
    [0.1, 0.033, 0.218]
    """
    low, high = clopper_pearson(count, n, LEVEL)
    return count / n, float(low), float(high)
