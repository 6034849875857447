"""Averages of several tasks: their tasks and weights, and outputs whose mean is an average.

*These tasks.* An average is a sum over tasks, of weight times score. Each unit (item or cluster) contributes its
jackknife contribution to its task's score, times the task's weight. These contributions, times their number, are the
scores of a test set whose mean is the average, so every test and every confidence set of the package applies to it.
Flips of signs leave each unit in its task. The standard error adds the variances of tasks, each by its own units (Welch
1938; degrees of freedom by Satterthwaite 1946).

*Tasks like these.* Each task is one unit with its weight and its score. The average is the mean of these units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.engines.question import difference_moments
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations, n_undefined
from simstudy.metrics.mean import Mean
from simstudy.metrics.scaling import rescaled
from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs
from simstudy.outputs.units import in_units
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_choice, check_number, check_texts, nearest

#: The mean of task scores, and the score of all items together.
MACRO, MICRO = AVERAGES = ("macro", "micro")

#: The two null hypotheses, by name.
THESE, LIKE_THESE = ("these tasks", "tasks like these")

# Variances below the square of this part of the contributions' size are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TaskGroup(FieldsMixin):
    """Tasks that belong together, such as the subjects of MMLU.

    By size, tasks count by their numbers of items (the micro average), as lm-evaluation-harness does with
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


@dataclass(frozen=True)
class Average(FieldsMixin):
    """One average: its name, its tasks, and their weights, which add up to 1; without weights all items are pooled."""

    name: str
    tasks: tuple[str, ...]
    weights: tuple[float, ...] | None

    def title(self) -> str:
        """The average in a sentence."""
        titles = {MACRO: "Macro average", MICRO: "Micro average (all items together)", "weighted": "Weighted average"}
        return titles.get(self.name, self.name)

    def without(self, task: str) -> Average:
        """The average of the other tasks."""
        weights = dict(zip(self.tasks, self.weights or [1.0] * len(self.tasks), strict=True))
        del weights[task]
        rest = _weighted(self.name, self.tasks, weights)
        return rest if self.weights else replace(rest, weights=None)


def requested_averages(
    tasks: Sequence[str], average: object, groups: Mapping[str, TaskGroup | Sequence[str]] | None
) -> list[Average]:
    """The main average first, then macro and micro, then groups; InputError for weights and groups of other tasks."""
    macro = _weighted(MACRO, tasks, dict.fromkeys(tasks, 1))
    averages = [macro, replace(macro, name=MICRO, weights=None)]
    if isinstance(average, Mapping):
        averages.insert(0, _weighted("weighted", tasks, average, "average"))
    else:
        check_choice("average", average, AVERAGES)
        averages.sort(key=lambda one: one.name != average)
    for name, group in (groups or {}).items():
        argument = f"groups['{name}']"
        if not isinstance(group, TaskGroup):
            check_texts(argument, group, "tasks")
            group = TaskGroup(tuple(group))
        equal = _weighted(str(name), tasks, dict.fromkeys(group.tasks, 1), argument)
        averages.append(replace(equal, weights=None) if group.by_size else equal)
    return averages


def _weighted(name: str, tasks: Sequence[str], weights: Mapping[Any, float], argument: str = "") -> Average:
    """The average with these weights, scaled to add up to 1; a task without a weight, or of weight 0, is left out."""
    for task, weight in weights.items():
        if task not in tasks:
            raise InputError(argument, f"must be of the tasks {', '.join(tasks)}", task, nearest(task, tasks))
        check_number(f"{argument}['{task}']", weight, "a weight of at least 0")
        if not 0 <= weight < np.inf:
            raise InputError(f"{argument}['{task}']", "must be a weight of at least 0", weight)
    members = tuple(task for task in tasks if weights.get(task, 0) > 0)
    if not members:
        raise InputError(argument, "must have a task with a weight above 0")
    total = sum(weights.values())
    return Average(name, members, tuple(float(weights[task] / total) for task in members))


