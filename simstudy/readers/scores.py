"""Tables of scores: a row for each system and item (long), or for each item with a column for each system (wide).

The columns of a table say which it is: with scores, counts or predicted labels in columns of their own it is long,
else it is wide. A wide table's columns of numbers are its systems; a column that may as well describe the items is
refused by its name, with what to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.labels import PerClass
from simstudy.metrics.registry import sounds_like_error
from simstudy.notes import Argument, Words, note, notes_kept
from simstudy.outputs.frames import as_frame, check_no_ids, with_index
from simstudy.readers.columns import (
    BLANK,
    LAST_ITEMS,
    OURS,
    ROW,
    SUMMARY_ROWS,
    USUAL,
    first_named,
    how_to_write,
    joined,
    may_describe_items,
    may_each_be,
    no_column,
    number,
    numbers,
    place,
    placed,
    plain,
    takes_one_score,
    usually_named,
)
from simstudy.readers.formats import Format
from simstudy.readers.labels import label_rows, wide_labels, with_gold
from simstudy.readers.long_table import LongTable, as_text, if_missing
from simstudy.readers.request import Request, column, system_files
from simstudy.readers.tables import JSON, TABLE_FILES, ending, read_table
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice

# What messages call a table without a file.
_THE_TABLE = "the table"

_WIDE = "a table with a column for each system"
_LONG = "a table with a row for each system and item"

# Columns of the samples of one system.
_SAMPLE_COLUMN = re.compile(r"(?:score|sample)[ _.#-]?([0-9]+)", re.IGNORECASE)

# Columns of a long table that do not describe the items.
_NOT_OF_ITEMS = (
    "system", "item", "sample", "n_samples", "score", "input", "gold", "answer", "predicted", "task", "id",
)  # fmt: skip


def read_scores(request: Request) -> LongTable:
    """Systems from tables of scores, counts or labels; the files of one request may have different shapes."""
    frames = [(path, placed(read_table(path, request.narrow), path)) for path in request.paths]

    def shape(file: tuple[Path, pd.DataFrame]) -> tuple[object, ...]:
        path, frame = file
        return *frame.columns, ending(path) in JSON, request.names.get(path)

    tables = []
    # Files of one shape are one table, as a folder may have thousands. A file that the user names is one by itself.
    for _, files in groupby(frames, key=shape):
        paths, of_files = zip(*files, strict=True)
        frame = of_files[0] if len(of_files) == 1 else pd.concat(of_files)
        tables.append(_Table(_wanted_rows(frame, paths[0], request), paths, request))
    return _together(tables, request)


def read_table_in_memory(table: object, request: Request) -> LongTable:
    """Systems from a table of pandas, polars or pyarrow, or a dictionary of scores by system.

    The columns say the shape, as in a file. If none of them names the items, the index does; items of a wide table that
    nothing names are numbered from 0.
    """
    frame = with_index(_THE_TABLE, as_frame(_THE_TABLE, table), request.columns.get("item", "item"))
    if frame.empty:
        raise InputError(f"{_THE_TABLE} has no rows")
    frame = placed(frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row")), _THE_TABLE)
    return _together([_Table(frame, (), request)], request)


def _wanted_rows(frame: pd.DataFrame, path: Path, request: Request) -> pd.DataFrame:
    """The rows of a table with the values that the request says."""
    for name, value in request.where.items():
        if name not in frame:
            no_column(path, name, frame.columns)
        frame = frame[frame[name].astype(str) == value]
    if frame.empty:
        values = ", ".join(f"{name} = {value}" for name, value in request.where.items())
        raise InputError(f"{path}: no row has {values}")
    return frame


# What columns are ----------------------------------------------------------------------------------------------------
class _Table:
    """A table under our names of columns.

    Attributes
    ----------
    frame
        The table. Columns that mean something have our names; others keep theirs.
    columns
        Our name -> the name in the file.
    labels
        Whether predicted labels are compared with gold ones.
    systems
        The columns of the systems of a wide table; None: the table is long.
    unused
        Columns of text in a wide table that nothing uses.
    read_as
        What the first note calls the table.
    """

    def __init__(self, frame: pd.DataFrame, paths: Sequence[Path], request: Request) -> None:
        self.paths, self.request = paths, request
        self.origin = str(paths[0]) if paths else _THE_TABLE
        self.columns_of_file = [*map(str, frame)]
        self.frame = _samples_as_rows(joined(frame, request.columns, self.origin), request)
        systems_of_counts = _systems_of_counts(self.frame, request)
        if systems_of_counts:
            self.frame = _counts_as_rows(self.frame, systems_of_counts, request)
        self._check_given()
        self.item, self.gold, self.predicted = (self._column(name) for name in ("item", "gold", "predicted"))
        if request.references:
            self.frame = with_gold(self.frame, self.item, self.predicted, self.gold, self.origin, request)
            self.gold = "gold"
        self.scores = self._score_columns()
        self.labels = self._compares_labels()
        long = self._is_long()
        self.columns = self._under_our_names(long)
        # One column may be two of ours, such as the item and the cluster; texts also stay under their own names.
        renamed = {name for ours, name in self.columns.items() if ours not in ("input", "answer")} | {*self.columns}
        ours = {name: self.frame[in_file] for name, in_file in self.columns.items()}
        self.frame = self.frame.drop(columns=[name for name in self.frame if name in renamed]).assign(**ours)
        for name in ("system", "item"):
            if name in self.frame and _has_lists(self.frame[name]):
                # A prompt of several turns may be the id.
                self.frame[name] = self.frame[name].map(as_text)
        self._number_rows()
        self.systems: list[str] | None = None
        self.unused: list[str] = []
        if not long:
            self.systems, self.unused = self._wide_systems()
        self.read_as = _WIDE if systems_of_counts or not long else _LONG
        if "item" not in self.frame:
            self._number_items()
        self._check_last_row()

    def _check_given(self) -> None:
        """Raise an InputError that names all columns that the user named and that the table lacks."""
        request, frame = self.request, self.frame
        of_items = {"domain", "cluster", "factor", "id"}
        lacking = [
            name
            for ours, name in request.columns.items()
            if name not in frame
            and not (name == ROW and ours in ("item", "sample"))
            and not (request.items is not None and (ours in of_items or ours not in OURS))
            and not (request.references and ours == "gold")
        ]
        if len(lacking) == 1:
            no_column(self.origin, lacking[0], frame.columns, "columns must map our names to names in the file")
        if lacking:
            rule = f"no columns {', '.join(map(repr, lacking))} (columns: {listed([*map(str, frame)], 12)})"
            raise InputError(rule, at=self.origin)

    def _free(self) -> list[str]:
        """The columns that the user did not name, be it as systems or by names of their own."""
        columns = self.request.columns
        named = {*columns.values(), *self.request.systems, *(ours for ours in columns if ours not in OURS)}
        return [name for name in map(str, self.frame) if name not in named]

    def _column(self, ours: str, used: Collection[str] = ()) -> str | None:
        """The column that is one of ours, by `columns`, by our name or by a usual one; None if there is none."""
        if ours in self.request.columns:
            return self.request.columns[ours]
        if ours in self.frame and ours not in self.request.systems:
            return ours
        usual = USUAL[ours]
        if ours == "predicted" and self.request.references:
            # JSON such as {"q1": "Paris"} has the columns item and value.
            usual = (*usual, "answer", "value")
        elif ours == "predicted" and (isinstance(self.request.metric, PerClass) or "gold" in self.request.columns):
            usual = (*usual, "answer")
        free = [name for name in self._free() if name not in used]
        if ours not in ("item", "system"):
            return first_named(free, usual)
        names = usually_named(free, usual)
        if len(names) > 1:
            raise may_each_be(self.origin, ours, names)
        if ours == "item" and not names:
            return first_named(free, ("sample_id", *LAST_ITEMS))
        return names[0] if names else None

    def _score_columns(self) -> list[str]:
        """The columns that may have the scores of a long table."""
        if "score" in self.request.columns or "score" in self.frame:
            return [self.request.columns.get("score", "score")]
        return usually_named([name for name in self._free() if name not in self.request.item_columns], USUAL["score"])

    def _compares_labels(self) -> bool:
        """Whether labels are compared: the metric is of labels, or of accuracy, and no column has scores."""
        request, gold = self.request, self.gold
        if isinstance(request.metric, PerClass) or request.references:
            return True
        is_accuracy = request.metric.name == "accuracy" or request.choose_metric
        if not is_accuracy or "score" in request.columns or gold is None:
            return False
        if "gold" in request.columns or "predicted" in request.columns:
            return True
        if self.predicted is not None and self.scores:
            score = self.scores[0]
            rule = f"columns '{self.predicted}' and '{gold}' have labels, and column '{score}' has scores"
            remedy = "{gold} compares the labels, {score} the means of '{name}'"
            words = Words(remedy, gold=column("gold", gold), score=column("score", score), name=score)
            raise InputError(rule, remedy=words, at=self.origin)
        if self.predicted is not None or self.scores:
            return self.predicted is not None
        # Numbers beside words are no labels. Numbers in the column itself may be scores of a system.
        others = [name for name in self._free() if name not in (gold, "item")]
        numeric, texts = self._numbers_and_texts([*others, gold])
        if gold in numeric:
            rule = f"column '{gold}' may have gold labels, or scores of a system"
            aside = "" if gold == "gold" else Words("{aside} makes it no system, ", aside=column(gold, gold))
            remedy = (
                "{labels} compares labels with it, {aside}a table of systems ({systems}) that names it makes it one"
            )
            words = Words(remedy, labels=column("gold", gold), aside=aside, systems=Argument("systems"))
            raise InputError(rule, remedy=words, at=self.origin)
        return not numeric or texts != [gold]

    def _is_long(self) -> bool:
        """Whether a row is of one system: a column has scores, or columns have counts or labels."""
        metric, columns = self.request.metric, self.request.columns
        if self.labels:
            return self.predicted is not None
        if isinstance(metric, ArrayMetric) and len(metric.statistics) > 1:
            return "score" in {*self.frame, *columns}
        if all(columns.get(name, name) in self.frame for name in metric.statistics):
            return True
        return bool(self.scores) and (takes_one_score(metric) or isinstance(metric, ArrayMetric))

    def _under_our_names(self, long: bool) -> dict[str, str]:
        """Our name -> the table's column for it."""
        request, frame, statistics = self.request, self.frame, self.request.metric.statistics
        ours = {name: in_file for name, in_file in request.columns.items() if in_file in frame}
        ours |= {name: name for name in request.item_columns if name in frame and not _may_be_ours(name)}
        if self.item in frame:
            ours["item"] = str(self.item)
        if self.gold is not None and (self.labels or "gold" in statistics):
            ours["gold"] = self.gold
        if self.labels and long:
            ours["predicted"] = str(self.predicted)
        elif long and not {*statistics} <= {*frame, *ours}:
            if len(self.scores) > 1:
                raise may_each_be(self.origin, "score", self.scores)
            ours["score"] = self.scores[0]
            if self.scores == ["value"] and not self._numbers_and_texts(self.scores)[0]:
                remedy = Words("{gold} names a file of right answers", gold=Argument("references"))
                raise InputError("scores must be numbers, but the answers are texts", remedy=remedy, at=self.origin)
        for name in ("cluster", *(("system", "sample", "n_samples", "input", "answer", "gold") if long else ())):
            in_file = self._column(name, ours.values()) if name not in ours else None
            if in_file in frame and not (name == "gold" and self.labels):
                ours[name] = str(in_file)
        # Other columns of a wide table are systems, unless they are text; so are those that a table of systems names.
        unchanged = {*OURS, *statistics}
        if not long:
            texts = self._numbers_and_texts([name for name in OURS if name in frame])[1]
            unchanged = {"system", "item", "sample", "domain", "cluster", "factor", *texts} - {*request.systems}
        unchanged -= {"id"}
        return {name: name for name in map(str, frame) if name in unchanged and name not in ours} | ours

    def _number_rows(self) -> None:
        """Number the rows as items or samples, if the user says "row"."""
        for ours, by in (("item", ["system"]), ("sample", ["system", "item"])):
            if self.request.columns.get(ours) == ROW and ROW not in self.frame:
                files = self.frame.index.get_level_values(0)
                groups = [files, *(self.frame[name].to_numpy() for name in by if name in self.frame)]
                rows = self.frame.groupby(groups, sort=False, dropna=False).cumcount()
                self.frame = self.frame.assign(**{ours: np.asarray(rows) + 1})

    def _number_items(self) -> None:
        """Number the rows of a wide table in memory, of labels or of arrays; an InputError for other tables."""
        is_wide = self.systems is not None
        if is_wide and not self.paths:
            check_no_ids(_THE_TABLE, self.frame)
            note("items numbered", table=_THE_TABLE, last=f"{len(self.frame) - 1:,}")
            self.frame = self.frame.assign(item=np.arange(len(self.frame)))
        elif is_wide and (self.labels or isinstance(self.request.metric, ArrayMetric)):
            self.frame = self.frame.assign(item=np.arange(1, len(self.frame) + 1).astype(str))
        else:
            remedy = "name it with {item}, or number the rows with {row}"
            if any(np.isfinite(number(str(name))) for name in self.frame):
                remedy = "the first line seems to be a row: add a line with the names of the columns"
            words = Words(remedy, item=column("item"), row=column("item", ROW))
            no_column(self.origin, "item", self.columns_of_file, words)

    def _check_last_row(self) -> None:
        """Raise an InputError if the first or one of the last rows, of a system or of all, is called like a mean."""
        frame = self.frame
        by = [frame["system"]] if self.systems is None and "system" in frame else [np.zeros(len(frame))]
        rows = frame.groupby(by, sort=False, dropna=False)
        ends = frame[(rows.cumcount() == 0).to_numpy() | (rows.cumcount(ascending=False) < 3).to_numpy()]
        for row, item in enumerate(ends["item"]):
            if plain(item) in SUMMARY_ROWS:
                remedy = "take the row out, or give the item another name"
                rule = f"the row '{item}' seems to sum up others and to be no item"
                raise InputError(rule, remedy=remedy, at=place(ends, row))

    # Wide tables -----------------------------------------------------------------------------------------------------
    def _wide_systems(self) -> tuple[list[str], list[str]]:
        """The columns of a wide table that are systems, and columns of text that are not used."""
        metric, systems, frame = self.request.metric, self.request.systems, self.frame
        if not takes_one_score(metric) and not isinstance(metric, PerClass | ArrayMetric):
            lacking = next(name for name in metric.statistics if name not in frame)
            needs = f"metric '{metric.name}' needs {', '.join(metric.statistics)} of each system and item"
            texts = "; for texts, give one text file for each system and references" if metric.counts_texts else ""
            no_column(self.origin, lacking, self.columns_of_file, f"{needs}, each in a column{texts}")
        described = {*self.request.columns, *self.columns, "domain", "cluster", "factor", "item"} - {*systems}
        free = [name for name in map(str, frame) if name not in described and name != "Unnamed: 0"]
        # A second column of clusters is no system either.
        unused = [name for name in free if plain(name) in USUAL["cluster"] and name not in systems]
        free = [name for name in free if name not in unused]
        numeric, texts_only = self._numbers_and_texts(free)
        # What a system said is in new:response beside new; a column of lists cannot be a unit.
        answers = {name for name in free if ":" in name and name.partition(":")[0] in free}
        if self.labels:
            return [name for name in free if name not in answers], unused
        unused += [name for name in texts_only if name not in answers and not _has_lists(frame[name])]
        self._check_systems(numeric, unused)
        return numeric, unused

    def _numbers_and_texts(self, columns: Sequence[str]) -> tuple[list[str], list[str]]:
        """The columns that have some number, and those of text, which are no systems."""
        kinds = dict(zip(self.frame, self.frame.dtypes, strict=True))
        words = [name for name in columns if not (is_numeric_dtype(kinds[name]) or is_bool_dtype(kinds[name]))]
        first = self.frame[words].iloc[:20].to_numpy(dtype=object)
        is_number = np.isfinite(numbers(pd.Series(first.ravel(), dtype=object))).reshape(first.shape)
        # Columns of numbers have one in their first rows; only columns of text are read to the end.
        texts = {
            name
            for name, cells in zip(words, is_number.T.tolist(), strict=True)
            if not any(cells) and not np.isfinite(numbers(self.frame[name])).any()
        }
        return [name for name in columns if name not in texts], [name for name in columns if name in texts]

    def _check_systems(self, systems: Sequence[str], texts: Sequence[str]) -> None:
        """Raise an InputError if columns of a wide table may be something else than systems, as their names say."""
        frame, columns = self.frame, self.request.columns
        for name in texts if not systems else ():
            first = frame[name][~(frame[name].isna() | frame[name].isin(BLANK))].iloc[:1]
            if remedy := how_to_write("".join(map(str, first))):
                at = f"{place(frame[[name]].loc[first.index], 0)}, system '{name}'"
                raise InputError("score", "must be a number", first.iloc[0], remedy, at=at)
        model = next(iter(usually_named(frame, (*USUAL["system"], "system"))), None)
        sample = next(iter(usually_named(frame, USUAL["sample"])), None)
        if model is None and sample is not None and len(systems) > 1:
            rule = f"column '{sample}' may number the samples of an item, or be a system"
            remedy = "{samples} numbers samples, {aside} makes it a column of the items"
            words = Words(remedy, samples=column("sample", sample), aside=column(sample, sample))
            raise InputError(rule, remedy=words, at=self.origin)
        nested = bool(self.paths) and ending(self.paths[0]) in JSON
        dotted = [name for name in systems if nested and "." in name]
        has_samples = usually_named(self._free(), ("sample", *USUAL["sample"]))
        if not systems or model is not None or dotted or (len(systems) < 2 and has_samples):
            named = {"system": model} if model not in (None, "system") else {}
            named |= {"item": "NAME"} if "item" not in frame else {}
            named |= {"score": (dotted or [*systems, "NAME"])[0]}
            problem = "no column is known to have the scores"
            if dotted:
                problem = f"{', '.join(dotted)} may be scores by several metrics, or of several systems"
            what = "the columns" if len(named) > 1 else "one column of scores"
            remedy = Words("name {what} with {named}", what=what, named=Argument("columns", named))
            raise InputError(f"{problem} (columns: {listed(self.columns_of_file, 12)})", remedy=remedy, at=self.origin)
        named_by_user = {*self.request.systems, *columns}
        unclear = [name for name in systems if name not in named_by_user and may_describe_items(name)]
        if unclear:
            what, them = ("columns", "them") if len(unclear) > 1 else ("column", "it")
            rule = f"{what} {', '.join(map(repr, unclear))} may describe the items, or be scores of a system"
            aside = Argument("columns", {name: name for name in unclear})
            remedy = "{aside} makes {them} no system; a table of systems ({systems}) that names {them} makes {them} one"
            words = Words(remedy, aside=aside, systems=Argument("systems"), them=them)
            raise InputError(rule, remedy=words, at=self.origin)

    def names_no_system(self) -> bool:
        """Whether each file of the table is a system."""
        return self.systems is None and "system" not in self.frame and bool(self.paths)

    def rows(self, systems_of_files: Mapping[str, str]) -> pd.DataFrame:
        """A row for each system and item. A file that names no system is one."""
        if self.systems is None:
            rows = self.frame
        elif self.labels:
            rows = wide_labels(self.frame, self.systems, self.origin)
        else:
            rows = self._melted(self.systems)
        if self.paths and self.paths[0] in self.request.names:
            name = self.request.names[self.paths[0]]
            systems = [*map(str, rows["system"].unique())] if "system" in rows else []
            if len(systems) > 1:
                rule = f"must have names for files of one system: {self.paths[0]} has {listed(systems)}"
                raise InputError("paths", rule, remedy=f"leave out the name '{name}'")
            rows = rows.assign(system=name)
        elif self.names_no_system():
            rows = rows.assign(system=rows.index.get_level_values(0).map(systems_of_files))
        if "system" not in rows:
            no_column(self.origin, "system", rows.columns)
        return rows

    def _melted(self, systems: Sequence[str]) -> pd.DataFrame:
        """The rows of a wide table of scores. An empty cell is an item that the system lacks."""
        frame = self.frame
        scores, blank = self._score_matrix(systems)
        system, row = np.nonzero(~blank.T)
        code, items = pd.factorize(frame["item"].where(frame["item"].isna(), frame["item"].astype(str)))
        rows: dict[str, Any] = {
            "system": pd.Categorical.from_codes(system, categories=pd.Index(systems)),
            "item": pd.Categorical.from_codes(code[row], categories=pd.Index(items)),
            "score": scores.T[system, row],
        }
        described = {*self.columns, *self.request.columns, *self.unused, "domain", "cluster", "factor"}
        described -= {"item", "system", *systems}
        for name in (name for name in frame if name in described):
            rows[name] = frame[name].take(row).array
        position = {name: k for k, name in enumerate(systems)}
        for name in (name for name in map(str, frame) if ":" in name and name not in position):
            # What a system said, in a column new:response beside new.
            if (k := position.get(name.partition(":")[0])) is not None:
                answers = rows.setdefault("answer", np.full(len(row), None, dtype=object))
                answers[system == k] = frame[name].iloc[row[system == k]]
        return pd.DataFrame(rows, index=frame.index.take(row), copy=False)

    def _score_matrix(self, systems: Sequence[str]) -> tuple[FloatArray, Array]:
        """The scores (n, K) of a wide table, and whether each cell is empty."""
        cells = self.frame[[*systems]]
        if all(is_numeric_dtype(kind) or is_bool_dtype(kind) for kind in cells.dtypes):
            scores = cells.to_numpy(dtype=np.float64, na_value=np.nan)
            return scores, np.isnan(scores)
        texts = cells.to_numpy(dtype=object)
        flat = pd.Series(texts.ravel())
        scores = numbers(flat).reshape(texts.shape)
        words = np.isnan(scores)
        blank = np.zeros_like(words)
        blank[words] = flat[words.ravel()].isna() | flat[words.ravel()].isin(BLANK)
        if (wrong := words & ~blank).any():
            row, k = np.argwhere(wrong)[0]
            cell, name = texts[row, k], systems[k]
            remedy = "leave the cell empty: {missing}; {aside} makes '{name}' a column of the items"
            aside = Words(remedy, missing=if_missing(self.request.metric), aside=column(name, name), name=name)
            at = f"{place(self.frame, row)}, system '{name}'"
            raise InputError("score", "must be a number", cell, how_to_write(cell) or aside, at=at)
        return scores, blank


