"""Items that come in units: documents of sentences, questions with several samples, items judged more than once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.planning.differences import NormalDifference
from simstudy.validation import check_number

#: A design that is looked at beside the one that was asked for: so many times as many items a cluster.
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Design:
    """Units that have several items each.

    Attributes
    ----------
    size
        Items of a unit, on average; at least 1.
    icc
        The correlation of two systems' differences on two items of one unit, at most 1; at least what leaves the mean
        of a unit a variance: -1 / (size - 1) where all units have one size.
    cv
        The standard deviation of the units' sizes over their mean; 0 where all have one size.

    Examples
    --------
    Twenty sentences a document whose differences correlate by 0.05 tell as much as ten independent ones, where all
    documents have twenty, and less where some are longer:

    >>> round(Design(20, 0.05).effect, 2), round(Design(20, 0.05, 1.2).effect, 2)
    (1.95, 3.39)
    """

    size: float
    icc: float
    cv: float = 0.0

    def __post_init__(self) -> None:
        check_number("Clusters.size", self.size)
        check_number("Clusters.icc", self.icc)
        if not 1 <= self.size < np.inf:
            raise ValueError(f"Clusters.size must be at least 1 item, not {self.size:g}")
        check_number("Clusters.cv", self.cv)
        if not 0 <= self.cv < np.inf:
            raise ValueError(f"Clusters.cv must be at least 0, not {self.cv:g}")
        if self.size == 1 and self.cv > 0:
            raise ValueError(f"Clusters.cv must be 0 for clusters of one item, not {self.cv:g}")
        least = self.least_icc(self.size, self.cv)
        if not least <= self.icc <= 1:
            unequal = f" (Clusters.cv {self.cv:.3g})" if self.cv > 0 else ""
            raise ValueError(
                f"Clusters.icc must be from {least:.3g} to 1 for {self.size:g} items a cluster{unequal}, not "
                f"{self.icc:g}"
            )

    @staticmethod
    def least_icc(size: float, cv: float) -> float:
        """The least correlation within units of such sizes."""
        others = (1 + cv**2) * size - 1
        return max(-1 / others, -1.0) if others > 0 else -1.0

    @property
    def effect(self) -> float:
        """The design effect: how many times the variance is that of as many independent items (Kish 1965)."""
        return 1 + ((1 + self.cv**2) * self.size - 1) * self.icc

    def of_size(self, size: float) -> Design | None:
        """Units of another mean size, as alike and as unequal; None where the items of such units cannot be so."""
        cv = self.cv if size > 1 else 0.0
        return Design(size, self.icc, cv) if self.icc >= self.least_icc(size, cv) else None

    def unit(self, sd: float) -> NormalDifference:
        """How two systems differ on a unit, per mean size, from the standard deviation on one item."""
        return NormalDifference(sd * float(np.sqrt(max(self.effect, 1e-9) / self.size)))


def best_size(icc: float, cost_unit: float, cost_item: float, cv: float = 0.0) -> int:
    """How many items of a unit make the least variance for the money (Cochran 1977, section 10.6).

    Parameters
    ----------
    icc
        Above 0, at most 1: where it is not above 0 there cannot be too many items of a unit.
    cost_unit, cost_item
        Of a unit without items, and of each of its items: at least 0, and above 0.
    cv
        Of the units' sizes: the standard deviation over the mean.

    Examples
    --------
    >>> best_size(0.05, 20.0, 1.0), best_size(0.5, 1.0, 1.0), best_size(0.05, 20.0, 1.0, cv=1.0)
    (19, 1, 14)
    """
    exact = np.sqrt(cost_unit / cost_item * (1 - icc) / (icc * (1 + cv**2)))

    def cost_of_precision(size: int) -> float:
        return (cost_unit + size * cost_item) * Design(size, icc, cv if size > 1 else 0.0).effect / size

    return min({max(1, int(exact)), max(1, int(exact) + 1)}, key=cost_of_precision)


def intraclass_correlation(parts: FloatArray, codes: IntArray) -> float:
    """The correlation of two items of one unit, by moments; NaN where no unit has two items, or nothing varies.

    Parameters
    ----------
    parts
        (n,) numbers of items.
    codes
        (n,) the items' units, from 0.

    Examples
    --------
    >>> intraclass_correlation(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    centred = parts - parts.mean()
    sizes = np.bincount(codes)
    n_pairs = float((sizes * (sizes - 1)).sum())
    variance = float((centred**2).mean())
    if n_pairs == 0 or variance == 0:
        return float("nan")
    sums, squares = np.bincount(codes, weights=centred), np.bincount(codes, weights=centred**2)
    return float((sums**2 - squares).sum() / n_pairs / variance)
