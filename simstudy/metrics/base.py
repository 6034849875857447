"""What a metric is: names for its statistics, and a score of their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Metric(ABC):
    """A score that can be computed from the *sum* of per-item statistics.

    Attributes
    ----------
    name
        The name in the registry (`simstudy.metrics.METRICS`) and in every table.
    statistics
        Names of the S sufficient statistics of an item, in the order of the array's last axis.
    higher_is_better
        False for error rates: gains are then differences of the other sign.
    """

    name: str
    statistics: tuple[str, ...]
    higher_is_better: bool = True

    @abstractmethod
    def score(self, sums: Array) -> FloatArray:
        """Turn summed statistics of shape (..., S) into scores of shape (...).

        Must be elementwise (no score may depend on its neighbours) and defined for every sum that can occur,
        an empty one included.
        """

    def check(self, statistics: Array) -> None:
        """Raise ValueError where statistics of shape (K systems, n items, S) break the metric's own rules."""

    def _require(self, holds: Array, rule: str) -> None:
        """Raise a ValueError that names the first (system, item) at which a rule, of shape (K, n), is broken."""
        if not holds.all():
            system, item = np.argwhere(~holds)[0]
            raise ValueError(
                f"statistics for metric '{self.name}' must have {rule}, unlike those of system number {system}, "
                f"item number {item}"
            )


@dataclass(frozen=True)
class Ratio(Metric):
    """A metric that is a ratio of two integer combinations of the summed statistics.

    Accuracy, precision, recall, F-measures and attachment scores are of this form. The engines use it
    twice: they resample two columns a system instead of S, and they judge ties exactly, by integer arithmetic.

    Attributes
    ----------
    numerator, denominator
        S integer weights each. The score is ``scale * (numerator . sums) / (denominator . sums)``, and 0
        where the denominator is 0.
    scale
        100 for percent.
    """

    numerator: tuple[int, ...] = ()
    denominator: tuple[int, ...] = ()
    scale: float = 100.0

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums)
        below = np.asarray(combine(sums, self.denominator), dtype=np.float64)
        above = np.asarray(combine(sums, self.numerator), dtype=np.float64)
        # One rounding in the quotient and one in the scale: equal fractions give equal scores.
        return self.scale * np.divide(above, below, out=np.zeros_like(below), where=below != 0)


def combine(statistics: Array, weights: tuple[int, ...]) -> Array:
    """Weighted sum over the last axis, (..., S) -> (...), in the statistics' own kind of number."""
    kind = np.int64 if statistics.dtype.kind in "iu" else np.float64
    total: Array = np.zeros(statistics.shape[:-1], dtype=kind)
    for s, weight in enumerate(weights):
        if weight:
            total += weight * statistics[..., s].astype(kind, copy=False)
    return total
