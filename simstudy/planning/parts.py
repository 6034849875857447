"""What each unit of outputs adds to scores and gains, and whether units are right or wrong."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import contributions
from simstudy.outputs import Outputs


def gain_parts(units: Outputs) -> FloatArray:
    """What each unit adds to the first system's gain over the second, (n,)."""
    first, second = contributions(units.statistics, units.metric)
    return np.asarray(first - second)


def gain_weights(units: Outputs) -> FloatArray:
    """What each unit adds to the gain (n,), on average 1, where both systems are as good as their pooled ratio."""
    ratio = units.metric.ratio(units.statistics.astype(np.float64))
    if ratio is None or np.array_equal(*ratio[1]):
        return np.ones(units.n_items)
    first, second = ratio[1]
    # Over the first one's denominator of all, times the other one's part of both: and the other way round.
    both = first.sum() + second.sum()
    return np.asarray(units.n_items * (first / first.sum() * second.sum() + second / second.sum() * first.sum()) / both)


def is_right_or_wrong(units: Outputs) -> bool:
    """Whether each unit is one answer, right or wrong."""
    statistics = units.statistics
    if units.metric.item_range is None or statistics.shape[2] != 2:
        return False
    return bool((statistics[..., 1] == 1).all() and np.isin(statistics[..., 0], (0, 1)).all())


def answer_scale(units: Outputs) -> float | None:
    """What a share of 1 that only one system has right is on the metric's scale; None where units have other scores.

    By any metric: what counts is that units have one of two scores, the same two of all systems.
    """
    if is_right_or_wrong(units):
        return units.metric.scale
    scores = units.n_items * contributions(units.statistics, units.metric)
    low, high = scores.min(), scores.max()
    two = np.minimum(scores - low, high - scores).max() <= 1e-9 * (high - low) < np.ptp(scores, axis=1).max()
    return float(high - low) if two else None
