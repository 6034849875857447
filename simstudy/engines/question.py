"""The question that every test is asked, and its result: all pairs of K systems on one test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray, Ratio, whole
from simstudy.metrics.influence import contributions, n_undefined
from simstudy.statistics.pvalues import CONVENTIONS, Convention
from simstudy.text.reprs import FieldsMixin

#: The better and the worse system of each of P pairs, as positions.
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

#: What the counts of a fraction must stay below for compiled loops to settle ties of ratios by integers.
RATIO_LIMIT = 2**26

#: How a p-value is computed.
COMPUTATIONS = ("exact", "approximated", "resampled")

# Numbers, or words of 64 answers, of some pairs that are summed or counted at a time: they stay in the cache.
_TOGETHER = 2**15

# No p-value that is computed is 0: what was observed is one of the outcomes.
_LEAST_P_VALUE = 1e-300

# What a right answer has where scores are in percent.
_PERCENT = 100

# What is kept of a question for other pairs of the same systems.
_OF_SYSTEMS = "integers", "ratio", "unit_scores", "_answers", "contributions", "undefined", "fractions", "small_counts"


@dataclass(frozen=True)
class Question(FieldsMixin):
    """Pairs of K systems, and how to test them. Checked by `compare`; inside, code trusts."""

    #: (K systems; n units, those of a stratum next to each other; S).
    statistics: Array
    metric: Metric
    names: list[str]
    unit: str
    #: (H + 1,) bounds of the strata in the units.
    strata: IntArray
    alternative: str = "greater"
    convention: Convention = CONVENTIONS["default"]
    #: Whether p-values are always resampled; else only those that are not computed.
    monte_carlo: bool = False
    n_resamples: int = 1
    seed: int = 0
    n_jobs: int = 1
    progress: Callable[[int], None] | None = None
    #: None: all pairs of systems that come best first.
    asked: Pairs | None = None
    #: (n_units + 1,) bounds of the units in the items, where statistics have a row for each item, not for each unit.
    members: IntArray | None = None
    #: What the scores are multiplied by to be on the metric's scale (`metrics.scaling.rescaled`).
    factor: float = 1.0

    @property
    def n_systems(self) -> int:
        """K."""
        return int(self.statistics.shape[0])

    @property
    def n_units(self) -> int:
        """N."""
        return int(self.statistics.shape[1]) if self.members is None else len(self.members) - 1

    @property
    def n_pairs(self) -> int:
        """P."""
        # The pairs of many systems do not fit into memory, and this number says so.
        return self.n_systems * (self.n_systems - 1) // 2 if self.asked is None else len(self.asked[0])

    @cached_property
    def pairs(self) -> Pairs:
        """The better and the worse system of each of the P pairs, as positions."""
        return self.asked or np.triu_indices(self.n_systems, k=1)

    @property
    def two_sided(self) -> bool:
        """Whether both tails count."""
        return self.alternative == "two-sided"

    @property
    def computes(self) -> bool:
        """Whether p-values are computed where they can be; a named convention counts resamples."""
        return not self.monte_carlo and self.convention.name == "default"

    @cached_property
    def integers(self) -> bool:
        """Whether all statistics are whole numbers, which add up without rounding."""
        return whole(self.statistics)

    @cached_property
    def ratio(self) -> tuple[Array, Array] | None:
        """Numerators and denominators (K, n), in whole numbers where they are whole; None where it is no ratio.

        The numerators' sign is such that more is better.
        """
        # Combinations of whole numbers of any type are int64.
        exact = not self.integers or self.statistics.dtype.kind in "iu"
        ratio = self.metric.ratio(self.statistics if exact else self.statistics.astype(np.int64))
        if ratio is None:
            return None
        above, below = ratio
        return (above if self.metric.higher_is_better else -above), below

    @cached_property
    def unit_scores(self) -> Array | None:
        """Scores of units (K, n) whose sum orders the systems; None where the metric is no mean of unit scores.

        It is one where the metric is a ratio and all systems have the same denominator on every unit: these cancel.
        """
        if self.ratio is None:
            return None
        above, below = self.ratio
        return above if (below == below[0]).all() and below[0].sum() > 0 else None

    @property
    def right_or_wrong(self) -> bool:
        """Whether every unit is one right or wrong answer: 1 or 0, 100 or 0, or 0 or -1 where errors are counted."""
        return self._answers is not None

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which units each system has right (K, n), where every unit is one right or wrong answer."""
        assert self._answers is not None
        return self._answers[0]

    @property
    def worth(self) -> float:
        """The score of a right answer less that of a wrong one, if every unit is one of these."""
        assert self._answers is not None
        return self.metric.scale * self._answers[1]

    @cached_property
    def _answers(self) -> tuple[NDArray[np.bool_], int] | None:
        """Which units each system has right (K, n), and by how much a right one's numerator is larger."""
        if not self.integers or self.factor != 1:
            return None
        # A system at a time: answers may be many, and a byte each.
        answers = np.empty(self.statistics.shape[:2], dtype=np.int8)
        for k, statistics in enumerate(self.statistics):
            ratio = self.metric.ratio(statistics)
            if ratio is None or (ratio[1] != 1).any() or np.abs(ratio[0]).max() > _PERCENT:
                return None
            answers[k] = ratio[0] if self.metric.higher_is_better else -ratio[0]
        low, high = int(answers.min()), int(answers.max())
        worth = max(-low, high, 1)
        if worth not in (1, _PERCENT) or high - low not in (0, worth) or ((answers > low) & (answers < high)).any():
            return None
        return answers > low, worth

    @cached_property
    def won(self) -> tuple[IntArray, IntArray]:
        """On how many units only the better system of each pair is right, and only the worse one; (P,) each."""
        (i, j), total = self.pairs, self.right.sum(axis=1)
        both = common_bits(self.right, self.pairs)
        return total[i] - both, total[j] - both

    @cached_property
    def contributions(self) -> FloatArray:
        """What each unit adds to each system's score (K, n), on the metric's scale over `factor`; more is better."""
        parts = contributions(self.statistics, self.metric)
        return parts if self.metric.higher_is_better else -parts

    @cached_property
    def undefined(self) -> NDArray[np.bool_]:
        """Which systems (K,) have an undefined score without one of the units."""
        return n_undefined(self.statistics, self.metric) > 0

    @cached_property
    def fractions(self) -> bool:
        """Whether every unit's numerator is a whole number no larger than its denominator."""
        if self.ratio is None or not self.integers:
            return False
        above, below = self.ratio
        return bool((np.abs(above) <= below).all())

    @cached_property
    def small_counts(self) -> bool:
        """Whether the compiled loops can settle ties of pseudo-systems' ratios by integers."""
        if self.ratio is None or not self.fractions:
            return False
        # A pseudo-system may get all that both systems have.
        return 2 * int(self.ratio[1].sum(axis=1).max()) < RATIO_LIMIT

    def about(self, asked: Pairs) -> Question:
        """The same question of other pairs; what is computed of the systems is kept."""
        other = replace(self, asked=asked)
        vars(other).update({name: value for name, value in vars(self).items() if name in _OF_SYSTEMS})
        return other

    def differences(self, first: int, last: int) -> Array:
        """Unit scores of the better less the worse system for pairs first … last - 1, shape (P, n); 0 for ties."""
        assert self.unit_scores is not None
        better, worse = (self.unit_scores[side[first:last]] for side in self.pairs)
        difference: Array = better - worse
        if not self.integers:
            difference[np.abs(difference) <= TIE_TOLERANCE * np.maximum(np.abs(better), np.abs(worse))] = 0.0
        return difference


