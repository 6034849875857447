"""What a plan is about: systems of one kind, how two of them differ on one unit, and how well that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from simstudy.metrics.base import FloatArray
from simstudy.planning.designs import Design
from simstudy.planning.forms import Difference
from simstudy.pvalues import clopper_pearson

#: Confidence of what pilots say.
LEVEL = 0.95


@dataclass(frozen=True)
class Case:
    """Pairs of systems of one kind.

    Attributes
    ----------
    relation
        "two systems", or a relation class.
    middle, low, high
        How two of them differ on one unit, by the best guess, and with the least and the most spread.
    known
        What is known of the spread, for a sentence: "an agreement of 0.9".
    range
        What low and high are, for a sentence; empty where they are no others than the middle.
    unit
        What a unit is called.
    size
        Items of a unit.
    design
        How the items of a unit are alike, where that is known.
    item_sd
        The standard deviation of two systems' difference on one item, on the metric's scale; NaN where units are items.
    example
        Of many pairs one whose spread is the median: the names of its systems.
    """

    relation: str
    middle: Difference
    low: Difference
    high: Difference
    known: str
    range: str = ""
    unit: str = "item"
    size: float = 1.0
    design: Design | None = None
    item_sd: float = float("nan")
    example: tuple[str, ...] = ()

    def allowing(self, gain: float) -> Case:
        """The same, in which the ends of the range may have a gain as large as this."""
        return replace(self, low=self.low.allowing(gain), high=self.high.allowing(gain))

    def ends(self, number: Callable[[Difference], float]) -> tuple[float, float, float]:
        """A number with its range, the lower end first."""
        middle = number(self.middle)
        if not self.range:
            return middle, middle, middle
        ends = sorted((number(self.low), number(self.high)), key=lambda end: (np.isnan(end), end))
        return middle, ends[0], ends[1]


def spread_interval(values: FloatArray) -> tuple[float, float, float]:
    """The standard deviation of n units' differences with its 95 % interval: the jackknife of the log variance.

    Measured coverage of 20,000 pilots each: 0.94 - 0.95 of 50 to 200 normal values, 0.95 - 0.96 of ratings,
    0.93 - 0.94 where nine of ten are 0, 0.90 - 0.92 of t with 5 degrees of freedom; 0.82 - 0.86 where a few values of
    hundreds are ten times as large as the others.

    Parameters
    ----------
    values
        (n,), at least three, not all equal.

    Examples
    --------
    >>> middle, low, high = spread_interval(np.random.default_rng(0).normal(size=400))
    >>> bool(0.9 < low < middle < high < 1.1)
    True
    """
    n = len(values)
    total, square = values.sum(), (values**2).sum()
    without = ((square - values**2) - (total - values) ** 2 / (n - 1)) / (n - 2)
    variance = float(values.var(ddof=1))
    logs = np.log(np.maximum(without, variance * 1e-9))
    se = np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    reach = stats.t.isf((1 - LEVEL) / 2, n - 1) * se / 2
    sd = float(np.sqrt(variance))
    return sd, sd * float(np.exp(-reach)), sd * float(np.exp(reach))


def share_interval(count: int, n: int) -> tuple[float, float, float]:
    """A share of n units with its 95 % interval (Clopper and Pearson 1934), whose coverage is never less.

    Examples
    --------
    >>> [round(number, 3) for number in share_interval(5, 50)]
    [0.1, 0.033, 0.218]
    """
    low, high = clopper_pearson(count, n, LEVEL)
    return count / n, float(low), float(high)
