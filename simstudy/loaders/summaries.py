"""First and last rows of tables of scores that sum up the others, such as means: they are no items.

A last row that is called mean, total or the like must sum up the others, and so must those below it, such as standard
errors. Among right and wrong answers max, min and median are items, unless a mean or a total is beside them. A first or
last row with another name is no item if it has the average of the others in every system, and some system has this
value nowhere else. It is none either if it has the mean or the sum of the others, to its last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.entries import Entries
from simstudy.loaders.tables import EXACT, Where, check_scores, decimals, is_right_or_wrong, narrow, takes_one_score
from simstudy.loaders.usual_names import MAY_BE_ITEMS, may_name_averages, may_sum_up, summary_of
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.mean import Mean
from simstudy.notes import note
from simstudy.validation import InputError

# More last rows than that sum up no table.
MOST_ROWS = 12
# The fewest other rows of which a row without a telling name has the mean or the sum.
_FEWEST = 3
# A mean that agrees with a row by chance is rare if the row's digits are this much finer than the scores' deviation.
_FINER = 100
# Averages may be rounded to two decimals.
_ROUNDED = 0.0051
# A sum is no score if it is this many times the largest of the others; a row that is so many times as large is odd.
_LARGE, _ODD = 2, 10


def entries_of_items(frame: pd.DataFrame, source: Source, where: Where, read: Callable[[Source], Entries]) -> Entries:
    """What `read` makes of a table, without rows that sum up the others; a note names each of them.

    Such a row may have a sum, or percentages, and so be out of the metric's range.
    """
    metric = source.metric
    named = any(map(may_sum_up, [*frame["item"].iloc[:1], *frame["item"].iloc[-MOST_ROWS:]]))
    one_score = takes_one_score(metric) and frame.columns.intersection([*metric.statistics, *Mean().statistics]).empty
    if not named or not one_score:
        return without_summaries(read(source), where)
    entries = without_summaries(read(replace(source, metric=Mean())), where)
    statistics = entries.statistics.astype(np.float64)
    scores = statistics[:, 0]
    check_scores(
        scores,
        pd.Series(scores),
        metric,
        lambda i: f"{where(entries.row[i])}, system '{entries.systems[entries.system[i]]}'",
    )
    # Whole numbers again, where only the rows left out were none.
    return replace(entries, statistics=narrow(statistics))


def without_summaries(entries: Entries, where: Where) -> Entries:
    """The entries without those of rows that sum up the others, such as means; a note names each of them.

    Several such rows at the end sum up those above the first of them. ValueError for one that has the name only.
    """
    has: dict[int, str] = {}
    kept = np.ones(len(entries.item), dtype=bool)
    _check_end(entries, where)
    tail = _last_rows(entries)
    for start, rows in enumerate(tail):
        above = ~np.isin(entries.item, np.concatenate(tail[start:]))
        if not _what(entries, rows, above):
            continue
        found = {int(code): _what(entries, below, above) for below in tail[start:] for code in np.sort(below)}
        if any(what and not _may_be_item(entries, code, above) for code, what in found.items()):
            has, kept = found, above
            break
    for code in has or (int(code) for rows in tail for code in rows):
        _check_summary(entries, code, has, where)
    first = pd.Series(entries.item[kept]).groupby(entries.system[kept]).first().unique()
    enough = len(entries.items) - len(has) > 2 and len(first) == 1
    if enough and (what := _averages_or_sums(entries, int(first[0]), kept)):
        has = {int(first[0]): what, **has}
        kept &= entries.item != first[0]
    for code in _odd_ends(entries, kept):
        note(
            "text",
            text=f"{_place(entries, code, where)}: '{entries.items[code]}' is used as an item, but is more than {_ODD} "
            "times as large as every other item, in every system: if it sums up the others, take the row out",
        )
    for code, what in has.items():
        place, name = _place(entries, code, where), entries.items[code]
        note("text", text=f"{place}: '{name}' left out, which is no item but {what} the others")
    if not has:
        return entries
    left = [code for code in range(len(entries.items)) if code not in has]
    return replace(
        entries,
        items=[entries.items[code] for code in left],
        system=entries.system[kept],
        item=np.searchsorted(left, entries.item[kept]),
        row=entries.row[kept],
        statistics=entries.statistics[kept],
    )


def _is_called_summary(item: str) -> bool:
    """Whether a row has the name of a summary, and one that items seldom have."""
    return bool(summary_of(item)) and item.strip().casefold() not in MAY_BE_ITEMS


def _check_end(entries: Entries, where: Where) -> None:
    """ValueError for a last row that is not called like a summary, but comes below one that is and sums up."""
    number = len(entries.items)
    if may_sum_up(entries.items[number - 1]):
        return
    for code in range(max(3, number - MOST_ROWS), number - 1):
        at, row = entries.item == code, np.full(len(entries.systems), np.inf)
        if _is_called_summary(entries.items[code]) and (what := _averages_or_sums(entries, code, entries.item < code)):
            row[entries.system[at]] = entries.row[at]
            # The first of several files may lack items that another one has above this row.
            if len(below := np.flatnonzero((entries.item > code) & (entries.row > row[entries.system]))):
                item = f"{where(entries.row[below[0]])}: item '{entries.items[entries.item[below[0]]]}'"
                told = f"comes below '{entries.items[code]}', which is no item but {what} the others"
                raise InputError(f"{item} {told}: take that row out, or put it at the end")


def _may_be_item(entries: Entries, code: int, above: Array) -> bool:
    """Whether a row is called min, max or median, and those above have two scores only, such as right and wrong."""
    if summary_of(entries.items[code]) not in ("min", "max", "median"):
        return False
    return len(np.unique(entries.statistics[above, 0])) <= 2


def _last_rows(entries: Entries) -> list[IntArray]:
    """The items that come last in systems, from the end up to the first whose name is none of a summary.

    The first of them comes first. Two other items are left at least.
    """
    tail: list[IntArray] = []
    kept = np.ones(len(entries.item), dtype=bool)
    while len(tail) < MOST_ROWS and len(entries.items) - sum(map(len, tail)) > 2:
        last = pd.Series(entries.item[kept]).groupby(entries.system[kept]).last().unique()
        tail.insert(0, last)
        if not all(may_sum_up(entries.items[code]) for code in last):
            break
        kept &= ~np.isin(entries.item, last)
    return tail


def _what(entries: Entries, rows: IntArray, above: Array) -> str:
    """How a row, or one row in each system, sums up those above; empty if it does not."""
    if all(summary_of(entries.items[code]) for code in rows) and all(
        _is_summary(entries, system, int(code), above)
        for code in rows
        for system in np.unique(entries.system[entries.item == code]).tolist()
    ):
        return "sums up"
    return _averages_or_sums(entries, int(rows[0]), above) if len(rows) == 1 else ""


def _check_summary(entries: Entries, code: int, has: Mapping[int, str], where: Where) -> None:
    """ValueError for a row below one that sums up, or a last one, that is called like a summary and is none.

    A note is enough where it may be an item, for its scores are those of other items.
    """
    name, rows = entries.items[code], entries.item == code
    if has.get(code) or not (has or _is_called_summary(name)):
        return
    place = _place(entries, code, where)
    known = all(
        (entries.statistics[(entries.system == entries.system[i]) & ~rows] == entries.statistics[i]).all(axis=1).any()
        for i in np.flatnonzero(rows)
    )
    if has or not known:
        raise InputError(
            f"{place}: item '{name}' comes last and is called like a summary, but does not sum up the items before: "
            "take the row out, or give the item another name"
        )
    note("text", text=f"{place}: '{name}' is used as an item: if it sums up the others, take the row out")


def _place(entries: Entries, code: int, where: Where) -> str:
    return where(entries.row[int(np.argmax(entries.item == code))])


def _is_summary(entries: Entries, system: int, code: int, kept: Array) -> bool:
    """Whether the row of an item has of those that are kept what its name says, in percent perhaps, as rounded."""
    own = entries.system == system
    row, others = entries.statistics[own & (entries.item == code)], entries.statistics[own & kept]
    if not len(others):
        return False
    if (entries.statistics[:, 1:] == 1).all():
        row, others = row[:, :1], others[:, :1]
    known = _summaries(summary_of(entries.items[code]), others)
    return any(np.allclose(row, value, rtol=0.01, atol=0.006) for value in known)


def _averages_or_sums(entries: Entries, code: int, kept: Array) -> str:
    """Whether a row has the averages or the sums of those that are kept, in words; empty for neither."""
    found = _of_each_system(entries, code, kept) if (entries.statistics[:, 1:] == 1).all() else None
    what = averages_or_sums(entries.items[code], *found) if found is not None else ""
    return f"has the {what} of" if what else ""


def _of_each_system(entries: Entries, code: int, kept: Array) -> tuple[FloatArray, list[FloatArray]] | None:
    """The scores (K,) of an item, and those of the others that are kept; None where a system lacks either."""
    looked_at = np.flatnonzero(kept | (entries.item == code))
    # One sort is faster than a search for each of many systems.
    looked_at = looked_at[np.argsort(entries.system[looked_at], kind="stable")]
    rows, scores = entries.item[looked_at] == code, entries.statistics[looked_at, 0].astype(np.float64)
    ends = np.searchsorted(entries.system[looked_at], np.arange(1, len(entries.systems)))
    parts = [*zip(np.split(scores, ends), np.split(rows, ends), strict=True)]
    if not all(own.sum() == 1 and own.size > 1 for _, own in parts):
        return None
    return scores[rows], [found[~own] for found, own in parts]


def averages_or_sums(name: object, values: FloatArray, others: Sequence[Array]) -> str:
    """Whether a row's values (K,) are "averages" (or percentages) or "sums" of K systems' others (n,); else empty."""
    if _are_rounded_averages(name, values, others):
        return "averages"
    if len(values) < 2 or min(map(len, others)) < _FEWEST or len(np.unique(values)) < 2:
        return ""
    # They agree to the last digit of the row, or as numbers of four bytes. That is no chance, for at least two systems
    # have other values, and the digits are fine or the values are far from all scores.
    unit = 10.0 ** -decimals(values)
    kinds = {"averages", "percentages", "sums"}
    for value, own in zip(values, others, strict=True):
        mean = float(own.mean())
        expected = {"averages": mean, "percentages": 100 * mean, "sums": mean * len(own)}
        kinds = {
            kind for kind in kinds if abs(value - expected[kind]) <= max(0.501 * unit, EXACT * abs(expected[kind]))
        }
        if not kinds:
            return ""
    if "averages" in kinds:
        return "averages" if sum(unit <= own.std() / _FINER for own in others) >= 2 else ""
    far = sum(abs(value) > _LARGE * float(np.abs(own).max()) for value, own in zip(values, others, strict=True))
    return ("averages" if "percentages" in kinds else "sums") if far >= 2 else ""


def _are_rounded_averages(name: object, values: FloatArray, others: Sequence[Array]) -> bool:
    """Whether a row has the average of the others in every system, rounded perhaps, and can be no score.

    Some system has that value nowhere else. Names that say nothing of averages have them of right and wrong answers
    only, and in more than one system.
    """
    named = may_name_averages(name)
    # Most rows are none by their first value: large tables need no longer look.
    if not named and (len(values) < 2 or abs(values[0] - others[0].mean()) > _ROUNDED):
        return False
    right_or_wrong = all(is_right_or_wrong(own) for own in others)
    if not (named or right_or_wrong):
        return False
    for value, own in zip(values, others, strict=True):
        # In percent to one decimal; of small scores to more.
        rounded = _ROUNDED if right_or_wrong else min(_ROUNDED, 0.02 * own.std())
        in_percent = named and abs(value - 100 * own.mean()) <= 10 * rounded
        if abs(value - own.mean()) > rounded and not in_percent:
            return False
    return any(value not in own for value, own in zip(values, others, strict=True))


def is_odd(values: FloatArray, others: Sequence[Array]) -> bool:
    """Whether a row's values (K,) are much larger than all others (n,) in each of two or more systems."""
    if len(values) < 2 or min(map(len, others)) < _FEWEST:
        return False
    return all(abs(value) > _ODD * float(np.abs(own).max()) > 0 for value, own in zip(values, others, strict=True))


