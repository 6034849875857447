"""How the extreme resamples of one tile are counted: a class for each kind of metric, made once for a comparison.

The bootstrap counts, for each pair of systems i (better) and j, the resamples in which u_i >= u_j, where u =
score(x*) - target * score(x): with target 2 the event gain(x*) >= 2 gain(x) (Berg-Kirkpatrick et al. 2012, figure 1).
With K vectors u there are K^2/2 comparisons and no second product.

In randomization a coin decides for each unit whether two systems swap their statistics. With coins c, shared by all
pairs, and the picked sums m_k = c . x_k of every system, the pseudo-systems of a pair are total_i - m_i + m_j and
total_j - m_j + m_i: so coins times statistics is one matrix product for all pairs.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels, swap_kernels, ties
from simstudy.engines.array_scores import ArrayScores, ArraySwaps
from simstudy.engines.kernels import Event, Ratio
from simstudy.engines.question import RATIO_LIMIT, Question
from simstudy.engines.swap_kernels import Tail
from simstudy.metrics.base import Array, IntArray
from simstudy.metrics.scaling import on_grid

# Pseudo-systems' statistics that the general tally of swaps holds at a time.
_PSEUDO_SYSTEMS = 2**18


class Tally(Protocol):
    """Which columns to sum in each resample, and what to count in their sums."""

    columns: Array
    """(C, n), single or double precision."""

    def add(self, sums: Array, extreme: IntArray) -> None:
        """Add to extreme (P,) how many of T resamples are extreme, given the sums (C, T) of the columns in them."""


def events(question: Question) -> list[Event]:
    """What the bootstrap counts by the question's convention, as events of the gain."""
    strict = question.convention.strict
    lost = Event(target=0, sign=-1, strict=strict)
    if question.convention.counts == "not won":
        return [lost]
    twice = Event(target=2, sign=1, strict=strict)
    return [twice, lost] if question.two_sided else [twice]


def make_tally(question: Question) -> Tally:
    """The bootstrap's tally that fits the question's metric and statistics."""
    if question.ratio is None or not question.integers:
        return _Scores(question)
    above, below = question.ratio
    n = question.n_units
    most_above, most_below = int(np.abs(above).max()) * n, int(np.abs(below).max()) * n
    if question.unit_scores is not None:
        if (below == below[0, 0]).all():
            return _SharedRatios(question, None)  # equal denominators cancel
        if (below >= 0).all() and 3 * most_above * most_below < 2**61:
            return _SharedRatios(question, below[0])
    if question.fractions and most_below < RATIO_LIMIT:
        return _OwnRatios(question)
    return _Scores(question)


class _SharedRatios:
    """Integer numerators over one denominator for all systems (accuracy, recall): integers to the end."""

    def __init__(self, question: Question, below: IntArray | None) -> None:
        above = question.unit_scores
        assert above is not None
        self._pairs, self._events = question.pairs, events(question)
        self._observed = Ratio(above.sum(axis=1), 1 if below is None else int(below.sum()))
        self.columns = summable(above if below is None else np.concatenate([above, below[None]]))
        n = above.shape[1]
        largest = 3 * n * int(np.abs(above).max()) * (1 if below is None else n * int(below.max()))
        # A difference of two values must fit too.
        self._kind = np.dtype(np.int32 if largest < 2**30 else np.int64)

    def add(self, sums: Array, extreme: IntArray) -> None:
        k = len(self._observed.above)
        below = sums[k] if len(sums) > k else np.ones(sums.shape[1], dtype=sums.dtype)
        values = np.empty((k, sums.shape[1]), dtype=self._kind)
        for event in self._events:
            kernels.scaled_differences(Ratio(sums[:k], below), self._observed, event.target, values)
            if event.sign < 0:
                np.negative(values, out=values)
            kernels.tally(values, self._pairs, np.full(len(extreme), event.strict, dtype=self._kind), extreme)


class _OwnRatios:
    """Integer numerators over a denominator for each system (precision, F): integers settle what is near a tie."""

    def __init__(self, question: Question) -> None:
        assert question.ratio is not None
        above, below = question.ratio
        self._pairs, self._events = question.pairs, events(question)
        # A system without a denominator scores 0, as 0/1 does; the kernel treats resamples in the same way.
        self._observed = Ratio(above.sum(axis=1), np.maximum(below.sum(axis=1), 1))
        self.columns = summable(np.concatenate([above, below]))

    def add(self, sums: Array, extreme: IntArray) -> None:
        for event in self._events:
            kernels.tally_own_ratios(sums, self._pairs, self._observed, event, extreme)


class ResampledScores:
    """Any metric of sums: its scores in double precision, ties up to rounding (`simstudy.engines.ties`).

    `columns` (C, n) are what the matrix product sums; statistics that are not integers are rounded to a binary grid, so
    that a sum does not depend on its order. `observed` (K,) are the test set's own scores; differences of scores up to
    `tolerance` (P,) are ties.
    """

    def __init__(self, question: Question) -> None:
        self._metric = question.metric
        statistics = question.statistics.astype(np.int64) if question.integers else question.statistics
        n_systems = question.n_systems
        by_statistic = np.moveaxis(statistics, 2, 0)
        if statistics.dtype.kind == "f":
            by_statistic = on_grid(by_statistic)
        # A statistic that all systems share (the reference's length, the gold count) is resampled once.
        self._rows = [1 if (rows == rows[0]).all() else n_systems for rows in by_statistic]
        columns = np.concatenate([rows[:n] for rows, n in zip(by_statistic, self._rows, strict=True)])
        self.columns = columns if statistics.dtype.kind == "f" else summable(columns)
        self.observed = np.zeros(n_systems)
        self.observed = self.of(self.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]
        self.tolerance = ties.of_pairs(ties.of_scores(self._metric, statistics, self.observed), question.pairs)
        # Scores may cancel to 0 on the test set and not in resamples: how large they get, sizes tell.
        self.size = float(np.abs(self._metric.score(np.abs(statistics).sum(axis=1, dtype=np.float64))).max())

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
        return self.of_statistics(self.statistics(sums))

    def of_statistics(self, sums: Array) -> NDArray[np.float64]:
        """Scores (K, T) from summed statistics (S, K, T)."""
        return self._metric.score(np.moveaxis(sums, 0, -1))


