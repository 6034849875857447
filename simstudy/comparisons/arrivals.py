"""Units in the order in which they came: by how much one system is better than another on each, in a known range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Self

import numpy as np

from simstudy.metrics import METRICS
from simstudy.metrics.base import FloatArray, Ratio
from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs, require_outputs
from simstudy.validation import InputError, check_choice, check_range, check_text


@dataclass(frozen=True)
class Arrivals:
    """By how much one system is better than another on each unit, in the order of the file."""

    #: The names of the n units.
    ids: list[str]
    #: (n,), from -1 to 1: differences of the units' scores over the width of the range that scores may have.
    differences: FloatArray
    #: A difference of 1 on the metric's scale.
    scale: float
    #: Whether every unit has the same weight in the systems' scores; else the mean over units is another number.
    same_weights: bool

    def over_range(self, margin: float) -> float:
        """A margin as a difference; a ValueError where no gain can be as large."""
        if margin >= self.scale:
            raise InputError("margin", f"must be below {self.scale:g}, the largest gain there can be", margin)
        return margin / self.scale

    def turned(self) -> Self:
        """By how much the other system is better."""
        # Not minus zero, which is written in other bits.
        return replace(self, differences=0.0 - self.differences)

    @classmethod
    def of(
        cls,
        outputs: Outputs,
        system: str,
        other: str,
        *,
        unit: str | None = None,
        score_range: tuple[float, float] | None = None,
    ) -> Self:
        """The differences of two systems; a ValueError says why there are none in a known range."""
        require_outputs(outputs, 2)
        for argument, name in (("system", system), ("other", other)):
            check_choice(argument, name, outputs.names)
        if system == other:
            raise InputError("system and other", f"must be two different systems, not '{system}' twice")
        check_text("unit", unit, "the name of a column of the items", or_none=True)
        low, high = _range_of(outputs, score_range)
        chosen = unit or outputs.natural_unit
        pair = outputs.select([system, other])
        metric = pair.metric
        assert isinstance(metric, Ratio)
        if score_range is not None:
            _check_within(pair, low, high)
        units = pair if chosen == "item" else pair.sum_by(chosen)
        _check_order(units)
        above, below = metric.ratio(units.statistics)
        unlike = (below != below[0]).any(axis=0)
        if unlike.any():
            raise InputError(
                "outputs",
                f"must have a score of both systems for every item, unlike {chosen} "
                f"'{units.items['id'].iloc[int(np.argmax(unlike))]}' (metric '{metric.name}')",
            )
        known = below[0] > 0
        sign = metric.sign
        differences = sign * (above[0] - above[1])[known] / (below[0][known] * (high - low))
        return cls(
            [str(name) for name in units.items["id"][known]],
            # No minus zero, which is written in other bits.
            np.clip(differences, -1.0, 1.0) + 0.0,
            metric.scale * (high - low),
            bool((below[0][known] == below[0][known][:1]).all()),
        )


def _range_of(outputs: Outputs, score_range: tuple[float, float] | None) -> tuple[float, float]:
    """The least and the largest score of an item, over the metric's scale."""
    metric = outputs.metric
    known = metric.item_range
    if known is None or not isinstance(metric, Ratio):
        bounded = ", ".join(name for name, one in METRICS.items() if one.item_range and isfinite(one.item_range[1]))
        rule = "must be a mean of item scores in a known range ({bounded}, or mean with {score_range})"
        raise InputError("metric", Words(rule, bounded=bounded, score_range=Argument("score_range")), metric.name)
    if isfinite(known[0]) and isfinite(known[1]):
        if score_range is not None:
            raise InputError("score_range", f"must not be given for metric '{metric.name}', whose range is known")
        return known
    if score_range is None:
        raise InputError(
            "score_range",
            f"must be given for metric '{metric.name}': the least and the largest score that an item can have",
        )
    check_range("score_range", score_range, "scores")
    return float(score_range[0]), float(score_range[1])


def _check_order(units: Outputs) -> None:
    """Raise a ValueError where units come domain by domain: the first domains would decide about all."""
    if "domain" not in units.items:
        return
    domains = units.labels("domain")
    n_runs, n = int((domains != domains.shift()).sum()), domains.nunique()
    # Every domain in one run, and runs of some length.
    if 2 <= n == n_runs <= len(domains) / 5:
        raise InputError(
            "items",
            "must be in random order for a sequential test, but they come domain by domain, first "
            f"'{domains.iloc[0]}': put the rows in random order once, before anybody looks, or take one domain",
        )


def _check_within(pair: Outputs, low: float, high: float) -> None:
    """Raise a ValueError that names the first item whose score is outside of the range."""
    total, count = pair.statistics[..., 0], pair.statistics[..., 1]
    outside = (total < low * count) | (total > high * count)
    if outside.any():
        k, item = np.argwhere(outside)[0].tolist()
        raise InputError(
            "score_range",
            f"must hold all scores, unlike {total[k, item] / count[k, item]:g} of system '{pair.names[k]}', item "
            f"'{pair.items['id'].iloc[item]}'",
        )