def _may_be_ours(name: str) -> bool:
    """Whether a column has our name or a usual one for systems, items or scores."""
    return any(plain(name) == ours or plain(name) in USUAL[ours] for ours in ("system", "item", "score"))


def _has_lists(cells: pd.Series[Any]) -> bool:
    return cells.dtype == object and bool(cells.map(lambda cell: isinstance(cell, list | dict)).any())


# Columns that become rows ------------------------------------------------------------------------------------------
def _systems_of_counts(frame: pd.DataFrame, request: Request) -> list[str]:
    """The systems of a wide table of counts: each has the columns ``<system>:<statistic>`` that systems do not share.

    If `columns` has another name for a statistic, that name is the end of the columns.
    """
    ends = [request.columns.get(name, name) for name in request.metric.statistics]
    names = {*map(str, frame)}
    systems = dict.fromkeys(
        name.removesuffix(f":{end}") for name in map(str, frame) for end in ends if name.endswith(f":{end}")
    )
    complete = all(f"{system}:{end}" in names or end in names for system in systems for end in ends)
    return [*systems] if complete else []


def _counts_as_rows(frame: pd.DataFrame, systems: Sequence[str], request: Request) -> pd.DataFrame:
    """A wide table of counts with a row for each system and item. A system lacks an item if its cells are empty."""
    ends = [request.columns.get(name, name) for name in request.metric.statistics]
    described = [name for name in map(str, frame) if name.rpartition(":")[0] not in systems]
    parts = []
    for system in systems:
        counts = {end: f"{system}:{end}" for end in ends if end not in frame}
        rows = frame[described].assign(system=system, **{end: frame[name] for end, name in counts.items()})
        parts.append(rows[~frame[[*counts.values()]].isin(BLANK).all(axis=1)])
    return pd.concat(parts)


