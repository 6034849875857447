"""The mean of one score per item, and of preferences: win rates and Bradley-Terry strengths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, Ratio

#: End of the name of a mean of errors: tables and files know a metric by its name, which must differ in each direction.
LOWER = " (lower is better)"

#: The mean of scores of which higher is better, and of errors.
MEAN, LOWER_MEAN = "mean", f"mean{LOWER}"


class Mean(Ratio):
    """The mean of item scores (average precision, ROUGE, a judge's rating), from (sum, count) per item.

    An item of count 0 has no score. Scores of items are from `low` to `high`, both included.
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
            ascending=(("count",),),
            numerator=(1, 0),
            denominator=(0, 1),
            scale=scale,
            item_range=(low, high),
            zero_is_best=not higher_is_better,
            **more,
        )

    def rules(self, statistics: Array) -> Iterator[tuple[Array, str]]:
        yield from super().rules(statistics)
        total, count = statistics[..., 0], statistics[..., 1]
        # A quotient ignores a sum over no count, but resampled sums do not.
        yield (count > 0) | (total == 0), "sum = 0 where count is 0"
        low, high = self.item_range or (-np.inf, np.inf)
        if np.isfinite(low):
            yield total >= low * count, f"scores of at least {low:g}"
        if np.isfinite(high):
            yield total <= high * count, f"scores of at most {high:g}"


WIN_RATE = Mean("win_rate", low=0, high=1, scale=100, label="win rate", unit="percent")
BRADLEY_TERRY = Mean("bradley_terry", label="Bradley-Terry strength", unit="points")

_STRENGTH = re.compile(r"bradley_terry(?::alpha=([0-9]*\.?[0-9]+))?")


def strength_metric(name: str) -> Mean | None:
    """The metric "bradley_terry", or one such as "bradley_terry:alpha=0.1", a fit with a penalty; else None."""
    parts = _STRENGTH.fullmatch(name)
    if parts is None or (parts[1] and float(parts[1]) == 0):
        return None
    if not parts[1]:
        return BRADLEY_TERRY
    return Mean(name, label=f"{BRADLEY_TERRY.label} (alpha {parts[1]})", unit="points")


def strength_penalty(name: str) -> float:
    """The alpha in the name of a metric of strengths; 0 without one."""
    parts = _STRENGTH.fullmatch(name)
    return float(parts[1]) if parts and parts[1] else 0.0
