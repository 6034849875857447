"""How two systems' difference on one item is distributed, from the scores and correlations of a `Guess`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import optimize

from simstudy.planning.differences import Detection, NormalDifference
from simstudy.planning.level import Level
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference
from simstudy.validation import check_number

# Shares that users write add up within this.
_ROUNDING = 1e-12


def disagreement_of(score: float, gain: float, agreement: float) -> float:
    """The share of items that only one of two systems has right, from the share on which both are right or both wrong.

    Parameters
    ----------
    score
        The worse system's accuracy, in percent.
    gain
        By how many points the other one is better.
    agreement
        A fraction.

    Raises
    ------
    ValueError
        For an agreement that two such systems cannot have; the message has the range.

    Examples
    --------
    >>> round(disagreement_of(80, 1, 0.9), 6)
    0.1
    >>> disagreement_of(80, 5, 0.99)
    Traceback (most recent call last):
    ValueError: Guess.agreement must be from 0.65 to 0.95 between systems of 80 and 85 %, not 0.99
    """
    first, second = _shares(score, gain)
    check_number("Guess.agreement", agreement)
    low, high = agreement_range(score, gain)
    if not low - _ROUNDING <= agreement <= high + _ROUNDING:
        raise ValueError(
            f"Guess.agreement must be from {low:.6g} to {high:.6g} between systems of {100 * first:g} and "
            f"{100 * second:g} %, not {agreement:g}"
        )
    if agreement >= 1:
        raise ValueError(f"Guess.agreement must be below 1, not {agreement:g}: systems that always agree do not differ")
    return 1 - float(agreement)


def agreement_range(score: float, gain: float) -> tuple[float, float]:
    """The least and the largest agreement, as fractions, that two systems of this score and gain can have.

    Examples
    --------
    >>> [round(end, 6) for end in agreement_range(80, 5)]
    [0.65, 0.95]
    """
    first, second = _shares(score, gain)
    return 1 - min(first + second, 2 - first - second), 1 - abs(second - first)


def correlation_range(score: float, gain: float) -> tuple[float, float]:
    """The least and the largest correlation that right and wrong answers of two such systems can have.

    Examples
    --------
    >>> [round(end, 4) for end in correlation_range(90, 5)]
    [-0.0765, 0.6882]
    """
    first, second = _shares(score, gain)
    spread = float(np.sqrt(first * (1 - first) * second * (1 - second)))
    if spread == 0:
        raise ValueError(f"Guess.score must be above 0 and below 100 where answers correlate, not {score:g}")
    # The share of items that both have right is at least, and at most, so much.
    both = (max(0.0, first + second - 1), min(first, second))
    return (both[0] - first * second) / spread, (both[1] - first * second) / spread


def disagreement_of_correlation(score: float, gain: float, r12: float) -> float:
    """The same from the correlation of the two systems' right and wrong answers.

    Raises
    ------
    ValueError
        For a correlation that two such systems cannot have; the message has the range.

    Examples
    --------
    Of uncorrelated systems of 50 % one half differs:

    >>> disagreement_of_correlation(50, 0, 0.0)
    0.5
    """
    first, second = _shares(score, gain)
    check_number("Guess.r12", r12)
    low, high = correlation_range(score, gain)
    if not low - _ROUNDING <= r12 <= high + _ROUNDING:
        raise ValueError(
            f"Guess.r12 must be from {low:.4g} to {high:.4g} between systems of {100 * first:g} and "
            f"{100 * second:g} %, not {r12:g}"
        )
    spread = np.sqrt(first * (1 - first) * second * (1 - second))
    return float(first + second - 2 * (first * second + r12 * spread))


@dataclass(frozen=True)
class AnswersOfGain(AnswersDifference):
    """Right and wrong answers of two systems, of which the better one's score says how many differ.

    Attributes
    ----------
    score
        The worse system's accuracy, in percent, above 0 and below 100.
    r12
        The correlation of the two systems' right and wrong answers.
    """

    score: float
    r12: float

    def __post_init__(self) -> None:
        disagreement_of_correlation(self.score, 0.0, self.r12)

    def allowing(self, gain: float) -> AnswersDifference:
        return self if gain <= self.largest else RightOrWrongDifference(gain / 100)

    def sd_of(self, gain: float) -> float:
        return self.at(gain).sd_of(gain)

    def power(self, gain: float, n: int, level: Level) -> float:
        return self.at(gain).power(gain, n, level)

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        return self.at(gain).detection(gain, n, level)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        return self.at(abs(gain)).within(gain, margin, n, tail, both=both)


@dataclass(frozen=True)
class CorrelatedAnswers(AnswersOfGain):
    """Right and wrong answers of two systems that correlate, whatever the gain is: what differs follows from it.

    Examples
    --------
    >>> CorrelatedAnswers(50, 0.0).at(0).disagreement
    0.5
    """

    @property
    def largest(self) -> float:
        return _largest_gain(self.score, self.r12)

    def at(self, gain: float) -> RightOrWrongDifference:
        """The two systems with this gain."""
        # Rounding of the largest gain must not leave fewer items that differ than the gain needs.
        return RightOrWrongDifference(max(disagreement_of_correlation(self.score, gain, self.r12), gain / 100))


@dataclass(frozen=True)
class AlikeAnswers(AnswersOfGain):
    """Right and wrong answers of two systems that would correlate by r12 if their scores were equal.

    Systems of unlike scores cannot correlate as much. So many items differ as lie between what differs of independent
    systems and what must, the gain itself: by r12 of the way. Of equal scores that is r12. Where r12 is
    below 0, more differ than of independent systems.

    Examples
    --------
    >>> round(AlikeAnswers(80, 0.5).at(0).disagreement, 6), round(CorrelatedAnswers(80, 0.5).at(0).disagreement, 6)
    (0.16, 0.16)
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
    return least if left(least) <= 0 else float(optimize.brentq(left, least, most))


def of_spread(sd: float, r12: float) -> NormalDifference:
    """Scores of one standard deviation each, and a correlation: their difference has sd sqrt(2 (1 - r12)).

    Examples
    --------
    >>> of_spread(0.5, 0.5).sd
    0.5
    """
    check_number("Guess.sd", sd)
    check_number("Guess.r12", r12)
    if not -1 <= r12 < 1:
        raise ValueError(f"Guess.r12 must be at least -1 and below 1, not {r12:g}")
    return NormalDifference(float(sd * np.sqrt(2 * (1 - r12))))


def _shares(score: float, gain: float) -> tuple[float, float]:
    """Both systems' accuracies as fractions."""
    check_number("Guess.score", score)
    check_number("gain", gain)
    if not 0 <= score <= 100 or not 0 <= score + gain <= 100:
        raise ValueError(
            f"Guess.score and Guess.score + gain must be from 0 to 100 %, not {score:g} and {score + gain:g}"
        )
    return score / 100, (score + gain) / 100
