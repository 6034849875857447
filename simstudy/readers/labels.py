"""Tables of labels: gold labels beside predicted ones, counted for accuracy and metrics of classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics import get_metric
from simstudy.metrics.base import Metric
from simstudy.metrics.labels import PerClass, label_counts
from simstudy.notes import Words, note
from simstudy.readers.columns import (
    LAST_ITEMS,
    NO_NAMES,
    USUAL,
    first_named,
    first_of,
    no_column,
    place,
    placed,
    usually_named,
)
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request, column
from simstudy.readers.tables import JSON, ending, read_table
from simstudy.readers.text_files import read_json
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

# Statistics (n, S) of so many numbers are held at most: 1 GiB.
_MOST = 2**30

_NO_ANSWER = "if the system gave no answer, write a word that is no gold label, such as 'none': it counts as wrong"


def label_rows(rows: pd.DataFrame, request: Request) -> LongTable:
    """A long table of counts from rows with the columns ``gold`` and ``predicted``.

    Several gold labels are a list: a predicted label that is one of them is right.
    """
    gold = _gold_labels(rows, _blank_is_answer(request.references or request.paths))
    predicted = _predicted_labels(rows, _blank_is_answer(request.paths))
    _check_gold(rows, gold)
    metric: Metric = get_metric("accuracy") if request.choose_metric else request.metric
    several = first_of(np.array([len(labels) > 1 for labels in gold]))
    if isinstance(metric, PerClass):
        if several is not None:
            rule = f"must be one label for metric '{metric.name}'"
            raise InputError("gold", rule, gold[several], at=place(rows, several))
        metric = metric.with_classes([*chain(*gold), *predicted])
        if (size := len(rows) * len(metric.statistics)) > _MOST:
            rule = f"'{metric.name}' would need {size:,} numbers for {len(metric.classes):,} classes, over {_MOST:,}"
            raise InputError("metric", rule)
    if several is not None:
        note("several gold answers", n=counted(sum(len(labels) > 1 for labels in gold), "answer"))
    by_system = pd.Series(predicted).groupby(rows["system"].astype(str).to_numpy(), sort=False)
    note_labels({str(name): [*labels] for name, labels in by_system}, {*chain(*gold)})
    right = [label if label in labels else labels[0] for label, labels in zip(predicted, gold, strict=True)]
    statistics = dict(zip(metric.statistics, label_counts(metric, right, predicted).T, strict=True))
    texts = ["\n".join(labels) for labels in gold]
    table = rows.drop(columns="predicted").assign(**statistics, gold=texts, answer=predicted)
    return LongTable(table, metric.statistics, metric, answers_compare=True)


def wide_labels(frame: pd.DataFrame, systems: Sequence[str], origin: str) -> pd.DataFrame:
    """A row for each predicted label of a table with a column of labels for each system."""
    if "gold" not in frame:
        no_column(origin, "gold", frame.columns)
    if not systems:
        no_column(origin, "predicted", frame.columns)
    gold = _distinct(frame["gold"])
    described = [name for name in frame if name not in systems]
    parts = []
    for name in systems:
        labels = frame[name]
        blank = labels.isna() | labels.isin([text for text in (*NO_NAMES, "NA") if text not in gold])
        rows = frame.loc[~blank, described].assign(system=name, predicted=labels[~blank])
        if gold != {""} and gold.isdisjoint(_distinct(rows["predicted"])):
            rule = f"column '{name}' is a system, but none of its labels is a gold one"
            remedy = Words("{aside} makes it a column of the items", aside=column(name, name))
            raise InputError(rule, remedy=remedy, at=origin)
        parts.append(rows)
    return pd.concat(parts)


def _distinct(cells: pd.Series[Any]) -> set[str]:
    """The different labels of a column, of lists each in them."""
    labels = cells if cells.dtype == object else cells.unique()
    whole = cells.dtype.kind == "f"
    return {label_text(label, whole) for cell in labels for label in (cell if isinstance(cell, list) else [cell])}


def label_text(cell: Any, whole: bool) -> str:
    """A label as text without blanks, empty if there is none. In a column of floats (`whole`) 1.0 is 1."""
    return "" if pd.isna(cell) else str(int(cell) if whole and float(cell).is_integer() else cell).strip()


def _blank_is_answer(paths: Sequence[Path]) -> bool:
    """Whether an empty text says that there is no answer: in JSON it does, as null is what is not known."""
    return bool(paths) and all(ending(path) in JSON for path in paths)


def _gold_labels(rows: pd.DataFrame, blank_is_answer: bool) -> list[tuple[str, ...]]:
    """The gold labels of each row; an InputError names the first row without one."""
    whole = rows["gold"].dtype.kind == "f"
    gold = []
    for row, cell in enumerate(rows["gold"]):
        cells = cell if isinstance(cell, list) else [cell]
        if any(isinstance(label, list | dict) for label in cells):
            raise InputError("gold", "must be one label, or a list of labels", cell, at=place(rows, row))
        labels = tuple(dict.fromkeys(label_text(label, whole) for label in cells))
        if not labels or ("" in labels and not (blank_is_answer and "" in cells)):
            raise InputError("no gold label", at=place(rows, row))
        gold.append(labels)
    return gold


def _predicted_labels(rows: pd.DataFrame, blank_is_answer: bool) -> list[str]:
    """The predicted label of each row; an InputError names the first row without one."""
    cells = rows["predicted"]
    labels = []
    for row, cell in enumerate(cells):
        if isinstance(cell, list | dict):
            raise InputError("predicted", "must be one label", cell, at=place(rows, row))
        labels.append(label_text(cell, cells.dtype.kind == "f"))
        if not labels[-1] and not (blank_is_answer and isinstance(cell, str)):
            raise InputError("no predicted label", remedy=_NO_ANSWER, at=place(rows, row))
    return labels


def _check_gold(rows: pd.DataFrame, gold: Sequence[tuple[str, ...]]) -> None:
    """Raise an InputError if an item has unlike gold labels in two rows."""
    first: dict[str, int] = {}
    differ: dict[str, int] = {}
    for row, (item, labels) in enumerate(zip(rows["item"].astype(str), gold, strict=True)):
        if gold[first.setdefault(item, row)] != labels:
            differ.setdefault(item, row)
    if differ:
        item, row = next(iter(differ.items()))
        here, before = ("', '".join(gold[at]) for at in (row, first[item]))
        rule = f"gold labels differ: item '{item}' has '{here}' here and '{before}' in {place(rows, first[item])}"
        raise InputError(f"{rule}; {counted(len(differ), 'item')} of {len(first):,} differ", at=place(rows, row))


def note_labels(systems: Mapping[str, Sequence[str]], gold: Collection[str]) -> None:
    """Name the systems without any label that is a gold one: labels may differ in case, or have other names."""
    folded = {label.casefold() for label in gold}
    strange = {name: labels for name, labels in systems.items() if {*gold}.isdisjoint(labels)}
    if strange:
        cased = any(label.casefold() in folded for label in chain(*strange.values()))
        named = listed([f"'{name}'" for name in strange], 3)
        note("labels unlike gold", systems=named, why="; they differ in case" if cased else "")


def with_gold(
    frame: pd.DataFrame, item: str | None, predicted: str | None, gold: str | None, origin: str, request: Request
) -> pd.DataFrame:
    """A table of predicted labels with the gold labels of the one file of references, by the ids of the items."""
    metric = request.metric
    if not (isinstance(metric, PerClass) or metric.name == "accuracy" or request.choose_metric):
        rule = f"must not be given for tables by metric '{metric.name}': gold labels are for accuracy and the like"
        raise InputError("references", rule)
    if predicted is None:
        rule = "must not be given for tables of item scores"
        remedy = "{named} names a column of predicted labels, and lines without a header must be in a file .txt"
        raise InputError("references", rule, remedy=Words(remedy, named=column("predicted", gold or "NAME")))
    if gold in frame:
        raise InputError("references", f"must not be given for files with gold labels (column '{gold}')")
    if len(request.references) != 1:
        raise InputError("references", f"must be one file of gold labels, not {len(request.references)}")
    if item is None or item not in frame:
        no_column(origin, "item", frame.columns)
    (path,) = request.references
    table = _gold_table(path)
    keys = [item] if item in table else usually_named(table, ("item", *USUAL["item"], *LAST_ITEMS))
    label = request.columns.get("gold") or first_named(table, ("gold", *USUAL["gold"], "answer", "value")) or "gold"
    for name, ours in ((keys[0] if keys else item, "item"), (label, "gold")):
        if name not in table:
            no_column(path, name, table.columns, Words("name it with {named}", named=column(ours)))
    gold_of_item = pd.Series(table[label].to_numpy(), table[keys[0]].astype(str))
    ids = frame[item].astype(str)
    # Errors name the place in this file.
    rows_of_items = placed(table, path).assign(gold=table[label].to_numpy())[gold_of_item.index.isin(ids)]
    _gold_labels(rows_of_items, _blank_is_answer(request.references))
    if gold_of_item.index.has_duplicates:
        # Each row of an item has another answer.
        gold_of_item = gold_of_item.groupby(level=0, sort=False).agg(list)
    lacking = ids[~ids.isin(gold_of_item.index)].unique()
    if len(lacking):
        rule = f"{path} lacks {len(lacking)} of {counted(ids.nunique(), 'item')}, first '{lacking[0]}'"
        raise InputError(rule)
    more = gold_of_item.index.difference(pd.Index(ids), sort=False)
    if len(more):
        note("more gold labels", path=path, items=counted(len(more), "item"), first=more[0])
    return frame.assign(gold=gold_of_item.loc[ids].to_numpy())


def _gold_table(path: Path) -> pd.DataFrame:
    """A table of gold labels; JSON may be ``{item: label}`` or ``{item: [label, another]}``."""
    content = read_json(path) if ending(path) == ".json" else None
    if isinstance(content, dict) and content and all(isinstance(labels, list | str) for labels in content.values()):
        index = pd.RangeIndex(1, len(content) + 1, name="record")
        return pd.DataFrame({"item": [*content], "value": [*content.values()]}, index)
    return read_table(path)
