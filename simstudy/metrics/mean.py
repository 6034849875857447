"""The mean of one score per item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import Array, Ratio


@dataclass(frozen=True, init=False)
class Mean(Ratio):
    """The mean of item scores (average precision, ROUGE, a judge's rating), from (sum, count) per item.

    An item of count 0 has no score, and its sum is 0.

    Parameters
    ----------
    name
        In the registry.
    low, high
        The range of an item's score, both ends included.
    scale
        1: the scale of the item scores, percentages stay percentages and fractions stay fractions. 100: percent from
        fractions.

    Examples
    --------
    >>> import numpy as np
    >>> float(Mean().score(np.array([1.5, 3])))
    0.5
    """

    low: float = -np.inf
    high: float = np.inf

    def __init__(self, name: str = "mean", *, low: float = -np.inf, high: float = np.inf, scale: float = 1.0) -> None:
        # Not shared: an item may have a score by one system only, and candidates count where they are accepted.
        super().__init__(name, ("sum", "count"), numerator=(1, 0), denominator=(0, 1), scale=scale, of_item=("count",))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def check(self, statistics: Array) -> None:
        total, count = statistics[..., 0], statistics[..., 1]
        self._require(count >= 0, "count >= 0")
        # A sum over no count would be lost in a quotient, but not in what is resampled.
        self._require((count > 0) | (total == 0), "sum = 0 where count is 0")
        if np.isfinite(self.low):
            self._require(total >= self.low * count, f"scores of at least {self.low:g}")
        if np.isfinite(self.high):
            self._require(total <= self.high * count, f"scores of at most {self.high:g}")
