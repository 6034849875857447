"""What a metric is: names for its statistics, and a score of their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Scores that are not ratios of whole numbers tie when they differ by less than this part of their size.
TIE_TOLERANCE = 1e-12


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
    of_item
        Those of the statistics that belong to the item, not to what a system said about it (the gold count, the
        reference's length): they stay where a system says nothing.
    shared
        Those of them that every system has alike. Not so where what is wanted depends on the answer: the closest of
        several references, the optional fills of a template, the candidates that a system accepts.
    """

    name: str
    statistics: tuple[str, ...]
    higher_is_better: bool = True
    of_item: tuple[str, ...] = field(default=(), kw_only=True)
    shared: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for argument, names in (("of_item", self.of_item), ("shared", self.shared)):
            if unknown := [name for name in names if name not in self.statistics]:
                known = ", ".join(self.statistics)
                raise ValueError(f"{argument} of metric '{self.name}' must be among {known}, unlike '{unknown[0]}'")

    @abstractmethod
    def score(self, sums: Array) -> FloatArray:
        """Turn summed statistics of shape (..., S) into scores of shape (...).

        Must be elementwise (no score may depend on its neighbours) and defined for every sum that can occur,
        an empty one included.
        """

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        """Where summed statistics (..., S) have a score, rather than a 0 that stands for 0 / 0; shape (...)."""
        return np.ones(np.shape(sums)[:-1], dtype=np.bool_)

    def check(self, statistics: Array) -> None:
        """Raise ValueError where statistics of shape (K systems, n items, S) break the metric's own rules."""

    def check_shared(self, statistics: Array, systems: Sequence[str], items: Sequence[str]) -> None:
        """Raise a ValueError that names the first item of which systems have unlike `shared` statistics.

        Parameters
        ----------
        statistics
            (K systems, n items, S).
        systems, items
            Names and ids.

        Examples
        --------
        >>> from simstudy.metrics import METRICS
        >>> METRICS["f1"].check_shared(np.array([[[1, 1, 2]], [[1, 2, 3]]]), ["a", "b"], ["q"])
        Traceback (most recent call last):
        ValueError: statistics for metric 'f1' must have one 'gold' of each item, but item 'q' has 2 by 'a' and 3 by 'b'
        """
        for name in self.shared:
            values = statistics[..., self.statistics.index(name)]
            unlike = values != values[:1]
            if unlike.any():
                item = int(np.argmax(unlike.any(axis=0)))
                system = int(np.argmax(unlike[:, item]))
                first, other = values[0, item], values[system, item]
                raise ValueError(
                    f"statistics for metric '{self.name}' must have one '{name}' of each item, but item "
                    f"'{items[item]}' has {first:g} by '{systems[0]}' and {other:g} by '{systems[system]}'"
                )

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

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(combine(np.asarray(sums), self.denominator) != 0)


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

    Examples
    --------
    >>> item_deviations(np.array([[1, 4]]), np.array([2, 8])).tolist()
    [[0.0, 0.0]]
    """
    total = below.sum()
    share = above.sum(axis=1, keepdims=True) / (total or 1)
    return np.asarray(above - share * below, dtype=np.float64)


def whole(statistics: Array) -> bool:
    """Whether statistics (K, n, S) are whole numbers that add up exactly, in whatever type they come."""
    if statistics.dtype.kind in "iu":
        return True
    return bool(np.abs(statistics).max() * statistics.shape[1] < 2**53 and (statistics == np.rint(statistics)).all())


def tie_tolerance(metric: Metric, statistics: Array) -> FloatArray:
    """How much of each system's score may be rounding, shape (K,): 0 where scores are ratios of whole numbers.

    Decimals have no exact binary form, so equal means of decimals may differ in their last bits. What is lost is a
    part of the sizes that were added, not of the sum, which may be near 0.

    Parameters
    ----------
    metric
        The metric of the statistics.
    statistics
        (K systems, n items, S).

    Examples
    --------
    >>> from simstudy.metrics import METRICS
    >>> tie_tolerance(METRICS["mean"], np.array([[[0.1, 1], [-0.3, 1]], [[0.5, 1], [0.5, 1]]])).tolist()
    [2e-13, 5e-13]
    """
    if isinstance(metric, Ratio):
        if whole(statistics):
            return np.zeros(len(statistics))
        below = np.abs(combine(statistics, metric.denominator).sum(axis=1))
        sizes = np.abs(combine(statistics, metric.numerator)).sum(axis=1)
        return np.asarray(TIE_TOLERANCE * metric.scale * sizes / np.where(below > 0, below, 1))
    return TIE_TOLERANCE * np.abs(metric.score(statistics.sum(axis=1, dtype=np.float64)))