def _odd_ends(entries: Entries, kept: Array) -> list[int]:
    """The first and the last item that are kept, if they are much larger than the others in every system."""
    found = []
    for end in ("first", "last"):
        (code, *more) = pd.Series(entries.item[kept]).groupby(entries.system[kept]).agg(end).unique().tolist()
        values = None if more else _of_each_system(entries, code, kept)
        if values is not None and is_odd(*values):
            found.append(code)
    return found


def _summaries(kind: str, scores: Array) -> list[Array]:
    """What a row of a kind of `SUMMARIES` may have of scores (n, S)."""
    if kind == "count":
        return [np.full(scores.shape[1], len(scores))]
    mean = scores.mean(axis=0)
    if kind == "mean or sum":
        return [mean, 100 * mean, scores.sum(axis=0)]
    # Programs divide by n, or by n - 1.
    deviations = [scores.std(axis=0), scores.std(axis=0) * np.sqrt(len(scores) / max(len(scores) - 1, 1))]
    if kind == "std":
        found = deviations
    elif kind == "standard error":
        found = [one / np.sqrt(len(scores)) for one in deviations]
    elif kind == "variance":
        found = [one**2 for one in deviations]
    elif kind == "none of these":
        found = []
    else:
        found = [getattr(np, kind)(scores, axis=0)]
    return [*found, *(100 * value for value in found)]
