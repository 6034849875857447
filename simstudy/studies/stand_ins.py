"""Outputs before there are systems: what tells whether a comparison can be made of those that are to be trained."""

from __future__ import annotations

import numpy as np

from simstudy.engines.asking import ask
from simstudy.generators.resampled import item_statistics
from simstudy.outputs import Outputs
from simstudy.studies.definition import Comparison
from simstudy.tasks import Task


def stand_in(task: Task, name: str) -> Outputs:
    """Two systems on a test set of a task: one that is always right, and one that gives each row the next one's label.

    Items, metric and the kind of statistics are those that trained systems will have.
    """
    examples = task.test_sets[name]
    given = (examples.gold, np.roll(examples.gold, -1))
    statistics = np.stack([item_statistics(task, examples, labels) for labels in given])
    return Outputs.from_statistics(
        statistics, task.metric, ["right", "rolled"], examples.items, task=task.name, test_set=name
    )


def check_comparison(outputs: Outputs, settings: Comparison) -> None:
    """Raise a ValueError where a test set can not be compared on as a study asks: its test, units, strata."""
    ask(outputs.best_first(), **settings.model_dump())
