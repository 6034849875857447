"""Scores and gains that were given as fractions, where the metric's are in percent or points: what to say of them."""

from __future__ import annotations

from simstudy.metrics.base import Metric

# A gain of fewer points is hardly ever planned for, but as a fraction it is one of up to ten points.
_LEAST_GAIN = 0.1


def noted(metric: Metric, *, score: float | None, gain: float | None, margin: float | None) -> list[str]:
    """A note where a score, a gain or a margin looks like a fraction, and the metric is in percent or points.

    A score looks like one where it is at most 1, a gain or a margin where it is below 0.1.

    Examples
    --------
    >>> from simstudy.metrics import METRICS
    >>> noted(METRICS["accuracy"], score=0.8, gain=0.01, margin=None)
    ['scores of accuracy go to 100, and gains are in points of these: did you mean score=80, gain=1?']
    >>> noted(METRICS["ap"], score=None, gain=0.01, margin=None)
    []
    """
    if metric.unit not in ("percent", "points"):
        return []
    known = {name: x for name, x in (("score", score), ("gain", gain), ("margin", margin)) if x is not None and x > 0}
    fraction = known.get("score", 2) <= 1
    meant = [f"{name}={100 * x:g}" for name, x in known.items() if x <= 1 and (fraction or x < _LEAST_GAIN)]
    if not meant:
        return []
    return [f"scores of {metric.label} go to 100, and gains are in points of these: did you mean {', '.join(meant)}?"]
