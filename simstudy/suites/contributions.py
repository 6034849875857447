"""An average of tasks as the mean of one test set: of items within these tasks, or of tasks.

*These tasks.* The average is a sum over tasks of weight times score. Each unit (item or cluster) contributes its
jackknife contribution to its task's score, times the task's weight. These contributions, times their number, are the
scores of a test set whose mean is the average, so every test and every confidence set of the package applies to it.
Flips of signs leave each unit in its task. The interval adds the variances of tasks, each by its own units (Welch 1938;
degrees of freedom by Satterthwaite 1946).

*Tasks like these.* Each task is one unit with its weight, and its score. The average is the mean of these units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations, n_undefined
from simstudy.metrics.mean import Mean
from simstudy.metrics.scaling import rescaled
from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs
from simstudy.outputs.units import in_units
from simstudy.suites.averages import Average
from simstudy.validation import InputError

#: The two null hypotheses, by name.
THESE, LIKE_THESE = HYPOTHESES = ("these tasks", "tasks like these")

# Variances of a gain below the square of this part of the contributions' size are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Suite:
    """Systems on several tasks: their units one task after the other."""

    outputs: Outputs
    by: str
    unit: str
    #: Task -> its items.
    tasks: dict[str, Outputs]

    @classmethod
    def of(cls, outputs: Outputs, by: str, unit: str | None) -> Suite:
        """The suite that a column of the items makes of outputs.

        A ValueError says where there is one task only, a task has one unit, or a unit has items in several tasks.
        """
        labels = outputs.labels(by, "by")
        names = list(dict.fromkeys(labels))
        if len(names) < 2:
            raise InputError("by", f"must be a column with several values, but all items have {by} '{names[0]}'")
        unit = unit or outputs.natural_unit
        if unit != "item":
            spread = labels.groupby(outputs.labels(unit, "unit")).nunique()
            if (spread > 1).any():
                first = str(spread[spread > 1].index[0])
                rule = f"must lie within one {by}, but {unit} '{first}' has items of {spread[first]}"
                raise InputError("units", rule, remedy=Words("{item} uses items", item=Argument("unit", "item")))
        tasks = {name: outputs.take(np.flatnonzero(labels == name)) for name in names}
        suite = cls(outputs, by, unit, tasks)
        for name, units in suite.units.items():
            if units.n_items < 2:
                raise InputError(f"{by} '{name}' has 1 {unit}: nothing is known of how its score varies; leave it out")
        return suite

    @cached_property
    def units(self) -> dict[str, Outputs]:
        """Task -> its units."""
        return {name: in_units(of, self.unit) for name, of in self.tasks.items()}

    @property
    def metric(self) -> Metric:
        """Of the outputs."""
        return self.outputs.metric

    @cached_property
    def scores(self) -> FloatArray:
        """Each system's score on each task (K, T)."""
        return np.stack([of.scores() for of in self.tasks.values()], axis=1)

    @cached_property
    def parts(self) -> dict[str, FloatArray]:
        """Task -> what its units contribute to each system's score on it (K, n_t); NaN where that is not defined."""
        return {name: self._contributions(of.statistics) for name, of in self.units.items()}

    def _contributions(self, of: Array) -> FloatArray:
        statistics, factor = rescaled(of, self.metric)
        parts = factor * contributions(statistics, self.metric)
        parts[n_undefined(statistics, self.metric) > 0] = np.nan
        return parts

    def pooled(self, average: Average) -> Outputs:
        """The items of the average's tasks as one test set."""
        names = set(average.tasks)
        labels = self.outputs.labels(self.by)
        return self.outputs.take(np.flatnonzero(labels.isin(names)))

    def is_pooled(self, average: Average) -> bool:
        """Whether the average is the score of all its items together: by definition, or because tasks are equal."""
        if average.weights is None or len(average.tasks) == 1:
            return True
        # Of means a task counts by its denominator: equal ones make the two averages one number.
        sizes = self._sizes(average)
        return sizes is not None and bool(np.allclose(sizes / sizes.sum(), average.array(), rtol=1e-12, atol=0))

    def _sizes(self, average: Average) -> FloatArray | None:
        """The tasks' denominators (T,), where all systems share those of every unit; else None."""
        totals = []
        for name in average.tasks:
            ratio = self.metric.ratio(self.units[name].statistics)
            if ratio is None or (ratio[1] != ratio[1][0]).any() or not ratio[1][0].sum() > 0:
                return None
            totals.append(float(ratio[1][0].sum()))
        return np.array(totals)

    def task_weights(self, average: Average) -> FloatArray | None:
        """Weights of task scores (T,) that give the average; None if the pooled score is no weighted mean of them."""
        if average.weights is not None:
            return average.array()
        sizes = self._sizes(average)
        return None if sizes is None else sizes / sizes.sum()

    def weighted(self, average: Average) -> tuple[FloatArray, IntArray]:
        """What units contribute to each system's average (K, n), those of a task next to each other; and the bounds."""
        sizes = np.array([self.units[name].n_items for name in average.tasks], dtype=np.int64)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        weights = self.task_weights(average)
        if weights is None:
            statistics = np.concatenate([self.units[name].statistics for name in average.tasks], axis=1)
            return self._contributions(statistics), bounds
        parts = [weight * self.parts[name] for weight, name in zip(weights, average.tasks, strict=True)]
        return np.concatenate(parts, axis=1), bounds

    def gain_spread(self, average: Average, first: IntArray, second: IntArray) -> tuple[FloatArray, FloatArray]:
        """The standard errors (P,) of gains of the average on these tasks, and their degrees of freedom."""
        weights = self.task_weights(average)
        if weights is None:
            parts, bounds = self.weighted(average)
            each = [spread_of(parts[[a]] - parts[[b]], bounds) for a, b in zip(first, second, strict=True)]
            return np.array([se[0] for se, _ in each]), np.array([df[0] for _, df in each])
        places = [list(self.tasks).index(name) for name in average.tasks]
        n = np.array([self.units[name].n_items for name in average.tasks])
        return _added(weights**2 * self._variances[first, second][:, places], n)

    @cached_property
    def _variances(self) -> FloatArray:
        """The variance of each pair's gain on each task, (K, K, T)."""
        found = []
        for parts in self.parts.values():
            centred = deviations(parts)
            own = (centred**2).sum(axis=1)
            both = own[:, None] + own
            variance = both - 2 * centred @ centred.T
            # Of two nearly equal systems only rounding is left: their own difference tells.
            for j, k in np.argwhere(np.triu(variance <= 1e-6 * both, 1)):
                variance[j, k] = variance[k, j] = ((centred[j] - centred[k]) ** 2).sum()
            variance[variance <= _ROUNDING**2 * both] = 0.0
            found.append(variance)
        return np.stack(found, axis=-1)

    def averaged(self, average: Average) -> FloatArray:
        """Each system's average (K,)."""
        if average.weights is None:
            return self.pooled(average).scores()
        places = [list(self.tasks).index(name) for name in average.tasks]
        return np.asarray(self.scores[:, places] @ average.array())

    def of_units(self, average: Average) -> Outputs:
        """A test set whose mean is the average, an item for each unit: for hypotheses about these tasks.

        It is the pooled items where they have the average as their score: whole numbers have exact p-values.
        """
        if self.is_pooled(average):
            return self.pooled(average)
        parts, bounds = self.weighted(average)
        n = parts.shape[1]
        ids = [f"{t}/{name}" for t, task in enumerate(average.tasks) for name in self.units[task].items["id"]]
        domain = np.repeat(np.array(average.tasks, dtype=object), np.diff(bounds))
        items = pd.DataFrame({"id": ids, "domain": domain})
        # A system without a score on some task has none here that differs from another's.
        scores = np.nan_to_num(n * parts)
        return self._derived(np.stack([scores, np.ones_like(scores)], axis=-1), items)

    def of_tasks(self, average: Average) -> tuple[Outputs, str]:
        """A test set of which each task is one unit, and the unit: for hypotheses about tasks like these."""
        weights = self.task_weights(average)
        if weights is None:
            return self.pooled(average), self.by
        places = [list(self.tasks).index(name) for name in average.tasks]
        of = np.broadcast_to(weights / weights.max(), (self.outputs.n_systems, len(places)))
        items = pd.DataFrame({"id": list(average.tasks)})
        return self._derived(np.stack([of * self.scores[:, places], of], axis=-1), items), "item"

    def _derived(self, statistics: FloatArray, items: pd.DataFrame) -> Outputs:
        metric = Mean(f"average of {self.metric.name}", higher_is_better=self.metric.higher_is_better)
        own = self.outputs
        return Outputs.from_statistics(statistics, metric, own.systems, items, task=own.task, test_set=own.test_set)


def spread_of(parts: FloatArray, bounds: IntArray) -> tuple[FloatArray, FloatArray]:
    """The standard errors (K,) of averages or gains and their degrees of freedom, from contributions (K, n).

    Tasks are bounds (T + 1,) of runs of units. Variances of tasks add up.
    """
    squares = np.add.reduceat(deviations(parts, bounds) ** 2, bounds[:-1], axis=1)
    squares[squares <= _ROUNDING**2 * (parts**2).sum(axis=1, keepdims=True)] = 0.0
    return _added(squares, np.diff(bounds))


def _added(variances: FloatArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
    """The standard errors (P,) from variances by task (P, T) of n units (T,), with Satterthwaite's degrees of freedom.

    Both are NaN where nothing varies, or contributions are not defined.
    """
    total = variances.sum(axis=1)
    total[~(total > 0)] = np.nan
    return np.sqrt(total), total**2 / (variances**2 / (n - 1)).sum(axis=1)


def reach(se: FloatArray, df: FloatArray, level: float) -> FloatArray:
    """Half the width of an interval by Student's t."""
    return np.asarray(special.stdtrit(df, (1 + level) / 2) * se)
