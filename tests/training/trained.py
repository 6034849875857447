"""One variant of a task, and the statistics of given answers."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.training import Task
from simstudy.training.base import checked_counts
from simstudy.training.resampling import Variant, train_variant


def trained(task: Task, variant: Variant, seed: int = 0) -> dict[str, dict[str, NDArray[Any]]]:
    """The statistics of a variant on each test set by each metric."""
    base = task.systems[variant.family]
    return train_variant(base, task.train, task.test_sets, task.statistics, variant, seed)


def counted(task: Task, metric: Metric, test_set: str, answers: Any) -> NDArray[Any]:
    """The statistics of answers to a test set."""
    examples = task.test_sets[test_set]
    return checked_counts(metric, test_set, examples, task.statistics[metric](examples, answers))