def resampled_scores(question: Question) -> ResampledScores | ArrayScores:
    """What scores a question's systems on resamples, whatever its metric is."""
    return ResampledScores(question) if question.metric.of_sums else ArrayScores(question)


class _Scores:
    """Any metric, by its scores."""

    def __init__(self, question: Question) -> None:
        self._scores, self._pairs, self._events = resampled_scores(question), question.pairs, events(question)
        self._direction = 1 if question.metric.higher_is_better else -1
        self.columns = self._scores.columns

    def add(self, sums: Array, extreme: IntArray) -> None:
        scores, tolerance = self._scores.of(sums), self._scores.tolerance
        for event in self._events:
            values = scores - event.target * self._scores.observed[:, None]
            if event.sign * self._direction < 0:
                np.negative(values, out=values)
            kernels.tally(values, self._pairs, tolerance if event.strict else -tolerance, extreme)


def summable(columns: Array) -> Array:
    """The columns (C, n) in the narrowest precision in which every resample's sum is exact."""
    largest = columns.shape[1] * float(np.abs(columns).max())
    if largest >= 2**53:
        raise ValueError(
            f"statistics must sum to less than 2^53 over any {columns.shape[1]} draws of an item, and these may "
            f"reach {largest:.3g}"
        )
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)


def make_swap_tally(question: Question) -> Tally:
    """Randomization's tally that fits the question's metric and statistics; its columns are what coins pick from."""
    if not question.metric.of_sums:
        return ArraySwaps(question)
    if question.unit_scores is not None:
        return _SharedDenominators(question)
    if question.small_counts:
        return _SwappedRatios(question)
    return _SwappedScores(question)


class _SharedDenominators:
    """Means of unit scores (accuracy, recall, ratings): gain* = gain - 2 (m_i - m_j), so only m_i and m_j compare."""

    def __init__(self, question: Question) -> None:
        scores = question.unit_scores
        assert scores is not None
        self._pairs = question.pairs
        self._strict, self._two_sided = question.convention.strict, question.two_sided
        self.columns = summable(scores) if question.integers else on_grid(scores)
        self._totals = (scores if question.integers else self.columns).sum(axis=1)
        margin = ties.of_pairs(question.ties.of_sums(self.columns), question.pairs)
        self._margin = (margin if self._strict else -margin).astype(self.columns.dtype)

    def add(self, sums: Array, extreme: IntArray) -> None:
        kernels.tally(-sums, self._pairs, self._margin, extreme)
        if self._two_sided:
            kernels.tally(sums - self._totals[:, None].astype(sums.dtype), self._pairs, self._margin, extreme)


class _SwappedRatios:
    """Integer numerators over a denominator for each system (precision, F): integers settle what is near a tie."""

    def __init__(self, question: Question) -> None:
        assert question.ratio is not None
        above, below = question.ratio
        self._pairs = question.pairs
        self._observed = Ratio(above.sum(axis=1), below.sum(axis=1))
        self._tail = Tail(question.two_sided, question.convention.strict)
        self.columns = summable(np.concatenate([above, below]))

    def add(self, sums: Array, extreme: IntArray) -> None:
        swap_kernels.tally_swapped_ratios(sums, self._pairs, self._observed, self._tail, extreme)


class _SwappedScores:
    """Any metric of sums: the scores of all pairs' pseudo-systems in double precision."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._scores = ResampledScores(question)
        self.columns = self._scores.columns
        ones = np.ones((self.columns.shape[1], 1))
        self._totals = self._scores.statistics(self.columns.astype(np.float64) @ ones)

    def add(self, sums: Array, extreme: IntArray) -> None:
        picked = self._scores.statistics(sums)
        n_statistics, _, n_shuffles = picked.shape
        better, worse = self._question.pairs
        # Of many pairs few shuffles at a time, and of very many some pairs: what is held stays within bounds.
        some = max(1, min(len(better), _PSEUDO_SYSTEMS // (n_statistics * min(n_shuffles, 64))))
        width = max(1, _PSEUDO_SYSTEMS // (some * n_statistics))
        for first in range(0, len(better), some):
            those = slice(first, first + some)
            for begin in range(0, n_shuffles, width):
                part = picked[:, :, begin : begin + width]
                extreme[those] += self._count(those, part[:, worse[those]] - part[:, better[those]])

    def _count(self, those: slice, exchanged: NDArray[np.float64]) -> Any:
        """For some pairs, given what their shuffles exchange (S, P', T): counts (P',)."""
        metric, scores = self._question.metric, self._scores
        i, j = (side[those] for side in self._question.pairs)
        better, worse = self._totals[:, i] + exchanged, self._totals[:, j] - exchanged
        gain = metric.score(np.moveaxis(better, 0, -1)) - metric.score(np.moveaxis(worse, 0, -1))
        observed = np.abs(scores.observed[i] - scores.observed[j])[:, None]
        tolerance = scores.tolerance[those, None]
        bound = observed + tolerance if self._question.convention.strict else observed - tolerance
        if self._question.two_sided:
            extreme = np.abs(gain) >= bound
        else:
            extreme = (gain if metric.higher_is_better else -gain) >= bound
        return extreme.sum(axis=1)