class Suite:
    """Systems on several tasks, with the test sets and standard errors of averages.

    Attributes
    ----------
    tasks, units
        Task -> its items, and task -> its units.
    scores
        Each system's score on each task (K systems x T tasks).
    """

    def __init__(self, outputs: Outputs, by: str, unit: str | None) -> None:
        """Split outputs into tasks by a column of the items.

        An InputError names a column with one task, a task of one unit, or a unit with items in several tasks.
        """
        self.outputs, self.metric, self.by, self.unit = outputs, outputs.metric, by, unit or outputs.natural_unit
        self._labels = outputs.labels(by, "by")
        names = self._labels.unique()
        if len(names) < 2:
            raise InputError("by", f"must be a column with several values, but all items have {by} '{names[0]}'")
        if self.unit != "item":
            n_tasks = self._labels.groupby(outputs.labels(self.unit, "unit")).nunique()
            if (n_tasks > 1).any():
                first = str(n_tasks[n_tasks > 1].index[0])
                rule = f"must lie within one {by}, but {self.unit} '{first}' has items of {n_tasks[first]}"
                raise InputError("units", rule, remedy=Words("{item} uses items", item=Argument("unit", "item")))
        self.tasks = {name: outputs.take(np.flatnonzero(self._labels == name)) for name in names}
        self.units = {name: in_units(items, self.unit) for name, items in self.tasks.items()}
        for name, units in self.units.items():
            if units.n_items < 2:
                rule = f"{by} '{name}' has 1 {self.unit}: nothing is known of how its score varies; leave it out"
                raise InputError(rule)
        self.scores = pd.DataFrame({name: items.scores() for name, items in self.tasks.items()}, outputs.names)

    def places(self, names: pd.Series[str]) -> IntArray:
        """The places of systems by their names (P,)."""
        return pd.Index(self.outputs.names).get_indexer(pd.Index(names))

    def average_scores(self, average: Average) -> FloatArray:
        """Each system's average (K,)."""
        if average.weights is None:
            return self._pooled(average).scores()
        return np.asarray(self.scores[list(average.tasks)].to_numpy() @ np.array(average.weights))

    def test_sets(self, average: Average) -> dict[str, Outputs]:
        """For each hypothesis a test set whose mean is the average, an item for each unit.

        One task is no sample of tasks.
        """
        by_task = {LIKE_THESE: self._by_task(average)} if len(average.tasks) > 1 else {}
        return {THESE: self._by_unit(average), **by_task}

    def errors(
        self, average: Average, first: IntArray, second: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Standard errors (P,) of an average's gains on these tasks, and Satterthwaite's degrees of freedom.

        Without `second` they are those of scores. Both are NaN if nothing varies, or a score is undefined without some
        unit.
        """
        n = np.array([self.units[name].n_items for name in average.tasks])
        # The last row stands for no system.
        parts = np.vstack([self._contributions(average), np.zeros(n.sum())])
        undefined = np.any([n_undefined(block, self.metric) > 0 for _, block in self._blocks(average)], axis=0)
        pairs = first, np.full(len(first), len(undefined)) if second is None else second
        variances = []
        for run in np.split(parts, n.cumsum()[:-1], axis=1):
            squares, _ = difference_moments(deviations(run), pairs)
            sizes = sum((run[side] ** 2).sum(axis=1) for side in pairs)
            variances.append(np.where(squares <= _ROUNDING**2 * sizes, 0.0, squares))
        by_task = np.stack(variances, axis=-1)
        total = by_task.sum(axis=1)
        total[(total == 0) | np.append(undefined, False)[np.stack(pairs)].any(axis=0)] = np.nan
        return np.sqrt(total), total**2 / (by_task**2 / (n - 1)).sum(axis=1)

    def _by_unit(self, average: Average) -> Outputs:
        """The average by units: those of the pooled items if it is their score, so that p-values can be exact."""
        if average.weights is None or len(average.tasks) == 1:
            return in_units(self._pooled(average), self.unit)
        parts = self._contributions(average)
        ids = [f"{t}/{name}" for t, task in enumerate(average.tasks) for name in self.units[task].items["id"]]
        return self._derived(parts.shape[1] * parts, np.ones_like(parts), pd.DataFrame({"id": ids}))

    def _by_task(self, average: Average) -> Outputs:
        """The average by tasks: a unit for each, with its weight."""
        if average.weights is None:
            return in_units(self._pooled(average), self.by)
        scores = self.scores[list(average.tasks)].to_numpy()
        counts = np.broadcast_to(np.array(average.weights) / max(average.weights), scores.shape)
        return self._derived(counts * scores, counts, pd.DataFrame({"id": list(average.tasks)}))

    def _derived(self, sums: FloatArray, counts: FloatArray, items: pd.DataFrame) -> Outputs:
        metric = Mean(f"average of {self.metric.name}", higher_is_better=self.metric.higher_is_better)
        names = {"task": self.outputs.task, "test_set": self.outputs.test_set}
        return Outputs.from_statistics(np.stack([sums, counts], axis=-1), metric, self.outputs.systems, items, **names)

    def _pooled(self, average: Average) -> Outputs:
        """The items of the average's tasks as one test set."""
        return self.outputs.take(np.flatnonzero(self._labels.isin(average.tasks)))

    def _blocks(self, average: Average) -> list[tuple[float, Array]]:
        """Weights and statistics (K, n, S) of units that are scored together: those of each task, or all of them."""
        statistics = [self.units[name].statistics for name in average.tasks]
        if average.weights is None:
            return [(1.0, np.concatenate(statistics, axis=1))]
        return list(zip(average.weights, statistics, strict=True))

    def _contributions(self, average: Average) -> FloatArray:
        """The units' contributions to each system's average (K, n), task after task."""
        parts = []
        for weight, block in self._blocks(average):
            statistics, factor = rescaled(block, self.metric)
            parts.append(weight * factor * contributions(statistics, self.metric))
        return np.concatenate(parts, axis=1)
