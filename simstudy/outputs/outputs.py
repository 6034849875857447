"""Outputs: what K systems did on one test set of n items, reduced to numbers."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from simstudy.metrics import Metric, get_metric
from simstudy.metrics.arrays import not_of_sums
from simstudy.metrics.labels import PER_CLASS, PerClass
from simstudy.metrics.registry import directed
from simstudy.metrics.scaling import check_range
from simstudy.outputs import frames
from simstudy.outputs.frames import Table
from simstudy.outputs.statistics import (
    Answers,
    Samples,
    answer_statistics,
    answers_array,
    check_sums,
    label_texts,
    read_only,
    samples_array,
    score_values,
    statistics_array,
)
from simstudy.running.fingerprints import fingerprint
from simstudy.text.numerals import counted
from simstudy.text.reprs import ReprMixin, listed
from simstudy.validation import (
    InputError,
    check_path,
    check_text,
    check_texts,
    check_unique,
    check_whole,
    nearest,
)

_ARRAYS = ("statistics", "answers", "samples")


@dataclass(frozen=True, eq=False, repr=False)
class Outputs(ReprMixin):
    """What K systems did on one test set of n items, as numbers. Make one with `from_…`.

    Attributes
    ----------
    statistics
        Array (K systems, n items, S statistics), read-only. Integers stay integers.
    metric
        Names the S statistics and scores their sums.
    systems
        One row a system: ``name``, ``family`` (base model; the system's own name by default), ``group``,
        ``train_size``, ``replicate``, ``source`` (natural, resampled or synthetic), and whatever a study adds.
    items
        One row an item: ``id``, and where known ``domain``, ``cluster``, ``factor`` (a prompt or rater that the items
        are crossed with) and others.
    task, test_set
        Names that appear in every table.
    answers
        Array (K, n) of whole numbers, equal where two systems gave an item the same answer. None if only scores are
        known.
    samples
        Array (K, n, 2): the number of samples that an item's score is the mean of, and the variance of one of them.
        None if each item is one answer.

    Examples
    --------
    >>> import pandas as pd
    >>> outputs = Outputs.from_scores(pd.DataFrame({"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}), "accuracy")
    >>> outputs.scores().tolist(), outputs.head(2).scores().tolist()
    ([50.0, 75.0], [50.0, 100.0])
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
        for name in _ARRAYS:
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(array))
        for name in ("systems", "items"):
            # A copy: a cell that is changed in a part must not change the whole.
            object.__setattr__(self, name, getattr(self, name).copy())

    # Made from statistics, scores, labels and texts

    @classmethod
    def from_statistics(
        cls,
        statistics: ArrayLike,
        metric: str | Metric,
        systems: Sequence[str] | pd.DataFrame | None = None,
        items: Sequence[Hashable] | pd.DataFrame | None = None,
        *,
        answers: ArrayLike | None = None,
        samples: ArrayLike | None = None,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from an array of per-item statistics.

        Parameters
        ----------
        statistics
            (K systems, n items, S statistics of the metric), finite numbers.
        metric
            A name in `simstudy.metrics.METRICS` or a Metric.
        systems
            K names, or a table with a column ``name``, in the order of the array; by default system-1 … system-K.
        items
            n identifiers, or a table with a column ``id``, in the order of the array; by default 0 … n-1.
        answers
            (K, n) whole numbers, equal where two systems gave an item the same answer; `near_duplicates` reads them.
        samples
            (K, n, 2): the number of samples that an item's score is the mean of, and the unbiased variance of one of
            them (NaN for one sample), in the unit of the statistics; `noises` reads them.

        Examples
        --------
        >>> outputs = Outputs.from_statistics([[[1, 1], [0, 1]], [[1, 1], [1, 1]]], "accuracy", ["a", "b"])
        >>> outputs.scores().tolist()
        [50.0, 100.0]
        """
        metric = get_metric(metric)
        check_text("task", task)
        check_text("test_set", test_set)
        array = statistics_array(statistics, metric)
        n_systems, n_items = array.shape[:2]
        if systems is None:
            systems = [f"system-{k + 1}" for k in range(n_systems)]
        system_table = frames.keyed_table(systems, n_systems, "systems", "name")
        item_table = frames.keyed_table(range(n_items) if items is None else items, n_items, "items", "id")
        names, ids = system_table["name"].tolist(), item_table["id"].array
        check_sums(array, metric, names, ids)
        metric.check(array, names, ids)
        metric.check_shared(array, names, ids)
        return cls(
            array,
            metric,
            frames.complete_systems(system_table),
            item_table,
            task,
            test_set,
            None if answers is None else answers_array(answers, array.shape[:2]),
            None if samples is None else samples_array(samples, array.shape[:2]),
        )

    @classmethod
    def from_scores(
        cls,
        scores: Table,
        metric: str | Metric = "mean",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        lower_is_better: bool | None = None,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from one score per item: a table in memory, of pandas, polars or pyarrow.

        Parameters
        ----------
        scores
            Numbers: a row for each item and a column for each system; the index or a column ``item`` names the items.
            Or a dictionary: system -> list of scores, or Series whose labels are the items. `simstudy.load` reads
            tables with a row for each system and item, and columns that describe the items.
        metric
            "mean" (the scale of the scores), "accuracy" (0/1 scores, in percent), "median", or a metric of your own of
            the items' scores (``ss.metric(…, resample=True)``).
        systems
            A table with a column ``name``, a row for each column of the scores, in any order.
        items
            A table with a column ``id``, a row for each row of the scores, in any order. If the scores have no index
            of their own (0, 1, 2, …), and the table has other ids, its rows are those of the scores in their order.
        lower_is_better
            True for errors (word error rates, losses): the mean is then the metric "mean (lower is better)". With None,
            a warning says if the columns are called like errors.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [1, 0, 1, 1], "b": [1, 0, 0, 1]})
        >>> Outputs.from_scores(frame, "accuracy").scores().tolist()
        [75.0, 50.0]
        >>> Outputs.from_scores(frame, lower_is_better=True).best_first().names
        ['b', 'a']
        """
        metric = directed(get_metric(metric), lower_is_better)
        is_array = not metric.of_sums and len(metric.statistics) == 1
        if metric.item_range is None and not is_array:
            raise InputError("metric", "must be 'mean' or 'accuracy' for one score per item", metric.name)
        frame = frames.wide_scores(scores)
        tables = frames.axis_tables("scores", frame, systems, items)
        values = score_values(frame)
        if lower_is_better is None and metric.higher_is_better:
            frames.note_errors(frame.columns.tolist())
        statistics = values.T[..., None] if is_array else np.stack([values.T, np.ones_like(values.T)], axis=-1)
        return cls.from_statistics(statistics, metric, *tables, task=task, test_set=test_set)

    @classmethod
    def from_labels(
        cls,
        gold: Sequence[Hashable] | pd.Series[Any],
        predicted: pd.DataFrame,
        metric: str | Metric = "macro_f1",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from labels: a gold label for each item, and a column of predicted ones for each system.

        Parameters
        ----------
        gold
            n labels, in the order of the frame's rows: text, numbers or truth values.
        predicted
            (n items, K systems). The index names the items, the columns name the systems.
        metric
            "accuracy", "macro_f1", "balanced_accuracy" or "mcc". The classes are all labels that occur.
        systems, items
            As in `from_scores`.

        Examples
        --------
        >>> import pandas as pd
        >>> predicted = pd.DataFrame({"a": ["cat", "dog", "cat", "cow"], "b": ["cat", "dog", "dog", "dog"]})
        >>> outputs = Outputs.from_labels(["cat", "dog", "dog", "cow"], predicted)
        >>> outputs.scores().round(2).tolist()   # b: F1 of 100, 80 and 0
        [77.78, 60.0]
        """
        metric = get_metric(metric)
        if not (isinstance(metric, PerClass) or metric.name == "accuracy"):
            raise InputError("metric", f"must be one of accuracy, {', '.join(PER_CLASS)} for labels", metric.name)
        tables = frames.axis_tables("predicted", predicted, systems, items)
        labels = {name: label_texts(f"predicted of system '{name}'", labels) for name, labels in predicted.items()}
        counts = answer_statistics("gold", label_texts("gold", gold), labels, metric)
        return cls.from_statistics(*counts[:2], *tables, answers=counts[2], task=task, test_set=test_set)

    @classmethod
    def from_texts(
        cls,
        references: Sequence[str | Sequence[str]],
        texts: pd.DataFrame,
        metric: str | Metric = "bleu",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        tokenize: str | None = None,
        lowercase: bool = False,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from texts: one or several references for each item, and a column of texts for each system.

        Parameters
        ----------
        references
            n texts, or lists of texts, in the order of the frame's rows.
        texts
            (n items, K systems). The index names the items, the columns name the systems.
        metric
            "bleu", "chrf", "chrf++", "ter", "wer", "cer", "rouge1" and other metrics of texts.
        systems, items
            As in `from_scores`.
        tokenize, lowercase
            How BLEU and chrF count, as in sacrebleu (see `simstudy.Texts`).

        Examples
        --------
        >>> import pandas as pd
        >>> texts = pd.DataFrame({"a": ["the cat sat", "hello word"], "b": ["a cat sat", "hello world"]})
        >>> Outputs.from_texts(["the cat sat", "hello world"], texts, "wer").scores().tolist()
        [20.0, 20.0]
        """
        metric = get_metric(metric)
        if not metric.of_texts:
            raise InputError("metric", "must be a metric of texts, such as bleu, chrf or wer", metric.name)
        tables = frames.axis_tables("texts", texts, systems, items)
        for name, column in texts.items():
            if not all(isinstance(text, str) for text in column):
                raise InputError("texts", f"must be text for each item, unlike a value of system '{name}'")
        by_system = {name: column.tolist() for name, column in texts.items()}
        options = {"tokenize": tokenize, "lowercase": lowercase}
        counts = answer_statistics("references", references, by_system, metric, **options)
        return cls.from_statistics(*counts[:2], *tables, answers=counts[2], task=task, test_set=test_set)

    # Numbers and names

    @property
    def n_systems(self) -> int:
        """Number of systems, K."""
        return int(self.statistics.shape[0])

    @property
    def n_items(self) -> int:
        """Number of items, n."""
        return int(self.statistics.shape[1])

    @property
    def natural_unit(self) -> str:
        """The independent unit: "cluster" if items have that column (documents, users), else "item"."""
        return "cluster" if "cluster" in self.items and self.items["cluster"].notna().any() else "item"

    @property
    def names(self) -> list[str]:
        """The K system names."""
        return [str(name) for name in self.systems["name"]]

    def scores(self) -> NDArray[np.float64]:
        """Each system's score on the whole test set, shape (K,), on the metric's scale."""
        return self.metric.test_set_scores(self.statistics)

    def gains(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        """By how much the first system of each pair is better than the second, on the metric's scale; 0 for a tie.

        `first` and `second` are positions of systems, of shapes that broadcast to the result's. Scores tie if they
        differ by no more than rounding (`simstudy.metrics.Metric.tie_tolerance`).
        """
        scores = self.scores()
        tolerance = self.metric.tie_tolerance(self.statistics)
        gain = (scores[first] - scores[second]) * self.metric.sign
        return np.where(np.abs(gain) > np.maximum(tolerance[first], tolerance[second]), gain, 0.0)

    def with_metric(self, metric: str | Metric) -> Outputs:
        """The same statistics under another metric of them: precision, recall and F1 of one array.

        Examples
        --------
        >>> outputs = Outputs.from_statistics([[[3, 4, 6]]], "f1")
        >>> outputs.with_metric("precision").scores().tolist(), outputs.with_metric("recall").scores().tolist()
        ([75.0], [50.0])
        """
        metric = get_metric(metric).with_statistics(self.metric.statistics)
        if metric.statistics != self.metric.statistics:
            ours, theirs = (", ".join(m.statistics) for m in (self.metric, metric))
            raise InputError("metric", f"must use the statistics ({ours}), but '{metric.name}' uses ({theirs})")
        metric.check(self.statistics, self.names, self.items["id"].tolist())
        return replace(self, metric=metric)

    def labels(self, name: str, argument: str = "column") -> pd.Series[str]:
        """A column of the item table as text, in which every item has a value; InputError if one has none.

        The error of a column that is not there names the `argument` by which users name the column.
        """
        check_text(argument, name, "the name of a column of the items")
        if name not in self.items:
            columns = list(map(str, self.items.columns))
            remedy = f"they have {', '.join(columns)}{nearest(name, columns)}"
            raise InputError(argument, f"must be a column of the items{self._place()}", name, remedy)
        column = self.items[name].astype(str)
        blank = self.items[name].isna() | (column.str.strip() == "")
        if blank.any():
            raise InputError(f"item '{self.items['id'][blank].iloc[0]}'{self._place()} has no {name}")
        return column

    def fingerprint(self) -> str:
        """A hash of the content, the same in every process."""
        # Tables by their values: how pandas keeps a column in memory depends on how it came about.
        tables = [
            [str(name), *(_value(cell) for cell in table[name])]
            for table in (self.systems, self.items)
            for name in table.columns
        ]
        parts = [self.statistics, self.metric.definition, self.task, self.test_set, json.dumps(tables)]
        return fingerprint([*parts, self.answers, self.samples])

    # Parts, and collections together

    def head(self, n: int) -> Outputs:
        """The test set's initial segment of n items; InputError if n is not between 1 and the number of items."""
        check_whole("n", n, 1)
        if n > self.n_items:
            raise InputError("n", f"must be between 1 and {self.n_items}, the number of items{self._place()}", n)
        return self.take(np.arange(n))

    def take(self, items: ArrayLike) -> Outputs:
        """The items at these positions, in this order. A position may be repeated (a resampled test set).

        Repeated items get ids of their own (``id#2``), since an item table names each row once.
        """
        positions = np.asarray(items)
        if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
            raise InputError("items", "must be a non-empty list of integer positions")
        low, high = positions.min(), positions.max()
        if low < 0 or high >= self.n_items:
            raise InputError("items", f"must lie between 0 and {self.n_items - 1}, not {low} … {high}")
        table = self.items.iloc[positions].reset_index(drop=True)
        # More than one round if items are repeated that a test set repeats already.
        while table["id"].duplicated().any():
            occurrence = table.groupby("id").cumcount()
            table["id"] = table["id"].where(occurrence == 0, table["id"] + "#" + (occurrence + 1).astype(str))
        return replace(self, **self._cut((slice(None), positions)), items=table)

    def domain(self, name: str) -> Outputs:
        """The items of one domain, as a test set named after it; InputError if no item has this domain."""
        check_text("name", name)
        domains = self.labels("domain")
        positions = np.flatnonzero(domains == name)
        if positions.size == 0:
            names = sorted(domains.unique())
            rule = f"must be one of {', '.join(names)}, not '{name}'{nearest(name, names)}"
            raise InputError(f"domain{self._place()}", rule)
        return replace(self.take(positions), test_set=name)

    def by_domain(self) -> dict[str, Outputs]:
        """A test set for each domain, in order of first appearance."""
        return {name: self.domain(name) for name in self.labels("domain").unique()}

    def sum_by(self, column: str) -> Outputs:
        """Sum the statistics of items that share a value (document, user): each cluster becomes an item.

        Columns of the item table that are constant within every cluster are kept. Answers and samples are not.
        """
        if not self.metric.of_sums:
            raise InputError(not_of_sums(self.metric))
        table, codes = frames.grouped_items(self.items, self.labels(column))
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
        kind = np.int64 if self.statistics.dtype.kind in "iu" else np.float64
        sums = np.add.reduceat(self.statistics[:, order].astype(kind), starts, axis=1)
        return replace(self, statistics=sums, answers=None, samples=None, items=table)

    def select(self, names: Sequence[str]) -> Outputs:
        """These systems, in this order; InputError for a name that is not there, or an empty list."""
        check_texts("names", names, "names")
        names = list(names)
        index = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in names if name not in index]
        if len(set(names)) < len(names):
            raise InputError("names", f"must be given once each, not {', '.join(names)}")
        if unknown or not names:
            rule = f"must be of systems{self._place()}: {', '.join(unknown) or 'the list is empty'}"
            raise InputError("names", rule)
        rows = [index[name] for name in names]
        return replace(self, **self._cut(rows), systems=self.systems.iloc[rows].reset_index(drop=True))

    def best_first(self) -> Outputs:
        """The systems by score, best first; those that tie by name."""
        scores = self.scores() * self.metric.sign
        order = sorted(range(self.n_systems), key=lambda k: -scores[k])
        falls = self.gains(np.array(order[:-1], dtype=np.intp), np.array(order[1:], dtype=np.intp)) > 0
        place = dict(zip(order, accumulate(falls.tolist(), initial=0), strict=True))
        names = self.names
        order.sort(key=lambda k: (place[k], names[k]))
        return self.select([names[k] for k in order])

    def join_systems(self, other: Outputs) -> Outputs:
        """Both collections of systems on the one test set that they share; items are matched by their ids.

        InputError if the metrics or the items differ, or what is known of an item does (a column, the gold count).
        """
        self._check_same_metric(other)
        if ids := set(self.items["id"]) ^ set(other.items["id"]):
            sizes = f"'{self.test_set}' has {self.n_items} items, '{other.test_set}' has {other.n_items}"
            raise InputError(f"the test sets differ: {sizes}, and '{min(ids)}' is in one of them only")
        other = other.take(pd.Index(other.items["id"]).get_indexer(pd.Index(self.items["id"])))
        table = pd.concat([self.systems, other.systems], ignore_index=True)
        check_unique(table["name"], "systems")
        items = frames.merged_columns(self.items, other.items, "item", "id")
        arrays = self._joined(other, 0)
        self.metric.check_shared(arrays["statistics"], table["name"].tolist(), items["id"].tolist())
        return replace(self, **arrays, systems=table, items=items)

    def join_items(self, other: Outputs) -> Outputs:
        """Both test sets end to end, for the systems that they share, which may be in another order."""
        self._check_same_metric(other)
        if names := set(self.names) ^ set(other.names):
            raise InputError(f"test set '{other.test_set}' has other systems: '{min(names)}' is on one side only")
        other = other.select(self.names)
        table = pd.concat([self.items, other.items], ignore_index=True)
        check_unique(table["id"], "items")
        systems = frames.merged_columns(self.systems, other.systems, "system", "name")
        return replace(self, **self._joined(other, 1), systems=systems, items=table)

    # Files

    def save(self, path: str | Path) -> None:
        """Write everything to one Parquet file, which appears whole or not at all.

        InputError if a column of a table has other cells than numbers, text, true and false, or dates.
        """
        from simstudy.outputs.saved import write  # only these files need pyarrow

        check_path("path", path)
        write(self, path)

    @classmethod
    def load(cls, path: str | Path, metric: Metric | None = None) -> Outputs:
        """Read what `save` wrote; InputError if the file is damaged, or none of ours.

        A metric that is not in the registry must be given, the same as was saved.
        """
        from simstudy.outputs.saved import read  # only these files need pyarrow

        check_path("path", path)
        if metric is not None and not isinstance(metric, Metric):
            raise InputError("metric", "must be a Metric, or None", metric)
        return read(path, metric)

    # Inside

    def _cut(self, where: Any) -> dict[str, Any]:
        """The arrays at these places (systems, items)."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return {name: None if array is None else array[where] for name, array in arrays.items()}

    def _joined(self, other: Outputs, axis: int) -> dict[str, Any]:
        """The arrays of two collections together; None if one of them lacks an array."""
        arrays = {name: [getattr(self, name), getattr(other, name)] for name in _ARRAYS}
        return {
            name: None if any(part is None for part in parts) else np.concatenate(parts, axis)
            for name, parts in arrays.items()
        }

    def _place(self) -> str:
        return f" of test set '{self.test_set}'" if self.test_set else ""

    def _check_same_metric(self, other: Outputs) -> None:
        check_outputs("other", other)
        if self.metric != other.metric:
            ours, theirs = self.metric, other.metric
            names = (ours.definition, theirs.definition) if ours.name == theirs.name else (ours.name, theirs.name)
            raise InputError(f"the metrics differ: '{names[0]}' and '{names[1]}'")

    def _summary(self) -> tuple[str, str]:
        ranked = self.best_first()
        best = [f"{name} {score:.4g}" for name, score in zip(ranked.names, ranked.scores(), strict=True)]
        place = self._place() + (f", task '{self.task}'" if self.task else "")
        sizes = f"{counted(self.n_systems, 'system')} on {counted(self.n_items, 'item')}"
        return f"Outputs: {sizes}{place}, metric {self.metric.name}", f"best first: {listed(best)}"

    def _table(self) -> pd.DataFrame:
        ranked = self.best_first()
        return ranked.systems.assign(**{self.metric.name: ranked.scores()}).dropna(axis="columns", how="all")


def _value(cell: Any) -> str:
    """The value of a cell, whatever type of number or of missing value it has."""
    if pd.isna(cell):
        return ""
    return repr(cell.item() if isinstance(cell, np.generic) else cell)


def check_outputs(argument: str, value: object) -> None:
    """Raise an InputError if the value is no Outputs."""
    if not isinstance(value, Outputs):
        remedy = "its .outputs is" if isinstance(getattr(value, "outputs", None), Outputs) else ""
        rule = f"must be Outputs (see Outputs.from_scores), not {type(value).__name__}"
        raise InputError(argument, rule, remedy=remedy)


def require_outputs(outputs: object, n_systems: int = 1, argument: str = "outputs") -> None:
    """Raise an InputError if the value is no Outputs, has too few systems, or sizes that cannot be compared."""
    check_outputs(argument, outputs)
    assert isinstance(outputs, Outputs)
    if outputs.n_systems < n_systems:
        raise InputError(argument, f"must have at least {n_systems} systems to compare", outputs.n_systems)
    check_range(outputs.statistics, outputs.names)
    outputs.metric.check_scores(outputs.statistics, outputs.names)
