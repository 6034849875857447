"""What a tie is: the one place that says which numbers are equal, exactly or up to rounding.

Whole numbers tie where they are equal. Decimals have no exact binary form, so equal means of decimals may differ in
their last bits: numbers tie where they differ by less than rounding may have left of nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray
from simstudy.text.reprs import FieldsMixin

#: The better and the worse system of each of P pairs, as positions.
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

#: The tolerance of terms that are scaled before they are subtracted, and so round more often.
SCALED = 2e-9


@dataclass(frozen=True)
class Ties(FieldsMixin):
    """Which differences of statistics, of their sums and of scores are none."""

    #: Whether all statistics are whole numbers, which add up without rounding.
    whole: bool

    def of_sums(self, rows: Array) -> FloatArray:
        """Sums over some units of rows (K, n) tie with others that differ by no more than this, (K,)."""
        if self.whole:
            # Less than half a step, so that also twice this is less than a step.
            return np.full(len(rows), 0.25)
        return np.asarray(TIE_TOLERANCE * np.abs(rows).sum(axis=1))

    def differences(self, first: Array, second: Array, tolerance: float = TIE_TOLERANCE) -> Array:
        """First less second, element by element; 0 where they tie."""
        difference: Array = first - second
        if not self.whole:
            difference[np.abs(difference) <= tolerance * np.maximum(np.abs(first), np.abs(second))] = 0.0
        return difference

    def levels(self, sizes: Array, largest: Array) -> Array:
        """Sizes (P, n) of differences as whole numbers in the order of each row; those that tie are equal.

        `largest` (P,) are the largest numbers that were subtracted; a size of 0 ties with 0 only.
        """
        order = np.argsort(sizes, axis=1)
        ascending = np.take_along_axis(sizes, order, axis=1)
        steps = np.diff(ascending, axis=1) > (0.0 if self.whole else TIE_TOLERANCE * largest[:, None])
        steps |= (ascending[:, :-1] == 0) & (ascending[:, 1:] > 0)
        levels = np.zeros(sizes.shape, dtype=np.int64)
        np.put_along_axis(levels, order[:, 1:], np.cumsum(steps, axis=1), axis=1)
        return levels


def of_scores(metric: Metric, statistics: Array, scores: FloatArray) -> FloatArray:
    """How far scores (K,) of resampled statistics (K, n, S) may be from each other and yet be equal, (K,).

    Above 0 even for a score of 0: differences of scores round where the scores themselves are exact.
    """
    least = np.maximum(TIE_TOLERANCE * np.abs(scores), np.finfo(np.float64).tiny)
    return np.maximum(metric.tie_tolerance(statistics), least)


def of_pairs(noise: FloatArray, pairs: Pairs) -> FloatArray:
    """The larger tolerance (P,) of each pair's two systems, given the systems' (K,)."""
    better, worse = pairs
    return np.maximum(noise[better], noise[worse])
