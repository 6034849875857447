"""Items that come in units: documents of sentences, questions with several samples, items judged more than once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.planning.forms import NormalDifference
from simstudy.validation import check_number

#: A design that is looked at beside the one that was asked for: so many times as many items a unit.
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Design:
    """Units that have several items each.

    Attributes
    ----------
    size
        Items of a unit, on average; at least 1.
    icc
        The correlation of two systems' differences on two items of one unit; from -1 / (size - 1) to 1.

    Examples
    --------
    Twenty sentences a document whose differences correlate by 0.05 tell as much as ten independent ones:

    >>> round(Design(20, 0.05).effect, 2)
    1.95
    """

    size: float
    icc: float

    def __post_init__(self) -> None:
        check_number("cluster_size", self.size)
        check_number("icc", self.icc)
        if not 1 <= self.size < np.inf:
            raise ValueError(f"cluster_size must be at least 1 item, not {self.size:g}")
        least = -1 / (self.size - 1) if self.size > 1 else -1.0
        if not max(least, -1.0) <= self.icc <= 1:
            raise ValueError(
                f"icc must be from {max(least, -1.0):.3g} to 1 for {self.size:g} items a unit, not {self.icc:g}"
            )

    @property
    def effect(self) -> float:
        """The design effect: how many times the variance is that of as many independent items (Kish 1965)."""
        return 1 + (self.size - 1) * self.icc

    def unit(self, sd: float) -> NormalDifference:
        """How two systems differ on the mean of a unit, from the standard deviation on one item."""
        return NormalDifference(sd * float(np.sqrt(max(self.effect, 1e-9) / self.size)))


def best_size(icc: float, cost_unit: float, cost_item: float) -> int:
    """How many items of a unit make the least variance for the money (Cochran 1977, section 10.6).

    Parameters
    ----------
    icc
        Above 0, at most 1: where it is not above 0 there cannot be too many items of a unit.
    cost_unit, cost_item
        Of a unit without items, and of each of its items: at least 0, and above 0.

    Examples
    --------
    >>> best_size(0.05, 20.0, 1.0), best_size(0.5, 1.0, 1.0)
    (19, 1)
    """
    if icc <= 0:
        raise ValueError(f"icc must be above 0 for a best size of units, not {icc:g}")
    exact = np.sqrt(cost_unit / cost_item * (1 - icc) / icc)

    def cost_of_precision(size: int) -> float:
        return (cost_unit + size * cost_item) * (1 + (size - 1) * icc) / size

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
