"""Right and wrong answers, and verdicts of judges who err: exact power of McNemar's test."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.planning.differences import Detection, Difference, normal_density
from simstudy.planning.settings import Level
from simstudy.statistics.proportions import tango_z
from simstudy.validation import InputError, check_share

# Of so many units that differ, outcomes of right and wrong answers are summed one by one; of more they are normal.
_EXACT = 5000

# Of so few units all numbers of units that differ are summed.
_ALL = 64

# Against a margin, about so many numbers of units that differ are looked at, evenly spaced.
_MOST_COUNTS = 300


class SeenDifference(Difference):
    """A difference of which the true gain says what is seen of it: what is found is that of `at`."""

    @abstractmethod
    def at(self, gain: float) -> RightOrWrongDifference:
        """What is seen of the two systems with this true gain."""

    def sd_of(self, gain: float) -> float:
        return self.at(gain).sd_of(self.visible * gain) / self.visible

    def power(self, gain: float, n: int, level: Level) -> float:
        return self.at(gain).power(self.visible * gain, n, level)

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        seen = self.at(gain).detection(self.visible * gain, n, level)
        # What is seen is compared with what is true.
        return replace(seen, exaggeration=self.visible * seen.exaggeration)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        # The margin is one of true gains: what is seen of it is as much smaller as gains are.
        return self.at(abs(gain)).within(self.visible * gain, self.visible * margin, n, tail, both=both)


class AnswersDifference(SeenDifference):
    """Right and wrong answers, of which the true gain says how many items differ."""

    @abstractmethod
    def allowing(self, gain: float) -> AnswersDifference: ...

    @property
    def step(self) -> float:
        return self.at(0.0).scale


@dataclass(frozen=True)
class RightOrWrongDifference(AnswersDifference):
    """Right and wrong answers: McNemar's exact test, which sign flips are, of the items that only one has right.

    Of n items some D are answered right by one system only, D binomial with the disagreement; of these the better one
    has a share (1 + gain / disagreement) / 2.
    """

    #: The share of items that only one of the systems has right, a fraction above 0 and at most 1.
    disagreement: float
    #: What a share of 1 is on the metric's scale: 100 for percent.
    scale: float = 100.0
    #: The largest true gain that the systems' scores allow, on that scale.
    most: float = np.inf

    def __post_init__(self) -> None:
        check_share("disagreement", self.disagreement)
        if self.disagreement == 0:
            raise InputError("disagreement", "must be above 0: systems that are always right together do not differ")

    @property
    def largest(self) -> float:
        return min(self.scale * self.disagreement, self.most)

    def sd_of(self, gain: float) -> float:
        return self.scale * float(np.sqrt(max(self.disagreement - (gain / self.scale) ** 2, 0.0)))

    def at(self, gain: float) -> RightOrWrongDifference:
        return self

    def allowing(self, gain: float) -> RightOrWrongDifference:
        return replace(self, disagreement=gain / self.scale, most=gain) if gain > self.largest else self

    def detection(self, gain: float, n: int, level: Level) -> Detection:
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
        worse = 1 - at_least((differ + 1) // 2, differ, better)
        # The chances add up to 1 but for rounding.
        power, wrong_one, wrong_winner = (min(float(chance @ part), 1.0) for part in (right, wrong, worse))
        return Detection(power, wrong_one, larger, wrong_winner)

    def power(self, gain: float, n: int, level: Level) -> float:
        share = self._share(gain)
        if n * self.disagreement > _EXACT:
            return self._normal(share, n, level).power
        differ, chance, better, least = self._outcomes(share, n, level)
        return min(float(chance @ at_least(least, differ, better)), 1.0)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        share, bound = self._share(abs(gain)) * np.sign(gain), margin / self.scale
        differ = _likely(n, self.disagreement)
        differ = differ[:: max(1, len(differ) // _MOST_COUNTS)]
        chance = _binomial(differ, n, self.disagreement)
        better = min(max((1 + share / self.disagreement) / 2, 0.0), 1.0)
        least = _least_within(differ, n, bound, -float(special.ndtri(tail)))
        shown = at_least(least, differ, better)
        if both:
            # The other test exchanges wins and losses.
            shown = np.maximum(shown - at_least(differ - least + 1, differ, better), 0.0)
        return float(chance @ shown / chance.sum())

    def _share(self, gain: float) -> float:
        if gain > self.largest * (1 + 1e-12):
            raise InputError("gain", f"must be at most {self.largest:g}, as {self.disagreement:g} of items differ")
        return gain / self.scale

    def _outcomes(self, share: float, n: int, level: Level) -> tuple[IntArray, FloatArray, float, IntArray]:
        """Numbers of items that differ, their probabilities, the better system's share of them, and the wins needed."""
        differ = _likely(n, self.disagreement)
        chance = _binomial(differ, n, self.disagreement)
        return differ, chance, min((1 + share / self.disagreement) / 2, 1.0), _least_wins(level.tail)[differ]

    def _normal(self, share: float, n: int, level: Level) -> Detection:
        # Under fair coins the standard error is that of the disagreement alone.
        null, true = np.sqrt(self.disagreement / n), np.sqrt((self.disagreement - share**2) / n)
        cut = -special.ndtri(level.tail) * null
        right, wrong = special.ndtr((share - cut) / true), special.ndtr((-share - cut) / true)
        of_right = share * right + true * normal_density((cut - share) / true)
        of_wrong = -share * wrong + true * normal_density((cut + share) / true)
        if level.alternative == "greater":
            wrong = of_wrong = 0.0
        significant = right + wrong
        size = (of_right + of_wrong) / significant if significant > 0 else np.nan
        larger = float(size / share) if share > 0 else np.nan
        return Detection(float(right), float(wrong), larger, float(special.ndtr(-share / true)))


