"""Averages of several tasks: which tasks, and with which weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_choice, check_number, check_text, check_texts, nearest

#: The mean of task scores, and the score of all items together.
MACRO, MICRO = AVERAGES = ("macro", "micro")


@dataclass(frozen=True)
class TaskGroup(FieldsMixin):
    """Tasks that belong together, such as the subjects of MMLU.

    Attributes
    ----------
    tasks
        Their names.
    by_size
        Whether tasks count by their numbers of items (the micro average), as lm-evaluation-harness does with
        ``weight_by_size: true``; else each task counts the same.

    Examples
    --------
    >>> TaskGroup(("arc_easy", "arc_challenge"), by_size=True)
    TaskGroup(tasks=('arc_easy', 'arc_challenge'), by_size=True)
    """

    tasks: tuple[str, ...]
    by_size: bool = False

    def __post_init__(self) -> None:
        check_texts("tasks", self.tasks, "names of tasks")
        object.__setattr__(self, "tasks", tuple(self.tasks))
        if not self.tasks or len(set(self.tasks)) < len(self.tasks):
            raise InputError("tasks", "of a group must be at least one name, each once", list(self.tasks))


@dataclass(frozen=True)
class Average(FieldsMixin):
    """One average: its name, its tasks, and their weights, which add up to 1; without weights all items are pooled."""

    name: str
    tasks: tuple[str, ...]
    weights: tuple[float, ...] | None

    def title(self) -> str:
        """What a sentence calls it."""
        known = {MACRO: "Macro average", MICRO: "Micro average (all items together)", "weighted": "Weighted average"}
        return known.get(self.name, self.name)

    def without(self, task: str) -> Average:
        """The average of the other tasks, their weights scaled to add up to 1."""
        kept = [t for t, name in enumerate(self.tasks) if name != task]
        tasks = tuple(self.tasks[t] for t in kept)
        if self.weights is None:
            return Average(self.name, tasks, None)
        weights = np.array([self.weights[t] for t in kept])
        return Average(self.name, tasks, tuple(float(weight) for weight in weights / weights.sum()))

    def array(self) -> FloatArray:
        """The weights (T,)."""
        return np.array(self.weights, dtype=np.float64)


def averages_of(
    tasks: Sequence[str], average: object, groups: Mapping[str, TaskGroup | Sequence[str]] | None
) -> list[Average]:
    """The main average first, then macro and micro, then groups; ValueError for weights and groups of other tasks."""
    every = tuple(tasks)
    equal = Average(MACRO, every, (1 / len(every),) * len(every))
    found = [equal, Average(MICRO, every, None)]
    if isinstance(average, Mapping):
        found.insert(0, _weighted(every, average))
    else:
        check_choice("average", average, AVERAGES)
        if average == MICRO:
            found.reverse()
    return found + [_group(every, name, group) for name, group in (groups or {}).items()]


def _weighted(every: tuple[str, ...], average: Mapping[Any, Any]) -> Average:
    """The average by a mapping of tasks to weights; a task without a weight, or of weight 0, is left out."""
    _check_tasks("average", every, list(average))
    for task, weight in average.items():
        check_number(f"average['{task}']", weight, "a weight of at least 0")
        if not 0 <= weight < np.inf:
            raise InputError(f"average['{task}']", "must be a weight of at least 0", weight)
    total = float(sum(average.values()))
    if not total > 0:
        raise InputError("average", "must have a weight above 0")
    kept = [task for task in every if average.get(task, 0) > 0]
    return Average("weighted", tuple(kept), tuple(float(average[task]) / total for task in kept))


def _group(every: tuple[str, ...], name: object, group: object) -> Average:
    check_text("groups", name, "names of groups and their tasks")
    if isinstance(group, str) or not isinstance(group, TaskGroup | Sequence):
        raise InputError(f"groups['{name}']", "must be a list of tasks", group)
    known = group if isinstance(group, TaskGroup) else TaskGroup(tuple(group))
    _check_tasks(f"groups['{name}']", every, known.tasks)
    kept = tuple(task for task in every if task in known.tasks)
    return Average(str(name), kept, None if known.by_size else (1 / len(kept),) * len(kept))


def _check_tasks(argument: str, every: Sequence[str], named: Sequence[Any]) -> None:
    for task in named:
        if task not in every:
            raise InputError(argument, f"must be of the tasks {', '.join(every)}", task, nearest(task, every))
