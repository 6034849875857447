"""Gold labels of one item: all systems must have the same, however it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.column_names import usual_items
from simstudy.loaders.entries import Entries
from simstudy.loaders.tables import Where, check_plain, first_of, no_column, numbers, places, read_table
from simstudy.loaders.usual_names import GOLD, PREDICTED, first_named, says_labels
from simstudy.metrics.base import IntArray
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError


def label_text(cell: Any, whole: bool) -> str:
    """A label as text without blanks, empty where there is none. In a column of floats (`whole`) 1.0 is 1."""
    return "" if pd.isna(cell) else str(int(cell) if whole and cell == round(cell) else cell).strip()


def one_spelling(gold: Sequence[str], item: IntArray) -> dict[str, str]:
    """Gold labels that an item has in several spellings, such as 1.0 for 1: label -> the first spelling.

    Row i of a table has the label ``gold[i]`` and the item ``item[i]``.
    """
    codes, known = pd.factorize(np.array(gold, dtype=object))
    pairs = pd.DataFrame({"item": item, "label": codes}).drop_duplicates()
    several = pairs.loc[pairs["item"].duplicated(keep=False), "label"].unique()
    labels = [known[code] for code in several]
    first: dict[int, str] = {}
    return {
        label: first.setdefault(meaning, label)
        for label, meaning in zip(labels, _meanings(labels).tolist(), strict=True)
    }


def with_gold(frame: pd.DataFrame, columns: Mapping[str, str], source: Source) -> pd.DataFrame:
    """The table of predicted labels with a column of gold ones from the source's one table of references, by ids.

    `columns` has the frame's own names of columns, guesses among them.
    """
    item = columns.get("item", "item")
    scored = source.metric.name == "accuracy" and "score" in {*columns, *frame.columns}
    scored = scored and not says_labels(frame.columns, source.columns, source.metric)
    if scored or ("predicted" not in source.columns and first_named(frame, PREDICTED) is None):
        raise InputError(
            "references must not be given for tables of item scores (CSV, TSV, JSON, Parquet), which have scores "
            "already; predicted labels need a column 'predicted'"
        )
    usual = ("gold", source.columns.get("gold", "gold").lower(), *GOLD)
    if (there := first_named(frame, usual)) is not None:
        raise InputError(
            f"references must not be given for files with gold labels: leave them out, or rename column '{there}' "
            "if it has no gold labels"
        )
    if len(source.references) != 1:
        raise InputError(f"references: gold labels must be in one file, not {len(source.references)}")
    (path,) = source.references
    if item not in frame:
        no_column(source.paths[0], item, frame.columns, f"Gold labels of {path} are matched by it.")
    table = read_table(path)
    # JSON of labels by the ids of their items, {"q1": "A"}, has columns "key" and "value".
    key = item if item in table else usual_items(table) or ("key" if "key" in table else "")
    labels = (*GOLD, "answer", *(["value"] if key == "key" else []))
    label = source.columns.get("gold") or first_named(table.columns.drop(key, errors="ignore"), labels) or "gold"
    for column, ours in ((key or item, "item"), (label, "gold")):
        if column not in table:
            no_column(path, column, table.columns, f"Name it with columns={{'{ours}': 'NAME'}}.")
    where = places(table, path)
    gold = pd.Series(table[label].to_numpy(), table[key].astype(str))
    if (row := first_of(gold.index.duplicated())) is not None:
        raise InputError(f"{where(row)}: item '{gold.index[row]}' occurs twice")
    ids = frame[item].astype(str)
    known_ids = {*ids}
    if (lacking := ids[~ids.isin(gold.index)].unique()).size:
        raise InputError(f"{path} lacks {lacking.size} of {counted(len(known_ids), 'item')}, first '{lacking[0]}'")
    check_plain(table[label], label, where)
    whole = table[label].dtype.kind == "f"
    blank = [one in known_ids and not label_text(cell, whole) for one, cell in gold.items()]
    if (row := first_of(np.array(blank))) is not None:
        raise InputError(f"{where(row)}: no gold label")
    if more := [one for one in gold.index if one not in known_ids]:
        note(
            "text", text=f"{path} has gold labels of {counted(len(more), 'item')} that no system has, first '{more[0]}'"
        )
    return frame.assign(**{source.columns.get("gold", "gold"): gold.loc[ids].to_numpy()})


def check_gold(frame: pd.DataFrame, entries: Entries, where: Where) -> None:
    """Raise a ValueError where the gold labels of one item differ, but for case and how numbers are written."""
    cells = frame["gold"].iloc[entries.row]
    codes, known = pd.factorize(cells)
    whole = cells.dtype.kind == "f"
    labels = [label_text(cell, whole) for cell in known]
    found = _meanings(labels)[codes]
    n = len(entries.items)
    least, most = np.full(n, len(labels)), np.full(n, -1)
    np.minimum.at(least, entries.item, found)
    np.maximum.at(most, entries.item, found)
    # Tables of items that some systems lack have items without entries.
    differ = least < most
    if not differ.any():
        return
    own = np.flatnonzero(entries.item == int(np.argmax(differ)))
    one, other = own[0], own[np.argmax(found[own] != found[own[0]])]
    told = [
        f"'{labels[codes[i]]}' for system '{entries.systems[entries.system[i]]}' ({where(entries.row[i])})"
        for i in (one, other)
    ]
    name = entries.items[entries.item[one]]
    n_differ, there = int(differ.sum()), int((most >= 0).sum())
    raise InputError(
        f"gold labels differ: item '{name}' has {told[0]}, but {told[1]}; they differ for {n_differ:,} of "
        f"{counted(there, 'item')}. All systems must be compared with the same gold labels"
    )


def _meanings(labels: Sequence[str]) -> IntArray:
    """Numbers of labels, equal for those that differ in case only, or in how a number is written."""
    values = numbers(pd.Series(labels, dtype=object))
    meant = [label.casefold() if np.isnan(value) else value for label, value in zip(labels, values, strict=True)]
    return pd.factorize(np.array(meant, dtype=object))[0].astype(np.int64)
