"""Margins: how one system's item scores are distributed, whatever they have in common with another's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_number, check_whole, number_list

#: No parameter without a bound of its own is larger, or nearer to 0: products of a few stay in floating point.
EXTREME = 1e100

# Beta's parameters outside of these: quantiles lose their precision.
_LEAST_SHARE, _LEAST_CONCENTRATION, _MOST_CONCENTRATION = 1e-12, 1e-6, 1e6

# So many trials need too much memory for a table of their probabilities.
_MORE_TRIALS = 2**20

# The largest uniform number below 1 leaves out the part Phi(spread - 8.2) of a log-normal mean: 1e-5 of it here, but
# one ninth where the spread is 7.
_MOST_SPREAD = 4.0

# Probabilities that users write add up to 1 within this.
_ROUNDING = 1e-9


def check_one(argument: str, value: object, least: float, most: float = np.inf) -> None:
    """Raise a ValueError where this is no finite number from least to most."""
    check_number(argument, value)
    assert isinstance(value, float | int | np.number)
    if not (np.isfinite(value) and least <= value <= most):
        bounds = f" from {least:g} to {most:g}" if np.isfinite(most) else f" of at least {least:g}"
        raise InputError(argument, f"must be a finite number{bounds if np.isfinite(least) else ''}", value)


class Margin(FieldsMixin, ABC):
    """The distribution of one system's item scores.

    Examples
    --------
    >>> Beta(0.3, concentration=2).with_mean(0.5)
    Beta(average=0.5, concentration=2)
    """

    @property
    @abstractmethod
    def mean(self) -> float:
        """The expected score, exactly, on the scale of the scores."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The least and the largest score, between which a mean can lie; infinite where there is none."""

    @abstractmethod
    def quantile(self, u: FloatArray) -> FloatArray:
        """Scores of uniform numbers strictly between 0 and 1, of any shape: never less for a larger number."""

    @abstractmethod
    def with_mean(self, mean: float) -> Self:
        """The margin of the same kind that has this mean; ValueError where that is outside the support."""

    def check_mean(self, mean: float, *, ends: bool = False) -> float:
        """The mean as a float; ValueError where no margin of this kind has it (`ends`: an end is one)."""
        check_number("mean", mean)
        low, high = self.support
        if not (low < mean < high or (ends and mean in (low, high))) or not np.isfinite(mean):
            between = "from {:g} to {:g}" if ends else "above {:g} and below {:g}"
            raise InputError("mean", f"must be {between.format(low, high)}, as scores of {self!r} are", mean)
        return float(mean)


@dataclass(frozen=True)
class _Averaged(Margin):
    """A margin whose mean is one of its parameters."""

    average: float

    @property
    def mean(self) -> float:
        return float(self.average)

    def with_mean(self, mean: float) -> Self:
        return replace(self, average=self.check_mean(mean))


@dataclass(frozen=True)
class Bernoulli(Margin):
    """Right (1) with this probability, else wrong (0).

    Examples
    --------
    >>> Bernoulli(0.75).quantile(np.array([0.2, 0.3])).tolist(), Bernoulli(0.75).with_mean(0.5)
    ([0.0, 1.0], Bernoulli(probability=0.5))
    """

    probability: float
    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_one("probability", self.probability, 0, 1)

    @property
    def mean(self) -> float:
        return float(self.probability)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(u > 1 - self.probability, dtype=np.float64)

    def with_mean(self, mean: float) -> Self:
        return replace(self, probability=self.check_mean(mean, ends=True))


@dataclass(frozen=True)
class Beta(_Averaged):
    """Beta-distributed scores between 0 and 1.

    The variance is mean (1 - mean) / (concentration + 1); another mean keeps the concentration.

    Parameters
    ----------
    average
        The mean, from 1e-12 to 1 - 1e-12.
    concentration
        alpha + beta, from 1e-6 to 1e6; large: little spread.

    Examples
    --------
    >>> Beta(0.5, concentration=2).quantile(np.array([0.25])).tolist()   # uniform
    [0.25]
    """

    concentration: float
    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        _check_beta("average", self.average, self.concentration)

    def quantile(self, u: FloatArray) -> FloatArray:
        alpha = self.average * self.concentration
        return np.asarray(special.betaincinv(alpha, self.concentration - alpha, u))


