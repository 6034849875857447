"""The mean of one score per item."""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.metrics.base import Array
from simstudy.metrics.ratio import Ratio

#: What the name of a mean of errors ends with: a metric is known by its name in tables and files, so that of two which
#: differ in direction only the name has to say it.
LOWER = " (lower is better)"

#: The mean of scores of which higher is better, and of errors.
MEAN, LOWER_MEAN = "mean", f"mean{LOWER}"


class Mean(Ratio):
    """The mean of item scores (average precision, ROUGE, a judge's rating), from (sum, count) per item.

    An item of count 0 has no score, and its sum is 0. Scores of items are from `low` to `high`, both included; a scale
    of 100 makes percent of fractions.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        low: float = -np.inf,
        high: float = np.inf,
        scale: float = 1.0,
        higher_is_better: bool = True,
        **more: Any,
    ) -> None:
        super().__init__(
            name or (MEAN if higher_is_better else LOWER_MEAN),
            ("sum", "count"),
            higher_is_better,
            # Not shared: an item may have a score by one system only, and candidates count where they are accepted.
            of_item=("count",),
            numerator=(1, 0),
            denominator=(0, 1),
            scale=scale,
            item_range=(low, high),
            **more,
        )

    def check(self, statistics: Array) -> None:
        total, count = statistics[..., 0], statistics[..., 1]
        self._require(count >= 0, "count >= 0")
        # A sum over no count would be lost in a quotient, but not in what is resampled.
        self._require((count > 0) | (total == 0), "sum = 0 where count is 0")
        low, high = self.item_range or (-np.inf, np.inf)
        if np.isfinite(low):
            self._require(total >= low * count, f"scores of at least {low:g}")
        if np.isfinite(high):
            self._require(total <= high * count, f"scores of at most {high:g}")
