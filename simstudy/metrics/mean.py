"""The mean of one score per item, on the scale of the scores."""

from __future__ import annotations

from simstudy.metrics.base import Array, Ratio


class Mean(Ratio):
    """The mean of item scores (average precision, ROUGE, a judge's rating), from (sum, count) per item.

    The scale is that of the scores: percentages stay percentages, fractions stay fractions.

    Examples
    --------
    >>> import numpy as np
    >>> float(Mean().score(np.array([1.5, 3])))
    0.5
    """

    def __init__(self) -> None:
        super().__init__("mean", ("sum", "count"), numerator=(1, 0), denominator=(0, 1), scale=1.0)

    def check(self, statistics: Array) -> None:
        self._require(statistics[..., 1] >= 0, "count >= 0")
