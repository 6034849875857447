"""What every test is asked, and what it answers: all pairs of K systems on one test set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.tallies import RATIO_LIMIT
from simstudy.metrics import Metric, Ratio
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray, combine, whole
from simstudy.pvalues import CONVENTIONS, Convention

Exact = Literal["auto"] | bool


@dataclass(frozen=True)
class Question:
    """All pairs of K systems, and how to test them. Checked by `compare`; inside, code trusts.

    Attributes
    ----------
    statistics
        (K systems, best first; n units, those of a stratum next to each other; S).
    names
        The K systems' names, for messages.
    strata
        (H + 1,) bounds of the strata in the units.
    exact
        True: exactly or not at all; "auto": exactly where it is possible and cheap; False: by resampling.
    """

    statistics: Array
    metric: Metric
    names: list[str]
    unit: str
    strata: IntArray
    alternative: str = "greater"
    convention: Convention = CONVENTIONS["default"]
    exact: Exact = "auto"
    n_resamples: int = 1
    seed: int = 0
    n_jobs: int = 1
    tile_size: int | None = None
    progress: Callable[[int], None] | None = None

    @property
    def n_systems(self) -> int:
        """K."""
        return int(self.statistics.shape[0])

    @property
    def n_units(self) -> int:
        """N."""
        return int(self.statistics.shape[1])

    @property
    def two_sided(self) -> bool:
        """Whether both tails count."""
        return self.alternative == "two-sided"

    @property
    def wants_exact(self) -> bool:
        """Whether exact p-values are asked for; a named convention is resampled unless it is told otherwise."""
        return self.exact is True or (self.exact == "auto" and self.convention.name == "default")

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The better and the worse system of each of the P pairs, as positions."""
        return np.triu_indices(self.n_systems, k=1)

    @cached_property
    def integers(self) -> bool:
        """Whether all statistics are whole numbers."""
        return whole(self.statistics)

    @cached_property
    def ratio(self) -> tuple[Array, Array] | None:
        """Numerators and denominators (K, n), in whole numbers where they are whole; None where it is no ratio.

        The numerators' sign is such that more is better.
        """
        if not isinstance(self.metric, Ratio):
            return None
        statistics = self.statistics.astype(np.int64) if self.integers else self.statistics
        above = combine(statistics, self.metric.numerator)
        below = combine(statistics, self.metric.denominator)
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

    @cached_property
    def small_counts(self) -> bool:
        """Whether the compiled loops can settle ties of pseudo-systems' ratios by integers."""
        if self.ratio is None or not self.integers:
            return False
        above, below = self.ratio
        # A pseudo-system may get all that both systems have.
        return bool((np.abs(above) <= below).all()) and int(below.sum(axis=1).max()) < RATIO_LIMIT // 2

    def differences(self, first: int, last: int) -> Array:
        """Unit scores of the better less the worse system for pairs first … last - 1, shape (P, n).

        Decimals that differ by their rounding only do not differ.
        """
        assert self.unit_scores is not None
        i, j = (side[first:last] for side in self.pairs)
        better, worse = self.unit_scores[i], self.unit_scores[j]
        difference: Array = better - worse
        if not self.integers:
            difference[np.abs(difference) <= TIE_TOLERANCE * np.maximum(np.abs(better), np.abs(worse))] = 0.0
        return difference


@dataclass(frozen=True)
class Answers:
    """What a test found, one entry for each of the P pairs of a question, in its order.

    Attributes
    ----------
    p_value
        Fractions.
    n_extreme, n_resamples
        How many resamples were extreme, and of how many; both 0 where the p-value is not from resampling.
    exact
        Whether the p-value is exact under the test's own null hypothesis.
    statistic
        The test's statistic (t, z, chi-square, a count or a sum of ranks), NaN where that is the gain itself.
    """

    p_value: FloatArray
    n_extreme: IntArray
    n_resamples: IntArray
    exact: NDArray[np.bool_]
    statistic: FloatArray

    @classmethod
    def analytic(cls, p_value: Array, statistic: Array, exact: bool | NDArray[np.bool_] = False) -> Answers:
        """Answers that no resampling was needed for."""
        none = np.zeros(len(p_value), dtype=np.int64)
        return cls(p_value, none, none, np.broadcast_to(exact, p_value.shape).copy(), statistic)

    @classmethod
    def resampled(cls, extreme: IntArray | None, question: Question, p_exact: FloatArray) -> Answers:
        """Answers from counts (K, K) of extreme resamples, but for pairs whose exact p-value (P,) is a number."""
        i, j = question.pairs
        exact = ~np.isnan(p_exact)
        counts = np.zeros(len(i), dtype=np.int64)
        if extreme is not None:
            counts = np.where(exact, 0, extreme[i, j])
        p = np.where(exact, p_exact, question.convention.p_value(counts, question.n_resamples))
        tried = np.where(exact, 0, question.n_resamples)
        return cls(p, counts, tried, exact, np.full(len(i), np.nan))
