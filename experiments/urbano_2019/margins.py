"""Margins of scores of effectiveness, such as average precision: any distribution from 0 to 1, or on a lattice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, signal, special, stats

from simstudy.truth import Margin, Ordinal

Floats = NDArray[np.float64]

#: The scores at which a distribution function is tabulated.
POINTS = np.linspace(0, 1, 1001)

# Scores of 0 and 1 have a likelihood under Beta, too (as in Urbano's R package simIReff).
_INSIDE = 1e-6

# The least standard deviation of the truncated normal distribution, and the least shape of Beta (the same source).
_LEAST_SPREAD, _LEAST_SHAPE = 0.05, 1.0

_NELDER_MEAD: dict[str, Any] = {"method": "Nelder-Mead", "options": {"xatol": 1e-3, "fatol": 1e-3}}

# Logarithms of the powers by which a distribution function is bent are at most this.
_REACH = 32.0

# Bandwidths of `smoothed` that are tried.
_BANDWIDTHS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

Fit = tuple[float, Floats]
"""An AIC, and the distribution function at `POINTS`."""


@dataclass(frozen=True, eq=False)
class Tabulated(Margin):
    """A distribution function that is linear between its values at `POINTS`, which rise from 0 to 1.

    Another mean bends it: F becomes F^a (a higher mean, a above 1) or 1 - (1 - F)^b (a lower one), as Urbano, Lima and
    Hanjalic (2019) do by the distribution function of Beta(a, b) with one of the two at 1.
    """

    cumulative: Floats

    @cached_property
    def mean(self) -> float:
        """The expected score."""
        return _mean(self.cumulative)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def quantile(self, u: Floats) -> Floats:
        return np.interp(u, self.cumulative, POINTS)

    def with_mean(self, mean: float) -> Self:
        mean = self.check_mean(mean)
        if mean == self.mean:
            return self

        def off(power: float) -> float:
            return _mean(_bent(self.cumulative, power)) - mean

        if not off(-_REACH) <= 0 <= off(_REACH):
            raise ValueError(f"mean must be within reach of reweighting, not {mean:g}")
        return type(self)(_bent(self.cumulative, float(optimize.brentq(off, -_REACH, _REACH, xtol=1e-14))))


def effectiveness(scores: Floats) -> Tabulated:
    """A continuous distribution from 0 to 1 like these scores (n,), which are not all the same.

    Of a truncated normal distribution, Beta and a normal kernel estimate (truncated; Silverman's bandwidth) the one
    with the least AIC; the kernel's degrees of freedom are the mean of its own weight in the density at each score. So
    do Urbano, Lima and Hanjalic (2019, section 3), whose kernel estimates have other bandwidths.
    """
    return Tabulated(min((fitted(scores) for fitted in KINDS), key=lambda fit: fit[0])[1])


def truncated_normal(scores: Floats) -> Fit:
    """The most likely normal distribution, truncated to the unit interval."""

    def log_mass(mean: float, spread: float) -> float:
        low, high = -mean / spread, (1 - mean) / spread
        if low > 0:
            low, high = -high, -low
        return float(special.log_ndtr(high) + np.log1p(-np.exp(special.log_ndtr(low) - special.log_ndtr(high))))

    def loss(point: Floats) -> float:
        mean, spread = point[0], np.exp(point[1])
        if not (-3 <= mean <= 4 and _LEAST_SPREAD <= spread <= 10):
            return np.inf
        logs = -0.5 * ((scores - mean) / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)
        return -float(logs.sum() - scores.size * log_mass(mean, spread))

    start = np.array([scores.mean(), np.log(max(scores.std(), 1.1 * _LEAST_SPREAD))])
    best = optimize.minimize(loss, start, **_NELDER_MEAD)
    return 4 + 2 * float(best.fun), normal_inside(best.x[0], np.exp(best.x[1]))


def normal_inside(mean: float, spread: float) -> Floats:
    """A normal distribution function at `POINTS`, truncated to them, wherever its mean is."""
    # Tails are known by their logarithm. The upper tail of a mean above 1/2 is the lower one of its mirror image.
    below = mean < 0.5
    logs = special.log_ndtr(((mean if below else 1 - mean) - POINTS) / spread)
    inside = -np.expm1(logs - logs[0])
    return _truncated(inside if below else -inside[::-1])


def beta(scores: Floats) -> Fit:
    """The most likely Beta distribution."""
    capped = np.clip(scores, _INSIDE, 1 - _INSIDE)
    low, high = np.log(capped).sum(), np.log1p(-capped).sum()

    def loss(point: Floats) -> float:
        a, b = _LEAST_SHAPE + np.exp(point)
        return -float((a - 1) * low + (b - 1) * high - scores.size * special.betaln(a, b))

    best = optimize.minimize(loss, np.zeros(2), **_NELDER_MEAD)
    a, b = _LEAST_SHAPE + np.exp(best.x)
    return 4 + 2 * float(best.fun), _truncated(special.betainc(a, b, POINTS))


def kernel(scores: Floats) -> Fit:
    """The normal kernel estimate."""
    spread = min(scores.std(ddof=1), stats.iqr(scores) / 1.34) or scores.std(ddof=1)
    bandwidth = 0.9 * spread * scores.size**-0.2
    cumulative = special.ndtr((POINTS[:, None] - scores) / bandwidth).mean(axis=1)
    mass = cumulative[-1] - cumulative[0]
    at = np.exp(-0.5 * ((scores[:, None] - scores) / bandwidth) ** 2) / (bandwidth * np.sqrt(2 * np.pi))
    density = at.mean(axis=1)
    # What each score's own kernel weighs in the density there, all in all n times a share.
    used = float((at.diagonal() / density).mean())
    return 2 * used - 2 * float(np.log(density / mass).sum()), _truncated(cumulative)


KINDS: tuple[Callable[[Floats], Fit], ...] = (truncated_normal, beta, kernel)


def _mean(cumulative: Floats) -> float:
    return float(np.diff(cumulative) @ (POINTS[1:] + POINTS[:-1]) / 2)


def _bent(cumulative: Floats, power: float) -> Floats:
    """F^exp(power) for a higher mean (power above 0), 1 - (1 - F)^exp(-power) for a lower one."""
    if power >= 0:
        return np.asarray(cumulative ** np.exp(power))
    return np.asarray(1 - (1 - cumulative) ** np.exp(-power))


def _truncated(cumulative: Floats) -> Floats:
    """A distribution function from 0 to 1, truncated to `POINTS`."""
    inside = (cumulative - cumulative[0]) / (cumulative[-1] - cumulative[0])
    inside[-1] = 1.0
    return np.maximum.accumulate(np.clip(inside, 0, 1))


def smoothed(scores: Floats, lattice: Floats) -> Ordinal:
    """A distribution on a lattice, ascending, like these scores (n,), with their mean; printed scores have few digits.

    The kernel is that of Wang and Van Ryzin (1981) for ordered values: a score at lattice position i gives position j
    weight proportional to bandwidth^|i - j|. The bandwidth is the one under which scores that are left out in turn are
    the most likely.
    """
    at = np.abs(lattice[:, None] - scores).argmin(axis=0)
    counts = np.bincount(at, minlength=lattice.size).astype(np.float64)
    shares = spread(counts, max(_BANDWIDTHS, key=lambda bandwidth: left_out(counts, bandwidth))) / scores.size
    return Ordinal(tuple(lattice), tuple(shares)).with_mean(float(lattice[at].mean()))


def spread(counts: Floats, bandwidth: float) -> Floats:
    """Counts (V,) of the values of a lattice, spread over it by a kernel; each keeps its total."""
    return _kernel_sums(counts / _kernel_sums(np.ones(counts.size), bandwidth), bandwidth)


def left_out(counts: Floats, bandwidth: float) -> float:
    """The log-likelihood of the scores, each under the smoothed distribution of the others."""
    occurs = counts > 0
    rest = (spread(counts, bandwidth) - 1 / _kernel_sums(np.ones(counts.size), bandwidth))[occurs] / (counts.sum() - 1)
    return float(counts[occurs] @ np.log(np.maximum(rest, 1e-300)))


def _kernel_sums(weights: Floats, bandwidth: float) -> Floats:
    """sum_i weights_i bandwidth^|i - j|, for each j."""
    ahead = signal.lfilter([1.0], [1.0, -bandwidth], weights)
    behind = signal.lfilter([1.0], [1.0, -bandwidth], weights[::-1])[::-1]
    return np.asarray(ahead + behind - weights)
