"""What a plan is about: systems of one kind, and what a test set must show of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan

import numpy as np

from simstudy.metrics.base import Metric
from simstudy.notes import Argument, Words
from simstudy.planning.arguments import Design
from simstudy.planning.correlated_answers import AlikeAnswers, AnswersOfGain
from simstudy.planning.differences import Difference
from simstudy.planning.sampling import Components
from simstudy.planning.settings import Level, check_size
from simstudy.planning.solving import check_power
from simstudy.text.numerals import units_name
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, Shown, check_whole

#: Confidence of what pilots say.
LEVEL = 0.95

#: The relation where the guesses are the user's own, and that of a pilot's systems.
GUESSED, TWO_SYSTEMS = "from guesses", "two systems"

#: The goals of a plan: to show that the better system is better, that one system is not worse than the other by the
#: margin or more, or that neither is.
BETTER, NOT_WORSE, EQUIVALENT = "better", "not worse", "equivalent"

# From the worst to the best score, by what scores are told in.
_SCALES = {"percent": 100.0, "points": 100.0, "probability": 1.0}

# A gain of fewer points is hardly ever planned for, but as a fraction it is one of up to ten points.
_LEAST_GAIN = 0.1


@dataclass(frozen=True)
class Case(FieldsMixin):
    """Pairs of systems of one kind: how two of them differ on one unit, and how well that is known."""

    #: "from guesses", "two systems", or a relation class.
    relation: str
    #: How two of them differ on one unit, by the best guess, and with the least and the most spread.
    middle: Difference
    low: Difference
    high: Difference
    #: What is known of the spread, for a sentence: "an agreement of 0.9".
    known: str
    #: What low and high are, for a sentence; empty where they are no others than the middle.
    range: str = ""
    #: Their coverage, for brackets: "95 % interval"; empty where there is no range.
    coverage: str = field(default="", kw_only=True)
    unit: str = "item"
    #: An item's name for `units_name`: "sample_of", a question, where the outputs have several samples of it.
    item: str = field(default="item", kw_only=True)
    #: Items of a unit.
    size: float = 1.0
    #: How the items of a unit are alike, where that is known.
    design: Design | None = None
    #: The standard deviation of two systems' difference on one item; NaN where units are items.
    item_sd: float = nan
    #: Of many pairs one whose spread is the median: the names of its systems.
    example: tuple[str, ...] = ()
    #: Of many pairs two between which 80 % of them lie, the one with less spread first.
    single: tuple[Difference, Difference] | None = None
    #: Of a pilot's differences, 3 for normal ones; NaN where it is not known or the form does not depend on it.
    kurtosis: float = nan
    #: Where the outputs have several samples of each item: what varies, and the number of samples that is planned.
    components: Components | None = None
    samples: int = 1
    #: Guessed answers that correlate, before judges and clusters: middle, low and high. The gain says how often the two
    #: systems agree, so that `known` and `range` lack these numbers, and `said` and `said_range` have them.
    answers: tuple[AnswersOfGain, AnswersOfGain, AnswersOfGain] | None = None

    @property
    def called(self) -> str:
        """The unit, as `units_name` has it."""
        return self.item if self.unit == "item" else self.unit

    @property
    def items(self) -> str:
        """What numbers of items count, for sentences: items, or questions."""
        return units_name(self.item)

    def said(self, gain: float) -> str:
        """What is known of the spread, with the numbers that hold for this true gain."""
        if self.answers is None:
            return self.known
        r12 = self.answers[0].correlation(gain)
        agree = f"systems that agree on {100 * (1 - self.answers[0].at(gain).disagreement):.3g} % of the items"
        # Typed back, the number must lead to the same plan.
        number = f"{r12:.3f}" if isinstance(self.answers[0], AlikeAnswers) else f"{r12:.4g}"
        of = "" if np.isnan(r12) else f" (r12 = {number}, the correlation of their right and wrong answers)"
        return f"{agree}{of}{self.known}"

    def said_range(self, gain: float) -> str:
        """What low and high are, with the numbers that hold for this true gain; empty where they are no others."""
        if self.answers is None or not isinstance(self.answers[0], AlikeAnswers):
            return self.range
        low, high = sorted(end.correlation(gain) for end in self.answers[1:])
        return self.range if np.isnan(low) else f"r12 from {low:.3f} to {high:.3f}, {self.range}"

    def allowing(self, gain: float) -> Case:
        """The same, in which the ends of the range may have a gain as large as this."""
        return replace(self, low=self.low.allowing(gain), high=self.high.allowing(gain))

    def changed(self, change: Callable[[Difference], Difference]) -> Case:
        """The same, with another difference in the place of each."""
        return replace(self, middle=change(self.middle), low=change(self.low), high=change(self.high))

    def ends(self, number: Callable[[Difference], float]) -> tuple[float, float, float]:
        """A number with its range, the lower end first."""
        middle = number(self.middle)
        if not self.range:
            return middle, middle, middle
        # Power is not monotone in the spread where few units differ: the middle may lie beyond an end.
        ends = sorted((number(self.low), middle, number(self.high)), key=lambda end: (np.isnan(end), end))
        return middle, ends[0], ends[-1]


def coverage_of(cases: Sequence[Case]) -> str:
    """The coverage of the ranges of these cases, for brackets; empty where none has a range."""
    return " and ".join(dict.fromkeys(case.coverage for case in cases if case.range))


def scale_of(metric: Metric) -> float:
    """The largest difference of two scores of a metric; infinite where the metric has no bounds."""
    if metric.unit in _SCALES:
        return _SCALES[metric.unit]
    low, high = metric.item_range or (-inf, inf)
    return metric.scale * (high - low)


@dataclass(frozen=True)
class Target(FieldsMixin):
    """What a test set must show, whatever is known of the systems: the arguments of `plan`."""

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
            scale = scale_of(self.metric)
            check_size("margin", self.margin)
            if not 0 < self.margin <= scale:
                raise InputError("margin", f"must be above 0 and at most {scale:g}", self.margin)
            if self.gain is not None and not -self.margin < self.gain:
                raise InputError("gain", f"must be above minus the margin, {-self.margin:g}, to be no worse", self.gain)

    @property
    def goals(self) -> tuple[str, ...]:
        if self.margin is None:
            return (BETTER,)
        within = (NOT_WORSE,) if self.gain is not None and self.gain >= self.margin else (NOT_WORSE, EQUIVALENT)
        return ((BETTER,) if self.gain is not None and self.gain > 0 else ()) + within

    def _check_gain(self, gain: float) -> None:
        check_size("gain", gain)
        scale = scale_of(self.metric)
        least = "above 0" if self.margin is None else "a number"
        if (self.margin is None and not gain > 0) or abs(gain) > scale:
            most = f" and at most {scale:g}, the scale of {self.metric.label}" if scale < inf else ""
            raise InputError("gain", f"must be {least}{most}", gain)


def check_points(
    metric: Metric,
    *,
    score: float | None,
    gain: float | None,
    margin: float | None,
    of_pilot: float | None = None,
) -> None:
    """Raise a ValueError where a score, a gain or a margin is a fraction, and the metric is in percent or points.

    A guessed score is one if it is above 0 and at most 1. A gain or a margin is one if it is below 0.1, or if the score
    is one and their sum is at most 1. If a guessed score, or the best score of a pilot, is within 1 point of 0 or 100,
    a gain below 0.1 can be meant as it is.
    """
    if metric.unit not in ("percent", "points"):
        return
    fraction = score is not None and 0 < score <= 1
    known = of_pilot if score is None else score
    extreme = known is not None and not fraction and not 1 < known < 99
    most = 1 - score if fraction and score is not None else 0.0
    slips = {"Guess.score": score} if fraction else {}
    for name, points in (("gain", gain), ("margin", margin)):
        if points is not None and points > 0 and not extreme and (points < _LEAST_GAIN or points <= most):
            slips[name] = points
    if not slips:
        return
    (first, value), *others = slips.items()
    meant = {name.split(".")[-1]: Argument(name, Shown(f"{100 * (x or 0):.10g}")) for name, x in slips.items()}
    listed = ", ".join(f"{{{name}}}" for name in meant) if others else f"{100 * (value or 0):.10g}"
    unit = "percent" if first == "Guess.score" else f"points of {metric.label}"
    raise InputError(first, f"must be in {unit}", value, Words(f": did you mean {listed}?", **meant))
