"""Entries of a table of scores: what one system did on one item, whatever the table's shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.column_names import are_numbers
from simstudy.loaders.derived_columns import without_derived
from simstudy.loaders.hints import advice, check_numbers
from simstudy.loaders.items import sample_id
from simstudy.loaders.tables import (
    BLANK,
    NO_NAMES,
    Where,
    coded,
    first_of,
    how_to_write,
    is_right_or_wrong,
    narrow,
    no_column,
    numbers,
    score_statistics,
    takes_one_score,
)
from simstudy.loaders.text_columns import answer_columns
from simstudy.loaders.usual_names import NO_SYSTEM, PREDICTED, USUAL, plain, sample_columns, system_columns
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, IntArray
from simstudy.notes import note
from simstudy.outputs.item_columns import check_not_row_numbers, names_samples
from simstudy.text.reprs import listed
from simstudy.validation import InputError

# What a metric of texts takes instead of a table of its counts.
_TEXTS = " For texts, give one text file per system, one line per item, and references='FILE'."

#: Fewer items do not tell what a column has.
FEWEST = 10


@dataclass(frozen=True)
class Entries:
    """What one system did on one item, N times."""

    systems: Sequence[str]
    #: Their names, as a list or an array of texts.
    items: Any
    #: (N,) each: positions in `systems`, in `items` and in the table.
    system: IntArray
    item: IntArray
    row: IntArray
    statistics: Array
    #: Columns of the table that are neither system nor item nor statistics.
    others: Sequence[str]
    #: (N,) what was said, where the table has more than scores.
    said: Sequence[str] | None = None


def is_tidy(frame: pd.DataFrame, metric: Metric) -> bool:
    """Whether a table has a row for each system and item, as its columns tell."""
    return ("score" in frame and takes_one_score(metric)) or set(metric.statistics) <= set(frame.columns)


def is_of_samples(frame: pd.DataFrame, metric: Metric) -> bool:
    """Whether a table without systems has a column for each sample of one system, as its columns tell.

    ``run_1`` and ``run_2`` beside another column of scores are systems.
    """
    columns = sample_columns(frame)
    if not columns or "system" in frame or is_tidy(frame, metric) or not takes_one_score(metric):
        return False
    if not all(name.lower().startswith("run") for name in columns):
        return True
    others, _ = system_columns(frame.columns, {"item", *columns})
    return not any(are_numbers(frame[name], metric.item_range) for name in others)


def tidy_entries(frame: pd.DataFrame, origin: str, source: Source, where: Where) -> Entries:
    """Entries of a table with a row for each system and item."""
    metric = source.metric
    if "system" not in frame:
        no_column(origin, "system", frame.columns, "Name it with columns={'system': 'NAME'}.")
    _check_some(len(frame), origin)
    (system, systems), (item, items) = (coded(frame[column], column, where) for column in ("system", "item"))
    if "score" in frame and takes_one_score(metric):
        statistics = score_statistics(frame["score"], metric, where)
    else:
        statistics = _statistics(frame, metric.statistics, np.arange(len(frame)), where)
    others = [name for name in frame.columns if name not in ("system", "item", "score", *metric.statistics)]
    return Entries(systems, items, system, item, np.arange(len(frame)), statistics, others)


def own_systems(frame: pd.DataFrame, origin: str, source: Source) -> dict[str, list[str]]:
    """The systems that a table names itself, and of a wide table their columns; none where its file does."""
    if is_tidy(frame, source.metric) or is_of_samples(frame, source.metric):
        return {str(name): [] for name in frame["system"].unique()} if "system" in frame else {}
    return systems_of(frame, origin, source)


def systems_of(frame: pd.DataFrame, origin: str, source: Source) -> dict[str, list[str]]:
    """System -> its columns in a table with a row for each item: of statistics, or the one of its scores."""
    return _count_columns(frame, source) or _score_columns(frame, origin, source)


def wide_entries(
    frame: pd.DataFrame, by_system: Mapping[str, list[str]], origin: str, source: Source, where: Where
) -> Entries:
    """Entries of a table with a row for each item."""
    metric = source.metric
    item, items = coded(frame["item"], "item", where)
    rows, parts = [], []
    for system, columns in by_system.items():
        for column in columns:
            if column not in frame:
                no_column(origin, column, frame.columns)
        own = [column for column in columns if column not in metric.statistics]
        there = np.flatnonzero(~np.all([frame[column].isna() | frame[column].isin(BLANK) for column in own], axis=0))
        rows.append(there)
        if columns == [system] and takes_one_score(metric):
            parts.append(_system_scores(frame, system, there, where, metric=metric, systems=by_system))
        else:
            parts.append(_statistics(frame, columns, there, where))
    row = np.concatenate(rows)
    _check_some(len(row), origin)
    system_codes = np.repeat(np.arange(len(rows)), [len(there) for there in rows])
    others = other_columns(frame, by_system, metric)
    return Entries(list(by_system), items, system_codes, item[row], row, np.concatenate(parts), others)


def _check_some(n: int, origin: str) -> None:
    """Raise a ValueError if there are no entries."""
    if not n:
        raise InputError(f"{origin}: no system has a score: all cells are empty")


def other_columns(frame: pd.DataFrame, by_system: Mapping[str, list[str]], metric: Metric) -> list[str]:
    """The columns of a wide table that are neither items nor systems, statistics or answers."""
    used = {"item", *metric.statistics, *(column for columns in by_system.values() for column in columns)}
    used |= set(answer_columns(frame).values())
    return [c for c in frame.columns if c not in used and c.rpartition(":")[0] not in by_system]


def by_sample(
    entries: Entries, frame: pd.DataFrame, source: Source, where: Where
) -> tuple[Entries, Entries, dict[str, str]]:
    """Entries of items and of their samples, and the item of each sample, where systems have several of an item.

    Else both are as given, and no sample has a name. A ValueError names the first entry of a system and item that comes
    again and that nothing numbers, or that is the same sample.
    """
    again = _again(entries)
    if again is None:
        return entries, entries, {}
    column = next((name for name in entries.others if names_samples(name)), None)
    if column is None:
        found = frame.iloc[entries.row], entries.system.tolist(), entries.item.tolist(), entries.others
        raise InputError(
            f"{_told(entries, again, 'item', where)}; {advice(*found, source.columns)}. If the row is there twice by "
            "mistake, take one out"
        )
    sample, names = coded(frame[column].iloc[entries.row], "sample", lambda i: where(entries.row[i]))
    keys, pairs = pd.factorize(entries.item * len(names) + sample)
    own = [entries.items[pair // len(names)] for pair in pairs.tolist()]
    ids = [sample_id(item, names[pair % len(names)]) for item, pair in zip(own, pairs.tolist(), strict=True)]
    sampled = replace(entries, items=ids, item=keys)
    if (again := _again(sampled)) is not None:
        raise InputError(_told(sampled, again, "sample", where))
    of_items = replace(entries, others=[name for name in entries.others if name != column])
    return of_items, sampled, dict(zip(ids, own, strict=True))


def _again(entries: Entries) -> int | None:
    """The first entry of a system and item that are there already."""
    keys = pd.Series(entries.system * len(entries.items) + entries.item)
    return first_of(keys.duplicated()) if not keys.is_unique else None


def _told(entries: Entries, again: int, what: str, where: Where) -> str:
    """Where an entry is that comes again, and where it was first."""
    same = (entries.system == entries.system[again]) & (entries.item == entries.item[again])
    first = where(entries.row[int(np.argmax(same))])
    system, item = entries.systems[entries.system[again]], entries.items[entries.item[again]]
    return f"{where(entries.row[again])}: {what} '{item}' of system '{system}' again, first in {first}"


def _count_columns(frame: pd.DataFrame, source: Source) -> dict[str, list[str]]:
    """System -> its columns of statistics, `<system>:<statistic>` or shared; empty where scores are meant."""
    metric = source.metric
    ends = {name: f":{source.columns.get(name, name)}" for name in metric.statistics}
    systems = dict.fromkeys(c.removesuffix(end) for c in frame.columns for end in ends.values() if c.endswith(end))
    found = {system: [name if name in frame else f"{system}{end}" for name, end in ends.items()] for system in systems}
    complete = all(column in frame for columns in found.values() for column in columns)
    return found if complete or not takes_one_score(metric) else {}


def _score_columns(frame: pd.DataFrame, origin: str, source: Source) -> dict[str, list[str]]:
    """System -> its one column of scores."""
    metric = source.metric
    free = [name for name in metric.statistics if name not in frame]
    if not takes_one_score(metric) and (metric.of_sums or len(free) != 1):
        own = ", ".join(f"<system>:{name}" for name in metric.statistics)
        lacking = next(name for name in metric.statistics if name not in frame)
        texts = _TEXTS if metric.counts_texts else ""
        if metric.name in frame:
            texts += f" For scores of each item, say metric='mean' and columns={{'score': '{metric.name}'}}."
        no_column(origin, lacking, frame.columns, f"Metric '{metric.name}' needs {own}.{texts}")
    known = {"item", *metric.statistics, *source.columns, *answer_columns(frame).values()}
    systems, aside = system_columns(frame.columns, known, NO_NAMES)
    if takes_one_score(metric):
        # The metric's own counts, such as a column called total: scores stand in for them.
        aside += [name for name in metric.statistics if name in frame and name not in source.columns]
    if aside:
        named = ", ".join(f"'{name}'" for name in aside)
        note("text", text=f"not used as {'a system' if len(aside) == 1 else 'systems'}: {named}; to use one, rename it")
    if "system" in frame or not systems:
        labels = " Predicted labels need a column of gold ones." if {*map(plain, frame)} & {*PREDICTED} else ""
        no_column(origin, "score", frame.columns, f"Name it with columns={{'score': 'NAME'}}.{labels}")
    _check_no_gold(systems)
    if takes_one_score(metric):
        systems = without_derived(frame, systems)
    _check_wide(frame, origin, systems, source)
    cells = frame[systems].reset_index(drop=True)
    for system in systems:
        check_not_row_numbers(origin, system, numbers(cells[system]))
    if takes_one_score(metric):
        return {system: [system] for system in systems}
    # Of a metric of arrays, what is not there for all systems alike is each system's own.
    return {system: [name if name in frame else system for name in metric.statistics] for system in systems}


def _check_no_gold(systems: Sequence[str]) -> None:
    """Raise a ValueError where a column is called like gold labels: numbers look like scores, but would be a system."""
    for name in systems:
        if plain(name) in NO_SYSTEM:
            raise InputError(
                f"column '{name}' is called like gold labels, but would be a system: if it is one, rename it. If the "
                f"other columns are labels, metric='accuracy' and columns={{'gold': '{name}'}} compare them with it. "
                f"If they are scores, columns={{'answer': '{name}'}} makes it a column of the items"
            )


def _check_wide(frame: pd.DataFrame, origin: str, systems: Sequence[str], source: Source) -> None:
    """Raise a ValueError where a column without numbers is called like the one that names systems: the rows are theirs.

    It is about the column of scores, which was not found, or in which words stand.
    """
    named = next((name for name in systems if plain(name) in USUAL["system"]), None)
    if named is None or not np.isnan(numbers(frame[named])).all():
        return
    for name in (one for one in frame if plain(one) in USUAL["score"]):
        if (i := first_of(np.isnan(numbers(frame[name])))) is not None:
            cell = frame[name].iloc[i]
            raise InputError(f"{origin}: scores of column '{name}' must be numbers, not '{cell}'{how_to_write(cell)}")
    theirs = [source.columns.get(name, name) for name in frame.columns]
    raise InputError(
        f"{origin}: '{named}' seems to name systems, but which column has the scores is not known: say "
        f"columns={{'system': '{named}', 'score': 'NAME'}} (columns: {listed(theirs, 12)})"
    )


def _system_scores(
    frame: pd.DataFrame, system: str, rows: IntArray, where: Where, *, metric: Metric, systems: Iterable[str]
) -> Array:
    check_numbers(frame, system, rows, where, systems)
    found = numbers(frame[system].iloc[rows])
    low, high = metric.item_range or (-np.inf, np.inf)
    outside = (found < low) | (found > high)
    # Beside right and wrong answers these are no percentages, but lengths or the like. Slips are in few cells.
    if outside.sum() > max(len(found), FEWEST) / 2 and not is_right_or_wrong(found / 100):
        i = int(np.argmax(outside))
        if other := next((one for one in systems if one in frame and is_right_or_wrong(numbers(frame[one]))), None):
            raise InputError(
                f"{where(rows[i])}: column '{system}' is used as a system, but has {found[i]:g}, and '{other}' has 0 "
                f"and 1 only; columns={{'{system}': '{system}'}} makes it a column of the items"
            )
    return score_statistics(pd.Series(found), metric, lambda i: f"{where(rows[i])}, system '{system}'")


def _statistics(frame: pd.DataFrame, columns: Sequence[str], rows: IntArray, where: Where) -> Array:
    """The metric's statistics, (n, S), from a column for each; whole numbers where all are."""
    found = np.empty((len(rows), len(columns)))
    for s, column in enumerate(columns):
        cells = frame[column].iloc[rows]
        found[:, s] = numbers(cells)
        if (i := first_of(~np.isfinite(found[:, s]))) is not None:
            cell = cells.iloc[i]
            raise InputError(f"{where(rows[i])}: '{column}' must be a number, not {cell!r}{how_to_write(cell)}")
    return narrow(found)
