"""Tables of scores: a row for each system and item (long), or for each item with a column for each system (wide).

The columns of a table say which it is: with scores, counts or predicted labels in columns of their own it is long,
else it is wide. A wide table's columns of numbers are its systems; a column that may as well describe the items is
refused by its name, with what to say about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.per_class import PerClass
from simstudy.notes import Argument, Words, note, notes_kept
from simstudy.outputs.frames import as_frame, check_no_ids, with_index
from simstudy.readers import columns as names
from simstudy.readers.columns import (
    BLANK,
    USUAL,
    first_named,
    how_to_write,
    joined,
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
from simstudy.readers.labels import label_rows, with_gold
from simstudy.readers.long_table import IF_MISSING, LongTable, as_text
from simstudy.readers.paths import system_files
from simstudy.readers.request import Request, column
from simstudy.readers.tables import JSON, TABLES, ending, read_table
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice

# What messages call a table without a file.
_THE_TABLE = "the table"

# Our names whose columns only need a usual name, in long tables.
_OF_LONG = ("sample", "n_samples", "cluster", "input", "answer", "gold")


@dataclass(frozen=True)
class _Table:
    """A file's table under our names of columns, and what they were called."""

    frame: pd.DataFrame
    #: Our name -> the name in the file.
    columns: Mapping[str, str]
    #: Columns of the systems of a wide table; None: the table is long.
    systems: Sequence[str] | None
    #: Columns of text in a wide table that are not used.
    unused: Sequence[str] = ()
    origin: str = ""
    paths: Sequence[Path] = ()


def read_scores(request: Request) -> LongTable:
    """Systems from tables of scores, counts or labels; the files of one request may have different shapes."""
    if not request.paths:
        raise InputError("paths", "must name at least one table of scores")
    frames = [(path, placed(read_table(path, request.narrow), path)) for path in request.paths]
    tables = []
    # Files of one shape are one table: a folder may have thousands.
    for _, group in groupby(frames, key=lambda one: _shape(one[0], one[1], request)):
        paths, own = zip(*group, strict=True)
        frame = _wanted_rows(own[0] if len(own) == 1 else pd.concat(own), paths[0], request)
        table = _under_our_names(frame, str(paths[0]), request, nested=ending(paths[0]) in JSON)
        tables.append(replace(table, paths=paths))
    return _together(_without_left_out(_with_systems(tables, request), request), request)


def _shape(path: Path, frame: pd.DataFrame, request: Request) -> tuple[object, ...]:
    """What files of one table have in common; a file that the user names is one by itself."""
    return (*frame.columns, ending(path) in JSON, request.names.get(path))


def _wanted_rows(frame: pd.DataFrame, path: Path, request: Request) -> pd.DataFrame:
    """The rows of a table with the values that the request says."""
    for name, value in request.where.items():
        if name not in frame:
            no_column(path, name, frame.columns)
        frame = frame[frame[name].astype(str) == value]
    if frame.empty:
        raise InputError(f"{path}: no row has {', '.join(f'{name} = {one}' for name, one in request.where.items())}")
    return frame


