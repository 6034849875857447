"""Texts of items, beside their numbers: where loaders have them, and how they are kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import pandas as pd

from simstudy.loaders.base import Asked, SystemOutputs
from simstudy.loaders.entries import Entries
from simstudy.loaders.text_columns import ANSWERS, INPUTS, REFERENCES, answer_columns, as_text, text_column
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.outputs.texts import ItemTexts, PackedTexts


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


def kept_texts(
    systems: Sequence[SystemOutputs], rows: Sequence[Mapping[str, int]], items: pd.DataFrame, asked: Asked | None
) -> ItemTexts | None:
    """The texts of items and systems; None where there are none.

    `rows` say where each system has each item. What no file says of the items themselves, a column of `items` may.
    """
    ids = items["id"].tolist()
    places = {name: i for i, name in enumerate(ids)}
    asked = asked or Asked()
    inputs = _packed(places, asked.inputs) or _of_column(places, items, INPUTS)
    references = _packed(places, asked.references) or _of_column(places, items, REFERENCES)
    answers = {
        system.name: PackedTexts(row, system.texts)
        for system, row in zip(systems, rows, strict=True)
        if system.texts is not None
    }
    if not answers and inputs is None and references is None:
        return None
    samples: dict[str, list[str]] = {}
    if SAMPLE_OF in items:
        for name, question in zip(ids, items[SAMPLE_OF].astype(str), strict=True):
            samples.setdefault(question, []).append(name)
    return ItemTexts(inputs, references, answers, samples)


def _packed(places: Mapping[str, int], texts: Mapping[str, str | None]) -> PackedTexts | None:
    known = any(texts.get(name) for name in places)
    return PackedTexts(places, (texts.get(name) for name in places)) if known else None


def _of_column(places: Mapping[str, int], items: pd.DataFrame, names: Sequence[str]) -> PackedTexts | None:
    column = text_column(items.columns, names, ["id"])
    if column is None:
        return None
    cells: list[Hashable] = items[column].tolist()
    return _packed(places, dict(zip(places, map(as_text, cells), strict=True)))
