"""Tables that Outputs are made from: scores in memory, and the tables of systems and of items that describe them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any, Protocol

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.metrics.registry import sounds_like_error
from simstudy.notes import Argument, note
from simstudy.validation import InputError, brief, check_unique, check_utf8


class ArrowTable(Protocol):
    """A table of polars, pyarrow, duckdb and others that hands out Arrow's columns."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """The columns, as Arrow's C stream has them."""


#: A table in memory: of pandas, of a library that speaks Arrow, or a column of scores for each system by its name.
Table = pd.DataFrame | ArrowTable | Mapping[str, Any]

#: Names of columns of clusters, whatever they hold; no other column is one unless a user says so.
CLUSTERS = ("cluster", "document", "document_id", "doc", "doc_id")

# Columns that describe items in wide tables, or that only long tables have.
_NO_SYSTEMS = ("system", "score", "sample", "domain", "cluster", "factor")

# Columns that number or name the items, as people call them: no system is called so.
_IDS = re.compile(r"(?:.*[ _.-])?(?:id|idx|index)|qid|uid|unnamed: \d+", re.IGNORECASE)

# What to do about items that occur twice.
_SAMPLES = "samples of an item need ids of their own, and a column 'cluster' that names the item"


# Tables of scores ----------------------------------------------------------------------------------------------------
def is_table(value: object) -> bool:
    """Whether this is a frame or another table in memory that hands out Arrow's columns; not a dictionary."""
    has_columns = hasattr(type(value), "__arrow_c_stream__") and not isinstance(value, pd.Series)
    return has_columns or isinstance(value, pd.DataFrame)


def as_frame(argument: str, given: object) -> pd.DataFrame:
    """A table in memory as a frame of pandas whose columns are text, once each.

    A dictionary has a column for each of its keys: lists of one length, or Series, whose values meet by their labels.
    """
    if isinstance(given, Mapping):
        _check_scores_by_system(argument, given)
    elif not is_table(given):
        kinds = "a pandas DataFrame, a table of polars or pyarrow, or a dictionary of scores by system"
        raise InputError(argument, f"must be {kinds}, not {type(given).__name__}")
    try:
        if isinstance(given, pd.DataFrame):
            frame = given
        else:
            frame = pd.DataFrame(dict(given)) if isinstance(given, Mapping) else _arrow_frame(given)
    except (ValueError, TypeError, LookupError, NotImplementedError) as error:
        raise InputError(argument, f"cannot be read as a table: {' '.join(str(error).split())}") from None
    names = pd.Index([None if pd.isna(name) else str(name) for name in frame.columns], name=frame.columns.name)
    if names.isna().any():
        column = int(np.argmax(names.isna())) + 1
        raise InputError(argument, f"must have a name for every column; column {column} has none")
    if (again := names.duplicated()).any():
        raise InputError(argument, f"must have each column once; '{names[again][0]}' occurs twice")
    frame = frame.set_axis(names, axis=1)
    categories = {
        name: kind.categories.dtype
        for name, kind in frame.dtypes.items()
        if isinstance(kind, pd.CategoricalDtype) and not frame[name].isna().any()
    }
    return frame.astype(categories)


def _check_scores_by_system(argument: str, given: Mapping[Any, Any]) -> None:
    for name, column in given.items():
        if isinstance(column, str) or not isinstance(column, Iterable):
            raise InputError(argument, f"must have a list of scores for each system, not {brief(column)} for '{name}'")
    if len({isinstance(column, pd.Series) for column in given.values()}) > 1:
        raise InputError(argument, "must name the items of all systems (Series), or of none (lists)")


def _arrow_frame(given: object) -> pd.DataFrame:
    import pyarrow as pa  # only Arrow's tables need it

    from simstudy.files.parquet import frame_of  # so does this

    return frame_of(pa.table(given))


def _is_numbered(index: pd.Index[Any]) -> bool:
    """Whether an index is no more than the numbers of the rows."""
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index))) and index.name is None


