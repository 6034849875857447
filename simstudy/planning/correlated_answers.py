"""How two systems' difference on one item is distributed, from the scores and correlations of a `Guess`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference
from simstudy.validation import InputError

# Shares that users write add up within this.
_ROUNDING = 1e-12


def disagreement_of(score: float, gain: float, agreement: float) -> float:
    """The share of items that only one of two systems has right, from the share on which both are right or both wrong.

    A ValueError has the range of agreements that two such systems can have.
    """
    _check_within("agreement", agreement, agreement_range(score, gain), score, gain, digits=6)
    if agreement >= 1:
        raise InputError("Guess.agreement", "must be below 1", agreement, ": systems that always agree do not differ")
    return 1 - float(agreement)


def _check_within(
    name: str, value: float, possible: tuple[float, float], score: float, gain: float, *, digits: int
) -> None:
    low, high = possible
    if not low - _ROUNDING <= value <= high + _ROUNDING:
        first, second = _shares(score, gain)
        raise InputError(
            f"Guess.{name}",
            f"must be from {low:.{digits}g} to {high:.{digits}g} between systems of {100 * first:g} and "
            f"{100 * second:g} %",
            value,
        )


def agreement_range(score: float, gain: float) -> tuple[float, float]:
    """The least and the largest agreement, as fractions, that two systems of this score and gain can have."""
    first, second = _shares(score, gain)
    return 1 - min(first + second, 2 - first - second), 1 - abs(second - first)


def correlation_range(score: float, gain: float) -> tuple[float, float]:
    """The least and the largest correlation that right and wrong answers of two such systems can have."""
    first, second = _shares(score, gain)
    spread = float(np.sqrt(first * (1 - first) * second * (1 - second)))
    if spread == 0:
        raise InputError("Guess.score", "must be above 0 and below 100 where answers correlate", score)
    # The share of items that both have right is at least, and at most, so much.
    both = (max(0.0, first + second - 1), min(first, second))
    return (both[0] - first * second) / spread, (both[1] - first * second) / spread


def disagreement_of_correlation(score: float, gain: float, r12: float) -> float:
    """The same from the correlation of the two systems' right and wrong answers; a ValueError has their range."""
    _check_within("r12", r12, correlation_range(score, gain), score, gain, digits=4)
    first, second = _shares(score, gain)
    spread = np.sqrt(first * (1 - first) * second * (1 - second))
    return float(first + second - 2 * (first * second + r12 * spread))


def correlation_of(score: float, gain: float, disagreement: float) -> float:
    """The correlation of right and wrong answers of which this share differs; NaN where one system is always right."""
    first, second = _shares(score, gain)
    spread = float(np.sqrt(max(first * (1 - first) * second * (1 - second), 0.0)))
    independent = first + second - 2 * first * second
    return (independent - disagreement) / (2 * spread) if spread > 0 else np.nan


@dataclass(frozen=True)
class AnswersOfGain(AnswersDifference):
    """Right and wrong answers of two systems, of which the better one's score says how many differ."""

    #: The worse system's accuracy, in percent, above 0 and below 100.
    score: float
    #: The correlation of the two systems' right and wrong answers.
    r12: float

    def __post_init__(self) -> None:
        disagreement_of_correlation(self.score, 0.0, self.r12)

    def allowing(self, gain: float) -> AnswersDifference:
        return self if gain <= self.largest else RightOrWrongDifference(gain / 100)

    def correlation(self, gain: float) -> float:
        """The correlation of the two systems' answers with this true gain; NaN where one system is always right."""
        return correlation_of(self.score, gain, self.at(gain).disagreement)


@dataclass(frozen=True)
class CorrelatedAnswers(AnswersOfGain):
    """Right and wrong answers of two systems that correlate, whatever the gain is: what differs follows from it."""

    @property
    def largest(self) -> float:
        return _largest_gain(self.score, self.r12)

    def correlation(self, gain: float) -> float:
        return self.r12

    def at(self, gain: float) -> RightOrWrongDifference:
        # Rounding of the largest gain must not leave fewer items that differ than the gain needs.
        return RightOrWrongDifference(max(disagreement_of_correlation(self.score, gain, self.r12), gain / 100))


@dataclass(frozen=True)
class AlikeAnswers(AnswersOfGain):
    """Right and wrong answers of two systems that would correlate by r12 if their scores were equal.

    Systems of unlike scores cannot correlate as much. The number of items that differ is interpolated between its
    minimum (the gain) and its value for independent systems, in proportion to 1 - r12.
    """

    @property
    def largest(self) -> float:
        return 100 - self.score

    def at(self, gain: float) -> RightOrWrongDifference:
        first, second = _shares(self.score, gain)
        independent = first + second - 2 * first * second
        differ = (1 - self.r12) * independent + self.r12 * (second - first)
        return RightOrWrongDifference(min(differ, first + second, 2 - first - second))


@lru_cache(maxsize=64)
def _largest_gain(score: float, r12: float) -> float:
    """The largest gain at which two systems, the worse one of this score, can correlate so much, in points."""

    def left(gain: float) -> float:
        first, second = score / 100, (score + gain) / 100
        # The better system has all items right that the worse one has right; or no item is wrong for both.
        extreme = first * (1 - second) if r12 > 0 else (1 - first) * (1 - second)
        return float(extreme - abs(r12) * np.sqrt(first * (1 - first) * second * (1 - second)))

    least, most = max(0.0, 100 - 2 * score) if r12 < 0 else 0.0, 100 - score - 1e-9
    if r12 == 0 or left(most) >= 0:
        return most
    return least if left(least) <= 0 else float(scipy.optimize.brentq(left, least, most))


def of_spread(sd: float, r12: float) -> NormalDifference:
    """Scores of one standard deviation each, and a correlation: their difference has sd sqrt(2 (1 - r12))."""
    if not -1 <= r12 < 1:
        raise InputError("Guess.r12", "must be at least -1 and below 1", r12)
    return NormalDifference(float(sd * np.sqrt(2 * (1 - r12))))


def _shares(score: float, gain: float) -> tuple[float, float]:
    """Both systems' accuracies as fractions."""
    return score / 100, (score + gain) / 100