def _samples_as_rows(frame: pd.DataFrame, request: Request) -> pd.DataFrame:
    """A table with a row for each sample, if scores are lists, or stand in columns ``score_1``, ``score_2``."""
    if not takes_one_score(request.metric) or "sample" in {*frame, *request.columns}:
        return frame
    score = request.columns.get("score") or first_named(frame, ("score", *USUAL["score"])) or "score"
    numbered = {name: match[1] for name in map(str, frame) if (match := _SAMPLE_COLUMN.fullmatch(name))}
    if score in frame:
        lists = frame[score]
        if lists.dtype != object or not lists.map(lambda cell: isinstance(cell, list) and bool(cell)).all():
            return frame
        numbers_of_samples = np.concatenate([np.arange(len(cell)) + 1 for cell in lists])
        rows = frame.explode(score).assign(sample=numbers_of_samples)
    elif len(numbered) > 1:
        score, others = "score", frame.drop(columns=[*numbered])
        rows = pd.concat([others.assign(sample=number, score=frame[name]) for name, number in numbered.items()])
        note("columns of samples", first=next(iter(numbered)), last=[*numbered][-1], n=len(numbered))
    else:
        return frame
    # A sample without a score was not taken.
    return rows[rows[score].notna() & (rows[score].astype(str).str.strip() != "")]


