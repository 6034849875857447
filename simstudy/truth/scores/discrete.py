"""Margins on given values: ordinal scores, those of real systems with their ties, and smoothed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy
from scipy import signal

from simstudy.metrics.base import FloatArray
from simstudy.truth.pair_base import EXTREME
from simstudy.truth.scores.margins import Margin, stepped
from simstudy.validation import InputError, check_number, number_list

# Probabilities that users write add up to 1 within this.
_ROUNDING = 1e-9

# Bandwidths that are tried where none is given.
_BANDWIDTHS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Ordinal(Margin):
    """Scores on given values, such as a judge's 1 … 10.

    Another mean tilts the probabilities exponentially: each is multiplied by exp(c x value) and all by what makes them
    1 in sum. Of all distributions on these values with that mean it is the nearest in Kullback-Leibler divergence
    (Csiszár 1975), and no probability becomes 0. The mean is then right to 1e-12 of the range.

    Parameters
    ----------
    values
        Distinct numbers from -1e100 to 1e100, ascending.
    probabilities
        One for each, at least 0, 1 in sum.

    Examples
    --------
    >>> margin = Ordinal((1, 2, 3), (0.2, 0.3, 0.5))
    >>> margin.quantile(np.array([0.1, 0.4, 0.9])).tolist(), round(margin.mean, 12)
    ([1.0, 2.0, 3.0], 2.3)
    >>> round(margin.with_mean(1.5).mean, 12)
    1.5
    """

    values: Sequence[float]
    probabilities: Sequence[float]

    def __post_init__(self) -> None:
        values, shares = number_list("values", self.values), number_list("probabilities", self.probabilities)
        if values.size == 0 or not (np.abs(values) <= EXTREME).all() or not (np.diff(values) > 0).all():
            raise InputError(
                "values", f"must be distinct numbers from {-EXTREME:g} to {EXTREME:g}, ascending", self.values
            )
        if shares.shape != values.shape:
            raise InputError("probabilities", f"must be {values.size}, as values are", shares.size)
        if not (shares >= 0).all() or abs(shares.sum() - 1) > _ROUNDING:
            raise InputError("probabilities", "must be at least 0 and 1 in sum", self.probabilities)
        object.__setattr__(self, "values", tuple(values.tolist()))
        object.__setattr__(self, "probabilities", tuple((shares / shares.sum()).tolist()))

    def __repr__(self) -> str:
        if len(self.values) <= 6:
            return f"{type(self).__name__}(values={self.values}, probabilities={self.probabilities})"
        low, high = self.support
        return f"{type(self).__name__}({len(self.values)} values from {low:g} to {high:g}, mean {self.mean:g})"

    @cached_property
    def _arrays(self) -> tuple[FloatArray, FloatArray]:
        """Values that occur, and their probabilities."""
        values, shares = np.array(self.values), np.array(self.probabilities)
        return values[shares > 0], shares[shares > 0]

    @cached_property
    def mean(self) -> float:
        """The expected score."""
        values, shares = self._arrays
        return float(shares @ values)

    @property
    def support(self) -> tuple[float, float]:
        values, _ = self._arrays
        return float(values[0]), float(values[-1])

    def quantile(self, u: FloatArray) -> FloatArray:
        values, shares = self._arrays
        return np.asarray(values[stepped(shares, u)])

    def with_mean(self, mean: float) -> Self:
        mean = self.check_mean(mean, ends=True)
        shares = np.array(self.probabilities)
        shares[shares > 0] = tilted(*self._arrays, mean)
        return replace(self, probabilities=tuple(shares.tolist()))


@dataclass(frozen=True, repr=False)
class Empirical(Ordinal):
    """The scores that a real system had, ties kept; see `of`."""

    @classmethod
    def of(cls, scores: FloatArray) -> Self:
        """The distribution of these scores (n,), each of probability 1 / n.

        Examples
        --------
        >>> Empirical.of(np.array([0.5, 1, 0.5, 0]))
        Empirical(values=(0.0, 0.5, 1.0), probabilities=(0.25, 0.5, 0.25))
        """
        values, counts = np.unique(_scores(scores), return_counts=True)
        return cls(tuple(values.tolist()), tuple((counts / counts.sum()).tolist()))


@dataclass(frozen=True, repr=False)
class Smoothed(Ordinal):
    """The scores that a real system had, smoothed over the values that it could have had; see `of`."""

    @classmethod
    def of(cls, scores: FloatArray, lattice: Sequence[float] | FloatArray, bandwidth: float | None = None) -> Self:
        """Scores smoothed by the kernel of Wang and Van Ryzin (1981) for ordered values.

        A score at lattice position i gives position j weight proportional to bandwidth^|i - j|, all in all 1 / n:
        nothing leaks over the lattice's ends. The mean of the scores is kept, by exponential tilting.

        Parameters
        ----------
        scores
            (n,), each on the lattice.
        lattice
            The values that scores can have, distinct and ascending.
        bandwidth
            From 0 (not smoothed) to below 1. None: of 0, 0.05, 0.1, 0.2 … 0.9, 0.95 the one under which scores that
            are left out in turn are the most likely.

        Raises
        ------
        ValueError
            For a score that is not on the lattice, and a bandwidth out of its range.

        Examples
        --------
        >>> Smoothed.of(np.array([1, 1, 3]), [1, 2, 3], bandwidth=0.5).probabilities[1] > 0.2
        True
        """
        given = _scores(scores)
        values = number_list("lattice", lattice)
        at = np.minimum(np.searchsorted(values, given), values.size - 1)
        if values.size == 0 or (values[at] != given).any():
            off = given[0] if values.size == 0 else given[values[at] != given][0]
            raise InputError("scores", f"must lie on the lattice, unlike {off:g}")
        counts = np.bincount(at, minlength=values.size).astype(np.float64)
        if bandwidth is None:
            bandwidth = max(_BANDWIDTHS, key=lambda h: _left_out(counts, h))
        check_number("bandwidth", bandwidth)
        if not 0 <= bandwidth < 1:
            raise InputError("bandwidth", "must be at least 0 and below 1", bandwidth)
        shares = _spread(counts, bandwidth) / given.size
        shares[shares > 0] = tilted(values[shares > 0], shares[shares > 0], float(given.mean()))
        return cls(tuple(values.tolist()), tuple(shares.tolist()))


def tilted(values: FloatArray, shares: FloatArray, mean: float) -> FloatArray:
    """Probabilities of ascending values, tilted exponentially to this mean, which lies from the first to the last."""
    if mean in (values[0], values[-1]):
        return np.asarray(values == mean, dtype=np.float64)
    x = (values - mean) / (values[-1] - values[0])

    def weights(slope: float) -> FloatArray:
        logs = np.log(shares) + slope * x
        weight = np.exp(logs - logs.max())
        return np.asarray(weight / weight.sum())

    def off(slope: float) -> float:
        return float(weights(slope) @ x)

    reach = 1.0
    while off(-reach) > 0 or off(reach) < 0:
        reach *= 2
    slope = float(scipy.optimize.brentq(off, -reach, reach, xtol=1e-15, rtol=8.9e-16, maxiter=500))
    for _ in range(2):
        # A step of Newton's where the root is flat: the derivative is the variance.
        weight = weights(slope)
        variance = float(weight @ x**2 - (weight @ x) ** 2)
        if variance > 0:
            slope -= float(weight @ x) / variance
    return weights(slope)


def _scores(scores: FloatArray) -> FloatArray:
    given = np.asarray(scores, dtype=np.float64)
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        raise InputError("scores", "must be a list of finite numbers", scores)
    return given


def _spread(counts: FloatArray, bandwidth: float) -> FloatArray:
    """Counts (V,) spread over the lattice; each keeps its total."""
    if bandwidth == 0:
        return counts.copy()
    inside = 1.0 / _run(np.ones(counts.size), bandwidth)
    return _run(counts * inside, bandwidth)


def _run(weights: FloatArray, bandwidth: float) -> FloatArray:
    """sum_i weights_i bandwidth^|i - j|, for each j."""
    ahead = signal.lfilter([1.0], [1.0, -bandwidth], weights)
    behind = signal.lfilter([1.0], [1.0, -bandwidth], weights[::-1])[::-1]
    return np.asarray(ahead + behind - weights)


def _left_out(counts: FloatArray, bandwidth: float) -> float:
    """The log-likelihood of the scores, each under the smoothed distribution of the others."""
    if counts.sum() < 2:
        return 0.0 if bandwidth == 0 else -np.inf
    own = 1.0 if bandwidth == 0 else 1.0 / _run(np.ones(counts.size), bandwidth)
    occurs = counts > 0
    rest = (_spread(counts, bandwidth) - own)[occurs] / (counts.sum() - 1)
    return float(counts[occurs] @ np.log(np.maximum(rest, 1e-300)))