@dataclass(frozen=True)
class BetaBinomial(Margin):
    """How many of `trials` succeed, where an item's chance of success is Beta-distributed: counts, with ties.

    Parameters
    ----------
    trials
        At least 1, below 2^20.
    share
        The expected share of successes, from 1e-12 to 1 - 1e-12: the mean is trials x share.
    concentration
        Of the Beta distribution, from 1e-6 to 1e6; another mean keeps it.

    Examples
    --------
    >>> BetaBinomial(4, share=0.5, concentration=2).probabilities.round(6).tolist()   # uniform
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    trials: int
    share: float
    concentration: float

    def __post_init__(self) -> None:
        check_whole("trials", self.trials, 1, _MORE_TRIALS)
        _check_beta("share", self.share, self.concentration)

    @cached_property
    def probabilities(self) -> FloatArray:
        """Those of 0 … trials successes."""
        alpha = self.share * self.concentration
        return np.asarray(
            scipy.stats.betabinom.pmf(np.arange(self.trials + 1), self.trials, alpha, self.concentration - alpha)
        )

    @property
    def mean(self) -> float:
        return float(self.trials * self.share)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, float(self.trials)

    def quantile(self, u: FloatArray) -> FloatArray:
        return _stepped(self.probabilities, u).astype(np.float64)

    def with_mean(self, mean: float) -> Self:
        return replace(self, share=self.check_mean(mean) / self.trials)


@dataclass(frozen=True)
class Gamma(_Averaged):
    """Positive scores, skewed to the right; with shape 1 they are exponential.

    The standard deviation is the mean over the root of the shape, and the skewness 2 over that root; another mean keeps
    the shape.

    Parameters
    ----------
    average
        The mean, from 1e-100 to 1e100.
    shape
        From 1e-3 to 1e6.

    Examples
    --------
    >>> Gamma(2.0, shape=1.0).quantile(np.array([0.5])).round(6).tolist()   # 2 log 2
    [1.386294]
    """

    shape: float
    support: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def __post_init__(self) -> None:
        check_one("average", self.average, 1 / EXTREME, EXTREME)
        check_one("shape", self.shape, 1e-3, 1e6)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.average / self.shape * special.gammaincinv(self.shape, u))


@dataclass(frozen=True)
class LogNormal(_Averaged):
    """Positive scores with a long tail: exp of a normal number with standard deviation `spread`.

    Another mean keeps the spread, and so the coefficient of variation sqrt(exp(spread^2) - 1).

    Parameters
    ----------
    average
        The mean, from 1e-100 to 1e100.
    spread
        From 0 to 4. Few draws of a large spread have a mean near the true one: most of it is in rare large scores.

    Examples
    --------
    >>> LogNormal(2.0, spread=1.0).quantile(np.array([0.5])).round(6).tolist()   # 2 exp(-1/2)
    [1.213061]
    """

    spread: float
    support: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def __post_init__(self) -> None:
        check_one("average", self.average, 1 / EXTREME, EXTREME)
        check_one("spread", self.spread, 0, _MOST_SPREAD)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.average * np.exp(self.spread * (special.ndtri(u) - self.spread / 2)))


@dataclass(frozen=True)
class StudentT(_Averaged):
    """Scores with tails on both sides: Student's t, moved and scaled; normal ones where `df` is infinite.

    Parameters
    ----------
    average
        The mean, from -1e100 to 1e100.
    scale
        What t is multiplied by; from 0 to 1e100.
    df
        Degrees of freedom, above 1 (else there is no mean); up to 2 there is no variance.

    Examples
    --------
    >>> StudentT(3.0, scale=2.0, df=3).with_mean(0.0).quantile(np.array([0.5])).tolist()
    [0.0]
    """

    scale: float
    df: float = np.inf
    support: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        check_one("average", self.average, -EXTREME, EXTREME)
        check_one("scale", self.scale, 0, EXTREME)
        check_number("df", self.df)
        if not self.df > 1:
            raise InputError("df", "must be above 1, as t with fewer has no mean", self.df)

    def quantile(self, u: FloatArray) -> FloatArray:
        t = special.ndtri(u) if self.df > EXTREME else special.stdtrit(self.df, u)
        return np.asarray(self.average + self.scale * t)


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

    @classmethod
    def of(cls, scores: Sequence[float] | FloatArray) -> Self:
        """The distribution of the scores (n,) that a real system had, ties kept: each has probability 1 / n.

        Examples
        --------
        >>> Ordinal.of([0.5, 1, 0.5, 0])
        Ordinal(values=(0.0, 0.5, 1.0), probabilities=(0.25, 0.5, 0.25))
        """
        given = number_list("scores", scores)
        if given.size == 0 or not np.isfinite(given).all():
            raise InputError("scores", "must be a list of finite numbers", scores)
        values, counts = np.unique(given, return_counts=True)
        return cls(tuple(values.tolist()), tuple((counts / counts.sum()).tolist()))

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
        return np.asarray(values[_stepped(shares, u)])

    def with_mean(self, mean: float) -> Self:
        mean = self.check_mean(mean, ends=True)
        shares = np.array(self.probabilities)
        shares[shares > 0] = tilted(*self._arrays, mean)
        return replace(self, probabilities=tuple(shares.tolist()))


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


def _check_beta(argument: str, average: float, concentration: float) -> None:
    """Raise a ValueError where there is no such Beta distribution, or quantiles of it lose their precision."""
    check_one(argument, average, 0, 1)
    if not _LEAST_SHARE <= average <= 1 - _LEAST_SHARE:
        raise InputError(argument, f"must be from {_LEAST_SHARE:g} to 1 - {_LEAST_SHARE:g}", average)
    check_one("concentration", concentration, _LEAST_CONCENTRATION, _MOST_CONCENTRATION)


def _stepped(probabilities: FloatArray, u: FloatArray) -> NDArray[np.intp]:
    """Positions in a distribution on steps: the first whose cumulative probability is at least u."""
    # What rounding leaves of 1 belongs to the last.
    cumulative = np.cumsum(probabilities)[:-1]
    return np.searchsorted(cumulative, u, side="left")
