"""Tables in memory (pandas, polars, pyarrow, dictionaries) as data frames of pandas, and what their indexes say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd

from simstudy.notes import note
from simstudy.outputs.item_columns import CLUSTERS, cluster_column, note_single_items
from simstudy.text.reprs import listed
from simstudy.validation import InputError, brief


class ArrowTable(Protocol):
    """A table of polars, pyarrow, duckdb and others that hands out Arrow's columns."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        """The columns, as Arrow's C stream has them."""


#: A table in memory: of pandas, of a library that speaks Arrow, or a column of scores for each system by its name.
Table = pd.DataFrame | ArrowTable | Mapping[str, Any]

# What a table without index is handed out by, in the order of preference.
_HANDED_OUT = ("__arrow_c_stream__", "to_pandas", "__dataframe__")

# An index of this name is what it says, and no list of items.
_NO_ITEMS = ("system", "score", "domain", "cluster")

# Columns that number or name the items, as people call them: no system is called so.
_IDS = re.compile(r"(?:.*[ _.-])?(?:id|idx|index)|qid|uid|unnamed: \d+", re.IGNORECASE)


def is_table(value: object) -> bool:
    """Whether this is a table in memory: a frame, or something else that hands out columns; not a dictionary."""
    if isinstance(value, pd.Series | pd.Index):
        return False
    return isinstance(value, pd.DataFrame) or any(hasattr(type(value), name) for name in _HANDED_OUT)


def as_frame(argument: str, given: object) -> pd.DataFrame:
    """A table in memory as a frame of pandas whose columns are text, once each.

    Tables of other libraries are known by the protocols that they speak; none of them is imported. A dictionary has a
    column for each of its keys: lists of one length, or Series or dictionaries, whose values meet by their labels.
    """
    if isinstance(given, pd.DataFrame):
        frame = given
    elif isinstance(given, Mapping):
        frame = _of_columns(argument, given)
    elif is_table(given):
        frame = _handed_out(argument, given)
    else:
        raise InputError(
            argument,
            "must be a pandas DataFrame, a table of polars or pyarrow, or a dictionary of scores by system, not "
            f"{type(given).__name__}",
        )
    if frame.columns.nlevels > 1:
        raise InputError(argument, f"must have columns of one name each, not of {frame.columns.nlevels} levels")
    names = pd.Index([None if pd.isna(name) else str(name) for name in frame.columns])
    if names.isna().any():
        raise InputError(
            argument, f"must have a name for every column; column {int(np.argmax(names.isna())) + 1} has none"
        )
    if (twice := names.duplicated()).any():
        raise InputError(argument, f"must have each column once; '{names[twice][0]}' occurs twice")
    coded = [
        name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if isinstance(kind, pd.CategoricalDtype)
    ]
    frame = frame.astype({name: frame[name].cat.categories.dtype for name in coded if not frame[name].isna().any()})
    return frame.set_axis(names.rename(frame.columns.name), axis=1)


def numbered(index: pd.Index[Any]) -> bool:
    """Whether an index is no more than the numbers of the rows."""
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index))) and index.name is None


def with_index(argument: str, frame: pd.DataFrame, item: str = "item") -> pd.DataFrame:
    """A frame of rows 0, 1, 2, … in which what the index says is in columns: the items (`item`), and named levels.

    An index without a name says the items where no column does. The numbers of the rows say nothing.
    """
    index = frame.index
    rows = frame.reset_index(drop=True)
    if numbered(index):
        return rows
    names = list(index.names)
    if names[-1] is None or (index.nlevels == 1 and item not in rows and names[0] not in _NO_ITEMS):
        names[-1] = item
        if index.nlevels == 1 and item in rows:
            # Labels that were left when rows were selected.
            return rows
    for level, name in enumerate(names):
        if name is None:
            raise InputError(argument, f"must have names for the levels of its index, unlike level {level + 1}")
        if str(name) in rows:
            raise InputError(argument, f"must have '{name}' in the index or in a column, not in both")
    levels = {str(name): index.get_level_values(level).to_numpy() for level, name in enumerate(names)}
    return pd.concat([pd.DataFrame(levels), rows], axis=1)


def check_no_ids(argument: str, frame: pd.DataFrame) -> None:
    """Raise a ValueError where a column of a table whose rows have no items is called as ids are."""
    if ids := [name for name in frame if _IDS.fullmatch(str(name))]:
        raise InputError(
            argument,
            f"must name its items: is it column '{ids[0]}'? Call that 'item', make it the index (pandas), or use "
            f"simstudy.load(table, metric, columns={{'item': '{ids[0]}'}}); else it would be used as a system",
        )


def wide_scores(given: object) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Scores with items as the index and systems as columns, and a table of the items where the given table says more.

    A ValueError where a long table has an item of a system twice, or not at all.
    """
    frame = as_frame("scores", given)
    if (clusters := cluster_column(frame.columns)) is not None:
        frame = frame.rename(columns={clusters: "cluster"})
    if "item" not in frame and frame.index.nlevels == 1 and not {"system", "score"} & {*frame, frame.index.name}:
        if numbered(frame.index):
            check_no_ids("scores", frame)
        _check_named("scores", "item", pd.Series(frame.index))
        wide, items = _without_items(frame)
        return wide, None if items is None else items.assign(id=frame.index.astype(str))[["id", *items]]
    columns_name = frame.columns.name
    rows = with_index("scores", frame)
    for name in ("item", "system", "score") if {"system", "score"} & set(rows) else ("item",):
        if name not in rows:
            raise InputError(
                "scores",
                f"must have a column '{name}' among {listed([*rows], 12)}; simstudy.load(table, metric, columns=...) "
                "accepts other names",
            )
    for name in ("item", "system"):
        if name in rows:
            _check_named("scores", name, rows[name])
    known = [name for name in ("domain", "cluster") if name in rows]
    if "system" not in rows:
        wide, items = _without_items(rows.set_index("item"))
        wide.columns.name = columns_name
        return wide, None if items is None else items.assign(id=rows["item"].to_numpy())[["id", *items]]
    return _pivoted(rows, known)