def with_index(argument: str, frame: pd.DataFrame, item: str = "item") -> pd.DataFrame:
    """A frame of rows 0, 1, 2, … in which what the index says is in columns: the items (`item`), and named levels.

    An index without a name says the items if no column does. The numbers of the rows say nothing.
    """
    index, rows = frame.index, frame.reset_index(drop=True)
    if _is_numbered(index) or (index.nlevels == 1 and index.name is None and item in rows):
        # Labels beside a column of the items were left when rows were selected.
        return rows
    names = list(index.names)
    is_item = index.nlevels == 1 and item not in rows and names[0] not in _NO_SYSTEMS
    if is_item or names[-1] is None:
        names[-1] = item
    for level, name in enumerate(names):
        if name is None:
            raise InputError(argument, f"must have names for the levels of its index, unlike level {level + 1}")
        if str(name) in rows:
            raise InputError(argument, f"must have '{name}' in the index or in a column, not in both")
    levels = {str(name): index.get_level_values(level).to_numpy() for level, name in enumerate(names)}
    return pd.concat([pd.DataFrame(levels), rows], axis=1)


def check_no_ids(argument: str, frame: pd.DataFrame) -> None:
    """Raise an InputError if a column of a table whose rows have no items is called as ids are."""
    if ids := [name for name in frame if _IDS.fullmatch(str(name))]:
        raise InputError(
            argument,
            f"must name its items: is it column '{ids[0]}'? Call that 'item', make it the index (pandas), or use "
            f"simstudy.load(table, metric, columns={{'item': '{ids[0]}'}}); else it would be used as a system",
        )


def wide_scores(given: object) -> pd.DataFrame:
    """Scores with a column for each system and the items as the index; items without names keep their row numbers.

    An InputError names a column that describes items, or says that the table is long: `simstudy.load` reads those.
    """
    frame = as_frame("scores", given)
    rows = with_index("scores", frame)
    descriptions = {*_NO_SYSTEMS, *frame.index.names}
    if others := [name for name in rows if name in descriptions - {"item"} or str(name).lower() in CLUSTERS]:
        rule = f"must have a column for each system; '{others[0]}' is none"
        remedy = "describe items by items=…, or read the table with simstudy.load(table, metric)"
        raise InputError("scores", rule, remedy=remedy)
    if "item" not in rows:
        check_no_ids("scores", rows)
        return rows
    if (blank := rows["item"].isna() | (rows["item"].astype(str).str.strip() == "")).any():
        raise InputError("scores", f"must have an item in every row; row {int(np.argmax(blank)) + 1} has none")
    return rows.set_index("item")


def note_errors(names: list[str]) -> None:
    """Note that all columns of scores, of which higher is taken to be better, are called like errors."""
    if all(map(sounds_like_error, names)):
        note("called like errors", name=names[0], lower=Argument("lower_is_better", True))


# Tables of systems and of items --------------------------------------------------------------------------------------
def keyed_table(given: Iterable[Hashable] | pd.DataFrame, n: int, argument: str, key: str) -> pd.DataFrame:
    """The systems or items table, with its key column first, as text, complete and without repeats."""
    if isinstance(given, pd.DataFrame):
        if key not in given:
            raise InputError(argument, f"must have a column '{key}'; it has {', '.join(map(str, given.columns))}")
        labels = given.columns.astype(str)
        if (again := labels.duplicated()).any():
            raise InputError(argument, f"must have columns of different names, unlike '{labels[again][0]}'")
        table = given.reset_index(drop=True)[[key, *given.columns.drop(key)]]
    elif isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        raise InputError(argument, "must be a list of names or a table, in the order of the statistics", given)
    else:
        names = list(given)
        check_utf8((name for name in names if isinstance(name, str)), argument)
        table = pd.DataFrame({key: names})
    if len(table) != n:
        raise InputError(argument, f"must have {n} rows, as the statistics have", len(table))
    if table[key].isna().any():
        raise InputError(argument, f"must have a {key} in every row")
    table[key] = table[key].astype(str)
    check_unique(table[key], argument, _SAMPLES if key == "id" else "")
    return table


