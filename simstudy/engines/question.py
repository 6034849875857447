"""The question that every test is asked, and its result: all pairs of K systems on one test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.ties import Pairs, Ties
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations, n_undefined
from simstudy.metrics.ratio import whole
from simstudy.metrics.scaling import common_divisor
from simstudy.statistics.pvalues import CONVENTIONS, Convention
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError

MonteCarlo = Literal["auto"] | bool

#: Units that differ of which all shuffles are enumerated, as Yeh does (2^20 shuffles).
MOST_ENUMERATED = 20

#: What the counts of a fraction must stay below for compiled loops to settle ties of ratios by integers.
RATIO_LIMIT = 2**26

# Numbers, or words of 64 answers, of some pairs that are summed or counted at a time: they stay in the cache.
_TOGETHER = 2**15

# What a question keeps once it is known, whatever pairs are asked for.
_OF_SYSTEMS = (
    "ties", "ratio", "unit_scores", "right", "contributions", "answers", "undefined", "fractions", "small_counts",
)  # fmt: skip


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
    #: True: by random resamples; "auto": only if p-values are not computed, or not cheaply; False: never.
    monte_carlo: MonteCarlo = "auto"
    n_resamples: int = 1
    seed: int = 0
    n_jobs: int = 1
    progress: Callable[[int], None] | None = None
    #: Its workers draw resamples, where there are any; None: this process.
    executor: Executor | None = None
    #: None: all pairs of systems that come best first.
    asked: Pairs | None = None
    #: (n_units + 1,) bounds of the units in the items, where statistics have a row for each item, not for each unit.
    members: IntArray | None = None
    #: What the scores are multiplied by to be on the metric's scale (`metrics.scaling.rescaled`).
    factor: float = 1.0

    def __getstate__(self) -> dict[str, Any]:
        """All that others are told of a question: not who works on it, nor who hears how far it is."""
        return self.__dict__ | {"executor": None, "progress": None}

    @property
    def n_systems(self) -> int:
        """K."""
        return int(self.statistics.shape[0])

    @property
    def n_units(self) -> int:
        """N."""
        return int(self.statistics.shape[1]) if self.members is None else len(self.members) - 1

    @property
    def two_sided(self) -> bool:
        """Whether both tails count."""
        return self.alternative == "two-sided"

    @property
    def computes(self) -> bool:
        """Whether p-values are computed where they can be; a named convention is resampled unless told otherwise."""
        return self.monte_carlo is False or (self.monte_carlo == "auto" and self.convention.name == "default")

    @property
    def most_enumerated(self) -> int:
        """Units of which all shuffles are looked at: under "auto" no more shuffles than would be drawn."""
        drawn = MOST_ENUMERATED if self.monte_carlo is False else self.n_resamples.bit_length() - 1
        return min(MOST_ENUMERATED, drawn)

    @property
    def n_pairs(self) -> int:
        """P."""
        return len(self.pairs[0])

    @cached_property
    def pairs(self) -> Pairs:
        """The better and the worse system of each of the P pairs, as positions."""
        return self.asked or np.triu_indices(self.n_systems, k=1)

    @cached_property
    def ties(self) -> Ties:
        """What a tie is among these statistics."""
        return Ties(whole(self.statistics))

    @property
    def integers(self) -> bool:
        """Whether all statistics are whole numbers."""
        return self.ties.whole

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
        if (below != below[0]).any() or not below[0].sum() > 0:
            return None
        # Ratings of 20, 40 and 60 have the sums, and the distributions, of 1, 2 and 3.
        return above // common_divisor(above) if self.integers else above

    @property
    def right_or_wrong(self) -> bool:
        """Whether every unit is one right or wrong answer: 1 or 0, or 0 or -1 where errors are counted."""
        return self.right is not None

    @cached_property
    def right(self) -> NDArray[np.bool_] | None:
        """Which units each system has right (K, n); None where some unit is no right or wrong answer."""
        if not self.integers or self.factor != 1:
            return None
        # A system at a time: answers may be many, and a byte each.
        found = np.empty(self.statistics.shape[:2], dtype=np.int8)
        for k, of_system in enumerate(self.statistics):
            ratio = self.metric.ratio(of_system)
            if ratio is None or (ratio[1] != 1).any() or np.abs(ratio[0]).max() > 1:
                return None
            found[k] = ratio[0] if self.metric.higher_is_better else -ratio[0]
        least = found.min()
        return None if found.max() > least + 1 else found > least

    @cached_property
    def won(self) -> tuple[IntArray, IntArray]:
        """On how many units only the better system of each pair is right, and only the worse one; (P,) each."""
        assert self.right is not None
        (i, j), total = self.pairs, self.right.sum(axis=1)
        both = common_bits(self.right, self.pairs)
        return total[i] - both, total[j] - both

    @cached_property
    def contributions(self) -> FloatArray:
        """What each unit adds to each system's score (K, n), on the metric's scale over `factor`; more is better."""
        parts = contributions(self.statistics, self.metric)
        return parts if self.metric.higher_is_better else -parts

    @cached_property
    def answers(self) -> tuple[FloatArray, FloatArray]:
        """How far a wrong and a right answer deviate from each system's mean, and sums of squares and cubes; (K, 2)."""
        assert self.right is not None
        values, powers = np.empty((2, self.n_systems, 2))
        for k, right in enumerate(self.right):
            parts = contributions(self.statistics[k : k + 1], self.metric)
            (row,) = deviations(parts if self.metric.higher_is_better else -parts)
            values[k] = row[[right.argmin(), right.argmax()]]
            # Of two rows: of one alone numpy adds in another order.
            powers[k] = np.einsum("kn,kn->k", np.stack([row, row**2]), np.stack([row, row]))
        return values, powers

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
        """The same question of other pairs; what is known of the systems is kept."""
        other = replace(self, asked=asked)
        vars(other).update({name: value for name, value in vars(self).items() if name in _OF_SYSTEMS})
        return other

    def first_missing(self, p_value: FloatArray) -> tuple[int, str] | None:
        """The first pair without a p-value, and the names of its systems, where every pair should have one."""
        missing = np.flatnonzero(np.isnan(p_value))
        if self.monte_carlo is not False or not len(missing):
            return None
        better, worse = (self.names[side[missing[0]]] for side in self.pairs)
        return int(missing[0]), f"'{better}' and '{worse}'"

    def differences(self, first: int, last: int) -> Array:
        """Unit scores of the better less the worse system for pairs first … last - 1, shape (P, n); 0 for ties."""
        assert self.unit_scores is not None
        i, j = (side[first:last] for side in self.pairs)
        return self.ties.differences(self.unit_scores[i], self.unit_scores[j])


