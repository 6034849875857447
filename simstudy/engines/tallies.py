"""How the extreme resamples of one tile are counted: a class for each kind of metric, made once for a comparison.

The bootstrap counts, for each pair of systems i (better) and j, the resamples in which u_i >= u_j, where u =
score(x*) - target * score(x): with target 2 the event gain(x*) >= 2 gain(x) (Berg-Kirkpatrick et al. 2012, figure 1).
With K vectors u there are K^2/2 comparisons and no second product.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels, ties
from simstudy.engines.array_scores import ArrayScores
from simstudy.engines.kernels import Event, Ratio
from simstudy.engines.question import RATIO_LIMIT, Question
from simstudy.engines.summed_columns import SummedColumns
from simstudy.metrics.base import Array, IntArray
from simstudy.metrics.scaling import on_grid
from simstudy.validation import InputError


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

    `columns` (C', n) are what the matrix product sums; rows (K, S) says which of the sums (C, T) that `all_sums` makes
    of these is which statistic of a system.
    Statistics that are not integers are rounded to a binary grid, so that a sum does not depend on its order.
    `observed` (K,) are the test set's own scores; differences of scores up to `tolerance` (P,) are ties.
    """

    def __init__(self, question: Question) -> None:
        self._metric = question.metric
        statistics = question.statistics.astype(np.int64) if question.integers else question.statistics
        columns = np.moveaxis(statistics, 2, 1)
        if statistics.dtype.kind == "f":
            columns = on_grid(columns)
        self._summed = SummedColumns(columns)
        self.rows = self._summed.rows
        columns = self._summed.columns
        self.columns = columns if statistics.dtype.kind == "f" else summable(columns)
        self.observed = self.of(self.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]
        self.tolerance = ties.of_pairs(ties.of_scores(self._metric, statistics, self.observed), question.pairs)
        # Scores may cancel to 0 on the test set and not in resamples: how large they get, sizes tell.
        self.size = float(np.abs(self._metric.score(np.abs(statistics).sum(axis=1, dtype=np.float64))).max())

    def all_sums(self, sums: Array) -> Array:
        """The sums (C, T) of all distinct statistics, from those (C', T) of the columns."""
        return self._summed.sums(sums)

    def statistics(self, sums: Array) -> NDArray[np.float64]:
        """Summed statistics (S, K, T) from sums (C', T) of the columns."""
        return np.asarray(self.all_sums(sums)[self.rows.T], dtype=np.float64)

    def of(self, sums: Array) -> NDArray[np.float64]:
        """Scores (K, T) from sums (C', T) of the columns."""
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
        raise InputError(
            "statistics",
            f"must sum to less than 2^53 over any {columns.shape[1]} draws of an item, and these may reach "
            f"{largest:.3g}",
        )
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)
