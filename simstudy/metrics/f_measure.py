"""Precision, recall and F-measures from counts of correct, guessed and gold responses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from simstudy.metrics.base import Array
from simstudy.metrics.ratio import Ratio


class Counts(Ratio):
    """A ratio of summed (correct, guessed, gold) counts, in percent; 0 where its denominator is 0.

    Examples
    --------
    >>> import numpy as np
    >>> float(PRECISION.score(np.array([3, 4, 6]))), float(RECALL.score(np.array([3, 4, 6])))
    (75.0, 50.0)
    """

    def __init__(self, name: str, numerator: tuple[int, ...], denominator: tuple[int, ...], **more: Any) -> None:
        super().__init__(
            name,
            ("correct", "guessed", "gold"),
            numerator=numerator,
            denominator=denominator,
            of_item=("gold",),
            shared=("gold",),
            unit="percent",
            **more,
        )

    def check(self, statistics: Array) -> None:
        correct, guessed, gold = (statistics[..., s] for s in range(3))
        self._require(
            (correct >= 0) & (correct <= guessed) & (correct <= gold),
            "0 <= correct <= guessed and correct <= gold",
        )


#: 100 * correct / guessed, and 100 * correct / gold.
PRECISION = Counts("precision", (1, 0, 0), (0, 1, 0), of_chosen=True)
RECALL = Counts("recall", (1, 0, 0), (0, 0, 1))


class FBeta(Counts):
    """F-measure in percent: (1 + beta^2) P R / (beta^2 P + R) (van Rijsbergen 1979; Chinchor 1992, section 2).

    With beta = a/b and counts instead of ratios this is (a^2 + b^2) correct / (a^2 gold + b^2 guessed).
    beta above 1 favours recall.

    Parameters
    ----------
    beta
        A positive number; taken as the nearest fraction with a denominator of at most 100.
    name, label
        In the registry and in reports; by default f and beta.

    Raises
    ------
    ValueError
        Where beta is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> float(FBeta(1).score(np.array([3, 4, 6])))   # 2 * 3 / (4 + 6)
    60.0
    """

    def __init__(self, beta: float = 1.0, name: str = "", label: str = "") -> None:
        fraction = Fraction(beta).limit_denominator(100)
        if fraction <= 0:
            raise ValueError(f"beta must be a number above 0 (at least 0.01), not {beta!r}")
        a, b = fraction.numerator**2, fraction.denominator**2
        super().__init__(name or f"f{beta:g}", (a + b, 0, 0), (0, b, a), label=label or f"F{beta:g}")