# Several files -----------------------------------------------------------------------------------------------------
def _together(tables: Sequence[_Table], request: Request) -> LongTable:
    """The long table of all files."""
    systems_of_files = {}
    if any(table.names_no_system() for table in tables):
        systems_of_files = {str(path): name for name, path in request.named_files().items()}
    parts = [table.rows(systems_of_files) for table in tables]
    rows = parts[0] if len(parts) == 1 else pd.concat(parts)
    if request.leave_out:
        for name in request.leave_out:
            check_choice("leave_out", name, [str(system) for system in rows["system"].unique()])
        rows = rows[~rows["system"].isin(request.leave_out)]
        rows["system"] = rows["system"].astype(str)
    first = tables[0]
    if first.labels:
        table = label_rows(rows, request)
    else:
        one_score = takes_one_score(request.metric) and "score" in rows
        if one_score and plain(first.columns.get("score", "")) == "preference":
            _note_draws(numbers(rows["score"]))
        table = LongTable(rows, ("score",) if one_score else request.metric.statistics)
    not_of_items = {*table.values, *_NOT_OF_ITEMS}
    return replace(
        table,
        wide=first.systems is not None,
        of_items=[str(name) for name in table.rows if name not in not_of_items],
        scored_by=_scored_by(first, request),
        read_as=first.read_as,
        if_again=_if_again(tables),
        items_by=first.columns.get("item", "item"),
        remarks=_remarks(first),
    )