@dataclass(frozen=True)
class SignificanceResult(FieldsMixin):
    """What a test found, one entry for each of the P pairs of a question, in its order."""

    p_value: FloatArray
    #: How many resamples were extreme, and of how many; both 0 where the p-value is not from resampling.
    n_extreme: IntArray
    n_resamples: IntArray
    #: Whether the test holds its level exactly under its null hypothesis, for any number of units.
    exact: NDArray[np.bool_]
    #: t, z, chi-square, a count or a sum of ranks; NaN where the test's statistic is the gain itself.
    statistic: FloatArray
    #: 1 where the statistic prefers the system with the better score, -1 for the other, 0 for neither.
    direction: IntArray
    #: The Monte Carlo intervals (2, P) of p-values that are not the counts alone.
    bounds: FloatArray | None = None

    @classmethod
    def analytic(
        cls, p_value: Array, statistic: Array, direction: Array, exact: bool | NDArray[np.bool_] = False
    ) -> SignificanceResult:
        """A result that no resampling was needed for."""
        none = np.zeros(len(p_value), dtype=np.int64)
        exact = np.broadcast_to(exact, p_value.shape).copy()
        return cls(np.maximum(p_value, 1e-300), none, none, exact, statistic, np.sign(direction).astype(np.int64))

    @classmethod
    def resampled(
        cls, question: Question, computed: FloatArray, extreme: Callable[[], IntArray], *, exact: bool
    ) -> SignificanceResult:
        """A result from counts (P,) of extreme resamples, drawn for pairs whose computed p-value (P,) is NaN.

        The statistic is the gain, so they prefer the better system of every pair.
        """
        known = ~np.isnan(computed)
        # Two tails overlap where the gain is 0 and a resample's gain is 0 too.
        found = 0 if known.all() else np.minimum(extreme(), question.n_resamples)
        counts, tried = np.where(known, 0, found), np.where(known, 0, question.n_resamples)
        p = np.where(known, computed, question.convention.p_value(counts, question.n_resamples))
        # Ties that do not count, or a count without the observed one, may give a p-value that is too small.
        exact &= question.convention.plus_one and not question.convention.strict
        ones = np.ones(len(known), dtype=np.int64)
        return cls(p, counts, tried, np.full(len(known), exact), np.full(len(known), np.nan), ones)


def not_computed(what: str) -> InputError:
    """The error of monte_carlo=False where a p-value is not computed; `what` says whose it is, and why."""
    return InputError(f"monte_carlo=False is not available for {what}; use monte_carlo='auto' or True")


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
