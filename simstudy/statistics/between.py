"""The variance between units: its estimate and its confidence interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

# With fewer units the error of a variance is not known.
_FEWEST_UNITS = 4


def between_variance(values: FloatArray, within: FloatArray, level: float = 0.95) -> tuple[float, float, float]:
    """The variance between units, and its interval: (estimate, low, high).

    The estimate is the variance of the values less the mean variance within; it is unbiased, and may be below 0. The
    interval (ends >= 0) combines the intervals of both parts (MOVER: Zou and Donner 2008). Each part has chi-squared
    limits (Satterthwaite 1946) with the degrees of freedom that fit its jackknife variance; the jackknife also tells
    how both correlate. An estimate below 0 gets the interval of an estimate of 0, whose upper end is above 0.

    Parameters
    ----------
    values
        (n,) one number a unit, with noise.
    within
        (n,) unbiased estimates of the variances of this noise.
    level
        Confidence, a fraction: an end is a one-sided bound with confidence (1 + level) / 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.normal(scale=2.0, size=(400, 1)) + rng.normal(scale=3.0, size=(400, 5))
    >>> estimate, low, high = between_variance(samples.mean(axis=1), samples.var(axis=1, ddof=1) / 5)
    >>> low < 4 < high
    True
    """
    n = len(values)
    total, inside = float(np.var(values, ddof=1)) if n > 1 else np.nan, float(np.mean(within))
    estimate = total - inside
    if n < _FEWEST_UNITS or not np.isfinite(estimate):
        return estimate, np.nan, np.nan
    centred = values - values.mean()
    squares = (centred**2).sum() - centred**2 * n / (n - 1)
    left_out = np.stack([np.maximum(squares, 0) / (n - 2), (within.sum() - within) / (n - 1)])
    deviation = left_out - left_out.mean(axis=1, keepdims=True)
    covariance = (n - 1) / n * deviation @ deviation.T
    sd, sd_inside = np.sqrt(np.diag(covariance)).tolist()
    correlation = float(covariance[0, 1]) / (sd * sd_inside) if sd * sd_inside > 0 else 0.0
    if 0 < total < inside:
        sd *= inside / total
    total = max(total, inside)
    low, high = _limits(total, sd, level)
    low_inside, high_inside = _limits(inside, sd_inside, level)
    least = total - inside - _combined(total - low, high_inside - inside, correlation)
    most = total - inside + _combined(high - total, inside - low_inside, correlation)
    return estimate, max(least, 0.0), max(most, 0.0)


def _limits(variance: float, sd: float, level: float) -> tuple[float, float]:
    """The limits of a variance whose estimate has this standard deviation."""
    if variance <= 0 or sd <= 0:
        return variance, variance
    df, tail = 2 * (variance / sd) ** 2, (1 - level) / 2
    return variance * df / float(special.chdtri(df, tail)), variance * df / float(special.chdtri(df, 1 - tail))


def _combined(reach: float, other_reach: float, correlation: float) -> float:
    """How far a difference's limit is from it, given the distances of the limits of its two parts."""
    return float(np.sqrt(max(reach**2 + other_reach**2 - 2 * correlation * reach * other_reach, 0.0)))