def _note_draws(preferences: FloatArray) -> None:
    """Say that draws are coded as 0 among preferences from 1 to 2, as some versions of AlpacaEval do."""
    draws = preferences == 0
    others = preferences[~draws & ~np.isnan(preferences)]
    if draws.any() and len(others) and others.min() >= 1 and others.max() <= 2:
        note("draws as zero", n=f"{draws.sum():,}")


def _if_again(tables: Sequence[_Table]) -> str:
    """What to do if two files have the same systems and items."""
    if tables[0].systems:
        scores = column("score", tables[0].systems[0])
        return Words("if each file is a system, name its column of scores: {scores}", scores=scores)
    with notes_kept():
        paths = [path for table in tables for path in table.paths]
        files = " ".join(f"{name}={path}" for name, path in system_files(paths[:2]).items())
    return f"if each file is a system, name them: {files} (in Python a dictionary)"


def _remarks(table: _Table) -> list[Words]:
    """What the first note says of columns: which are used, and which columns of text are not."""
    texts = {"system": "systems", "score": "scores", "predicted": "labels", "cluster": "clusters"}
    used = {text: table.columns.get(ours, ours) for ours, text in texts.items()}
    remarks = [
        Words("{text} by '{name}'", text=text, name=used[text]) for ours, text in texts.items() if used[text] != ours
    ]
    not_used = "'{name}' is not used ({unit} resamples items of one '{name}' together)"
    return remarks + [Words(not_used, name=name, unit=Argument("unit", name)) for name in table.unused]


def _scored_by(table: _Table, request: Request) -> tuple[str, ...]:
    """What the tables call the scores; in a wide one the columns of all systems may say it, in any the files."""
    names = [table.columns[ours] for ours in ("score", *request.metric.statistics) if ours in table.columns]
    names = [name for name in names if name not in ("score", *request.metric.statistics)]
    for called in (table.systems or [], [path.name for path in request.paths]):
        names += called if called and all(map(sounds_like_error, called)) else []
    return tuple(names)


FORMAT = Format("scores", "tables of scores (CSV, TSV, JSON, Parquet)", read_scores, TABLE_FILES, scored=True)
