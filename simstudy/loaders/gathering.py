"""The entries of a table of scores, gathered by item and by system: what `simstudy.loaders.assembling` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.loaders.assembling import SystemOutputs
from simstudy.loaders.base import Source
from simstudy.loaders.entries import Entries
from simstudy.loaders.tables import Where
from simstudy.loaders.text_columns import ANSWERS, INPUTS, REFERENCES, answer_columns, as_text, text_column
from simstudy.loaders.usual_names import plain
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, BrokenRule
from simstudy.notes import note
from simstudy.outputs.answers import Samples
from simstudy.outputs.item_columns import names_clusters
from simstudy.validation import InputError

# Characters of a cell that a note shows.
_SHOWN = 40

# Ids are not those of questions where the questions of more than this share of them differ between systems, and most of
# these stand under another id too. Fewer may be slips, and other texts may be other ways of asking.
_DIFFERENT, _MOST = 0.1, 0.5


def item_table(frame: pd.DataFrame, entries: Entries, source: Source, where: Where) -> pd.DataFrame:
    """The items with the columns that say one thing of each, blanks aside; notes name keys that do not."""
    table: dict[str, object] = {"id": entries.items}
    n = len(entries.items)
    for name in entries.others:
        cells = frame[name].iloc[entries.row]
        codes, values = pd.factorize(cells)
        blank = np.array([pd.isna(value) or not str(value).strip() for value in values], dtype=bool)
        known = codes >= 0
        known[known] = ~blank[codes[known]]
        least, most = np.full(n, len(values)), np.full(n, -1)
        np.minimum.at(least, entries.item[known], codes[known])
        np.maximum.at(most, entries.item[known], codes[known])
        if (least >= most).all():
            if name != "id" and len(values):
                table[name] = pd.Series(values.take(np.maximum(most, 0))).where(most >= 0)
            continue
        i = int(np.argmax(least < most))
        if name in source.columns:
            rows = [
                where(entries.row[np.flatnonzero((entries.item == i) & (codes == c))[0]]) for c in (least[i], most[i])
            ]
            raise InputError(
                f"{rows[1]}: '{source.columns[name]}' of item '{entries.items[i]}' is '{values[most[i]]}', but "
                f"'{values[least[i]]}' in {rows[0]}"
            )
        if plain(name) in INPUTS and (least < most).mean() > _DIFFERENT:
            two = f"'{entries.items[i]}' is '{_short(values[least[i]])}' and '{_short(values[most[i]])}'"
            _check_same_questions(name, codes, entries, source, two=two, where=where)
        # Of a column that nobody asked for there is nothing to tell.
        if name == "domain" or names_clusters(name):
            first, other = (_short(values[c]) for c in (least[i], most[i]))
            note("text", text=f"column '{name}' left out: item '{entries.items[i]}' has '{first}' and '{other}'")
    return pd.DataFrame(table)


def _check_same_questions(
    name: str, codes: NDArray[np.intp], entries: Entries, source: Source, *, two: str, where: Where
) -> None:
    """Raise a ValueError where systems have the same questions under other ids: matching by these pairs them wrongly.

    `codes` (N,) number the questions of the entries; the message shows `two` of one id.
    """
    asked = pd.DataFrame({"system": entries.system, "item": entries.item, "question": codes})
    # A system has a question once for each of its samples.
    asked = asked[codes >= 0].drop_duplicates()
    differ = asked.groupby("item")["question"].transform("nunique") > 1
    if (asked.groupby("question")["item"].transform("nunique")[differ] > 1).mean() <= _MOST:
        return
    each = asked.groupby("system")["question"].agg(["nunique", "size"])
    if (each["nunique"] < each["size"] * _MOST).any():
        # Such a column does not say which question an item is.
        return
    file = where(entries.row[-1]).rpartition(", ")[0]
    advice = (
        f"columns={{'item': '{name}'}} matches by '{name}'"
        if (each["nunique"] == each["size"]).all()
        else f"give each item one id, for no system has each '{name}' once only"
    )
    theirs = source.columns.get("item", "item")
    raise InputError(
        f"{file}: systems have different questions under one id of column '{theirs}', but the same questions: {two}; "
        + advice
    )


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def outputs_of_systems(
    entries: Entries, where: Where, samples: Samples | None = None, texts: Sequence[str | None] | None = None
) -> list[SystemOutputs]:
    """What each system did, in the order of the systems; the origin is the file of its first entry."""
    order = np.argsort(entries.system, kind="stable")
    known = np.array(entries.items, dtype=object)
    systems = []
    before = None
    for rows in np.split(order, np.flatnonzero(np.diff(entries.system[order])) + 1):
        items = entries.item[rows]
        # Systems of one table have the same items as a rule: one list of their ids serves all of these.
        if before is None or not np.array_equal(items, before):
            before, ids = items, known[items].tolist()
        name = entries.systems[entries.system[rows[0]]]
        file = where(entries.row[rows[0]]).rpartition(", ")[0]
        own = None if samples is None else samples[rows]
        said = None if entries.said is None else [entries.said[i] for i in rows]
        own_texts = None if texts is None else [texts[i] for i in rows]
        systems.append(SystemOutputs(name, file, ids, entries.statistics[rows], said, samples=own, texts=own_texts))
    return systems


def nothing_said(entries: Entries, metric: Metric) -> Callable[[str], Array]:
    """What a system gets for an item that it lacks: what all others have of the item itself, else 0."""
    if not metric.of_item:
        raise InputError(
            f"missing='zero' is not defined for metric '{metric.name}': its `of_item` names no statistic that an item "
            "keeps without an answer"
        )
    of_item = np.isin(metric.statistics, metric.of_item)
    least = np.full((len(entries.items), len(metric.statistics)), np.inf)
    most = -least
    np.minimum.at(least, entries.item, entries.statistics)
    np.maximum.at(most, entries.item, entries.statistics)
    position = {item: i for i, item in enumerate(entries.items)}

    def nothing(item: str) -> Array:
        i = position[item]
        for s in np.flatnonzero(of_item & (least[i] != most[i])):
            name = metric.statistics[s]
            if np.isinf(least[i, s]):
                raise InputError(f"missing='zero': no system has item '{item}'")
            raise InputError(
                f"missing='zero': systems differ in '{name}' of item '{item}' ({least[i, s]:g} and {most[i, s]:g}), so "
                "that there is none to give to a system that lacks it"
            )
        return np.where(of_item, least[i], 0)

    return nothing


def texts_of_entries(entries: Entries, frame: pd.DataFrame, of_items: Iterable[object]) -> Sequence[str | None] | None:
    """What was said in each entry of a table of scores: its label, or the text of a column; None where none has it.

    Columns `of_items` say one thing of each item: one of these that may be the right answer is.
    """
    if entries.said is not None:
        return entries.said
    own = answer_columns(frame)
    if any(name in own for name in entries.systems):
        cells = {name: frame[column].tolist() for name, column in own.items()}
        names = (entries.systems[k] for k in entries.system)
        return [
            as_text(cells[name][row]) if name in cells else None for name, row in zip(names, entries.row, strict=True)
        ]
    right = {column for column in of_items if text_column([column], REFERENCES) is not None}
    column = text_column(entries.others, ANSWERS, right)
    return None if column is None else [as_text(cell) for cell in frame[column].iloc[entries.row]]


def check_rules(statistics: Array, metric: Metric, place: Callable[[int, int], str]) -> None:
    """Raise a ValueError that names the first of statistics (K, n, S) that break the metric's own rules, by its place.

    One system is looked at after the other.
    """
    for k, of_system in enumerate(statistics):
        try:
            metric.check(of_system[None])
        except BrokenRule as broken:
            found = of_system[broken.item]
            shown = ", ".join(f"{name} = {value:g}" for name, value in zip(metric.statistics, found, strict=True))
            rule = f"metric '{metric.name}' needs {broken.broken}"
            raise InputError(f"{place(k, broken.item)}: {shown}; {rule}") from None
