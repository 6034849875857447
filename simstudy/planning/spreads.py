"""How well a pilot tells how much two systems differ from unit to unit."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.planning.cases import LEVEL
from simstudy.planning.differences import t_cut
from simstudy.statistics.pvalues import clopper_pearson


def spread_interval(values: FloatArray) -> tuple[float, float, float]:
    """The standard deviation of n units' differences with its 95 % interval: the jackknife of the log variance.

    The jackknife's standard error is itself of few units where tails are long, and a spread then looks smaller than it
    is. The upper end has as many degrees of freedom as the squared influences tell (Satterthwaite 1946). To its
    variance comes that of a squared mean, 2 / (n (n - 1)), without which values that are all as far from their mean
    would have an interval of no width. Values of which there are only two have the interval of their share (Clopper and
    Pearson), whose coverage is never less.

    Measured coverage of 4,000 pilots of 50, 100 and 200 values each: 0.95 - 0.96 of normal ones, 0.95 - 0.97 of
    ratings, 0.96 - 0.97 where nine of ten are 0, 0.92 - 0.93 of t with 5 degrees of freedom, 0.86 - 0.89 of normal
    values times log-normal ones (0.8), 0.83 - 0.87 of log-normal values (1.0) and 0.85 - 0.88 of differences of two of
    them: the truth is above the other intervals (slow tests, tests/planning/test_pilots_hold.py).

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
    n, levels = len(values), np.unique(np.round((values - values.min()) / np.ptp(values), 9))
    if len(levels) == 2:
        return _of_two_values(values)
    total, square = values.sum(), (values**2).sum()
    without = ((square - values**2) - (total - values) ** 2 / (n - 1)) / (n - 2)
    variance = float(values.var(ddof=1))
    logs = np.log(np.maximum(without, variance * 1e-9))
    squares = (logs - logs.mean()) ** 2
    se = float(np.sqrt((n - 1) / n * squares.sum() + 2 / (n * (n - 1))))
    # Of the sum of n squares that vary so much.
    vary = float((squares**2).mean() / max(squares.mean(), 1e-100) ** 2) - 1
    few = min(n - 1, max(1.0, 2 * n / vary)) if vary > 0 else n - 1
    down, up = (t_cut((1 - LEVEL) / 2, df) * se / 2 for df in (n - 1, few))
    sd = float(np.sqrt(variance))
    return sd, sd * float(np.exp(-down)), sd * float(np.exp(up))


def _of_two_values(values: FloatArray) -> tuple[float, float, float]:
    step = float(np.ptp(values))
    _, low, high = share_interval(int((values > values.min() + step / 2).sum()), len(values))
    nearest = min(max(0.5, low), high)
    least, most = (step * float(np.sqrt(share * (1 - share))) for share in (min(low, 1 - high), nearest))
    sd = float(values.std(ddof=1))
    return sd, least, max(most, sd)


def share_interval(count: int, n: int) -> tuple[float, float, float]:
    """A share of n units with its 95 % interval (Clopper and Pearson 1934), whose coverage is never less.

    Examples
    --------
    >>> [round(number, 3) for number in share_interval(5, 50)]
    [0.1, 0.033, 0.218]
    """
    low, high = clopper_pearson(count, n, LEVEL)
    return count / n, float(low), float(high)