@dataclass(frozen=True)
class JudgedDifference(SeenDifference):
    """Right and wrong, as a judge says who errs: what is found of a true gain is found of a smaller one."""

    #: The difference that a judge without error would see.
    true: AnswersDifference
    #: The share of verdicts that the judge turns round, below 0.5, whatever the truth is.
    error: float
    #: "answers": each system's answer is judged. "pairs": the judge says which one is better, and ties are ties.
    of: str

    @property
    def largest(self) -> float:
        return self.true.largest

    def allowing(self, gain: float) -> JudgedDifference:
        return replace(self, true=self.true.allowing(gain))

    @property
    def step(self) -> float:
        return self.true.step / self.visible

    @property
    def visible(self) -> float:
        return 1 - 2 * self.error

    def at(self, gain: float) -> RightOrWrongDifference:
        true = self.true.at(gain)
        if self.of == "pairs":
            return true
        # Of two verdicts on one item either none or both are turned round, or one is.
        differ, one = true.disagreement, 2 * self.error * (1 - self.error)
        return RightOrWrongDifference(differ * (1 - one) + (1 - differ) * one, true.scale)


def _least_within(differ: IntArray, n: int, bound: float, cut: float) -> IntArray:
    """The least wins of each number of units that differ at which Tango's test rejects a difference of -bound."""
    # The statistic rises with the wins. One more than there can be: no number of wins is enough.
    low, high = np.full_like(differ, -1), differ + 1
    while (open_ := high - low > 1).any():
        middle = np.where(open_, (low + high) // 2, high)
        wins = np.minimum(middle, differ).astype(np.float64)
        enough = tango_z(wins, differ - wins, n, np.asarray(-bound)) >= cut
        low, high = np.where(open_ & ~enough, middle, low), np.where(open_ & enough, middle, high)
    return high


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
    """P(W >= least) of W binomial (of, share), elementwise."""
    least, of = np.broadcast_arrays(np.asarray(least, dtype=np.float64), of)
    inside = special.betainc(np.clip(least, 1, None), np.maximum(of - least + 1, 1), share)
    return np.where(least <= 0, 1.0, np.where(least > of, 0.0, inside))


def _binomial(counts: IntArray, n: int, share: float) -> FloatArray:
    """P(W = count) of W binomial (n, share)."""
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + special.xlogy(counts, share) + special.xlog1py(n - counts, -share)))


def _likely(n: int, share: float) -> IntArray:
    """The numbers that a binomial count has, of many but for a chance of 1e-9."""
    if n <= _ALL:
        return np.arange(n + 1)
    # Beyond six and a half standard errors (and a few, where a count is nearly Poisson) there is less than 1e-9.
    reach = 6.5 * np.sqrt(n * share * (1 - share)) + 25
    return np.arange(max(0, int(n * share - reach)), min(n, int(n * share + reach)) + 1)


def _tail_and_mean(least: IntArray, of: IntArray, share: float) -> tuple[FloatArray, FloatArray]:
    """P(W >= least) of W binomial (of, share), and E[2 W - of; W >= least]."""
    tail = at_least(least, of, share)
    # E[W; W >= k] = n p P(W' >= k - 1), W' binomial (n - 1, p).
    first = of * share * at_least(least - 1, np.maximum(of - 1, 0), share)
    return tail, np.where(least > of, 0.0, 2 * first - of * tail)
