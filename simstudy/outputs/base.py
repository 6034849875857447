"""What K systems did on one test set, as numbers: their scores, gains and labels."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_scalar

from simstudy.metrics import Metric, get_metric
from simstudy.outputs.answers import Answers, Samples, read_only
from simstudy.running.fingerprints import fingerprint
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_text, nearest


@dataclass(frozen=True, eq=False, repr=False)
class OutputsBase(ReprMixin):
    """What K systems did on one test set of n items.

    Attributes
    ----------
    statistics
        Array (K systems, n items, S statistics), read-only. Integers stay integers.
    metric
        Names the S statistics and scores their sums.
    systems
        One row a system: ``name``, ``family`` (base model; the system's own name where not given), ``group``,
        ``train_size``, ``replicate``, ``source`` (natural, resampled or synthetic), and whatever a study adds.
    items
        One row an item: ``id``, and where known ``domain``, ``cluster`` and others.
    task, test_set
        Names that appear in every table.
    answers
        Array (K, n) of whole numbers that stand for what the systems answered: where two systems gave an item the
        same answer they have the same number there. None where only scores are known.
    samples
        Array (K, n, 2): the number of samples that an item's score is the mean of, and the variance of one of them.
        None where each item is one answer.
    """

    statistics: NDArray[Any]
    metric: Metric
    systems: pd.DataFrame
    items: pd.DataFrame
    task: str = ""
    test_set: str = ""
    answers: Answers | None = None
    samples: Samples | None = None

    def __post_init__(self) -> None:
        # Tables of one's own: a cell changed in a part must not change the whole.
        object.__setattr__(self, "systems", self.systems.copy())
        object.__setattr__(self, "items", self.items.copy())

    @property
    def n_systems(self) -> int:
        """K."""
        return int(self.statistics.shape[0])

    @property
    def n_items(self) -> int:
        """N."""
        return int(self.statistics.shape[1])

    @property
    def natural_unit(self) -> str:
        """What is drawn independently: "cluster" where items have that column (documents, users), else "item"."""
        return "cluster" if "cluster" in self.items and self.items["cluster"].notna().any() else "item"

    @property
    def names(self) -> list[str]:
        """The K system names."""
        return [str(name) for name in self.systems["name"]]

    def scores(self) -> NDArray[np.float64]:
        """Each system's score on the whole test set, shape (K,), on the metric's scale."""
        return self.metric.test_set_scores(self.statistics)

    def with_metric(self, metric: str | Metric) -> Self:
        """The same statistics under another metric of them: precision, recall and F1 of one array.

        Raises
        ------
        ValueError
            Where the metric has other statistics, or rules that these break.

        Examples
        --------
        >>> from simstudy import Outputs
        >>> outputs = Outputs.from_statistics([[[3, 4, 6]]], "f1")
        >>> outputs.with_metric("precision").scores().tolist(), outputs.with_metric("recall").scores().tolist()
        ([75.0], [50.0])
        """
        metric = get_metric(metric).with_statistics(self.metric.statistics)
        if metric.statistics != self.metric.statistics:
            own, other = (", ".join(m.statistics) for m in (self.metric, metric))
            raise InputError("metric", f"must use the statistics ({own}), but '{metric.name}' uses ({other})")
        metric.check(self.statistics, self.names, self.items["id"].tolist())
        return replace(self, metric=metric)

    def gains(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        """By how much the first system of each pair is better than the second, on the metric's scale; 0 for a tie.

        Scores tie where they differ by no more than rounding (`simstudy.metrics.Metric.tie_tolerance`).

        Parameters
        ----------
        first, second
            Positions of systems, of shapes that broadcast to the result's.
        """
        scores = self.metric.test_set_scores(self.statistics)
        noise = self.metric.tie_tolerance(self.statistics)
        gain = (scores[first] - scores[second]) * self.metric.sign
        return np.where(np.abs(gain) > np.maximum(noise[first], noise[second]), gain, 0.0)

    def fingerprint(self) -> str:
        """A hash of everything in here, the same in every process."""
        # Tables by their values: how pandas holds a column in memory depends on how it came about.
        tables = [
            [str(name), *(_value_of(cell) for cell in table[name])]
            for table in (self.systems, self.items)
            for name in table.columns
        ]
        parts = [self.statistics, self.metric.definition, self.task, self.test_set, json.dumps(tables), self.answers]
        # Without samples it is what it was before there were any.
        return fingerprint(parts if self.samples is None else [*parts, self.samples])

    def _at(self, where: Any, **tables: pd.DataFrame) -> Self:
        """What is at these places of arrays (K systems, n items), with the tables of what is there."""
        answers, samples = (None if of is None else of[where] for of in (self.answers, self.samples))
        return self._with(self.statistics[where], answers, samples, **tables)

    def _with(
        self,
        statistics: NDArray[Any],
        answers: Answers | None,
        samples: Samples | None = None,
        **tables: pd.DataFrame,
    ) -> Self:
        known = {"statistics": statistics, "answers": answers, "samples": samples}
        arrays = {name: None if array is None else read_only(array) for name, array in known.items()}
        return replace(self, **arrays, **tables)  # type: ignore[arg-type]

    def labels(self, name: str, argument: str = "") -> pd.Series[str]:
        """A column of the item table as text, in which every item has a value; ValueError where one has none.

        Where users name the column by an `argument`, they are told so of a column that is not there.
        """
        check_text("name", name, "the name of a column of the items")
        if name not in self.items:
            columns = list(map(str, self.items.columns))
            known = f"they have {', '.join(columns)}{nearest(name, columns)}"
            if argument:
                raise InputError(argument, f"must be a column of the items{self._of()}", name, known)
            raise InputError(f"items{self._of()} have no column '{name}'; {known}")
        column = self.items[name].astype(str)
        blank = self.items[name].isna() | (column.str.strip() == "")
        if blank.any():
            raise InputError(f"item '{self.items['id'][blank].iloc[0]}'{self._of()} has no {name}")
        return column

    def _of(self) -> str:
        return f" of test set '{self.test_set}'" if self.test_set else ""


def _value_of(cell: Any) -> str:
    """What a cell holds, whatever type of number or of missing value it has."""
    if is_scalar(cell) and pd.isna(cell):
        return ""
    return repr(cell.item() if isinstance(cell, np.generic) else cell)
