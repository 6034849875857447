"""What a plan is about: systems of one kind, how two of them differ on one unit, and how well that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from simstudy.planning.designs import Design
from simstudy.planning.differences import Difference

#: Confidence of what pilots say.
LEVEL = 0.95

#: The relation where the guesses are the user's own, and that of a pilot's systems.
GUESSED, TWO_SYSTEMS = "as guessed", "two systems"


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
    single
        Of many pairs two between which 80 % of them lie, the one with less spread first.
    kurtosis
        Of a pilot's differences, 3 for normal ones; NaN where it is not known or the form does not depend on it.
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
    single: tuple[Difference, Difference] | None = None
    kurtosis: float = float("nan")

    def allowing(self, gain: float) -> Case:
        """The same, in which the ends of the range may have a gain as large as this."""
        return replace(self, low=self.low.allowing(gain), high=self.high.allowing(gain))

    def changed(self, change: Callable[[Difference], Difference]) -> Case:
        """The same, with another difference in the place of each."""
        return replace(self, middle=change(self.middle), low=change(self.low), high=change(self.high))

    def ends(self, number: Callable[[Difference], float]) -> tuple[float, float, float]:
        """A number with its range, the lower end first."""
        middle = number(self.middle)
        if not self.range:
            return middle, middle, middle
        # Power is not monotone in the spread where few units differ: the middle may lie beyond an end.
        ends = sorted((number(self.low), middle, number(self.high)), key=lambda end: (np.isnan(end), end))
        return middle, ends[0], ends[-1]
