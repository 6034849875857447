"""How a pair's event is judged on one tile of resamples: one class for each kind of metric.

A tally is made once for a comparison. It says which columns go into the matrix product, and then counts, tile by
tile, for each pair of systems i (better) and j, the resamples in which u_i >= u_j, where u = score(x*) -
target * score(x): with target 2 the event gain(x*) >= 2 gain(x) (Berg-Kirkpatrick et al. 2012, figure 1). With K
vectors u there are K^2/2 comparisons and no second product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels
from simstudy.metrics import Metric, Ratio
from simstudy.metrics.base import TIE_TOLERANCE, Array, IntArray, combine, whole
from simstudy.metrics.scaling import on_grid

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The better and the worse system of each of P pairs, as positions."""

# What the counts of a fraction must stay below for kernels to settle ties of ratios by integers.
RATIO_LIMIT = 2**26


@dataclass(frozen=True)
class Event:
    """One tail: sign * (gain(x*) - target * gain(x)) >= 0, or > 0 where strict."""

    target: int
    sign: int
    strict: bool


class Tally(Protocol):
    """Which columns to resample, and what to count in their sums."""

    columns: Array
    """(C, n), single or double precision: what the matrix product sums."""

    def add(self, sums: Array, event: Event, extreme: IntArray) -> None:
        """Add to extreme (P,) the count of the event, given the sums (C, T) of the columns in T resamples."""


def make_tally(statistics: Array, metric: Metric, pairs: Pairs) -> Tally:
    """The tally for statistics (K systems, n items, S) and pairs of a better and a worse system."""
    if whole(statistics):
        statistics = statistics.astype(np.int64)
    if isinstance(metric, Ratio) and statistics.dtype.kind in "iu":
        above = combine(statistics, metric.numerator)
        below = combine(statistics, metric.denominator)
        n = above.shape[1]
        most_above, most_below = int(np.abs(above).max()) * n, int(np.abs(below).max()) * n
        if (below == below[0, 0]).all() and below[0, 0] > 0:
            return _SharedRatios(above, None, metric, pairs)  # equal denominators cancel
        if (below >= 0).all():
            if (below == below[0]).all() and 3 * most_above * most_below < 2**61:
                return _SharedRatios(above, below[0], metric, pairs)
            if (np.abs(above) <= below).all() and most_below < RATIO_LIMIT:
                return _OwnRatios(above, below, metric, pairs)
    return _Scores(statistics, metric, pairs)


class _SharedRatios:
    """Integer numerators over one denominator for all systems (accuracy, recall): integers to the end."""

    def __init__(self, above: IntArray, below: IntArray | None, metric: Metric, pairs: Pairs) -> None:
        self._pairs = pairs
        self._direction = 1 if metric.higher_is_better else -1
        self._totals = above.sum(axis=1)
        self._whole = 1 if below is None else int(below.sum())
        self.columns = summable(above if below is None else np.concatenate([above, below[None]]))
        n = above.shape[1]
        largest = 3 * n * int(np.abs(above).max()) * (1 if below is None else n * int(below.max()))
        # A difference of two values must fit too.
        self._kind = np.dtype(np.int32 if largest < 2**30 else np.int64)

    def add(self, sums: Array, event: Event, extreme: IntArray) -> None:
        k = len(self._totals)
        below = sums[k] if len(sums) > k else np.ones(sums.shape[1], dtype=sums.dtype)
        values = np.empty((k, sums.shape[1]), dtype=self._kind)
        kernels.scaled_differences(sums[:k], below, self._totals, self._whole, event.target, values)
        if event.sign * self._direction < 0:
            np.negative(values, out=values)
        margins = np.full(len(extreme), event.strict, dtype=self._kind)
        kernels.tally(values, *self._pairs, margins, extreme)


