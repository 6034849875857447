"""Columns of tables of scores by the names that others give them, and columns that are made of others.

Where a table has no column of our name (``system``, ``item``, ``score``) and ``columns`` names none, a column with a
usual name (`simstudy.loaders.usual_names`) is taken for it, and a note says which. Case does not matter, nor do blanks
and hyphens. Where no column has such a name, it may be the last part of a dotted one: ``metrics.exact_match``. Two
columns that fit are refused, with what to say. A column of scores must hold numbers, or true and false; of several,
those count whose numbers the metric takes, for accuracy from 0 to 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.tables import Where, first_of, no_column, numbers, renamed, takes_one_score
from simstudy.loaders.text_columns import ANSWERS, REFERENCES
from simstudy.loaders.usual_names import (
    INDEX,
    QUESTIONS,
    USUAL,
    has_predicted,
    names_anything,
    plain,
    sample_columns,
    says_labels,
    usually_named,
)
from simstudy.metrics import Metric
from simstudy.notes import note
from simstudy.outputs.item_columns import names_samples
from simstudy.validation import InputError

#: What says "number the rows in their order" in place of a column.
ROW = "row"

# How items are numbered, and systems seldom are.
_NUMBERED = re.compile(r"(?:(?:q|question|item|id|doc|ex|example|task|case|instance|problem|prompt)[ _.#-]?)?\d+", re.I)

# Columns of answers may differ between items by chance; longer texts than that are no identifiers.
_NO_IDENTIFIERS = {*REFERENCES, *ANSWERS}
_LONGEST_IDENTIFIER = 60


def with_guesses(frame: pd.DataFrame, origin: str, columns: Mapping[str, str], metric: Metric) -> dict[str, str]:
    """The mapping of our names to those of a table's columns, with what the usual names say. A note says what."""
    guessed = guesses(frame, origin, columns, metric)
    if guessed:
        note("text", text=f"{_told(guessed)}. To change this, use columns={{'{next(iter(guessed))}': 'NAME'}}.")
    return {**columns, **guessed}


def with_item_columns(frame: pd.DataFrame, source: Source) -> Source:
    """The source, with the columns of its table that other arguments name declared as columns of the items.

    Names that may be those of items, systems or scores are left to the guesses.
    """
    said = {*source.columns, *source.columns.values(), *source.metric.statistics, *INDEX, *QUESTIONS}
    named = [name for name in source.item_columns if name in frame and name not in said and not names_anything(name)]
    return replace(source, columns={**source.columns, **{name: name for name in named}}) if named else source


def alike(
    frames: Sequence[pd.DataFrame], files: Sequence[str], columns: Mapping[str, str], metric: Metric
) -> list[pd.DataFrame]:
    """The tables of several files, with our names of columns where they have unlike ones; a note says so of each.

    If the files are systems each, a column that looks like one of systems but is none is left out; a note says so.
    """
    found = [guesses(frame, file, columns, metric) for frame, file in zip(frames, files, strict=True)]
    if (shared := _shared_system(frames, columns, found)) is not None:
        frames = [frame.drop(columns=shared) for frame in frames]
        found = [guesses(frame, file, columns, metric) for frame, file in zip(frames, files, strict=True)]
    if all(guessed == found[0] for guessed in found):
        return [*frames]
    for file, guessed in zip(files, found, strict=True):
        if guessed:
            note("text", text=f"{file}: {_told(guessed)}")
    return [renamed(frame, guessed) for frame, guessed in zip(frames, found, strict=True)]


def _shared_system(
    frames: Sequence[pd.DataFrame], columns: Mapping[str, str], found: Sequence[Mapping[str, str]]
) -> str | None:
    """The column of systems, as was guessed for each file, that has one value in all files; a note says so.

    The files have items in common, and no numbers of samples. None if there is no such column.
    """
    column, item = found[0].get("system"), columns.get("item", found[0].get("item", "item"))
    if len(frames) < 2 or column is None or any(guessed != found[0] for guessed in found):
        return None
    if any(item not in frame or any(map(names_samples, frame)) for frame in frames):
        return None
    values = {value for frame in frames for value in frame[column].unique()}
    items = [one for frame in frames for one in frame[item].unique()]
    if len(values) > 1 or len(set(items)) == len(items):
        return None
    note("text", text=f"'{column}' is '{values.pop()}' in all files, so each file is a system")
    return column


def _told(guessed: Mapping[str, str]) -> str:
    uses = [f"{theirs} as {ours}" for ours, theirs in guessed.items()]
    return "simstudy uses " + " and ".join(filter(None, [", ".join(uses[:-1]), uses[-1]]))


