"""Precision, recall and F-measures of responses and of fills (MUC)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, Ratio, widened
from simstudy.validation import InputError


class Counts(Ratio):
    """A ratio of summed (correct, guessed, gold) counts, in percent; 0 where its denominator is 0."""

    def __init__(self, name: str, numerator: tuple[int, ...], denominator: tuple[int, ...], **more: Any) -> None:
        super().__init__(
            name, ("correct", "guessed", "gold"), numerator=numerator, denominator=denominator, of_item=("gold",),
            shared=("gold",), ascending=(("correct", "guessed"), ("correct", "gold")), unit="percent", **more,
        )  # fmt: skip


#: 100 * correct / guessed, and 100 * correct / gold.
PRECISION = Counts("precision", (1, 0, 0), (0, 1, 0), of_chosen=True)
RECALL = Counts("recall", (1, 0, 0), (0, 0, 1))


class FBeta(Counts):
    """F-measure in percent: (1 + beta^2) P R / (beta^2 P + R) (van Rijsbergen 1979; Chinchor 1992, section 2).

    With beta = a/b and counts instead of ratios this is (a^2 + b^2) correct / (a^2 gold + b^2 guessed).
    beta above 1 favours recall; it is taken as the nearest fraction with a denominator of at most 100.
    """

    def __init__(self, beta: float = 1.0, name: str = "", label: str = "") -> None:
        fraction = Fraction(beta).limit_denominator(100)
        if fraction <= 0:
            raise InputError("beta", "must be a number above 0 (at least 0.01)", beta)
        a, b = fraction.numerator**2, fraction.denominator**2
        super().__init__(name or f"f{beta:g}", (a + b, 0, 0), (0, b, a), label=label or f"F{beta:g}")


class Fills(Ratio):
    """A ratio of (correct, guessed, gold) counts, taken of the fills of a message, in percent.

    An item is a message: (possible, actual, correct, partial) fills, the four-tuple of Chinchor (1992, "Elements of
    hypothesis testing"). A partial match is worth one half: what `counts` calls correct is correct + partial / 2,
    guessed is actual, gold is possible.
    """

    def __init__(self, name: str, counts: Counts, label: str) -> None:
        # All weights are doubled, so that half a match stays an integer.
        above, below = (
            (2 * gold, 2 * guessed, 2 * correct, correct)
            for correct, guessed, gold in (counts.numerator, counts.denominator)
        )
        # Not shared: optional fills are possible only where a system has them (Chinchor 1992).
        super().__init__(
            name, ("possible", "actual", "correct", "partial"), numerator=above, denominator=below,
            of_item=("possible",), ascending=(("correct",), ("partial",)), label=label, unit="percent",
        )  # fmt: skip

    def rules(self, statistics: Array) -> Iterator[tuple[Array, str]]:
        yield from super().rules(statistics)
        possible, actual, correct, partial = np.moveaxis(widened(statistics), -1, 0)
        yield correct + partial <= np.minimum(possible, actual), "correct + partial <= possible and <= actual"


#: Chinchor (1992, figures 9-11) reports F in three weightings: "P&R", "2P&R" with precision twice as important, and
#: "P&2R" with recall twice as important.
MUC = (
    Fills("muc_recall", RECALL, "MUC recall"),
    Fills("muc_precision", PRECISION, "MUC precision"),
    Fills("muc_f", FBeta(1), "MUC P&R"),
    Fills("muc_f_2p", FBeta(0.5), "MUC 2P&R"),
    Fills("muc_f_2r", FBeta(2), "MUC P&2R"),
)
