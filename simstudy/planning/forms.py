"""Closed forms: what a test finds of a true gain on n units, from how one unit's difference is distributed.

Of any score that is a function of sums the observed gain is nearly normal around the true gain, with standard error
sd / sqrt(n) (delta method), and what a test compares it with is that standard error estimated from the same units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.validation import check_choice, check_fraction, check_number, check_share, check_whole

ALTERNATIVES = ("two-sided", "greater")

# Nodes over the estimated standard error: the error in a probability is 1e-4 for ten units, and 2e-6 for a thousand.
_NODES = 200

# Of so many units that differ, outcomes of right and wrong answers are summed one by one; of more they are normal.
_EXACT = 5000

# Of so few units all numbers of units that differ are summed.
_ALL = 64


@dataclass(frozen=True)
class Found:
    """What a test finds of a true gain.

    Attributes
    ----------
    power
        The probability that the gain is significant, and the truly better system is the one with the better score.
    wrong
        That it is significant, and the other one is (type III).
    exaggeration
        The mean observed gain of the winner, where it is significant, over the true gain (type M; Gelman and Carlin
        2014); NaN for a true gain of 0.
    wrong_winner
        The probability that the truly worse system has the better score, significant or not.
    """

    power: float
    wrong: float
    exaggeration: float
    wrong_winner: float

    @property
    def wrong_sign(self) -> float:
        """The share of significant gains that are the wrong system's (type S)."""
        significant = self.power + self.wrong
        return self.wrong / significant if significant > 0 else np.nan


@dataclass(frozen=True)
class Level:
    """A test's level.

    Attributes
    ----------
    alpha
        Between 0 and 1.
    alternative
        "two-sided", or "greater": one-sided, for the system that was named beforehand.
    comparisons
        How many comparisons share alpha (Bonferroni).
    """

    alpha: float = 0.05
    alternative: str = "two-sided"
    comparisons: int = 1

    def __post_init__(self) -> None:
        check_fraction("alpha", self.alpha)
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_whole("comparisons", self.comparisons, 1)

    @property
    def tail(self) -> float:
        """What a p-value's one tail may have."""
        return self.alpha / self.comparisons / (2 if self.alternative == "two-sided" else 1)


