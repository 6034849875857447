"""Margins of any continuous distribution from 0 to 1, as a table, and those that suit scores of effectiveness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.truth.pair_base import EXTREME
from simstudy.truth.scores.margins import Margin
from simstudy.validation import InputError, number_list

# Where a distribution function on the unit interval is known.
_POINTS = np.linspace(0, 1, 1001)

# Scores of 0 and 1 have a likelihood under Beta, too (as in Urbano's R package simIReff).
_INSIDE = 1e-6

# The least standard deviation of the truncated normal distribution, and the least shape of Beta (the same source).
_LEAST_SPREAD, _LEAST_SHAPE = 0.05, 1.0

# The least bandwidth: what is divided by it has a finite square.
_LEAST_BANDWIDTH = 1e-100

# Of a normal distribution of which less than this is from 0 to 1, the difference of two values of its distribution
# function is mostly rounding.
_LEAST_MASS = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Tabulated(Margin):
    """A distribution function that is linear between given values.

    Another mean bends it: F becomes F^a (a higher mean, a above 1) or 1 - (1 - F)^b (a lower one), as Urbano, Lima and
    Hanjalic (2019) do by the distribution function of Beta(a, b) with one of the two at 1.

    Parameters
    ----------
    values
        Ascending, from -1e100 to 1e100.
    cumulative
        The distribution function there, from 0 to 1, never less for a larger value.

    Examples
    --------
    >>> margin = Tabulated((0.0, 1.0), (0.0, 1.0))   # uniform
    >>> margin.mean, margin.quantile(np.array([0.25])).tolist(), round(margin.with_mean(0.5).mean, 12)
    (0.5, [0.25], 0.5)
    """

    values: FloatArray
    cumulative: FloatArray

    def __post_init__(self) -> None:
        values, cumulative = _numbers("values", self.values), _numbers("cumulative", self.cumulative)
        if values.size < 2 or not (np.abs(values) <= EXTREME).all() or not (np.diff(values) > 0).all():
            raise InputError(
                "values", f"must be at least two numbers from {-EXTREME:g} to {EXTREME:g}, ascending", self.values
            )
        rises = cumulative.shape == values.shape and bool((np.diff(cumulative) >= 0).all())
        if not rises or cumulative[0] != 0 or cumulative[-1] != 1:
            raise InputError("cumulative", f"must be {values.size} numbers that rise from 0 to 1", self.cumulative)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "cumulative", cumulative)

    def __repr__(self) -> str:
        return (
            f"Tabulated({self.values.size} values from {self.values[0]:g} to {self.values[-1]:g}, mean {self.mean:g})"
        )

    @cached_property
    def mean(self) -> float:
        """The expected score."""
        return _mean(self.values, self.cumulative)

    @property
    def support(self) -> tuple[float, float]:
        occurs = np.flatnonzero(np.diff(self.cumulative) > 0)
        return float(self.values[occurs[0]]), float(self.values[occurs[-1] + 1])

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.interp(u, self.cumulative, self.values)

    def with_mean(self, mean: float) -> Self:
        mean = self.check_mean(mean)
        if mean == self.mean:
            return self

        def off(power: float) -> float:
            return _mean(self.values, _bent(self.cumulative, power)) - mean

        reach = 0.5
        while off(-reach) > 0 or off(reach) < 0:
            reach *= 2
            if reach > 50:
                raise InputError("mean", f"must be within reach of reweighting {self!r}", mean)
        power = float(scipy.optimize.brentq(off, -reach, reach, xtol=1e-14))
        return replace(self, cumulative=_bent(self.cumulative, power))


def effectiveness(scores: FloatArray) -> Tabulated:
    """A continuous distribution from 0 to 1 like these scores, such as average precision on topics.

    Of a truncated normal distribution, Beta and a normal kernel estimate (truncated; Silverman's bandwidth) the one
    with the least AIC; the kernel's degrees of freedom are the mean of its own weight in the density at each score. So
    do Urbano, Lima and Hanjalic (2019, section 3), whose kernel estimates have other bandwidths.

    Parameters
    ----------
    scores
        (n,) from 0 to 1, at least 10 and not all the same.

    Raises
    ------
    ValueError
        For other scores.

    Examples
    --------
    >>> margin = effectiveness(np.random.default_rng(0).beta(1.5, 4, 300))
    >>> abs(margin.mean - 1.5 / 5.5) < 0.03, margin.support
    (True, (0.0, 1.0))
    """
    given = _numbers("scores", scores)
    if given.size < 10 or not ((given >= 0) & (given <= 1)).all() or np.ptp(given) == 0:
        raise InputError("scores", "must be at least 10 numbers from 0 to 1, not all the same", scores)
    return Tabulated(_POINTS, min((way(given) for way in _WAYS), key=lambda found: found[0])[1])


Found = tuple[float, FloatArray]
"""An AIC, and the distribution function at the points of the table."""


def _truncated_normal(scores: FloatArray) -> Found:
    def log_mass(mean: float, spread: float) -> float:
        low, high = -mean / spread, (1 - mean) / spread
        if low > 0:
            low, high = -high, -low
        return float(special.log_ndtr(high) + np.log1p(-np.exp(special.log_ndtr(low) - special.log_ndtr(high))))

    def loss(point: FloatArray) -> float:
        mean, spread = point[0], np.exp(point[1])
        if not (-3 <= mean <= 4 and _LEAST_SPREAD <= spread <= 10):
            return np.inf
        logs = -0.5 * ((scores - mean) / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)
        return -float(logs.sum() - scores.size * log_mass(mean, spread))

    start = np.array([scores.mean(), np.log(max(scores.std(), 1.1 * _LEAST_SPREAD))])
    found = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    mean, spread = found.x[0], np.exp(found.x[1])
    return 4 + 2 * float(found.fun), _normal_inside(mean, spread)


def _normal_inside(mean: float, spread: float) -> FloatArray:
    """A normal distribution function at the points of the table, truncated to it."""
    cumulative = special.ndtr((_POINTS - mean) / spread)
    if cumulative[-1] - cumulative[0] >= _LEAST_MASS:
        return _rising(cumulative)
    # The table is in a tail. What is farther out is known by its logarithm; a mean above 1 is one below 0, mirrored.
    below = mean < 0
    logs = special.log_ndtr(((mean if below else 1 - mean) - _POINTS) / spread)
    inside = -np.expm1(logs - logs[0])
    return _rising(inside if below else -inside[::-1])


def _beta(scores: FloatArray) -> Found:
    capped = np.clip(scores, _INSIDE, 1 - _INSIDE)
    low, high = np.log(capped).sum(), np.log1p(-capped).sum()

    def loss(point: FloatArray) -> float:
        a, b = _LEAST_SHAPE + np.exp(point)
        return -float((a - 1) * low + (b - 1) * high - scores.size * special.betaln(a, b))

    found = scipy.optimize.minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    a, b = _LEAST_SHAPE + np.exp(found.x)
    return 4 + 2 * float(found.fun), _rising(special.betainc(a, b, _POINTS))


def _kernel(scores: FloatArray) -> Found:
    spread = min(scores.std(ddof=1), scipy.stats.iqr(scores) / 1.34) or scores.std(ddof=1)
    bandwidth = max(0.9 * spread * scores.size**-0.2, _LEAST_BANDWIDTH)
    cumulative = special.ndtr((_POINTS[:, None] - scores) / bandwidth).mean(axis=1)
    mass = cumulative[-1] - cumulative[0]
    at = np.exp(-0.5 * ((scores[:, None] - scores) / bandwidth) ** 2) / (bandwidth * np.sqrt(2 * np.pi))
    density = at.mean(axis=1)
    # What each score's own kernel weighs in the density there, all in all n times a share.
    used = float((at.diagonal() / density).mean())
    return 2 * used - 2 * float(np.log(density / mass).sum()), _rising(cumulative)


_WAYS: tuple[Callable[[FloatArray], Found], ...] = (_truncated_normal, _beta, _kernel)


def _numbers(argument: str, values: object) -> FloatArray:
    """A list of numbers; one that is an array already is not looked through."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == np.float64:
        return values
    return number_list(argument, values)


def _mean(values: FloatArray, cumulative: FloatArray) -> float:
    return float(np.diff(cumulative) @ (values[1:] + values[:-1]) / 2)


def _bent(cumulative: FloatArray, power: float) -> FloatArray:
    """F^exp(power) for a higher mean (power above 0), 1 - (1 - F)^exp(-power) for a lower one."""
    if power >= 0:
        return np.asarray(cumulative ** np.exp(power))
    return np.asarray(1 - (1 - cumulative) ** np.exp(-power))


def _rising(cumulative: FloatArray) -> FloatArray:
    """A distribution function from 0 to 1, truncated to the table."""
    inside = (cumulative - cumulative[0]) / (cumulative[-1] - cumulative[0])
    inside[-1] = 1.0
    return np.maximum.accumulate(np.clip(inside, 0, 1))
