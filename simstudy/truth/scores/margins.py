"""Margins: how one system's item scores are distributed, whatever they have in common with another's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.pair_base import EXTREME, check_one
from simstudy.validation import InputError, check_number, check_whole

# Beta's parameters outside of these: quantiles lose their precision.
_LEAST_SHARE, _LEAST_CONCENTRATION, _MOST_CONCENTRATION = 1e-12, 1e-6, 1e6

# So many trials need too much memory for a table of their probabilities.
_MORE_TRIALS = 2**20

# The largest uniform number below 1 leaves out the part Phi(spread - 8.2) of a log-normal mean: 1e-5 of it here, but
# one ninth where the spread is 7.
_MOST_SPREAD = 4.0


class Margin(FieldsMixin, ABC):
    """The distribution of one system's item scores."""

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
        return stepped(self.probabilities, u).astype(np.float64)

    def with_mean(self, mean: float) -> Self:
        return replace(self, share=self.check_mean(mean) / self.trials)


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
    """Scores with heavy tails on both sides: Student's t, moved and scaled.

    Parameters
    ----------
    average
        The mean, from -1e100 to 1e100.
    scale
        What t is multiplied by; from 0 to 1e100.
    df
        Degrees of freedom, above 1 (else there is no mean) and at most 1e100; up to 2 there is no variance.

    Examples
    --------
    >>> StudentT(3.0, scale=2.0, df=3).with_mean(0.0).quantile(np.array([0.5])).tolist()
    [0.0]
    """

    scale: float
    df: float
    support: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        check_one("average", self.average, -EXTREME, EXTREME)
        check_one("scale", self.scale, 0, EXTREME)
        check_one("df", self.df, 1, EXTREME)
        if self.df == 1:
            raise InputError("df", "must be above 1, as t with fewer has no mean", self.df)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.average + self.scale * special.stdtrit(self.df, u))


def _check_beta(argument: str, average: float, concentration: float) -> None:
    """Raise a ValueError where there is no such Beta distribution, or quantiles of it lose their precision."""
    check_one(argument, average, 0, 1)
    if not _LEAST_SHARE <= average <= 1 - _LEAST_SHARE:
        raise InputError(argument, f"must be from {_LEAST_SHARE:g} to 1 - {_LEAST_SHARE:g}", average)
    check_one("concentration", concentration, _LEAST_CONCENTRATION, _MOST_CONCENTRATION)


def stepped(probabilities: FloatArray, u: FloatArray) -> NDArray[np.intp]:
    """Positions in a distribution on steps: the first whose cumulative probability is at least u."""
    # What rounding leaves of 1 belongs to the last.
    cumulative = np.cumsum(probabilities)[:-1]
    return np.searchsorted(cumulative, u, side="left")