def matched_table(given: object, argument: str, key: str, axis: pd.Index[Any]) -> pd.DataFrame:
    """A table whose rows describe what an axis of a frame names, brought into the axis' order by its key column.

    If the axis is no more than the numbers of rows, and the table has other keys, its rows are taken in their order:
    there is nothing else to go by.
    """
    if not isinstance(given, pd.DataFrame):
        raise InputError(argument, f"must be a table with a column '{key}', not {type(given).__name__}")
    names = axis.astype(str).to_series(name=key)
    table = keyed_table(given, len(given), argument, key)
    check_unique(names, argument)
    if set(table[key]) != set(names):
        if _is_numbered(axis) and len(table) == len(names):
            return table
        lacking, extra = names[~names.isin(table[key])], table[key][~table[key].isin(names)]
        side = f"the table lacks '{lacking.iloc[0]}'" if len(lacking) else f"the scores lack '{extra.iloc[0]}'"
        raise InputError(argument, f"must have a row for each {key} of the scores, and no other; {side}")
    return table.set_index(key).loc[names.tolist()].reset_index()


def axis_tables(
    argument: str, frame: object, systems: pd.DataFrame | None, items: pd.DataFrame | None
) -> tuple[list[str] | pd.DataFrame, list[str] | pd.DataFrame]:
    """The systems and the items of a frame (items x systems): their names, or the tables that describe them."""
    if not isinstance(frame, pd.DataFrame) or frame.shape[1] == 0:
        raise InputError(argument, "must be a pandas DataFrame (items x systems) with a column for each system", frame)
    names, ids = frame.columns, frame.index
    return (
        names.astype(str).tolist() if systems is None else matched_table(systems, "systems", "name", names),
        ids.astype(str).tolist() if items is None else matched_table(items, "items", "id", ids),
    )


def complete_systems(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns that every systems table has."""
    names = table["name"]
    family = table.get("family", names)
    columns: dict[Any, Any] = {"name": names, "family": family.where(family.notna(), names)}
    for name, dtype in (("group", "string"), ("train_size", "Int64"), ("replicate", "Int64")):
        columns[name] = table[name] if name in table else pd.Series(pd.NA, table.index, dtype=dtype)
    columns["source"] = table.get("source", "natural")
    return pd.DataFrame(columns | {name: table[name] for name in table if name not in columns})


def merged_columns(table: pd.DataFrame, other: pd.DataFrame, what: str, key: str) -> pd.DataFrame:
    """The columns of two tables of the same rows, in the same order; InputError if they have unlike values."""
    merged = table.copy()
    for name in other.columns.drop(key):
        theirs = other[name].set_axis(table.index)
        ours = table.get(name, theirs)
        unlike = ours.notna() & theirs.notna() & (ours.astype(object) != theirs.astype(object))
        if unlike.any():
            row = int(np.argmax(unlike))
            values = f"'{ours.iloc[row]}' here and '{theirs.iloc[row]}' there"
            raise InputError(f"{what} '{table[key].iloc[row]}' has the {name} {values}")
        merged[name] = ours.combine_first(theirs)
    return merged


def grouped_items(items: pd.DataFrame, labels: pd.Series[Any]) -> tuple[pd.DataFrame, IntArray]:
    """A row for each label with the columns of the items that are constant within every label, and each item's row.

    A column that some items of a label lack is not constant.
    """
    codes, names = pd.factorize(labels)
    groups = items.drop(columns="id").groupby(codes)
    constant = groups.first().loc[:, (groups.nunique(dropna=False) == 1).all()]
    return pd.concat([pd.Series(names.astype(str), name="id"), constant], axis=1), codes


def shortest_first(names: pd.Series[str]) -> IntArray:
    """The order of names by their length and then by their letters: numbers are in their order, 9 before 10."""
    texts = names.astype(str).tolist()
    # Two sorts take less time than one by pairs.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    order.sort(key=[*map(len, texts)].__getitem__)
    return np.array(order, dtype=np.int64)
