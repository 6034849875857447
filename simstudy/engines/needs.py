"""Conditions that a question must meet for a test, as the registry's entries name them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simstudy.engines.question import Question
from simstudy.text.reprs import FieldsMixin


@dataclass(frozen=True)
class Need(FieldsMixin):
    """A condition of a test, in words; what is there if it is not met; and whether a question has it."""

    what: str
    otherwise: str
    met: Callable[[Question], bool]


def _proportion(question: Question) -> bool:
    """Whether numerators count some of what denominators count."""
    if question.ratio is None or not question.integers or question.factor != 1:
        return False
    above, below = question.ratio
    positive = above if question.metric.higher_is_better else -above
    return question.metric.is_proportion and bool(((positive >= 0) & (positive <= below)).all())


def _acceptance_sets(question: Question) -> bool:
    """Whether denominators say which items each system accepts, and numerators which of these are true."""
    if not question.metric.higher_is_better or not _proportion(question):
        return False
    assert question.ratio is not None
    true, accepted = question.ratio
    # Who accepts a true item has it as true.
    agree = (true == (true.max(axis=0) & accepted)).all()
    # Where everybody accepts everything, accuracy looks the same; of precision it is the whole list.
    some = (accepted == 0).any() or question.metric.of_chosen
    return bool((accepted <= 1).all() and some and agree)


SUMS = Need(
    "a metric of sums",
    "{metric} is computed again on each resample",
    lambda question: question.metric.of_sums,
)
MEAN = Need(
    "a metric that is a mean of the units' scores",
    "{metric} is none here (the systems do not share a denominator on every unit)",
    lambda question: question.unit_scores is not None,
)
RIGHT_OR_WRONG = Need(
    "right or wrong answers, one a unit",
    "{metric} has other scores here (unit {unit})",
    lambda question: question.right_or_wrong,
)
COUNTS = Need("a proportion of counts (accuracy, precision, recall)", "{metric} is none here", _proportion)
ITEMS = Need("items one by one", "the unit is {unit} ({item} uses items)", lambda question: question.unit == "item")
ACCEPTANCE_SETS = Need(
    "systems that accept or reject each item, true or false for all of them (precision by item)",
    "{metric} has none such here",
    _acceptance_sets,
)