class _OwnRatios:
    """Integer numerators over a denominator for each system (precision, F): integers settle what is near a tie."""

    def __init__(self, above: IntArray, below: IntArray, metric: Metric, pairs: Pairs) -> None:
        self._pairs = pairs
        self._direction = 1 if metric.higher_is_better else -1
        self._totals = above.sum(axis=1)
        # A system without a denominator scores 0, as 0/1 does; the kernel treats resamples in the same way.
        self._wholes = np.maximum(below.sum(axis=1), 1)
        self.columns = summable(np.concatenate([above, below]))

    def add(self, sums: Array, event: Event, extreme: IntArray) -> None:
        sign = event.sign * self._direction
        kernels.tally_own_ratios(
            sums, *self._pairs, self._totals, self._wholes, event.target, sign, event.strict, extreme
        )


class ResampledScores:
    """Any metric of sums: its scores in double precision, ties within their `tie_tolerance`.

    Statistics that are not integers are rounded to a binary grid first, a grid for each system's, fine enough for
    their sum to use all bits of double precision, so that a sum does not depend on the order in which it is made.

    Attributes
    ----------
    columns
        (C, n): what the matrix product sums.
    observed
        (K,) scores on the test set itself.
    tolerance
        (P,): differences of scores up to this are ties.
    """

    def __init__(self, statistics: Array, metric: Metric, pairs: Pairs) -> None:
        self._metric = metric
        n_systems, n_items, _ = statistics.shape
        noise = metric.tie_tolerance(statistics)
        by_statistic = np.moveaxis(statistics, 2, 0)
        if statistics.dtype.kind == "f":
            by_statistic = on_grid(by_statistic)
        # A statistic that all systems share (the reference's length, the gold count) is resampled once.
        self._rows = [1 if (rows == rows[0]).all() else n_systems for rows in by_statistic]
        columns = np.concatenate([rows[:n] for rows, n in zip(by_statistic, self._rows, strict=True)])
        self.columns = columns if statistics.dtype.kind == "f" else summable(columns)
        self.observed = np.zeros(n_systems)
        self.observed = self.of(self.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]
        # Differences of scores round even where the scores themselves are exact.
        noise = np.maximum(noise, score_noise(self.observed))
        better, worse = pairs
        self.tolerance = np.maximum(noise[better], noise[worse])

    def statistics(self, sums: Array) -> NDArray[np.float64]:
        """Summed statistics (S, K, T) from sums (C, T) of the columns."""
        full = np.empty((len(self._rows), len(self.observed), sums.shape[1]))
        first = 0
        for s, n_rows in enumerate(self._rows):
            full[s] = sums[first : first + n_rows]
            first += n_rows
        return full

    def of(self, sums: Array) -> NDArray[np.float64]:
        """Scores (K, T) from sums (C, T) of the columns."""
        return self._metric.score(np.moveaxis(self.statistics(sums), 0, -1))


class _Scores:
    """Any metric of sums, by its scores."""

    def __init__(self, statistics: Array, metric: Metric, pairs: Pairs) -> None:
        self._scores, self._pairs = ResampledScores(statistics, metric, pairs), pairs
        self._direction = 1 if metric.higher_is_better else -1
        self.columns = self._scores.columns

    def add(self, sums: Array, event: Event, extreme: IntArray) -> None:
        values = self._scores.of(sums)
        values -= event.target * self._scores.observed[:, None]
        if event.sign * self._direction < 0:
            np.negative(values, out=values)
        tolerance = self._scores.tolerance
        kernels.tally(values, *self._pairs, tolerance if event.strict else -tolerance, extreme)


def score_noise(scores: Array) -> NDArray[np.float64]:
    """How much of scores may be rounding; above 0 even for 0, so that no two equal ones differ strictly."""
    return np.asarray(np.maximum(TIE_TOLERANCE * np.abs(scores), np.finfo(np.float64).tiny))


def summable(columns: Array) -> Array:
    """The columns (C, n) in the narrowest precision in which every resample's sum is exact."""
    largest = columns.shape[1] * float(np.abs(columns).max())
    if largest >= 2**53:
        raise ValueError(
            f"statistics must sum to less than 2^53 over any {columns.shape[1]} draws of an item, and these may "
            f"reach {largest:.3g}"
        )
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)