def read_table_in_memory(table: object, request: Request) -> LongTable:
    """Systems from a table of pandas, polars or pyarrow, or a dictionary of scores by system.

    The columns say the shape, as in a file. If none of them names the items, the index does; items of a wide table that
    nothing names are numbered from 0.
    """
    item = request.columns.get("item", "item")
    frame = with_index(_THE_TABLE, as_frame(_THE_TABLE, table), item)
    if not _item_column(frame, request) and not _is_long(frame, request):
        check_no_ids(_THE_TABLE, frame)
        note("items numbered", table=_THE_TABLE, last=f"{len(frame) - 1:,}")
        frame = frame.assign(**{item: np.arange(len(frame))})
    if frame.empty:
        raise InputError(f"{_THE_TABLE} has no rows")
    frame = placed(frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row")), _THE_TABLE)
    named = _under_our_names(frame, _THE_TABLE, request, nested=False)
    if named.systems is None and "system" not in named.frame:
        no_column(_THE_TABLE, "system", frame.columns)
    return _together([named], request)


# Names of columns --------------------------------------------------------------------------------------------------
def _under_our_names(frame: pd.DataFrame, origin: str, request: Request, *, nested: bool) -> _Table:
    """A table under our names of columns, and its shape."""
    frame = joined(frame, request.columns, origin)
    frame = _one_row_a_sample(frame, request)
    _check_given(frame, origin, request)
    if request.references:
        frame = with_gold(frame, _item_column(frame, request), origin, request)
    long = _is_long(frame, request)
    ours = _our_names(frame, origin, request, long=long)
    # One column may be two of ours, such as the item and the cluster; texts also stay under their own names.
    renamed = {name for one, name in ours.items() if one not in ("input", "answer")} | {*ours}
    frame = frame.drop(columns=[name for name in frame if name in renamed]).assign(
        **{one: frame[name] for one, name in ours.items()}
    )
    for name in ("system", "item"):
        if name in frame and _has_lists(frame[name]):
            # A prompt of several turns may be the id.
            frame[name] = frame[name].map(as_text)
    frame = _numbered_rows(frame, request)
    systems, unused = (None, []) if long else _wide_systems(frame, ours, origin, request, nested=nested)
    if "item" not in frame:
        frame = _without_items(frame, origin, request, long=long)
    _check_last_row(frame, long=long)
    return _Table(frame, ours, systems, unused, origin)


def _check_given(frame: pd.DataFrame, origin: str, request: Request) -> None:
    """Raise an InputError that names all columns that the user named and that the table lacks."""
    of_items = {"domain", "cluster", "factor", "id"}
    lacking = [
        theirs
        for ours, theirs in request.columns.items()
        if theirs not in frame
        and not (theirs == names.ROW and ours in ("item", "sample"))
        and not (request.items is not None and (ours in of_items or ours not in names.OURS))
        and not (request.references and ours == "gold")
        and not any(str(name).endswith(f":{theirs}") for name in frame)
    ]
    if len(lacking) == 1:
        no_column(origin, lacking[0], frame.columns, "columns must map our names to names in the file")
    if lacking:
        rule = f"no columns {', '.join(map(repr, lacking))} (columns: {listed([*map(str, frame)], 12)})"
        raise InputError(rule, at=origin)


def _free(frame: pd.DataFrame, request: Request, but: Sequence[str] = ()) -> list[str]:
    """The columns of a table that the user did not name, be it as systems or by names of their own."""
    named = {
        *request.columns.values(),
        *request.systems,
        *but,
        *(ours for ours in request.columns if ours not in names.OURS),
    }
    return [str(name) for name in frame if name not in named]


def _score_columns(frame: pd.DataFrame, request: Request) -> list[str]:
    """The columns that may have the scores of a long table."""
    if "score" in request.columns:
        return [request.columns["score"]]
    if "score" in frame:
        return ["score"]
    return usually_named(_free(frame, request, request.item_columns), USUAL["score"])


def _predicted_column(frame: pd.DataFrame, request: Request) -> str | None:
    """The column of predicted labels; None if there is none."""
    if "predicted" in request.columns:
        return request.columns["predicted"]
    usual = USUAL["predicted"]
    if isinstance(request.metric, PerClass) or "gold" in request.columns:
        usual = (*usual, "answer")
    return "predicted" if "predicted" in frame else first_named(_free(frame, request), usual)


def _gold_column(frame: pd.DataFrame, request: Request) -> str | None:
    """The column of gold labels or gold numbers; None if there is none."""
    if "gold" in request.columns:
        return request.columns["gold"]
    return "gold" if "gold" in {*frame} - {*request.systems} else first_named(_free(frame, request), USUAL["gold"])


def _takes_labels(frame: pd.DataFrame, request: Request) -> bool:
    """Whether labels are compared: the metric is of labels, or of accuracy, and no column has scores."""
    if isinstance(request.metric, PerClass):
        return True
    if request.metric.name != "accuracy" and not request.choose_metric:
        return False
    if "score" in request.columns or (gold := _gold_column(frame, request)) is None:
        return False
    predicted = _predicted_column(frame, request)
    if "gold" in request.columns or "predicted" in request.columns:
        return True
    scores = _score_columns(frame, request)
    if predicted is None and not scores:
        # Numbers beside words are no labels.
        numeric, words = _numbers_and_texts(frame, [*_free(frame, request, [gold, "item"]), gold])
        if numeric and words == [gold]:
            return False
        _check_gold_of_wide(frame, gold)
    if predicted is not None and scores:
        raise InputError(
            f"columns '{predicted}' and '{gold}' have labels, and column '{scores[0]}' has scores",
            remedy=Words(
                "{gold} compares the labels, {score} the means of '{name}'",
                gold=column("gold", gold), score=column("score", scores[0]), name=scores[0],
            ),
            at=place(frame, 0).rpartition(",")[0],
        )  # fmt: skip
    return predicted is not None or not scores


def _check_gold_of_wide(frame: pd.DataFrame, gold: str) -> None:
    """Raise an InputError if the gold labels of a wide table are numbers, for they may be scores of a system."""
    if _numbers_and_texts(frame, [gold])[0]:
        aside = "" if gold == "gold" else Words("{aside} makes it no system, ", aside=column(gold, gold))
        raise InputError(
            f"column '{gold}' may have gold labels, or scores of a system",
            remedy=Words(
                "{labels} compares labels with it, {aside}a table of systems ({systems}) that names it makes it one",
                labels=column("gold", gold), aside=aside, systems=Argument("systems"),
            ),
            at=place(frame, 0).rpartition(",")[0],
        )  # fmt: skip


def _is_long(frame: pd.DataFrame, request: Request) -> bool:
    """Whether a table has a row for each system and item: a column has scores, or columns have counts or labels."""
    counted = all(request.columns.get(name, name) in frame for name in request.metric.statistics)
    if _takes_labels(frame, request):
        return _predicted_column(frame, request) is not None
    if isinstance(request.metric, ArrayMetric) and len(request.metric.statistics) > 1:
        return "score" in {*frame, *request.columns}
    one_score = takes_one_score(request.metric) or isinstance(request.metric, ArrayMetric)
    return counted or (one_score and bool(_score_columns(frame, request)))


def _item_column(frame: pd.DataFrame, request: Request) -> str:
    """The column that names the items; empty if there is none. An InputError names several that may."""
    if "item" in request.columns:
        return request.columns["item"]
    if "item" in frame:
        return "item"
    free = _free(frame, request)
    found = usually_named(free, USUAL["item"])
    if len(found) > 1:
        raise may_each_be(place(frame, 0).rpartition(",")[0], "item", found)
    return (found or [first_named(free, ("sample_id", *names.LAST_ITEMS)) or ""])[0]


def _our_names(frame: pd.DataFrame, origin: str, request: Request, *, long: bool) -> dict[str, str]:
    """Our name -> the table's column for it, by `columns`, by our own name, or by a usual one."""
    given = {ours: theirs for ours, theirs in request.columns.items() if theirs in frame}
    given |= {name: name for name in request.item_columns if name in frame and not may_be_ours(name)}
    if (item := _item_column(frame, request)) in frame:
        given["item"] = item
    labels = _takes_labels(frame, request)
    gold = _gold_column(frame, request) if labels or "gold" in request.metric.statistics else None
    if gold is not None:
        given["gold"] = gold
    if labels and long:
        given["predicted"] = str(_predicted_column(frame, request))
    elif long and not {*request.metric.statistics} <= {*frame, *given}:
        scores = _score_columns(frame, request)
        if len(scores) > 1:
            raise may_each_be(origin, "score", scores)
        given["score"] = scores[0]
    usual = ["cluster", *(("system", "sample", "n_samples", "input", "answer", "gold") if long else ())]
    for ours in usual:
        if ours in given or (ours in frame and ours not in request.systems):
            continue
        free = [str(name) for name in frame if name not in given.values() and name not in request.systems]
        if ours == "system":
            found = usually_named(free, USUAL["system"])
            if len(found) > 1:
                raise may_each_be(origin, "system", found)
            theirs = found[0] if found else None
        else:
            theirs = first_named(free, USUAL[ours])
        if theirs is not None and (ours != "gold" or not labels):
            given[ours] = theirs
    known = {*names.OURS, *request.metric.statistics} - {"id"}
    if not long:
        # Other columns of a wide table are systems, unless they are text; so are those that a table of systems names.
        texts = _numbers_and_texts(frame, [name for name in names.OURS if name in frame])[1]
        known = {"system", "item", "sample", "domain", "cluster", "factor", *texts} - {"id", *request.systems}
        known |= {*request.metric.statistics} if _count_columns(frame, request) else set()
    own = {name: name for name in map(str, frame) if name in known and name not in given}
    return {**own, **given}


def may_be_ours(name: str) -> bool:
    """Whether a column has our name or a usual one for systems, items or scores."""
    return any(plain(name) == ours or plain(name) in USUAL[ours] for ours in ("system", "item", "score"))


def _numbered_rows(frame: pd.DataFrame, request: Request) -> pd.DataFrame:
    """The table with its rows numbered as items or samples, if the user says "row"."""
    for ours, by in (("item", ["system"]), ("sample", ["system", "item"])):
        if request.columns.get(ours) == names.ROW and names.ROW not in frame:
            groups = [frame.index.get_level_values(0), *(frame[name].to_numpy() for name in by if name in frame)]
            rows = frame.groupby(groups, sort=False, dropna=False).cumcount()
            frame = frame.assign(**{ours: np.asarray(rows) + 1})
    return frame


def _without_items(frame: pd.DataFrame, origin: str, request: Request, *, long: bool) -> pd.DataFrame:
    """A table of labels or arrays with its rows numbered as items; an InputError for others, which are matched."""
    of_arrays = isinstance(request.metric, PerClass | ArrayMetric) or _takes_labels(frame, request)
    if of_arrays and not long:
        return frame.assign(item=np.arange(1, len(frame) + 1).astype(str))
    remedy: str = Words(
        "name it with {named}, or number the rows with {rows}",
        named=column("item"), rows=column("item", names.ROW),
    )  # fmt: skip
    if any(np.isfinite(number(str(name))) for name in frame):
        remedy = "the first line seems to be a row: add a line with the names of the columns"
    no_column(origin, "item", frame.columns, remedy)


def _check_last_row(frame: pd.DataFrame, *, long: bool) -> None:
    """Raise an InputError if the first or one of the last rows, of a system or of all, is called like an average."""
    groups = [frame["system"]] if long and "system" in frame else [np.zeros(len(frame))]
    rows = frame.groupby(groups, sort=False, dropna=False).cumcount()
    ends = frame[(rows == 0).to_numpy() | (frame.groupby(groups, sort=False).cumcount(ascending=False) < 3).to_numpy()]
    for row, item in enumerate(ends["item"]):
        if plain(item) in names.SUMMARY_ROWS:
            remedy = "take the row out, or give the item another name"
            raise InputError(f"the row '{item}' seems to sum up others and to be no item", remedy=remedy,
                             at=place(ends, row))  # fmt: skip


# Wide tables -------------------------------------------------------------------------------------------------------
def _wide_systems(
    frame: pd.DataFrame, ours: Mapping[str, str], origin: str, request: Request, *, nested: bool
) -> tuple[list[str], list[str]]:
    """The columns of a wide table that are systems, and columns of text that are not used."""
    metric = request.metric
    if counts := _count_columns(frame, request):
        return [*counts], []
    if not takes_one_score(metric) and not isinstance(metric, PerClass | ArrayMetric):
        lacking = next(name for name in metric.statistics if name not in frame)
        needs = f"metric '{metric.name}' needs {', '.join(metric.statistics)} of each item"
        texts = "; for texts, give one text file for each system and references" if metric.counts_texts else ""
        no_column(origin, lacking, frame.columns, f"{needs}{texts}")
    described = {*request.columns, *ours, "domain", "cluster", "factor", "item"} - {*request.systems}
    free = [str(name) for name in frame if name not in described and name != "Unnamed: 0"]
    # A second column of clusters is no system either.
    clusters = [name for name in free if plain(name) in USUAL["cluster"] and name not in request.systems]
    free = [name for name in free if name not in clusters]
    if isinstance(metric, PerClass) or _takes_labels(frame, request):
        return [name for name in free if name.partition(":")[0] not in free or ":" not in name], clusters
    systems, texts_only = _numbers_and_texts(frame, free)
    # What a system said is in new:response beside new; a column of lists cannot be a unit.
    answers = [name for name in texts_only if ":" in name and name.partition(":")[0] in {*systems}]
    unused = [*clusters, *(name for name in texts_only if name not in answers and not _has_lists(frame[name]))]
    _check_wide(frame, systems, unused, origin, request, nested=nested)
    return systems, unused


def _has_lists(cells: pd.Series[Any]) -> bool:
    return cells.dtype == object and bool(cells.map(lambda cell: isinstance(cell, list | dict)).any())


def _numbers_and_texts(frame: pd.DataFrame, columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns that have some number, and those of text, which are no systems."""
    kinds = dict(zip(frame, frame.dtypes, strict=True))
    words = [name for name in columns if not (is_numeric_dtype(kinds[name]) or is_bool_dtype(kinds[name]))]
    first = frame[words].iloc[:20].to_numpy(dtype=object)
    there = np.isfinite(numbers(pd.Series(first.ravel(), dtype=object))).reshape(first.shape)
    # Columns of numbers have one in their first rows; only columns of text are read to the end.
    texts = {
        name
        for name, has_number in zip(words, there.T.tolist(), strict=True)
        if not any(has_number) and not np.isfinite(numbers(frame[name])).any()
    }
    return [name for name in columns if name not in texts], [name for name in columns if name in texts]


def _count_columns(frame: pd.DataFrame, request: Request) -> dict[str, dict[str, str]]:
    """System -> statistic -> its column, <system>:<statistic>, or one that all systems share; empty if there are none.

    If `columns` has another name for a statistic, that name is the end of the columns.
    """
    statistics = request.metric.statistics
    ends = {f":{request.columns.get(name, name)}" for name in statistics}
    systems = dict.fromkeys(name.removesuffix(end) for name in map(str, frame) for end in ends if name.endswith(end))
    found = {
        system: {name: name if name in frame else f"{system}:{request.columns.get(name, name)}" for name in statistics}
        for system in systems
    }
    return found if all(column in frame for own in found.values() for column in own.values()) else {}


def _check_wide(
    frame: pd.DataFrame, systems: Sequence[str], unused: Sequence[str], origin: str, request: Request, *, nested: bool
) -> None:
    """Raise an InputError if columns of a wide table may be something else than systems, as their names say."""
    model = next(iter(usually_named(frame, (*USUAL["system"], "system"))), None)
    sample = next(iter(usually_named(frame, USUAL["sample"])), None)
    if "sample" in frame and "sample" not in request.columns and len(systems) < 2:
        sample = "sample"
    dotted = [name for name in systems if nested and "." in name]
    for name in unused if not systems else ():
        rows = np.flatnonzero(~(frame[name].isna() | frame[name].isin(BLANK)))
        if len(rows) and (remedy := how_to_write(cell := frame[name].iloc[rows[0]])):
            at = f"{place(frame, int(rows[0]))}, system '{name}'"
            raise InputError("score", "must be a number", cell, remedy, at=at)
    if not systems or model is not None or sample is not None or dotted:
        lacking = {"system": model} if model not in (None, "system") else {}
        lacking |= {"item": "NAME"} if "item" not in frame else {}
        problem = "no column is known to have the scores"
        if dotted:
            problem = f"{', '.join(dotted)} may be scores by several metrics, or of several systems"
        samples = Words(", or say {sample} if the columns of numbers are systems", sample=column("sample", str(sample)))
        raise InputError(
            f"{problem} (columns: {listed([*map(str, frame)], 12)})",
            remedy=Words(
                "name {what} with {named}{samples}",
                what="the columns" if lacking else "one column of scores",
                named=Argument(
                    "columns",
                    {**lacking, "score": (dotted or [name for name in (*systems, "NAME") if name != sample])[0]},
                ),
                samples=samples if sample is not None and len(systems) > 1 and model is None else "",
            ),
            at=origin,
        )
    meant = {*request.systems, *request.columns}
    unclear = [name for name in systems if names.may_describe_items(name) and name not in meant]
    unclear += [name for name in systems if plain(name) in (*USUAL["gold"], "gold") and name not in meant]
    if unclear:
        raise InputError(
            f"{'columns' if len(unclear) > 1 else 'column'} {', '.join(map(repr, unclear))} may describe the items, or "
            "be scores of a system",
            remedy=Words(
                "{aside} makes {them} no system; a table of systems ({systems}) that names {them} makes {them} one",
                aside=Argument("columns", {name: name for name in unclear}),
                systems=Argument("systems"),
                them="them" if len(unclear) > 1 else "it",
            ),
            at=origin,
        )


def _wide_rows(table: _Table, request: Request) -> pd.DataFrame:
    """The rows of a wide table: one for each system and item; an empty cell is an item that the system lacks."""
    assert table.systems is not None
    frame, systems = table.frame, [*table.systems]
    if counts := _count_columns(frame, request):
        described = frame[["item", *_descriptions(table, request)]]
        parts = [
            described.assign(system=name, **{statistic: frame[column] for statistic, column in counts[name].items()})[
                ~frame[[column for statistic, column in counts[name].items() if column != statistic]]
                .isin(BLANK)
                .all(axis=1)
            ]
            for name in systems
        ]
        return pd.concat(parts)
    scores, blank = _score_matrix(frame, systems, request)
    # A last line of separators is no item.
    empty = (frame["item"].isna() | (frame["item"].astype(str).str.strip() == "")).to_numpy() & blank.all(axis=1)
    frame, scores, blank = frame[~empty], scores[~empty], blank[~empty]
    system, row = np.nonzero(~blank.T)
    code, items = pd.factorize(frame["item"].where(frame["item"].isna(), frame["item"].astype(str)))
    columns: dict[str, Any] = {
        "system": pd.Categorical.from_codes(system, categories=pd.Index(systems)),
        "item": pd.Categorical.from_codes(code[row], categories=pd.Index(items)),
        "score": scores.T[system, row],
    }
    for name in _descriptions(table, request):
        columns[name] = frame[name].take(row).array
    position = {name: k for k, name in enumerate(systems)}
    for name in (str(name) for name in frame if ":" in str(name) and name not in position):
        # What a system said, in a column new:response beside new.
        if (k := position.get(name.partition(":")[0])) is not None:
            answers = columns.setdefault("answer", np.full(len(row), None, dtype=object))
            answers[system == k] = frame[name].iloc[row[system == k]]
    return pd.DataFrame(columns, index=frame.index.take(row), copy=False)


def _score_matrix(frame: pd.DataFrame, systems: Sequence[str], request: Request) -> tuple[FloatArray, Array]:
    """The scores (n, K) of a wide table, and whether each cell is empty; an InputError names a cell that is a word."""
    cells = frame[[*systems]]
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
        cell = texts[row, k]
        remedy = how_to_write(cell) or Words(
            "leave the cell empty: {missing}; {aside} makes '{name}' a column of the items",
            missing=IF_MISSING, aside=column(systems[k], systems[k]), name=systems[k],
        )  # fmt: skip
        raise InputError("score", "must be a number", cell, remedy, at=f"{place(frame, row)}, system '{systems[k]}'")
    return scores, blank


def _descriptions(table: _Table, request: Request) -> list[str]:
    """The columns of a wide table that describe the items."""
    aside = {"item", "system", *(table.systems or ())}
    known = {*table.columns, *request.columns, *table.unused, "domain", "cluster", "factor"}
    return [name for name in table.frame if name in known and name not in aside]


# Samples -----------------------------------------------------------------------------------------------------------
def _one_row_a_sample(frame: pd.DataFrame, request: Request) -> pd.DataFrame:
    """A table with a row for each sample, if a score is a list in each row, or samples have columns of their own."""
    if not takes_one_score(request.metric) or "sample" in {*frame, *request.columns}:
        return frame
    scores = [name for name in _score_columns(frame, request) if name in frame]
    if scores:
        cells = frame[scores[0]]
        if cells.dtype != object or not cells.map(lambda cell: isinstance(cell, list) and bool(cell)).all():
            return frame
        numbered = np.concatenate([np.arange(len(cell)) + 1 for cell in cells])
        return _taken(frame.explode(scores[0]).assign(sample=numbered), scores[0])
    named = "system" in request.columns or any(plain(name) in ("system", *USUAL["system"]) for name in frame)
    samples = names.numbered_columns(frame.columns, *(() if named else ("score", "sample")))
    if not samples:
        return frame
    others = frame.drop(columns=[*samples])
    rows = pd.concat([others.assign(sample=number, score=frame[name]) for name, number in samples.items()])
    note("columns of samples", first=next(iter(samples)), last=[*samples][-1], n=len(samples))
    return _taken(rows, "score")


def _taken(rows: pd.DataFrame, score: str) -> pd.DataFrame:
    """The rows of samples that were taken: they have a score."""
    return rows[rows[score].notna() & (rows[score].astype(str).str.strip() != "")]


# Several files -----------------------------------------------------------------------------------------------------
def _with_systems(tables: Sequence[_Table], request: Request) -> list[_Table]:
    """The tables with a column of systems in each long one: a file that names none is a system itself."""
    alone = [table.systems is None and "system" not in table.frame for table in tables]
    names_of_files = {str(path): name for name, path in request.named_files().items()} if any(alone) else {}
    found = []
    for table, has_none in zip(tables, alone, strict=True):
        if has_none:
            files = table.frame.index.get_level_values(0)
            table = replace(table, frame=table.frame.assign(system=files.map(names_of_files)))
        else:
            for path in table.paths:
                if path in request.names:
                    table = _renamed_system(table, path, request.names[path])
        found.append(table)
    return found


def _without_left_out(tables: Sequence[_Table], request: Request) -> list[_Table]:
    """The tables without the systems that the request leaves out, each of which must be there."""
    found = []
    known: list[str] = []
    for table in tables:
        left = [*request.leave_out]
        if table.systems is not None:
            known += table.systems
            table = replace(table, systems=[name for name in table.systems if name not in left])
        elif left:
            names_of_rows = table.frame["system"].astype(str)
            known += [*names_of_rows.unique()]
            table = replace(table, frame=table.frame[~names_of_rows.isin(left)])
        found.append(table)
    for name in request.leave_out:
        check_choice("leave_out", name, known)
    return found


def _renamed_system(table: _Table, path: Path, name: str) -> _Table:
    """A table whose one system in a file has the name that the user gives to the file."""
    of_file = table.frame.index.get_level_values(0) == str(path)
    long = table.systems is None
    own = [*map(str, table.frame.loc[of_file, "system"].unique())] if long else [*(table.systems or ())]
    if len(own) > 1 or (not long and len(table.paths) > 1):
        rule = f"must have names for files of one system: {path} has columns of systems or several, {listed(own)}"
        raise InputError("paths", rule, remedy=f"leave out the name '{name}'")
    if long:
        return replace(table, frame=table.frame.assign(system=table.frame["system"].mask(of_file, name)))
    frame = table.frame.rename(
        columns=lambda one: name + one.removeprefix(own[0]) if f"{one}:".startswith(f"{own[0]}:") else one
    )
    return replace(table, frame=frame, systems=[name])


def _together(tables: Sequence[_Table], request: Request) -> LongTable:
    """One long table of all files."""
    first = tables[0]
    labels = _takes_labels(first.frame, request)
    if labels:
        table = label_rows([(one.frame, one.systems, one.origin) for one in tables], request)
    else:
        rows = [one.frame if one.systems is None else _wide_rows(one, request) for one in tables]
        whole = rows[0] if len(rows) == 1 else pd.concat(rows)
        one_score = takes_one_score(request.metric) and "score" in whole
        table = LongTable(whole, ("score",) if one_score else request.metric.statistics)
    if first.systems is None and "system" not in table.rows:
        no_column(first.origin, "system", table.rows.columns)
    used = {
        *table.values,
        "system",
        "item",
        "sample",
        "n_samples",
        "input",
        "gold",
        "answer",
        "predicted",
        "task",
        "id",
    }
    described = [str(name) for name in table.rows if name not in used]
    return replace(
        table,
        of_items=described,
        scored_by=_scored_by(first, request),
        read_as="a table with a row for each system and item" if first.systems is None else _WIDE,
        if_again=_if_again(tables),
        items_by=first.columns.get("item", "item"),
        remarks=_remarks(first),
    )


def _if_again(tables: Sequence[_Table]) -> str:
    """What to do if two files have the same systems and items."""
    paths = [path for table in tables for path in table.paths]
    systems = tables[0].systems
    if systems:
        named = Argument("columns", {"score": systems[0]})
        return Words("if each file is a system, name its column of scores: {named}", named=named)
    with notes_kept():
        files = " ".join(f"{name}={path}" for name, path in system_files(paths[:2]).items())
    return f"if each file is a system, name them: {files} (in Python a dictionary)"


_WIDE = "a table with a column for each system"


def _remarks(table: _Table) -> list[Words]:
    """What the first note says of columns: which are used, and which columns of text are not."""
    remarks = []
    for ours, text in (("system", "systems"), ("score", "scores"), ("predicted", "labels"), ("cluster", "clusters")):
        if (theirs := table.columns.get(ours, ours)) != ours:
            remarks.append(Words("{text} by '{theirs}'", text=text, theirs=theirs))
    for name in table.unused:
        remarks.append(
            Words(
                "'{name}' is not used ({unit} resamples items of one '{name}' together)",
                name=name,
                unit=Argument("unit", name),
            )
        )
    return remarks


def _scored_by(table: _Table, request: Request) -> tuple[str, ...]:
    """What the tables call the scores; in a wide one the columns of all systems may say it, in any the files."""
    wanted = ("score", *request.metric.statistics)
    found = [theirs for ours, theirs in table.columns.items() if ours in wanted and ours != theirs]
    for called in (table.systems or (), [path.name for path in request.paths]):
        found += [*called] if called and all(map(sounds_like_error, called)) else []
    return tuple(found)


FORMAT = Format(
    "scores", "tables of scores (CSV, TSV, JSON, Parquet)", read_scores, tuple(f"*{end}" for end in TABLES), scored=True
)
