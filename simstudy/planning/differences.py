"""Differences of two systems on one unit, and in closed form what a test of n units detects of a true gain.

Of any score that is a function of sums the observed gain is nearly normal around the true gain, with standard error
sd / sqrt(n) (delta method), and what a test compares it with is that standard error estimated from the same units.
Right and wrong answers have an exact form (`simstudy.planning.right_or_wrong`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.planning.arguments import Design
from simstudy.planning.settings import Level
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_number

# Nodes over the estimated standard error: the error in a probability is 1e-4 for ten units, and 2e-6 for a thousand.
_NODES = 200


@dataclass(frozen=True)
class Detection(FieldsMixin):
    """What a test finds of a true gain: probabilities, and the exaggeration."""

    #: That the gain is significant, and the truly better system is the one with the better score.
    power: float
    #: That it is significant, and the other one is (type III).
    wrong: float
    #: The mean observed gain of the winner, where it is significant, over the true gain (type M; Gelman and Carlin
    #: 2014); NaN for a true gain of 0.
    exaggeration: float
    #: That the truly worse system has the better score, significant or not.
    wrong_winner: float

    @property
    def wrong_sign(self) -> float:
        """The share of significant gains that are the wrong system's (type S)."""
        significant = self.power + self.wrong
        return self.wrong / significant if significant > 0 else np.nan


class Difference(FieldsMixin, ABC):
    """How the two systems' difference on one unit is distributed, whatever the true gain is."""

    @abstractmethod
    def detection(self, gain: float, n: int, level: Level) -> Detection:
        """What a test of n units finds of a true gain of at least 0."""

    @abstractmethod
    def power(self, gain: float, n: int, level: Level) -> float:
        """The power alone, which takes less time."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest true gain that there can be."""

    @abstractmethod
    def sd_of(self, gain: float) -> float:
        """The standard deviation of one unit's difference where the true gain is this, on the metric's scale."""

    @abstractmethod
    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        """The probability that one-sided tests of n units, at `tail` each, reject a gain of minus the margin or less.

        The true gain may be negative; with `both`, the tests reject one of the margin or more too.
        """

    def allowing(self, gain: float) -> Difference:
        """The nearest difference that may have a true gain as large as this; itself where it may."""
        return self

    @property
    def step(self) -> float:
        """What one item changes in the sum of differences, if it is the same for all; 0 where sums have any value."""
        return 0.0

    @property
    def visible(self) -> float:
        """The observed part of a true gain, a fraction: 1 unless judges err."""
        return 1.0


@dataclass(frozen=True)
class NormalDifference(Difference):
    """A difference whose standard deviation does not depend on the gain.

    The test is sign flips. Its power is that of the t test at the level that flips of so many units can attain. If only
    one outcome of the flips is significant, all units must have differences of one sign, and the power is exact for
    normal differences. If two to ten outcomes are significant, the power is up to 0.09 too high.
    """

    #: Of one unit's difference, on the metric's scale; above 0.
    sd: float
    #: The largest true gain, on that scale.
    largest: float = np.inf
    #: Where each system has a denominator of its own (precision, F): the variance of the units' weights in the gain,
    #: whose mean is 1, and their covariance with the difference on a unit. The test pools both systems' ratios, so that
    #: the variance to which it holds a gain has the gain in it.
    weight_variance: float = 0.0
    weight_covariance: float = 0.0
    #: Where sums of differences are whole numbers of an item's steps (right and wrong answers): a step over the mean
    #: size of units. Each flip moves a sum by two, and a sum as large as the observed one counts against it.
    step: float = 0.0

    def __post_init__(self) -> None:
        check_number("sd", self.sd)
        if not 0 < self.sd < np.inf:
            raise InputError("sd", "must be above 0", self.sd)

    def sd_of(self, gain: float) -> float:
        return self.sd

    def times(self, factor: float) -> NormalDifference:
        """The same with a standard deviation that is larger by a factor."""
        return replace(self, sd=self.sd * factor, weight_covariance=self.weight_covariance * factor)

    def power(self, gain: float, n: int, level: Level) -> float:
        shift, tail = gain * np.sqrt(n) / self.sd, level.attainable_tail(n)
        if tail == 0.5**n:
            return self._of_one_sign(gain, n, level).power
        return float(special.ndtr(shift - self._cut(gain, n, tail)).mean())

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        shift, tail = gain * np.sqrt(n) / self.sd, level.attainable_tail(n)
        if tail == 0.5**n:
            return self._of_one_sign(gain, n, level)
        cut = self._cut(gain, n, tail)
        right, wrong = special.ndtr(shift - cut), special.ndtr(-shift - cut)
        # E[X; X > cut] and E[-X; X < -cut] of X normal around the shift.
        of_right = shift * right + normal_density(cut - shift)
        of_wrong = -shift * wrong + normal_density(cut + shift)
        if level.alternative == "greater":
            wrong, of_wrong = np.zeros_like(wrong), np.zeros_like(of_wrong)
        significant = float((right + wrong).mean())
        size = float((of_right + of_wrong).mean()) / significant if significant > 0 else np.nan
        larger = size / shift if shift > 0 else np.nan
        return Detection(float(right.mean()), float(wrong.mean()), larger, float(special.ndtr(-shift)))

    def _cut(self, gain: float, n: int, tail: float) -> FloatArray:
        """How many standard errors a gain must be, at each of the nodes."""
        df, shift = max(n - 1, 1), gain * np.sqrt(n) / self.sd
        cut = t_cut(tail, df) * chi_nodes(df)
        # At most half of the gain, so that on few units too larger gains are found more often.
        cut = np.minimum(cut * self.null_sd(gain) / self.sd, cut + shift / 2)
        return np.asarray(cut + self.step / (self.sd * np.sqrt(n)))

    def null_sd(self, gain: float) -> float:
        """The standard deviation that the test finds of one unit where the true gain is this."""
        variance = self.sd**2 + 2 * gain * self.weight_covariance + gain**2 * self.weight_variance
        return float(np.sqrt(max(variance, 0.0)))

    def _of_one_sign(self, gain: float, n: int, level: Level) -> Detection:
        """What is found if a gain is significant only where all units favour one system."""
        one = np.array([1, -1]) * gain / self.sd
        # No unit may have a difference of 0, if there are steps.
        signed = one - self.step / 2 / self.sd
        right, wrong = special.ndtr(signed) ** n
        # The mean of a unit's difference, in standard deviations, given its sign.
        of_right, of_wrong = one + np.exp(-(signed**2) / 2 - special.log_ndtr(signed)) / np.sqrt(2 * np.pi)
        wrong = 0.0 if level.alternative == "greater" else wrong
        size = (right * of_right + wrong * of_wrong) / (right + wrong)
        larger = float(size / one[0]) if gain > 0 else np.nan
        return Detection(float(right), float(wrong), larger, float(special.ndtr(-one[0] * np.sqrt(n))))

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        df, se = max(n - 1, 1), self.sd / np.sqrt(n)
        cut = t_cut(tail, df) * chi_nodes(df)
        low, high = cut - (margin + gain) / se, (margin - gain) / se - cut
        if not both:
            return float(special.ndtr(-low).mean())
        return float(np.maximum(special.ndtr(high) - special.ndtr(low), 0).mean())


