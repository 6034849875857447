"""What a test set must show."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from simstudy.metrics.base import Metric
from simstudy.planning.fields import check_size
from simstudy.planning.level import Level
from simstudy.planning.solving import check_power
from simstudy.validation import brief, check_whole

#: The goals of a plan: to show that the better system is better, that one system is not worse than the other by the
#: margin or more, or that neither is.
BETTER, NOT_WORSE, EQUIVALENT = "better", "not worse", "equivalent"

# From the worst to the best score, by what scores are told in.
_SCALES = {"percent": 100.0, "points": 100.0, "probability": 1.0}


def scale_of(metric: Metric) -> float:
    """The largest difference of two scores of a metric; infinite where the metric has no bounds.

    Examples
    --------
    >>> from simstudy.metrics import METRICS
    >>> scale_of(METRICS["bleu"]), scale_of(METRICS["ap"]), scale_of(METRICS["mean"])
    (100.0, 1.0, inf)
    """
    if metric.unit in _SCALES:
        return _SCALES[metric.unit]
    low, high = metric.item_range or (-inf, inf)
    return metric.scale * (high - low)


@dataclass(frozen=True)
class Target:
    """What a test set must show, whatever is known of the systems.

    Attributes
    ----------
    metric
        By which systems are compared.
    gain
        The true gain to detect, on the metric's scale; None: the plan looks for it.
    n_items
        Of the test set; None: the plan looks for it.
    power
        The probability with which the test must detect it.
    level
        Of the test.
    margin
        Where it is to be shown that a system is not worse by this much: on the metric's scale, above 0.
    """

    metric: Metric
    gain: float | None = None
    n_items: int | None = None
    power: float = 0.8
    level: Level = field(default_factory=Level)
    margin: float | None = None

    def __post_init__(self) -> None:
        check_power(self.power, self.level)
        if self.n_items is not None:
            check_whole("n_items", self.n_items, 2)
        if self.gain is not None:
            self._check_gain(self.gain)
        if self.margin is not None:
            check_size("margin", self.margin)
            if not 0 < self.margin <= self.scale:
                raise ValueError(f"margin must be above 0 and at most {self.scale:g}, not {self.margin:g}")
            if self.gain is not None and not -self.margin < self.gain:
                raise ValueError(
                    f"gain must be above minus the margin, {-self.margin:g}, to be no worse, not {self.gain:g}"
                )

    @property
    def scale(self) -> float:
        """How far two scores of the metric can be apart; infinite where nothing is known of that."""
        return scale_of(self.metric)

    @property
    def goals(self) -> tuple[str, ...]:
        """What is to be shown."""
        if self.margin is None:
            return (BETTER,)
        within = (NOT_WORSE,) if self.gain is not None and self.gain >= self.margin else (NOT_WORSE, EQUIVALENT)
        return ((BETTER,) if self.gain is not None and self.gain > 0 else ()) + within

    def _check_gain(self, gain: float) -> None:
        check_size("gain", gain)
        least = "above 0" if self.margin is None else "a number"
        if (self.margin is None and not gain > 0) or abs(gain) > self.scale:
            most = f" and at most {self.scale:g}, the scale of {self.metric.label}" if self.scale < inf else ""
            raise ValueError(f"gain must be {least}{most}, not {brief(gain)}")
