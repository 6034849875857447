"""Fewer columns to sum: the matrix product of resamples and columns is where most of the time goes.

Equal columns are summed once: what all systems share (the reference's length), lengths that are token counts. And some
statistics fall short of the one before them by nearly the same on every unit, whichever system it is: a text with
words has one pair of words less than words. The sums of such a statistic are those of the one before it, less the sum
of what all systems have in common, less what few units have besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.metrics.base import Array, IntArray

# Systems may have something else than what is common on one unit of so many.
_RARE = 16


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
        known, left = set(self.rows[:, 0].tolist()), np.ones(len(distinct), dtype=np.bool_)
        largest = np.abs(distinct).max()
        more: list[IntArray] = []
        places: dict[int, int] = {}
        for s in range(1, self.rows.shape[1]):
            # Each column once, in the order of systems.
            new = {c: before for before, c in self.rows[:, s - 1 : s + 1].tolist() if c not in known}
            known.update(new)
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
            if max(np.abs(each).max() for each in (common, rest, distinct[before] - common)) > largest:
                # Sums on the way would need more digits than the columns'.
                continue
            for unit in added:
                places[unit] = len(more)
                more.append(np.zeros_like(common))
                more[-1][unit] = 1
            where = np.array([places[unit] for unit in units.tolist()], dtype=np.intp)
            self._derived.append(_Derived(of, before, len(more), where, rest[:, units]))
            more.append(common)
            left[of] = False
        if not more:
            return distinct
        self._kept = np.flatnonzero(left)
        n_kept = len(self._kept)
        self._derived = [one._replace(common=n_kept + one.common, units=n_kept + one.units) for one in self._derived]
        return np.concatenate([distinct[self._kept], more])

    def sums(self, summed: Array) -> Array:
        """The sums (C, T) of all columns, from those (C', T) of the product: the same bits, as whole numbers are."""
        if not self._derived:
            return summed
        sums = np.empty((self.rows.max() + 1, summed.shape[1]), dtype=summed.dtype)
        sums[self._kept] = summed[: len(self._kept)]
        for of, before, common, units, rest in self._derived:
            found = sums[before]
            found -= summed[common]
            if len(units):
                found -= rest.astype(summed.dtype) @ summed[units]
            sums[of] = found
        return sums


def _distinct(statistics: Array) -> tuple[IntArray, Array]:
    """Which column (K, S) is which of the distinct ones (C, n), numbered as they come."""
    places: dict[bytes, int] = {}
    rows = np.array([[places.setdefault(one.tobytes(), len(places)) for one in system] for system in statistics])
    first = np.unique(rows, return_index=True)[1]
    return rows, statistics.reshape(-1, statistics.shape[2])[first]