@dataclass(frozen=True)
class MixedDifference(Difference):
    """Many pairs of systems, one as likely as the other: what is found is the mean over them.

    A part that cannot have a true gain as large as another is taken to have just this gain on the units that differ.
    """

    parts: tuple[Difference, ...]

    @property
    def largest(self) -> float:
        return max(part.largest for part in self.parts)

    def sd_of(self, gain: float) -> float:
        return float(np.sqrt(np.mean([part.allowing(gain).sd_of(gain) ** 2 for part in self.parts])))

    def power(self, gain: float, n: int, level: Level) -> float:
        return float(np.mean([part.allowing(gain).power(gain, n, level) for part in self.parts]))

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        each = [part.allowing(abs(gain)).within(gain, margin, n, tail, both=both) for part in self.parts]
        return float(np.mean(each))

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        each = [part.allowing(gain).detection(gain, n, level) for part in self.parts]
        significant = np.array([one.power + one.wrong for one in each])
        sizes = np.array([one.exaggeration for one in each])
        known = significant > 0
        larger = float(significant[known] @ sizes[known] / significant.sum()) if known.any() else np.nan
        power, wrong, worse = (
            float(np.mean([getattr(one, name) for one in each])) for name in ("power", "wrong", "wrong_winner")
        )
        return Detection(power, wrong, larger, worse)


@dataclass(frozen=True)
class ClusteredDifference(Difference):
    """The mean difference of a unit of several items, from the difference on one item."""

    item: Difference
    design: Design

    @property
    def largest(self) -> float:
        return self.item.largest

    @property
    def visible(self) -> float:
        return self.item.visible

    def sd_of(self, gain: float) -> float:
        # Items that all differ in one direction have no spread.
        return max(self.item.sd_of(gain), 1e-9 * gain) * self.design.unit_sd

    def allowing(self, gain: float) -> ClusteredDifference:
        return replace(self, item=self.item.allowing(gain))

    def _unit(self, gain: float) -> NormalDifference:
        return NormalDifference(self.sd_of(gain), step=self.item.step / self.design.size)

    def power(self, gain: float, n: int, level: Level) -> float:
        return self._unit(gain).power(gain, n, level)

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        found = self._unit(gain).detection(gain, n, level)
        return replace(found, exaggeration=self.visible * found.exaggeration)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        return NormalDifference(self.sd_of(abs(gain))).within(gain, margin, n, tail, both=both)


@lru_cache(maxsize=512)
def chi_nodes(df: int) -> FloatArray:
    """The estimated standard error over the true one, at 200 equally likely places."""
    middles = (np.arange(_NODES) + 0.5) / _NODES
    return np.asarray(np.sqrt(special.gammaincinv(df / 2, middles) * 2 / df))


def t_cut(tail: float, df: float) -> float:
    """The value that Student's t is above with this probability; infinite for probability 0."""
    return -float(special.stdtrit(df, tail)) if tail > 0 else np.inf


def normal_density(z: FloatArray | float) -> FloatArray:
    """Of the standard normal."""
    return np.asarray(np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi))
