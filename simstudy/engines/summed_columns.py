"""The columns that a resample sums, as few as give all statistics, and the scores from these sums.

Equal columns are summed once: what all systems share (the reference's length), lengths that are token counts. And some
statistics fall short of the one before them by nearly the same on every unit, whichever system it is: a text with
words has one pair of words less than words. The sums of such a statistic are those of the one before it, less the sum
of what all systems have in common, less what few units have besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.engines.question import Question, tolerance_of_scores
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.scaling import on_grid
from simstudy.validation import InputError

# Systems may have something else than what is common on one unit of so many.
_RARE = 16


class ResampledScores:
    """Any metric of sums: its scores in double precision.

    `columns` (C, n) are what the matrix product sums. Statistics that are not whole numbers are rounded to a binary
    grid, so that a sum does not depend on its order. `observed` (K,) are the test set's own scores; differences of
    scores up to `tolerance` (P,) are ties.
    """

    def __init__(self, question: Question) -> None:
        self.metric = question.metric
        statistics = question.statistics.astype(np.int64) if question.integers else question.statistics
        columns = np.moveaxis(statistics, 2, 1)
        if statistics.dtype.kind == "f":
            columns = on_grid(columns)
        self._summed = SummedColumns(columns)
        #: Which of all sums is which statistic of a system, (K, S).
        self.rows = self._summed.rows
        columns = self._summed.columns
        self.columns = columns if statistics.dtype.kind == "f" else summable(columns)
        self.observed = self.of(self.columns.sum(axis=1, dtype=np.float64)[:, None])[:, 0]
        self.tolerance = tolerance_of_scores(self.metric, statistics, self.observed, question.pairs)
        #: Scores may cancel to 0 on the test set and not in resamples: how large they get.
        self.size = float(np.abs(self.metric.score(np.abs(statistics).sum(axis=1, dtype=np.float64))).max())

    def all_sums(self, sums: Array) -> Array:
        """The sums (C, T) of all distinct statistics, from those (C', T) of the columns."""
        return self._summed.sums(sums)

    def of(self, sums: Array) -> FloatArray:
        """Scores (K, T) from sums (C', T) of the columns."""
        statistics = np.asarray(self.all_sums(sums)[self.rows.T], dtype=np.float64)
        return self.metric.score(np.moveaxis(statistics, 0, -1))


class _Derived(NamedTuple):
    """Sums that a subtraction gives: those of columns `of` are those of `before`, less a common one, less the rest."""

    of: IntArray
    before: IntArray
    common: int
    #: Columns of the product that have one unit each.
    units: IntArray
    #: Columns on these units, less what is common (columns, units).
    rest: Array


class SummedColumns:
    """The columns that a product is to sum, so that the sums of all statistics (K, S, n) can be had from it.

    `rows` (K, S) says which of the C sums is which statistic of a system.
    """

    def __init__(self, statistics: Array) -> None:
        self.rows, distinct = _distinct(statistics)
        self._derived: list[_Derived] = []
        self._kept = np.arange(len(distinct))
        #: (C', n), no more than C.
        self.columns: Array = self._derive(distinct) if distinct.dtype.kind == "i" else distinct

    def _derive(self, distinct: IntArray) -> IntArray:
        """The columns that are left, then those in common and units; `_kept` and `_derived` say what they are for."""
        seen, left = set(self.rows[:, 0].tolist()), np.ones(len(distinct), dtype=np.bool_)
        largest = np.abs(distinct).max()
        more: list[IntArray] = []
        places: dict[int, int] = {}
        for s in range(1, self.rows.shape[1]):
            # Each column once, in the order of systems.
            new = {c: before for before, c in self.rows[:, s - 1 : s + 1].tolist() if c not in seen}
            seen.update(new)
            of, before = np.array(list(new), dtype=np.intp), np.array(list(new.values()), dtype=np.intp)
            if len(of) < 2:
                continue
            short = distinct[before] - distinct[of]
            common = np.partition(short, len(short) // 2, axis=0)[len(short) // 2]
            rest = short - common
            units = np.flatnonzero(rest.any(axis=0))
            added = [unit for unit in units.tolist() if unit not in places]
            if len(units) * _RARE > distinct.shape[1] or len(added) + 1 >= len(of):
                continue
            if max(np.abs(side).max() for side in (common, rest, distinct[before] - common)) > largest:
                # Sums on the way would need more digits than the columns'.
                continue
            for unit in added:
                places[unit] = len(more)
                more.append(np.zeros_like(common))
                more[-1][unit] = 1
            columns = np.array([places[unit] for unit in units.tolist()], dtype=np.intp)
            self._derived.append(_Derived(of, before, len(more), columns, rest[:, units]))
            more.append(common)
            left[of] = False
        if not more:
            return distinct
        self._kept = np.flatnonzero(left)
        n_kept = len(self._kept)
        self._derived = [
            derived._replace(common=n_kept + derived.common, units=n_kept + derived.units) for derived in self._derived
        ]
        return np.concatenate([distinct[self._kept], more])

    def sums(self, summed: Array) -> Array:
        """The sums (C, T) of all columns, from those (C', T) of the product: the same bits, as whole numbers are."""
        if not self._derived:
            return summed
        sums = np.empty((self.rows.max() + 1, summed.shape[1]), dtype=summed.dtype)
        sums[self._kept] = summed[: len(self._kept)]
        for of, before, common, units, rest in self._derived:
            derived = sums[before]
            derived -= summed[common]
            if len(units):
                derived -= rest.astype(summed.dtype) @ summed[units]
            sums[of] = derived
        return sums


def _distinct(statistics: Array) -> tuple[IntArray, Array]:
    """Which column (K, S) is which of the distinct ones (C, n), numbered as they come."""
    places: dict[bytes, int] = {}
    rows = np.array([[places.setdefault(column.tobytes(), len(places)) for column in system] for system in statistics])
    first = np.unique(rows, return_index=True)[1]
    return rows, statistics.reshape(-1, statistics.shape[2])[first]


def summable(columns: Array) -> Array:
    """Whole-number columns (C, n) in the narrowest precision in which every resample's sum is exact."""
    largest = columns.shape[1] * float(np.abs(columns).max())
    if largest >= 2**53:
        raise InputError(
            "statistics",
            f"must sum to less than 2^53 over any {columns.shape[1]} draws of an item, and these may reach "
            f"{largest:.3g}",
        )
    return np.ascontiguousarray(columns, dtype=np.float32 if largest < 2**24 else np.float64)
