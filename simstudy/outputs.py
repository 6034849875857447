"""Outputs: what K systems did on one test set of n items, reduced to numbers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_scalar

from simstudy import parquet
from simstudy.choices import brief, check_list, check_path, check_text, check_whole
from simstudy.columns import decode, encode
from simstudy.fingerprints import fingerprint
from simstudy.inputs import (
    check_statistics,
    check_unique,
    complete_systems,
    keyed_table,
    matched_table,
    merged_columns,
    response_statistics,
    score_values,
    statistics_array,
)
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed, sounds_like_error
from simstudy.metrics.scaling import check_range


@dataclass(frozen=True, eq=False)
class Outputs:
    """What K systems did on one test set of n items. Make one with `from_…` or `load`.

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
    """

    statistics: NDArray[Any]
    metric: Metric
    systems: pd.DataFrame
    items: pd.DataFrame
    task: str = ""
    test_set: str = ""

    def __post_init__(self) -> None:
        # Tables of one's own: a cell changed in a part must not change the whole.
        object.__setattr__(self, "systems", self.systems.copy())
        object.__setattr__(self, "items", self.items.copy())

    @classmethod
    def from_statistics(
        cls,
        statistics: ArrayLike,
        metric: str | Metric,
        systems: Sequence[str] | pd.DataFrame | None = None,
        items: Sequence[Hashable] | pd.DataFrame | None = None,
        *,
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

        Raises
        ------
        ValueError
            For a wrong shape, an empty axis, NaN or infinite statistics, names or ids that are missing or
            occur twice, and statistics that break the metric's rules.

        Examples
        --------
        >>> outputs = Outputs.from_statistics([[[1, 1], [0, 1]], [[1, 1], [1, 1]]], "accuracy", ["a", "b"])
        >>> outputs.scores().tolist()
        [50.0, 100.0]
        """
        metric = get_metric(metric)
        check_text("task", task)
        check_text("test_set", test_set)
        array = statistics_array(statistics)
        check_statistics(array, metric)
        system_table = keyed_table(
            systems, array.shape[0], "systems", "name", [f"system-{k + 1}" for k in range(array.shape[0])]
        )
        item_table = keyed_table(items, array.shape[1], "items", "id", [str(i) for i in range(array.shape[1])])
        metric.check(array)
        metric.check_shared(array, system_table["name"].tolist(), item_table["id"].tolist())
        array.setflags(write=False)
        return cls(array, metric, complete_systems(system_table), item_table, task, test_set)

    @classmethod
    def from_scores(
        cls,
        scores: pd.DataFrame,
        metric: str | Metric = "mean",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        lower_is_better: bool | None = None,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from one score per item: a frame with a row for each item and a column for each system.

        Parameters
        ----------
        scores
            (n items, K systems), numbers. The index names the items, the columns name the systems.
        metric
            "mean" (the scale of the scores) or "accuracy" (0/1 scores, in percent).
        systems
            A table with a column ``name``, a row for each column of the scores, in any order.
        items
            A table with a column ``id``, a row for each row of the scores, in any order. Where the scores have no
            index of their own (0, 1, 2, …), and other ids stand in the table, its rows are those of the scores in
            their order.
        lower_is_better
            True for errors (word error rates, losses): the mean is then the metric "mean (lower is better)". With None
            the columns' own name (``scores.columns.name``) is looked at, and a warning says so where it sounds like
            an error.

        Raises
        ------
        ValueError
            For a metric of other statistics than one score per item, lower_is_better with another metric than
            "mean", tables of other systems or items than the scores have, and as `from_statistics`.

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
        if metric.item_range is None:
            raise ValueError(f"metric must be 'mean' or 'accuracy' for one score per item, not '{metric.name}'")
        values = score_values(scores)
        names = [str(name) for name in scores.columns]
        # All columns: one system of many may be called after its loss.
        called = [str(scores.columns.name), *(names if all(map(sounds_like_error, names)) else ())]
        errors = [name for name in called if sounds_like_error(name)]
        if lower_is_better is None and metric.higher_is_better and errors:
            warnings.warn(
                f"the scores are called '{errors[0]}', but higher is taken to be better; say "
                "lower_is_better=True or False",
                stacklevel=2,
            )
        statistics = np.stack([values.T, np.ones_like(values.T)], axis=-1)
        ids = [str(item) for item in scores.index]
        return cls.from_statistics(
            statistics,
            metric,
            names if systems is None else matched_table(systems, names, "systems", "name", scores.columns),
            ids if items is None else matched_table(items, ids, "items", "id", scores.index),
            task=task,
            test_set=test_set,
        )

    @classmethod
    def from_responses(
        cls,
        gold: Iterable[Hashable],
        responses: Mapping[str, Iterable[Hashable]],
        metric: str | Metric = "f1",
        *,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs of systems that find things (relations, names): each distinct response is an item.

        A randomization test that swaps single items of these Outputs is that of Yeh (2000, section 3.3), who
        shuffles the responses that only one of two systems gave: those found by both or by neither do not differ.

        Parameters
        ----------
        gold
            What should be found: text, numbers or tuples, each once.
        responses
            System's name -> what it found, each once.
        metric
            One of (correct, guessed, gold): "precision", "recall", "f1" …

        Returns
        -------
        outputs
            Items are the gold responses in their order, then the spurious ones as they appear (those of a set in the
            order of their texts); ids are their texts. Statistics (correct, guessed, gold) are (1, 1, 1) where found
            and gold, (0, 0, 1) where only gold, (0, 1, 0) where only found, else (0, 0, 0).

        Raises
        ------
        ValueError
            For a response that one list has twice or that is not hashable, two that read alike, no system or no
            response, and a metric of other statistics.

        Examples
        --------
        >>> outputs = Outputs.from_responses(["cat", "dog"], {"a": ["dog", "cow"], "b": ["cat", "dog", "cow", "elk"]})
        >>> outputs.items["id"].tolist(), outputs.with_metric("precision").scores().tolist()
        (['cat', 'dog', 'cow', 'elk'], [50.0, 50.0])
        """
        metric = get_metric(metric)
        if metric.statistics != ("correct", "guessed", "gold"):
            raise ValueError(f"metric must be of (correct, guessed, gold) for responses, unlike '{metric.name}'")
        statistics, texts = response_statistics(gold, responses)
        return cls.from_statistics(statistics, metric, list(responses), texts, task=task, test_set=test_set)

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
        kind = np.int64 if self.statistics.dtype.kind in "iu" else np.float64
        return self.metric.score(self.statistics.sum(axis=1, dtype=kind))

    def with_metric(self, metric: str | Metric) -> Outputs:
        """The same statistics under another metric of them: precision, recall and F1 of one array.

        Raises
        ------
        ValueError
            Where the metric has other statistics, or rules that these break.

        Examples
        --------
        >>> outputs = Outputs.from_statistics([[[3, 4, 6]]], "f1")
        >>> outputs.with_metric("precision").scores().tolist(), outputs.with_metric("recall").scores().tolist()
        ([75.0], [50.0])
        """
        metric = get_metric(metric)
        if metric.statistics != self.metric.statistics:
            own, other = (", ".join(m.statistics) for m in (self.metric, metric))
            raise ValueError(f"metric must be of the statistics ({own}), unlike '{metric.name}' of ({other})")
        metric.check(self.statistics)
        return replace(self, metric=metric)

    def head(self, n: int) -> Outputs:
        """The test set's initial segment of n items.

        Raises
        ------
        ValueError
            Where n is not between 1 and the number of items.
        """
        check_whole("n", n, 1)
        if n > self.n_items:
            raise ValueError(f"n must be between 1 and {self.n_items}, the number of items{self._of()}, not {n}")
        return self.take(np.arange(n))

    def take(self, items: ArrayLike) -> Outputs:
        """The items at these positions, in this order. A position may be repeated (a resampled test set).

        Repeated items get ids of their own (``id#2``), since an item table names each row once.
        """
        positions = np.asarray(items)
        if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
            raise ValueError("items must be a non-empty list of integer positions")
        if positions.min() < 0 or positions.max() >= self.n_items:
            raise ValueError(
                f"items must lie between 0 and {self.n_items - 1}, not {positions.min()} … {positions.max()}"
            )
        table = self.items.iloc[positions].reset_index(drop=True)
        # More than one round where repeated items are taken from a test set that repeats items already.
        while table["id"].duplicated().any():
            occurrence = table.groupby("id").cumcount()
            table["id"] = table["id"].where(occurrence == 0, table["id"] + "#" + (occurrence + 1).astype(str))
        return self._with(self.statistics[:, positions], items=table)

    def domain(self, name: str) -> Outputs:
        """The items of one domain, as a test set named after it.

        Raises
        ------
        ValueError
            Where items have no domain, or none has this one.
        """
        check_text("name", name)
        domains = self.labels("domain")
        positions = np.flatnonzero(domains == name)
        if positions.size == 0:
            known = ", ".join(sorted(domains.unique()))
            raise ValueError(f"domain '{name}'{self._of()} has no items; the domains are {known}")
        return replace(self.take(positions), test_set=name)

    def by_domain(self) -> dict[str, Outputs]:
        """A test set for each domain, in order of first appearance."""
        return {name: self.domain(name) for name in self.labels("domain").unique()}

    def sum_by(self, column: str) -> Outputs:
        """Sum the statistics of items that share a value (document, user): each cluster becomes an item.

        Columns of the item table that are constant within every cluster are kept.
        """
        codes, values = pd.factorize(self.labels(column))
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
        kind = np.int64 if self.statistics.dtype.kind in "iu" else np.float64
        sums = np.add.reduceat(self.statistics[:, order].astype(kind), starts, axis=1)
        grouped = self.items.groupby(codes)
        constant = [c for c in self.items.columns if c != "id" and (grouped[c].nunique(dropna=False) == 1).all()]
        table = pd.concat([pd.Series(values.astype(str), name="id"), grouped[constant].first()], axis=1)
        return self._with(sums, items=table)

    def select(self, names: Sequence[str]) -> Outputs:
        """These systems, in this order.

        Raises
        ------
        ValueError
            For a name that is not there, or an empty list.
        """
        names = _name_list(names)
        index = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in names if name not in index]
        if len(set(names)) < len(names):
            raise ValueError(f"names must be given once each, not {', '.join(names)}")
        if unknown or not names:
            raise ValueError(f"names must be of systems{self._of()}: {', '.join(unknown) or 'the list is empty'}")
        rows = [index[name] for name in names]
        return self._with(self.statistics[rows], systems=self.systems.iloc[rows].reset_index(drop=True))

    def best_first(self) -> Outputs:
        """The systems by score, best first; those that tie by name."""
        scores = self.scores() * (1 if self.metric.higher_is_better else -1)
        noise = self.tie_tolerance()
        order = sorted(range(self.n_systems), key=lambda k: -scores[k])
        place = dict.fromkeys(order, 0)
        for before, k in pairwise(order):
            place[k] = place[before] + int(scores[before] - scores[k] > max(noise[before], noise[k]))
        names = self.names
        order.sort(key=lambda k: (place[k], names[k]))
        return self.select([names[k] for k in order])

    def join_systems(self, other: Outputs) -> Outputs:
        """Both collections of systems on the one test set that they share; items meet by their ids.

        Raises
        ------
        ValueError
            Where the metrics or the items differ, or what is known of an item does (a column of theirs, the gold
            count), or a system name occurs in both.
        """
        self._same_metric(other)
        if set(self.items["id"]) != set(other.items["id"]):
            one_side = min(set(self.items["id"]) ^ set(other.items["id"]))
            raise ValueError(
                f"the test sets differ: '{self.test_set}' has {self.n_items} items, '{other.test_set}' has "
                f"{other.n_items}, and '{one_side}' is in one of them only"
            )
        place = pd.Series(range(self.n_items), index=other.items["id"])
        other = other.take(place.loc[self.items["id"]].to_numpy())
        table = pd.concat([self.systems, other.systems], ignore_index=True)
        check_unique(table["name"], "systems")
        items = merged_columns(self.items, other.items, "item", "id")
        statistics = np.concatenate([self.statistics, other.statistics])
        self.metric.check_shared(statistics, table["name"].tolist(), items["id"].tolist())
        return self._with(statistics, systems=table, items=items)

    def join_items(self, other: Outputs) -> Outputs:
        """Both test sets end to end, for the systems that they share.

        Raises
        ------
        ValueError
            Where the metrics or the systems differ, or what is known of a system does, or an item id occurs in both.
        """
        self._same_metric(other)
        other = other.aligned(self.names)
        table = pd.concat([self.items, other.items], ignore_index=True)
        check_unique(table["id"], "items")
        systems = merged_columns(self.systems, other.systems, "system", "name")
        statistics = np.concatenate([self.statistics, other.statistics], axis=1)
        return self._with(statistics, systems=systems, items=table)

    def aligned(self, names: Sequence[str]) -> Outputs:
        """The same systems in the order of `names`, which must name exactly these systems."""
        names = _name_list(names)
        if sorted(names) != sorted(self.names):
            one_side = min(set(names) ^ set(self.names), default="a name that is given twice")
            raise ValueError(f"test set '{self.test_set}' has other systems: '{one_side}' is on one side only")
        return self if names == self.names else self.select(names)

    def save(self, path: str | Path) -> None:
        """Write everything to one Parquet file: a row for each item, a column for each system and statistic.

        The file appears whole or not at all. The two tables come back with the types that their columns have.

        Raises
        ------
        ValueError
            Where a column of a table is of a type that a file cannot keep (lists, intervals …).
        """
        check_path("path", path)
        tables: dict[str, list[dict[str, Any]]] = {"systems": [], "items": []}
        columns: dict[str, pa.Array] = {}
        # Systems and columns by number: their names, which are free, are in the header.
        for kind, table in (("systems", self.systems), ("items", self.items)):
            for c, name in enumerate(table.columns):
                if type(name) not in (str, int):
                    raise ValueError(f"column {name!r} of the {kind} cannot be saved: its name is not text")
                described, arrays = encode(table.iloc[:, c].reset_index(drop=True), str(name))
                tables[kind].append({"name": name, "arrays": len(arrays), **described})
                columns |= {f"{kind}:{c}:{a}": array for a, array in enumerate(arrays)}
        statistics = self.statistics.astype(np.float32) if self.statistics.dtype == np.float16 else self.statistics
        for k in range(self.n_systems):
            for s in range(statistics.shape[2]):
                columns[f"{k}:{s}"] = pa.array(statistics[k, :, s])
        header = {
            "metric": self.metric.name,
            "metric_as": repr(self.metric),
            "task": self.task,
            "test_set": self.test_set,
            "shape": self.statistics.shape,
            "dtype": str(self.statistics.dtype),
            **tables,
            "fingerprint": self.fingerprint(),
        }
        parquet.write(path, header, columns)

    @classmethod
    def load(cls, path: str | Path, metric: Metric | None = None) -> Outputs:
        """Read what `save` wrote. A metric that is not in the registry must be handed in, the same as was saved.

        Raises
        ------
        ValueError
            Where the file is not one of ours or is damaged, and where the metric is another than was saved.
        FileNotFoundError
            Where there is none.
        """
        check_path("path", path)
        if metric is not None and not isinstance(metric, Metric):
            raise ValueError(f"metric must be a Metric, or None, not {brief(metric)}")
        header, table = parquet.read(path)
        try:
            found = metric or get_metric(header["metric"])
        except ValueError:
            raise ValueError(
                f"{path} has outputs of a metric of one's own, '{header['metric']}': load(path, metric) takes it"
            ) from None
        if repr(found) != header["metric_as"]:
            raise ValueError(f"{path} has outputs of the metric {header['metric_as']}, unlike {found}")
        try:
            outputs = cls._read(header, table, found)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, pa.ArrowException) as error:
            raise ValueError(f"{path} is damaged: {' '.join(str(error).split())}") from None
        if outputs.fingerprint() != header["fingerprint"]:
            raise ValueError(f"{path} is damaged: its content is not what was written")
        return outputs

    @classmethod
    def _read(cls, header: Mapping[str, Any], table: pa.Table, metric: Metric) -> Outputs:
        n_systems, n_items, width = header["shape"]
        statistics = np.empty((n_systems, n_items, width), dtype=header["dtype"])
        for k in range(n_systems):
            for s in range(width):
                statistics[k, :, s] = table[f"{k}:{s}"].slice(0, n_items).to_numpy()
        statistics.setflags(write=False)
        tables = []
        for kind in ("systems", "items"):
            cells = [
                decode(one, [table[f"{kind}:{c}:{a}"].combine_chunks() for a in range(one["arrays"])])
                for c, one in enumerate(header[kind])
            ]
            tables.append(pd.concat(cells, axis=1).set_axis([one["name"] for one in header[kind]], axis=1))
        systems, items = tables
        return cls(statistics, metric, systems, items, header["task"], header["test_set"])

    def tie_tolerance(self) -> NDArray[np.float64]:
        """How much of each system's score may be rounding, shape (K,); see `simstudy.metrics.Metric.tie_tolerance`."""
        return self.metric.tie_tolerance(self.statistics)

    def fingerprint(self) -> str:
        """A hash of everything in here, the same in every process."""
        # Tables by their values: how pandas holds a column in memory depends on how it came about.
        tables = [
            [str(name), *(_value_of(cell) for cell in table[name])]
            for table in (self.systems, self.items)
            for name in table.columns
        ]
        return fingerprint([self.statistics, repr(self.metric), self.task, self.test_set, json.dumps(tables)])

    def _with(
        self, statistics: NDArray[Any], *, systems: pd.DataFrame | None = None, items: pd.DataFrame | None = None
    ) -> Outputs:
        array = np.ascontiguousarray(statistics)
        array.setflags(write=False)
        return replace(
            self,
            statistics=array,
            systems=self.systems if systems is None else systems,
            items=self.items if items is None else items,
        )

    def labels(self, name: str) -> pd.Series[str]:
        """A column of the item table as text, in which every item has a value; ValueError where one has none."""
        check_text("name", name, "the name of a column of the items")
        if name not in self.items:
            raise ValueError(f"items{self._of()} have no column '{name}'; they have {', '.join(self.items.columns)}")
        column = self.items[name].astype(str)
        blank = self.items[name].isna() | (column.str.strip() == "")
        if blank.any():
            raise ValueError(f"item '{self.items['id'][blank].iloc[0]}'{self._of()} has no {name}")
        return column

    def _of(self) -> str:
        return f" of test set '{self.test_set}'" if self.test_set else ""

    def _same_metric(self, other: Outputs) -> None:
        check_outputs("other", other)
        if self.metric != other.metric:
            own, others = (f"'{m.name}'" for m in (self.metric, other.metric))
            if own == others and self.metric.higher_is_better != other.metric.higher_is_better:
                ends = ("higher", "lower") if self.metric.higher_is_better else ("lower", "higher")
                own, others = (f"{own} ({end} is better)" for end in ends)
            raise ValueError(f"the metrics differ: {own} and {others}")


def _name_list(names: Sequence[str]) -> list[str]:
    """The names of a list of names; ValueError where it is something else."""
    check_list("names", names, "names")
    for name in (listed := list(names)):
        check_text("names", name, "a list of names")
    return listed


def _value_of(cell: Any) -> str:
    """What a cell holds, whatever type of number or of missing value it has."""
    if is_scalar(cell) and pd.isna(cell):
        return ""
    return repr(cell.item() if isinstance(cell, np.generic) else cell)


def check_outputs(argument: str, value: object) -> None:
    """Raise a ValueError where these are no Outputs.

    Examples
    --------
    >>> check_outputs("population", [[1, 0], [1, 1]])
    Traceback (most recent call last):
    ValueError: population must be Outputs (see Outputs.from_scores), not list
    """
    if not isinstance(value, Outputs):
        raise ValueError(f"{argument} must be Outputs (see Outputs.from_scores), not {type(value).__name__}")


def require_outputs(outputs: object, n_systems: int = 1, argument: str = "outputs") -> None:
    """Raise a ValueError where these are no Outputs, of too few systems, or of sizes that can not be compared.

    Examples
    --------
    >>> require_outputs([[1, 0], [1, 1]])
    Traceback (most recent call last):
    ValueError: outputs must be Outputs (see Outputs.from_scores), not list
    """
    check_outputs(argument, outputs)
    assert isinstance(outputs, Outputs)
    if outputs.n_systems < n_systems:
        raise ValueError(f"{argument} must have at least {n_systems} systems to compare, not {outputs.n_systems}")
    check_range(outputs.statistics, outputs.names)
