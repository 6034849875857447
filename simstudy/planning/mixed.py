"""Differences that are made of others: of many pairs of systems, and of verdicts that are wrong at times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.planning.forms import Difference, Found, Level, NormalDifference
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference, at_least
from simstudy.validation import check_choice, check_number, check_whole

# Pairs are put into so many classes of equal size by their spread; more change a power by less than 0.001.
_CLASSES = 15


@dataclass(frozen=True)
class MixedDifference(Difference):
    """Many pairs of systems, one as likely as the other: what is found is the mean over them.

    Attributes
    ----------
    parts
        The differences of the pairs. Where one cannot have a true gain as large as another, it is taken to have just
        this gain on the units that differ.
    """

    parts: tuple[Difference, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must have at least one difference")

    @property
    def largest(self) -> float:
        return max(part.largest for part in self.parts)

    def sd_of(self, gain: float) -> float:
        return float(np.sqrt(np.mean([part.allowing(gain).sd_of(gain) ** 2 for part in self.parts])))

    def power(self, gain: float, n: int, level: Level) -> float:
        return float(np.mean([part.allowing(gain).power(gain, n, level) for part in self.parts]))

    def found(self, gain: float, n: int, level: Level) -> Found:
        each = [part.allowing(gain).found(gain, n, level) for part in self.parts]
        significant = np.array([one.power + one.wrong for one in each])
        sizes = np.array([one.exaggeration for one in each])
        known = significant > 0
        larger = float(significant[known] @ sizes[known] / significant.sum()) if known.any() else np.nan
        power, wrong, worse = (
            float(np.mean([getattr(one, name) for one in each])) for name in ("power", "wrong", "wrong_winner")
        )
        return Found(power, wrong, larger, worse)


def of_pairs(spreads: FloatArray, scale: float | None) -> Difference:
    """The pairs' differences: sds (P,) above 0, or, where a scale is given, shares of items that differ.

    Examples
    --------
    >>> of_pairs(np.full(1000, 0.1), 100.0).found(1.0, 8000, Level()).power > 0.79
    True
    """
    ordered = np.sort(np.asarray(spreads, dtype=np.float64))
    classes = np.array([part.mean() for part in np.array_split(ordered, min(_CLASSES, len(ordered)))])
    if scale is None:
        return MixedDifference(tuple(NormalDifference(float(sd)) for sd in classes))
    return MixedDifference(tuple(RightOrWrongDifference(float(share), scale) for share in classes))


@dataclass(frozen=True)
class JudgedDifference(Difference):
    """Right and wrong, as a judge says who errs: what is found of a true gain is found of a smaller one.

    Attributes
    ----------
    true
        The difference that a judge without error would see, of right and wrong answers.
    error
        The share of verdicts that the judge turns round, below 0.5, whatever the truth is.
    of
        "answers": each system's answer is judged, right or wrong. "pairs": the judge says which one is better, and ties
        are ties.
    """

    true: AnswersDifference
    error: float
    of: str

    def __post_init__(self) -> None:
        check_error("error", self.error)
        check_choice("of", self.of, ("answers", "pairs"))

    @property
    def largest(self) -> float:
        return self.true.largest

    def sd_of(self, gain: float) -> float:
        return self._seen(gain).sd_of(self._share * gain) / self._share

    def allowing(self, gain: float) -> JudgedDifference:
        return JudgedDifference(self.true.allowing(gain), self.error, self.of)

    def power(self, gain: float, n: int, level: Level) -> float:
        return self._seen(gain).power(self._share * gain, n, level)

    def found(self, gain: float, n: int, level: Level) -> Found:
        seen = self._seen(gain).found(self._share * gain, n, level)
        # What is seen is compared with what is true.
        return Found(seen.power, seen.wrong, self._share * seen.exaggeration, seen.wrong_winner)

    @property
    def _share(self) -> float:
        """The part of a gain that is left."""
        return 1 - 2 * self.error

    def _seen(self, gain: float) -> RightOrWrongDifference:
        true = self.true.at(gain)
        if self.of == "pairs":
            return true
        # Of two verdicts on one item either none or both are turned round, or one is.
        differ, one = true.disagreement, 2 * self.error * (1 - self.error)
        return RightOrWrongDifference(differ * (1 - one) + (1 - differ) * one, true.scale)


def error_of_majority(error: float, judgements: int) -> float:
    """The share of majority verdicts that are wrong, of an odd number of judgements that err independently.

    Examples
    --------
    >>> round(error_of_majority(0.2, 3), 6)   # 3 x 0.04 x 0.8 + 0.008
    0.104
    """
    check_error("judge_error", error)
    check_whole("judgements", judgements, 1)
    if judgements % 2 == 0:
        raise ValueError(f"judgements must be an odd number where the majority decides, not {judgements}")
    return float(at_least(judgements // 2 + 1, judgements, error))


def check_error(argument: str, error: float) -> None:
    """Raise a ValueError where a judge is no better than a coin."""
    check_number(argument, error)
    if not 0 <= error < 0.5:
        raise ValueError(f"{argument} must be at least 0 and below 0.5, where verdicts are coins, not {error:g}")