def guesses(frame: pd.DataFrame, origin: str, columns: Mapping[str, str], metric: Metric) -> dict[str, str]:
    """Our names that ``columns`` lacks, and the columns that have usual names for them, in our order."""
    counted = set(metric.statistics) <= {*columns, *frame.columns}
    labels = says_labels(frame.columns, columns, metric)
    predicted = metric.name == "accuracy" and has_predicted(frame.columns)
    guessed: dict[str, str] = {}
    for ours in ("score", "system", "item"):
        tidy = counted or labels or predicted or "score" in {*columns, *guessed, *frame.columns}
        tidy = tidy or bool(sample_columns(frame))
        if ours in columns or ours in frame or (ours == "system" and not tidy):
            continue
        if ours == "score" and (counted or labels or not takes_one_score(metric)):
            continue
        taken = {*columns.values(), *guessed.values()}
        found = _candidates(frame[[name for name in frame if name not in taken]], ours, metric)
        if len(found) > 1:
            either = " or ".join(f"columns={{'{ours}': '{name}'}}" for name in found)
            raise InputError(f"{origin}: {' and '.join(found)} may each be the {ours}; say which by {either}")
        if found:
            guessed[ours] = found[0]
    # Keys of JSON: {"q1": {"new": 1, "old": 0}}. Where one is named, the other key is what it is not.
    if "key1" in frame and "key2" in frame:
        if guessed.get("system") == "key1" and guessed.get("item") == "key2" and _are_items_first(frame):
            guessed |= {"system": "key2", "item": "key1"}
        elif columns.get("system") == "key2" and "item" not in {*columns, *guessed, *frame}:
            guessed["item"] = "key1"
        elif columns.get("item") == "key1" and "system" not in {*columns, *guessed, *frame}:
            guessed["system"] = "key2"
    return {ours: guessed[ours] for ours in USUAL if ours in guessed}


def _are_items_first(frame: pd.DataFrame) -> bool:
    """Whether the first keys number items and the second ones name fewer systems; systems may be numbers too."""
    first, second = (frame[key].astype(str).drop_duplicates() for key in ("key1", "key2"))
    numbered = [bool(keys.str.fullmatch(_NUMBERED).all()) for keys in (first, second)]
    return numbered == [True, False] and len(first) > len(second)


def _candidates(frame: pd.DataFrame, ours: str, metric: Metric) -> list[str]:
    """The columns that may be taken for ours."""
    names = [*map(str, frame.columns)]
    if ours == "score":
        found = usually_named(names, USUAL[ours], lambda name: are_numbers(frame[name], None))
        in_range = [name for name in found if are_numbers(frame[name], metric.item_range)]
        return in_range if len(found) > 1 and in_range else found
    found = usually_named(names, USUAL[ours])
    return found if found or ours != "item" else usually_named(names, INDEX)[:1] or usually_named(names, QUESTIONS)


def usual_items(frame: pd.DataFrame) -> str:
    """The only column of a table of items with a usual name for these; empty where there is none, or several."""
    names = [*map(str, frame.columns)]
    found = usually_named(names, ("item", *USUAL["item"])) or usually_named(names, QUESTIONS)
    return found[0] if len(found) == 1 else ""


def are_numbers(cells: pd.Series[Any], within: tuple[float, float] | None) -> bool:
    """Whether cells are numbers, or true and false, blanks aside, and all within these limits."""
    there = cells[cells.notna() & (cells.astype(str).str.strip() != "")]
    found = numbers(there)
    low, high = within or (-np.inf, np.inf)
    return bool(found.size) and bool(np.all((found >= low) & (found <= high)))


def with_joined(frame: pd.DataFrame, columns: Mapping[str, str], origin: object, where: Where) -> pd.DataFrame:
    """The table with the columns that are made of others: ``category+id`` has ``law/1`` where these have law and 1."""
    for theirs in dict.fromkeys(columns.values()):
        parts = [part.strip() for part in theirs.split("+")]
        if theirs in frame or len(parts) < 2 or not any(part in frame for part in parts):
            continue
        for part in parts:
            if part not in frame:
                no_column(origin, part, frame.columns, f"'{theirs}' joins columns.")
            blank = frame[part].isna() | (frame[part].astype(str).str.strip() == "")
            if (row := first_of(blank)) is not None:
                raise InputError(f"{where(row)}: no {part}")
        joined = frame[parts[0]].astype(str)
        for part in parts[1:]:
            joined = joined + "/" + frame[part].astype(str)
        frame = frame.assign(**{theirs: joined})
    return frame


def with_rows(frame: pd.DataFrame, ours: str, columns: Mapping[str, str], by: Iterable[str]) -> pd.DataFrame:
    """The table with its rows numbered under our name, each group of equal `by` from 1, where ``columns`` says row."""
    if columns.get(ours) != ROW or ROW in frame:
        return frame
    groups = [name for name in by if name in frame]
    numbered = frame.groupby(groups, sort=False, dropna=False).cumcount() if groups else np.arange(len(frame))
    return frame.assign(**{ours: np.asarray(numbered) + 1})


def joins_that_tell(frame: pd.DataFrame, system: Sequence[object], item: Sequence[object], names: Iterable[str]) -> str:
    """The column with which the rows of a system and item are told apart; empty where there is none.

    Of several it is the one with the fewest values, which groups items. No column of answers or of long texts is one.
    """
    keys = pd.DataFrame({"system": list(system), "item": list(item)})
    found: dict[str, int] = {}
    for name in names:
        cells = frame[name].astype(str).reset_index(drop=True)
        if plain(name) in _NO_IDENTIFIERS or cells.str.len().max() > _LONGEST_IDENTIFIER:
            continue
        # Not an item: a number of the row, or what the system said.
        if cells.nunique() <= len(keys) / 2 and not keys.assign(cell=cells).duplicated().any():
            found[str(name)] = cells.nunique()
    return min(found, key=found.__getitem__, default="")