def tolerance_of_scores(metric: Metric, statistics: Array, scores: FloatArray, pairs: Pairs) -> FloatArray:
    """How far gains of resampled statistics (K, n, S) may be from each other and yet be equal, for pairs (P,).

    Above 0 even for a score of 0: differences of scores round where the scores themselves are exact. Quotients of whole
    numbers round in their last digits only; resampled ones may be as large as the scale. Other scores have any unit.
    """
    quotients = isinstance(metric, Ratio) and whole(statistics)
    sizes = np.maximum(np.abs(scores), metric.scale) if quotients else np.abs(scores)
    least = np.maximum((1e-14 if quotients else TIE_TOLERANCE) * sizes, np.finfo(np.float64).tiny)
    better, worse = pairs
    noise = np.maximum(metric.tie_tolerance(statistics), least)
    return np.maximum(noise[better], noise[worse])


@dataclass(frozen=True)
class SignificanceResult(FieldsMixin):
    """A test's result: one entry for each of the P pairs of a question, in its order."""

    p_value: FloatArray
    #: How many resamples were extreme, and of how many; both 0 where the p-value is not from resampling.
    n_extreme: IntArray
    n_resamples: IntArray
    #: Whether a p-value that is not from resampling is an approximation; else it is exact.
    approximated: NDArray[np.bool_]
    #: Whether the test holds its level exactly under its null hypothesis, for any number of units, but for the error of
    #: an approximated p-value.
    exact_level: NDArray[np.bool_]
    #: t, z, chi-square, a count or a sum of ranks; NaN where the test's statistic is the gain itself.
    statistic: FloatArray
    #: 1 where the statistic prefers the system with the better score, -1 for the other, 0 for neither.
    direction: IntArray

    @classmethod
    def analytic(
        cls,
        p_value: Array,
        statistic: Array,
        direction: Array,
        exact: bool | NDArray[np.bool_] = False,
        *,
        exact_level: bool | NDArray[np.bool_] | None = None,
    ) -> SignificanceResult:
        """A result that no resampling was needed for; its level is exact where its p-values are, unless told so."""
        none = np.zeros(len(p_value), dtype=np.int64)
        exact_level = exact if exact_level is None else exact_level
        return cls(
            np.maximum(p_value, _LEAST_P_VALUE),
            none,
            none,
            ~np.broadcast_to(exact, p_value.shape),
            np.broadcast_to(exact_level, p_value.shape).copy(),
            statistic,
            np.sign(direction).astype(np.int64),
        )

    @classmethod
    def of_gains(
        cls,
        question: Question,
        computed: FloatArray | None = None,
        n_extreme: IntArray | None = None,
        *,
        exact_level: bool,
        approximated: bool | NDArray[np.bool_] = False,
    ) -> SignificanceResult:
        """A result of a test whose statistic is the gain, so that it prefers the better system of every pair.

        Computed p-values (P,) are NaN where they are from the counts of extreme resamples (P,).
        """
        every = np.ones(question.n_pairs, dtype=np.int64)
        computed = np.full(question.n_pairs, np.nan) if computed is None else computed
        drawn = np.isnan(computed)
        # Two tails overlap where the gain is 0 and a resample's gain is 0 too.
        counts = np.minimum(0 * every if n_extreme is None else n_extreme, question.n_resamples)
        convention = question.convention
        p_value = np.where(
            drawn, convention.p_value(counts, question.n_resamples), np.maximum(computed, _LEAST_P_VALUE)
        )
        # Ties that do not count, or a count without the observed one, may give a p-value that is too small.
        exact_level &= convention.plus_one and not convention.strict
        return cls(
            p_value,
            np.where(drawn, counts, 0),
            np.where(drawn, question.n_resamples, 0),
            approximated & ~drawn,
            np.full(question.n_pairs, exact_level),
            np.full(question.n_pairs, np.nan),
            every,
        )

    @property
    def computation(self) -> IntArray:
        """How each p-value is computed (P,): the position in `COMPUTATIONS`."""
        return np.where(self.n_resamples > 0, 2, self.approximated.astype(np.int64))


