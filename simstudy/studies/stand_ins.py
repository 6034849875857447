"""Outputs before there are systems: what tells whether a comparison can be made of those that are to be trained."""

from __future__ import annotations

import numpy as np

from simstudy.engines.asking import ask
from simstudy.engines.registry import DEFAULT_TEST
from simstudy.metrics.ratio import Ratio
from simstudy.outputs import Outputs, TestSet
from simstudy.training import Task


def stand_in(task: Task, name: str, metric: str | None = None) -> Outputs:
    """Two systems on a test set of a task: one that is always right, and one that is wrong on every second item.

    Items, metric and the kind of statistics are those that trained systems will have: what the wrong one lacks are the
    statistics that only a right answer adds to, or, where the metric has none such, all that are not the item's own.
    """
    examples = task.test_sets[name]
    chosen = task.metric if metric is None else task.metrics[metric]
    right = task.count(chosen, name, examples.gold)
    earned = [True] * right.shape[1]
    if isinstance(chosen, Ratio):
        earned = [above != 0 and below == 0 for above, below in zip(chosen.numerator, chosen.denominator, strict=True)]
    if not any(earned) or all(earned):
        earned = [column not in chosen.of_item for column in chosen.statistics]
    wrong = right.copy()
    wrong[1::2, earned] = 0
    return Outputs.from_statistics(
        np.stack([right, wrong]), chosen, ["right", "wrong"], examples.items, task=task.name, test_set=name
    )


def check_comparison(test_set: TestSet) -> None:
    """Raise a ValueError where a test set can not be compared on as its settings say: its test, units, strata."""
    options = {"test": DEFAULT_TEST, **test_set.options}
    options.pop("seed", None)
    ask(test_set.outputs.best_first(), **options)
