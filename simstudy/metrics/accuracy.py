"""Accuracy: the share of decisions that are correct, in percent."""

from __future__ import annotations

from simstudy.metrics.base import Array, Ratio


class Accuracy(Ratio):
    """Micro accuracy in percent, from (correct, total) per item.

    An item with one decision has total 1; a sentence in tagging or parsing has as many as it has words.

    Examples
    --------
    >>> import numpy as np
    >>> float(Accuracy().score(np.array([3, 4])))
    75.0
    """

    def __init__(self) -> None:
        super().__init__(
            "accuracy",
            ("correct", "total"),
            numerator=(1, 0),
            denominator=(0, 1),
            of_item=("total",),
            shared=("total",),
        )

    def check(self, statistics: Array) -> None:
        correct, total = statistics[..., 0], statistics[..., 1]
        self._require((correct >= 0) & (correct <= total), "0 <= correct <= total")