def difference_moments(rows: FloatArray, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """Sums of squares and of cubes of the better system's row of (K, n) less the worse one's, (P,) each.

    A pair's sums have the same bits whatever other pairs are asked for: numpy adds up each row by itself.
    """
    squares, cubes = np.empty((2, len(pairs[0])))
    for part in _parts(pairs, rows.shape[1]):
        i, j = (side[part] for side in pairs)
        difference = rows[i]
        difference -= rows[j]
        power = difference**2
        power.sum(axis=1, out=squares[part])
        power *= difference
        power.sum(axis=1, out=cubes[part])
    return squares, cubes


def common_bits(rows: NDArray[np.bool_], pairs: Pairs) -> IntArray:
    """In how many places both of two rows (K, n) are true: (P,)."""
    packed = np.packbits(rows, axis=1)
    words = np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)]).view(np.uint64)
    counts = np.empty(len(pairs[0]), dtype=np.int64)
    for part in _parts(pairs, words.shape[1]):
        i, j = (side[part] for side in pairs)
        counts[part] = np.bitwise_count(words[i] & words[j]).sum(axis=1, dtype=np.int64)
    return counts


def _parts(pairs: Pairs, n: int) -> Iterator[slice]:
    """Slices of so many pairs that rows of n numbers stay in the cache."""
    width = max(1, _TOGETHER // n)
    return (slice(first, first + width) for first in range(0, len(pairs[0]), width))