def _without_items(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The columns of a wide table that are systems, and those that describe the items, if there are any.

    A note names the latter if tests do not go by them.
    """
    of_items = [name for name in frame if name in ("domain", "sample") or str(name).lower() in CLUSTERS]
    if others := [str(name) for name in of_items if name not in ("domain", "cluster")]:
        note("columns not taken for systems", columns=listed(others))
    if not of_items:
        return frame, None
    if "cluster" in frame:
        note_single_items(frame["cluster"])
    return frame.drop(columns=of_items), frame[of_items].reset_index(drop=True)


def _pivoted(rows: pd.DataFrame, known: list[str]) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The scores of a table with a row for each system and item, and what columns of the items say."""
    if others := [name for name in rows if name not in ("system", "item", "score", *known)]:
        note("columns left out", columns=listed([*map(str, others)]))
    if (again := rows.duplicated(["system", "item"])).any():
        row = rows[again].iloc[0]
        raise InputError(
            "scores",
            f"must have an item of a system once; '{row['item']}' of '{row['system']}' occurs twice (simstudy.load "
            "reads samples, which a column 'sample' numbers)",
        )
    item, items = pd.factorize(rows["item"])
    system, systems = pd.factorize(rows["system"])
    there = np.zeros((len(items), len(systems)), dtype=bool)
    there[item, system] = True
    if not there.all():
        i, k = np.argwhere(~there)[0]
        raise InputError(
            "scores",
            f"must be complete; system '{systems[k]}' lacks item '{items[i]}' (simstudy.load has missing='drop' and "
            "missing='zero')",
        )
    of_systems = np.lexsort((item, system)).reshape(len(systems), len(items))
    wide = {str(name): rows["score"].iloc[own].to_numpy() for name, own in zip(systems, of_systems, strict=True)}
    for name in known:
        values = rows.groupby("item", sort=False)[name].nunique(dropna=False)
        if (values > 1).any():
            raise InputError("scores", f"must have one {name} for each item; '{values.idxmax()}' has {values.max()}")
    of_items = rows.drop_duplicates("item")[["item", *known]].rename(columns={"item": "id"}).reset_index(drop=True)
    if "cluster" in known:
        note_single_items(of_items["cluster"])
    return pd.DataFrame(wide, index=pd.Index(items)), of_items if known else None


def _check_named(argument: str, what: str, names: pd.Series[Any]) -> None:
    """Raise a ValueError where a row has no item or no system."""
    if (nothing := names.isna() | (names.astype(str).str.strip() == "")).any():
        one = "an item" if what == "item" else f"a {what}"
        raise InputError(argument, f"must have {one} in every row; row {int(np.argmax(nothing)) + 1} has none")


def _of_columns(argument: str, given: Mapping[Any, Any]) -> pd.DataFrame:
    if not given:
        raise InputError(argument, "must have a column of scores for at least one system")
    for name, column in given.items():
        if isinstance(column, str | bytes | set | frozenset) or not hasattr(type(column), "__iter__"):
            raise InputError(argument, f"must have a list of scores for each system, not {brief(column)} for '{name}'")
    labelled = [isinstance(column, pd.Series | Mapping) for column in given.values()]
    if any(labelled) and not all(labelled):
        raise InputError(argument, "must name the items of all systems (Series or dictionaries), or of none (lists)")
    if not any(labelled) and len(lengths := {len(column): name for name, column in given.items()}) > 1:
        (one, first), (other, second), *_ = lengths.items()
        raise InputError(argument, f"must have as many scores for each system: '{first}' has {one}, '{second}' {other}")
    try:
        return pd.DataFrame(
            {name: pd.Series(column) if isinstance(column, Mapping) else column for name, column in given.items()}
        )
    except (ValueError, TypeError) as error:
        raise InputError(argument, f"cannot be made a table: {' '.join(str(error).split())}") from None


def _handed_out(argument: str, given: Any) -> pd.DataFrame:
    try:
        if hasattr(given, "__arrow_c_stream__"):
            frame = _from_arrow(given)
        elif hasattr(given, "to_pandas"):
            frame = given.to_pandas()
        else:
            frame = pd.api.interchange.from_dataframe(given)
    except (ValueError, TypeError, LookupError, NotImplementedError, AttributeError, ImportError) as error:
        raise InputError(argument, f"cannot be read as a table: {' '.join(str(error).split())}") from None
    if not isinstance(frame, pd.DataFrame):
        raise InputError(argument, "must be a table", given)
    return frame


def _from_arrow(given: ArrowTable) -> pd.DataFrame:
    import pyarrow as pa  # only Arrow's tables need it

    from simstudy.files.parquet import frame_of  # so does this

    table = pa.table(given)
    if not isinstance(table, pa.Table):
        raise InputError("it is no table")
    return frame_of(table)
