"""The part of a variance that is not within units: its estimate and its confidence interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

# Fewer units tell too little of how far a variance may be off.
_FEWEST_UNITS = 4


def between_variance(values: FloatArray, within: FloatArray, level: float = 0.95) -> tuple[float, float, float]:
    """The variance of units that is not within them, and its interval: (estimate, low, high).

    The estimate is the variance of the values less the mean variance within. It is unbiased, and may be below 0. The
    ends of the interval are at least 0. They combine the intervals of both parts (MOVER: Zou and Donner 2008). Each
    part has chi-squared limits (Satterthwaite 1946) with the degrees of freedom that fit its jackknife variance, and
    the jackknife tells how both parts correlate. An estimate below 0 gets the interval of an estimate of 0, so that the
    upper end never is 0.

    Parameters
    ----------
    values
        (n,) of one number a unit, each with noise of its own.
    within
        (n,) unbiased estimates of the variances of these noises.
    level
        Confidence, a fraction: an end is a one-sided bound with confidence (1 + level) / 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.normal(scale=2.0, size=(400, 1)) + rng.normal(scale=3.0, size=(400, 5))
    >>> found = between_variance(samples.mean(axis=1), samples.var(axis=1, ddof=1) / 5)
    >>> found[1] < 4 < found[2]
    True
    """
    n = len(values)
    total, inside = float(np.var(values, ddof=1)) if n > 1 else np.nan, float(np.mean(within))
    estimate = total - inside
    if n < _FEWEST_UNITS or not np.isfinite(estimate):
        return estimate, np.nan, np.nan
    centred, sum_within = values - values.mean(), within.sum()
    squares = (centred**2).sum() - centred**2 * n / (n - 1)
    left_out = np.stack([np.maximum(squares, 0) / (n - 2), (sum_within - within) / (n - 1)])
    deviation = left_out - left_out.mean(axis=1, keepdims=True)
    spread = np.sqrt((n - 1) / n * (deviation**2).sum(axis=1))
    both = (n - 1) / n * float(deviation[0] @ deviation[1])
    alike = both / float(spread.prod()) if spread.prod() > 0 else 0.0
    if 0 < total < inside:
        spread[0] *= inside / total
    total = max(total, inside)
    (low, high), (low_within, high_within) = (
        _limits(part, sd, level) for part, sd in ((total, float(spread[0])), (inside, float(spread[1])))
    )
    down, up = total - low, high - total
    least = total - inside - _hypotenuse(down, high_within - inside, alike)
    most = total - inside + _hypotenuse(up, inside - low_within, alike)
    return estimate, max(least, 0.0), max(most, 0.0)


def _limits(variance: float, sd: float, level: float) -> tuple[float, float]:
    """The limits of a variance whose estimate has this standard deviation."""
    if variance <= 0 or sd <= 0:
        return variance, variance
    df, tail = 2 * (variance / sd) ** 2, (1 - level) / 2
    return variance * df / float(special.chdtri(df, tail)), variance * df / float(special.chdtri(df, 1 - tail))


def _hypotenuse(one: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0)))