class Difference(ABC):
    """How the two systems' difference on one unit is distributed, whatever the true gain is."""

    @abstractmethod
    def found(self, gain: float, n: int, level: Level) -> Found:
        """What a test of n units finds of a true gain of at least 0."""

    def power(self, gain: float, n: int, level: Level) -> float:
        """The power alone."""
        return self.found(gain, n, level).power

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest true gain that there can be."""

    @abstractmethod
    def sd_of(self, gain: float) -> float:
        """The standard deviation of one unit's difference where the true gain is this, on the metric's scale."""

    def allowing(self, gain: float) -> Difference:
        """The nearest difference that may have a true gain as large as this; itself where it may."""
        return self


class AnswersDifference(Difference):
    """Of right and wrong answers: how many items differ, if not the same for each gain."""

    @abstractmethod
    def at(self, gain: float) -> RightOrWrongDifference:
        """The two systems with this true gain."""

    @abstractmethod
    def allowing(self, gain: float) -> AnswersDifference: ...


@dataclass(frozen=True)
class NormalDifference(Difference):
    """A difference whose standard deviation does not hang on the gain.

    Attributes
    ----------
    sd
        The standard deviation of one unit's difference, on the metric's scale; above 0.
    largest
        The largest true gain, on that scale.

    Examples
    --------
    The 969 questions that find a gain of 0.03 with power 0.8 where the variance of the difference is 1/9 (Miller 2024,
    section 5), there for a normal statistic:

    >>> round(NormalDifference(1 / 3).found(0.03, 969, Level()).power, 3)
    0.799
    """

    sd: float
    largest: float = np.inf

    def __post_init__(self) -> None:
        check_number("sd", self.sd)
        if not 0 < self.sd < np.inf:
            raise ValueError(f"sd must be above 0, not {self.sd:g}")

    def sd_of(self, gain: float) -> float:
        return self.sd

    def found(self, gain: float, n: int, level: Level) -> Found:
        df, shift = max(n - 1, 1), gain * np.sqrt(n) / self.sd
        cut = t_cut(level.tail, df) * chi_nodes(df)
        right, wrong = special.ndtr(shift - cut), special.ndtr(-shift - cut)
        # E[X; X > cut] and E[-X; X < -cut] of X normal around the shift.
        of_right = shift * right + _density(cut - shift)
        of_wrong = -shift * wrong + _density(cut + shift)
        if level.alternative == "greater":
            wrong, of_wrong = np.zeros_like(wrong), np.zeros_like(of_wrong)
        significant = float((right + wrong).mean())
        size = float((of_right + of_wrong).mean()) / significant if significant > 0 else np.nan
        larger = size / shift if shift > 0 else np.nan
        return Found(float(right.mean()), float(wrong.mean()), larger, float(special.ndtr(-shift)))


@lru_cache(maxsize=512)
def chi_nodes(df: int) -> FloatArray:
    """The estimated standard error over the true one, at 200 equally likely places.

    Examples
    --------
    >>> bool(abs((chi_nodes(10) ** 2).mean() - 1) < 0.01)
    True
    """
    middles = (np.arange(_NODES) + 0.5) / _NODES
    return np.asarray(np.sqrt(special.gammaincinv(df / 2, middles) * 2 / df))


@dataclass(frozen=True)
class RightOrWrongDifference(AnswersDifference):
    """Right and wrong answers: McNemar's exact test, which sign flips are, of the items that only one has right.

    Of n items some D are answered right by one system only, D binomial with the disagreement; of these the better one
    has a share (1 + gain / disagreement) / 2.

    Attributes
    ----------
    disagreement
        The share of items that only one of the systems has right, a fraction above 0 and at most 1.
    scale
        What a share of 1 is on the metric's scale: 100 for percent.

    Examples
    --------
    >>> found = RightOrWrongDifference(0.1).found(1.0, 8000, Level())
    >>> round(found.power, 2), round(found.exaggeration, 2)
    (0.8, 1.12)
    """

    disagreement: float
    scale: float = 100.0

    def __post_init__(self) -> None:
        check_share("disagreement", self.disagreement)
        if self.disagreement == 0:
            raise ValueError("disagreement must be above 0: systems that are always right together do not differ")

    @property
    def largest(self) -> float:
        return self.scale * self.disagreement

    def sd_of(self, gain: float) -> float:
        return self.scale * float(np.sqrt(max(self.disagreement - (gain / self.scale) ** 2, 0.0)))

    def at(self, gain: float) -> RightOrWrongDifference:
        return self

    def allowing(self, gain: float) -> RightOrWrongDifference:
        return replace(self, disagreement=gain / self.scale) if gain > self.largest else self

    def found(self, gain: float, n: int, level: Level) -> Found:
        share = self._share(gain)
        if n * self.disagreement > _EXACT:
            return self._normal(share, n, level)
        differ, chance, better, least = self._outcomes(share, n, level)
        right, of_right = _tail_and_mean(least, differ, better)
        wrong, of_wrong = _tail_and_mean(least, differ, 1 - better)
        if level.alternative == "greater":
            wrong, of_wrong = np.zeros_like(wrong), np.zeros_like(of_wrong)
        significant = float(chance @ (right + wrong))
        size = float(chance @ (of_right + of_wrong)) / n / significant if significant > 0 else np.nan
        larger = size / share if share > 0 else np.nan
        worse = chance @ (1 - at_least((differ + 1) // 2, differ, better))
        return Found(float(chance @ right), float(chance @ wrong), larger, float(worse))

    def power(self, gain: float, n: int, level: Level) -> float:
        share = self._share(gain)
        if n * self.disagreement > _EXACT:
            return self._normal(share, n, level).power
        differ, chance, better, least = self._outcomes(share, n, level)
        return float(chance @ at_least(least, differ, better))

    def _share(self, gain: float) -> float:
        if gain > self.largest * (1 + 1e-12):
            raise ValueError(f"gain must be at most {self.largest:g}, as {self.disagreement:g} of items differ")
        return gain / self.scale

    def _outcomes(self, share: float, n: int, level: Level) -> tuple[IntArray, FloatArray, float, IntArray]:
        """Numbers of items that differ, their probabilities, the better system's share of them, and the wins needed."""
        differ = _likely(n, self.disagreement)
        chance = _binomial(differ, n, self.disagreement)
        return differ, chance, min((1 + share / self.disagreement) / 2, 1.0), _least_wins(level.tail)[differ]

    def _normal(self, share: float, n: int, level: Level) -> Found:
        # Under fair coins the standard error is that of the disagreement alone.
        null, true = np.sqrt(self.disagreement / n), np.sqrt((self.disagreement - share**2) / n)
        cut = -special.ndtri(level.tail) * null
        right, wrong = special.ndtr((share - cut) / true), special.ndtr((-share - cut) / true)
        of_right = share * right + true * _density((cut - share) / true)
        of_wrong = -share * wrong + true * _density((cut + share) / true)
        if level.alternative == "greater":
            wrong = of_wrong = 0.0
        significant = right + wrong
        size = (of_right + of_wrong) / significant if significant > 0 else np.nan
        larger = float(size / share) if share > 0 else np.nan
        return Found(float(right), float(wrong), larger, float(special.ndtr(-share / true)))


