"""Tables with a row for each item in which no score is missing: read column by column, whatever their size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from simstudy.loaders.base import Source
from simstudy.loaders.entries import Entries, other_columns
from simstudy.loaders.summaries import MOST_ROWS, averages_or_sums, is_odd
from simstudy.loaders.tables import NO_NAMES, numbers, takes_one_score
from simstudy.loaders.text_columns import answer_columns
from simstudy.loaders.usual_names import may_name_averages, summary_of
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray

# Whole numbers below this: a difference of two is one of four bytes too.
_SMALL = 2**30


def whole_table(
    frame: pd.DataFrame, by_system: Mapping[str, list[str]], source: Source
) -> tuple[Entries, Array] | None:
    """One system's entries, which are those of each, and all statistics (K, n, S); None where an entry is missing.

    It is None of every table in which something may be wrong, or has to be told of: those are read entry by entry.
    """
    items = _names(frame["item"])
    if items is None or answer_columns(frame):
        return None
    statistics = _statistics(frame, by_system, source.metric)
    if statistics is None:
        return None
    if statistics.dtype.kind == "i" and not (source.narrow and source.metric.of_sums):
        statistics = statistics.astype(np.int64)
    if _may_sum_up(statistics[..., 0], items):
        return None
    rows = np.arange(len(frame))
    others = other_columns(frame, by_system, source.metric)
    return Entries([*by_system][:1], items, np.zeros_like(rows), rows, rows, statistics[0], others), statistics


def _may_sum_up(scores: Array, items: pd.api.extensions.ExtensionArray) -> bool:
    """Whether the first or the last row of scores (K, n) may have the averages or sums of the others, or is odd."""
    if scores.shape[1] <= 2:
        return False
    if any(may_name_averages(items[end]) for end in (0, -1)):
        return True
    for end, others in ((0, [*scores[:, 1:]]), (-1, [*scores[:, :-1]])):
        values = scores[:, end].astype(np.float64)
        if averages_or_sums("", values, others) or is_odd(values, others):
            return True
    return False


def _names(cells: pd.Series) -> pd.api.extensions.ExtensionArray | None:
    """The cells as texts; None where one may be no name, is there twice or may sum up the others."""
    names = cells.astype(str)
    counted = is_integer_dtype(cells)
    if cells.isna().any() or not (cells if counted else names).is_unique:
        return None
    if not counted and (names.isin(NO_NAMES) | (names.str.strip() == "") | names.str.contains("[\n\r]")).any():
        return None
    return None if any(map(summary_of, names.iloc[-MOST_ROWS:])) else names.array


def _statistics(frame: pd.DataFrame, by_system: Mapping[str, list[str]], metric: Metric) -> Array | None:
    """The statistics in the fewest bytes that hold them exactly; None where a cell is none."""
    of_scores = takes_one_score(metric) and all(columns == [system] for system, columns in by_system.items())
    low, high = (metric.item_range if of_scores else None) or (-np.inf, np.inf)
    kept: dict[str, Array] = {}
    # Columns of a table without an index are faster to take out.
    frame = frame.reset_index(drop=True)
    for column in dict.fromkeys(column for columns in by_system.values() for column in columns):
        found = numbers(frame[column]) if column in frame else np.array([np.nan])
        if not (np.isfinite(found).all() and found.min() >= low and found.max() <= high):
            return None
        kept[column] = _narrowed(found, len(metric.statistics))
    kind = np.result_type(*kept.values())
    statistics = np.ones((len(by_system), len(frame), len(metric.statistics)), dtype=kind)
    for k, columns in enumerate(by_system.values()):
        for s, column in enumerate(columns):
            statistics[k, :, s] = kept[column]
    return statistics


def _narrowed(values: FloatArray, width: int) -> Array:
    """Whole numbers as integers, so that scores that tie are known to tie; -1, 0 and 1 in a byte."""
    size = np.abs(values).max()
    if size >= 2**53 / width or (values != np.rint(values)).any():
        return values
    return values.astype(np.int8 if size <= 1 else np.int32 if size < _SMALL else np.int64)
