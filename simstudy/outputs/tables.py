"""The tables of systems and of items: complete, in the order of the statistics, and merged."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.validation import InputError, check_unique, check_utf8

#: What to say of items that occur twice.
SAMPLES = "samples of an item need ids of their own, and a column 'cluster' that names the item"


def keyed_table(
    given: Sequence[Hashable] | pd.DataFrame | None, n: int, argument: str, key: str, default: list[str]
) -> pd.DataFrame:
    """The systems or items table, with its key column first, as text, complete and without repeats."""
    if isinstance(given, pd.DataFrame):
        if key not in given:
            raise InputError(argument, f"must have a column '{key}'; it has {', '.join(map(str, given.columns))}")
        table = given.reset_index(drop=True)
        table = table[[key, *(c for c in table.columns if c != key)]]
        labels = pd.Series([str(label) for label in table.columns])
        if labels.duplicated().any():
            raise InputError(
                argument, f"must have columns of different names, unlike '{labels[labels.duplicated()].iloc[0]}'"
            )
    elif given is not None and (isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable)):
        raise InputError(argument, "must be a list of names or a table, in the order of the statistics", given)
    else:
        names = default if given is None else list(given)
        check_utf8((name for name in names if isinstance(name, str)), argument)
        table = pd.DataFrame({key: names})
    if len(table) != n:
        raise InputError(argument, f"must have {n} rows, as the statistics have", len(table))
    if table[key].isna().any():
        raise InputError(argument, f"must have a {key} in every row")
    table[key] = table[key].astype(str)
    in_order = table[key].take(shortest_first(table[key])).reset_index(drop=True)
    if (in_order == in_order.shift()).any():
        # It says which; to look takes ten times as much memory.
        check_unique(table[key], argument, SAMPLES if key == "id" else "")
    check_named(table[key], "item" if key == "id" else "system")
    return table


def shortest_first(names: pd.Series[str]) -> IntArray:
    """The order of names by their length and then by their letters: numbers are in theirs, 9 before 10."""
    texts = names.astype(str).tolist()
    # Two sorts take less time than one by pairs.
    order = sorted(range(len(texts)), key=texts.__getitem__)
    order.sort(key=[*map(len, texts)].__getitem__)
    return np.array(order, dtype=np.int64)


def check_named(names: Iterable[str], what: str) -> None:
    """Raise a ValueError where two names look the same: they differ in the normal form of Unicode only."""
    known: dict[str, str] = {}
    if isinstance(names, pd.Series):
        names = names[~names.str.isascii()]
    for name in sorted(name for name in names if not name.isascii()):
        other = known.setdefault(unicodedata.normalize("NFC", name), name)
        if other != name:
            raise InputError(
                f"{what} '{name}' is there twice, in two normal forms of Unicode: write it in one (NFC) everywhere"
            )


def matched_table(given: object, names: Sequence[str], argument: str, key: str, axis: pd.Index[Any]) -> pd.DataFrame:
    """A table whose rows describe what a frame of scores names, brought into the frame's order by its key column.

    Where the frame's labels (`axis`) are no more than the numbers of rows, and the table has other keys, its rows are
    taken in their order: there is nothing else to go by.
    """
    if not isinstance(given, pd.DataFrame):
        raise InputError(argument, f"must be a table with a column '{key}', not {type(given).__name__}")
    table = keyed_table(given, len(given), argument, key, [])
    check_unique(pd.Series(list(names), dtype=object), argument)
    numbered = isinstance(axis, pd.RangeIndex) and axis.equals(pd.RangeIndex(len(axis))) and axis.name is None
    if set(table[key]) != set(names):
        if numbered and len(table) == len(names):
            return table
        both = set(table[key]) & set(names)
        lacking = [name for name in names if name not in both]
        side = "the table lacks" if lacking else "the scores lack"
        first = lacking[0] if lacking else next(name for name in table[key] if name not in both)
        raise InputError(argument, f"must have a row for each {key} of the scores, and no other; {side} '{first}'")
    return table.set_index(key).loc[list(names)].reset_index()


def merged_columns(one: pd.DataFrame, other: pd.DataFrame, what: str, key: str) -> pd.DataFrame:
    """What two tables of the same rows, in the same order, know together; ValueError where they say unlike things."""
    merged = one.copy()
    for name in other.columns.drop(key):
        theirs = other[name].set_axis(one.index)
        if name not in one:
            merged[name] = theirs
            continue
        ours = one[name]
        unlike = ours.notna() & theirs.notna() & (ours.astype(object) != theirs.astype(object))
        if unlike.any():
            at = int(np.argmax(unlike))
            raise InputError(
                f"{what} '{one[key].iloc[at]}' has the {name} '{ours.iloc[at]}' here and '{theirs.iloc[at]}' there"
            )
        if ours.isna().any() and theirs.notna().any():
            merged[name] = ours.astype(object).where(ours.notna(), theirs).infer_objects()
    return merged


def complete_systems(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that every systems table has, where they are missing."""
    names = table["name"]
    family = table.get("family", names)
    known: dict[Any, Any] = {"name": names, "family": family.where(family.notna(), names)}
    for name, dtype in (("group", "string"), ("train_size", "Int64"), ("replicate", "Int64")):
        known[name] = table[name] if name in table else pd.Series(pd.NA, table.index, dtype=dtype)
    known["source"] = table.get("source", "natural")
    return pd.DataFrame(known | {name: table[name] for name in table if name not in known})
