"""Collections of systems' outputs: parts of one that are collections too, two as one, and the file that keeps one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from simstudy.metrics import Metric
from simstudy.metrics.arrays import not_of_sums
from simstudy.outputs.answers import answers_of_clusters, joined
from simstudy.outputs.base import OutputsBase
from simstudy.outputs.checks import check_outputs
from simstudy.outputs.tables import merged_columns
from simstudy.text.reprs import listed
from simstudy.validation import (
    InputError,
    check_list,
    check_path,
    check_text,
    check_unique,
    check_whole,
    nearest,
)


@dataclass(frozen=True, eq=False, repr=False)
class OutputsParts(OutputsBase):
    """What K systems did on one test set: in parts, in another order, with other systems or items, and in a file."""

    def head(self, n: int) -> Self:
        """The test set's initial segment of n items.

        Raises
        ------
        ValueError
            Where n is not between 1 and the number of items.
        """
        check_whole("n", n, 1)
        if n > self.n_items:
            raise InputError("n", f"must be between 1 and {self.n_items}, the number of items{self._of()}", n)
        return self.take(np.arange(n))

    def take(self, items: ArrayLike) -> Self:
        """The items at these positions, in this order. A position may be repeated (a resampled test set).

        Repeated items get ids of their own (``id#2``), since an item table names each row once.
        """
        positions = np.asarray(items)
        if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
            raise InputError("items", "must be a non-empty list of integer positions")
        if positions.min() < 0 or positions.max() >= self.n_items:
            raise InputError(
                "items", f"must lie between 0 and {self.n_items - 1}, not {positions.min()} … {positions.max()}"
            )
        table = self.items.iloc[positions].reset_index(drop=True)
        # More than one round where repeated items are taken from a test set that repeats items already.
        while table["id"].duplicated().any():
            occurrence = table.groupby("id").cumcount()
            table["id"] = table["id"].where(occurrence == 0, table["id"] + "#" + (occurrence + 1).astype(str))
        return self._at((slice(None), positions), items=table)

    def domain(self, name: str) -> Self:
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
            known = sorted(domains.unique())
            others = f"{', '.join(known)}, not '{name}'{nearest(name, known)}"
            raise InputError(f"domain{self._of()}", f"must be one of {others}")
        return replace(self.take(positions), test_set=name)

    def by_domain(self) -> dict[str, Self]:
        """A test set for each domain, in order of first appearance."""
        return {name: self.domain(name) for name in self.labels("domain").unique()}

    def sum_by(self, column: str) -> Self:
        """Sum the statistics of items that share a value (document, user): each cluster becomes an item.

        Columns of the item table that are constant within every cluster are kept. Two systems give a cluster the same
        answer where they do so on each of its items.

        Raises
        ------
        ValueError
            Where items have no such column, or the metric is no function of sums.
        """
        if not self.metric.of_sums:
            raise InputError(not_of_sums(self.metric))
        codes, values = pd.factorize(self.labels(column))
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
        kind = np.int64 if self.statistics.dtype.kind in "iu" else np.float64
        sums = np.add.reduceat(self.statistics[:, order].astype(kind), starts, axis=1)
        grouped = self.items.groupby(codes)
        constant = [c for c in self.items.columns if c != "id" and (grouped[c].nunique(dropna=False) == 1).all()]
        table = pd.concat([pd.Series(values.astype(str), name="id"), grouped[constant].first()], axis=1)
        answers = None if self.answers is None else answers_of_clusters(self.answers[:, order], starts)
        return self._with(sums, answers, items=table)

    def select(self, names: Sequence[str]) -> Self:
        """These systems, in this order.

        Raises
        ------
        ValueError
            For a name that is not there, or an empty list.
        """
        names = name_list(names)
        index = {name: k for k, name in enumerate(self.names)}
        unknown = [name for name in names if name not in index]
        if len(set(names)) < len(names):
            raise InputError("names", f"must be given once each, not {', '.join(names)}")
        if unknown or not names:
            raise InputError("names", f"must be of systems{self._of()}: {', '.join(unknown) or 'the list is empty'}")
        rows = [index[name] for name in names]
        return self._at(rows, systems=self.systems.iloc[rows].reset_index(drop=True))

    def best_first(self) -> Self:
        """The systems by score, best first; those that tie by name."""
        scores = self.scores() * self.metric.sign
        order = sorted(range(self.n_systems), key=lambda k: -scores[k])
        falls = self.gains(np.array(order[:-1], dtype=np.intp), np.array(order[1:], dtype=np.intp)) > 0
        place = dict(zip(order, accumulate(falls.tolist(), initial=0), strict=True))
        names = self.names
        order.sort(key=lambda k: (place[k], names[k]))
        return self.select([names[k] for k in order])

    def aligned(self, names: Sequence[str]) -> Self:
        """The same systems in the order of `names`, which must name exactly these systems."""
        names = name_list(names)
        if sorted(names) != sorted(self.names):
            one_side = min(set(names) ^ set(self.names), default="a name that is given twice")
            raise InputError(f"test set '{self.test_set}' has other systems: '{one_side}' is on one side only")
        return self if names == self.names else self.select(names)

    def join_systems(self, other: Self) -> Self:
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
            raise InputError(
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
        answers, samples = joined(self.answers, other.answers, 0), joined(self.samples, other.samples, 0)
        return self._with(statistics, answers, samples, systems=table, items=items)

    def join_items(self, other: Self) -> Self:
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
        answers, samples = joined(self.answers, other.answers, 1), joined(self.samples, other.samples, 1)
        return self._with(statistics, answers, samples, systems=systems, items=table)

    def save(self, path: str | Path) -> None:
        """Write everything to one Parquet file: a row for each item, a column for each system and statistic.

        The file appears whole or not at all. The two tables come back with the types that their columns have.

        Raises
        ------
        ValueError
            Where a column of a table is of a type that a file cannot keep (lists, intervals …).
        """
        from simstudy.outputs.saved import write  # only these files need pyarrow

        check_path("path", path)
        write(self, path)

    @classmethod
    def load(cls, path: str | Path, metric: Metric | None = None) -> Self:
        """Read what `save` wrote. A metric that is not in the registry must be handed in, the same as was saved.

        Raises
        ------
        ValueError
            Where the file is not one of ours or is damaged, and where the metric is another than was saved.
        FileNotFoundError
            Where there is none.
        """
        from simstudy.outputs.saved import read  # only these files need pyarrow

        check_path("path", path)
        if metric is not None and not isinstance(metric, Metric):
            raise InputError("metric", "must be a Metric, or None", metric)
        return read(cls, path, metric)

    def _summary(self) -> tuple[str, str]:
        ranked = self.best_first()
        best = [f"{name} {score:.4g}" for name, score in zip(ranked.names, ranked.scores(), strict=True)]
        of = self._of() + (f", task '{self.task}'" if self.task else "")
        systems, items = (
            f"{n:,} {one}{'s' * (n != 1)}" for n, one in ((self.n_systems, "system"), (self.n_items, "item"))
        )
        what = f"{systems} on {items}{of}, metric {self.metric.name}"
        return f"Outputs: {what}", f"best first: {listed(best)}"

    def _table(self) -> pd.DataFrame:
        ranked = self.best_first()
        return ranked.systems.assign(**{self.metric.name: ranked.scores()}).dropna(axis="columns", how="all")

    def _same_metric(self, other: Self) -> None:
        check_outputs("other", other)
        if self.metric != other.metric:
            own, others = (f"'{m.name}'" for m in (self.metric, other.metric))
            if own == others and self.metric.higher_is_better != other.metric.higher_is_better:
                ends = ("higher", "lower") if self.metric.higher_is_better else ("lower", "higher")
                own, others = (f"{own} ({end} is better)" for end in ends)
            elif own == others and self.metric.statistics != other.metric.statistics:
                own, others = (f"{own} of {len(m.statistics)} statistics" for m in (self.metric, other.metric))
            raise InputError(f"the metrics differ: {own} and {others}")


def name_list(names: Sequence[str]) -> list[str]:
    """The names of a list of names; ValueError where it is something else."""
    check_list("names", names, "names")
    for name in (listed := list(names)):
        check_text("names", name, "a list of names")
    return listed