@lru_cache(maxsize=64)
def _least_wins(tail: float) -> IntArray:
    """The least number of wins of each number of units that differ at which P(wins or more | fair coins) <= tail."""
    of = np.arange(2 * _EXACT)
    least = np.asarray(of / 2 - special.ndtri(tail) * np.sqrt(of) / 2, dtype=np.int64)
    # The normal's guess is off by a few; each one is moved until it is the least.
    while (low := at_least(least, of, 0.5) > tail).any():
        least[low] += 1
    while (high := (least > 0) & (at_least(least - 1, of, 0.5) <= tail)).any():
        least[high] -= 1
    return least


def at_least(least: ArrayLike, of: ArrayLike, share: float) -> FloatArray:
    """P(W >= least) of W binomial (of, share), elementwise.

    Examples
    --------
    >>> at_least([0, 1, 2, 3], 2, 0.5).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    least, of = np.broadcast_arrays(np.asarray(least, dtype=np.float64), of)
    inside = special.betainc(np.clip(least, 1, None), np.maximum(of - least + 1, 1), share)
    return np.where(least <= 0, 1.0, np.where(least > of, 0.0, inside))


def t_cut(tail: float, df: float) -> float:
    """The value that Student's t is above with this probability.

    Examples
    --------
    >>> round(t_cut(0.025, 10), 3)
    2.228
    """
    return -float(special.stdtrit(df, tail))


def _density(z: FloatArray | float) -> FloatArray:
    """Of the standard normal."""
    return np.asarray(np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi))


def _binomial(counts: IntArray, n: int, share: float) -> FloatArray:
    """P(W = count) of W binomial (n, share)."""
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + special.xlogy(counts, share) + special.xlog1py(n - counts, -share)))


def _likely(n: int, share: float) -> IntArray:
    """The numbers that a binomial count has, of many but for a chance of 1e-12."""
    if n <= _ALL:
        return np.arange(n + 1)
    # Beyond eight standard errors (and a few, where a count is nearly Poisson) there is less than 1e-12.
    reach = 8 * np.sqrt(n * share * (1 - share)) + 25
    return np.arange(max(0, int(n * share - reach)), min(n, int(n * share + reach)) + 1)


def _tail_and_mean(least: IntArray, of: IntArray, share: float) -> tuple[FloatArray, FloatArray]:
    """P(W >= least) of W binomial (of, share), and E[2 W - of; W >= least]."""
    tail = at_least(least, of, share)
    # E[W; W >= k] = n p P(W' >= k - 1), W' binomial (n - 1, p).
    first = of * share * at_least(least - 1, np.maximum(of - 1, 0), share)
    return tail, np.where(least > of, 0.0, 2 * first - of * tail)
