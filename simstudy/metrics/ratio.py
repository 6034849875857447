"""Metrics that are a ratio of two weighted sums of statistics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, Metric


@dataclass(frozen=True, repr=False)
class Ratio(Metric):
    """A metric that is a ratio of two integer combinations of the summed statistics.

    Accuracy, precision, recall, F-measures and attachment scores are of this form. The engines use it
    twice: they resample two columns a system instead of S, and they judge ties exactly, by integer arithmetic.
    """

    #: S integer weights each. The score is ``scale * (numerator . sums) / (denominator . sums)``, and 0 where the
    #: denominator is 0.
    numerator: tuple[int, ...] = ()
    denominator: tuple[int, ...] = ()
    scale: float = field(default=100.0, kw_only=True)

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums)
        below = np.asarray(combine(sums, self.denominator), dtype=np.float64)
        above = np.asarray(combine(sums, self.numerator), dtype=np.float64)
        # One rounding in the quotient and one in the scale: equal fractions give equal scores.
        return self.scale * np.divide(above, below, out=np.zeros_like(below), where=below != 0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(combine(np.asarray(sums), self.denominator) != 0)

    @property
    def is_proportion(self) -> bool:
        return {*self.numerator, *self.denominator} <= {0, 1}

    def ratio(self, statistics: Array) -> tuple[Array, Array]:
        return combine(statistics, self.numerator), combine(statistics, self.denominator)

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """0 for ratios of whole numbers.

        Decimals have no exact binary form, so equal means of decimals may differ in their last bits. What is lost is
        a part of the sizes that were added, not of the sum, which may be near 0.
        """
        if whole(statistics):
            return np.zeros(len(statistics))
        above, below = self.ratio(statistics)
        of = np.abs(below.sum(axis=1))
        return np.asarray(TIE_TOLERANCE * self.scale * np.abs(above).sum(axis=1) / np.where(of > 0, of, 1))


def combine(statistics: Array, weights: tuple[int, ...]) -> Array:
    """Weighted sum over the last axis, (..., S) -> (...), in the statistics' own kind of number."""
    kind = np.int64 if statistics.dtype.kind in "iu" else np.float64
    total: Array = np.zeros(statistics.shape[:-1], dtype=kind)
    for s, weight in enumerate(weights):
        if weight:
            total += weight * statistics[..., s].astype(kind, copy=False)
    return total


def item_deviations(above: Array, below: Array) -> FloatArray:
    """How far numerators (K, n) are from what each system's ratio makes expect of denominators (n,) that all share.

    Long sentences have many right words and many wrong ones: it is what is more or less than the share that varies,
    and that systems have in common or not. With equal denominators this is a numerator less the mean.
    """
    total = below.sum()
    share = above.sum(axis=1, keepdims=True) / (total or 1)
    return np.asarray(above - share * below, dtype=np.float64)


def whole(statistics: Array) -> bool:
    """Whether statistics (K, n, S) are whole numbers that add up exactly, in whatever type they come."""
    if statistics.dtype.kind in "iu":
        return True
    return bool(np.abs(statistics).max() < 2**53 / statistics.shape[1] and (statistics == np.rint(statistics)).all())
