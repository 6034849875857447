"""Notes of scores that may be none: codes for missing ones, slips, averages, and columns that describe items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from simstudy.loaders.entries import FEWEST, Entries
from simstudy.loaders.tables import Where, is_right_or_wrong, takes_one_score
from simstudy.loaders.usual_names import USUAL, plain
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.notes import note

# What tables write for missing scores.
_CODES = (-1, -9, -99, -999, 0, 9, 99, 999, 9999)
# Codes are this share of the scores at most; the others are non-negative, and less than a positive code by this factor.
_SHARE, _SHARE_NEGATIVE, _BELOW = 0.05, 0.3, 9
# Ratings are the whole numbers from 1 to one of these: 0 and 9 are codes beside them, although they are not far.
_FEWEST_RATINGS, _MOST_RATINGS = 3, 10
# A score is wild if it is so many times the 99th percentile of its system's absolute scores, and larger than 1.
_TIMES = 100
# Fewer items do not tell; and a frequent -1 may be a score beside at most this many values, as in votes of -1, 0 and 1.
_FEWEST, _VOTES = 20, 3


def scores_of_systems(entries: Entries) -> tuple[list[str], list[Array], list[IntArray]]:
    """The names of systems, their scores, and the positions of these in the entries."""
    order = np.argsort(entries.system, kind="stable")
    codes, starts = np.unique(entries.system[order], return_index=True)
    own = np.split(order, starts[1:])
    return [entries.systems[k] for k in codes.tolist()], [entries.statistics[k, 0] for k in own], own


def note_unusual_entries(entries: Entries, metric: Metric, but: Collection[str], where: Where) -> None:
    """`note_unusual` of entries, if they have one score each."""
    if takes_one_score(metric) and (entries.statistics[:, 1:] == 1).all():
        names, scores, own = scores_of_systems(entries)
        note_unusual(dict(zip(names, scores, strict=True)), metric, but, lambda k, i: where(entries.row[own[k][i]]))


def note_unusual(
    by_system: Mapping[str, Array], metric: Metric, but: Collection[str], place: Callable[[int, int], str]
) -> None:
    """Name the first score that is far from all others or looks like a code, and say where scores may be averages.

    Systems that another note tells of are not looked at (`but`). A system's position and that of one of its scores (n,)
    give the place.
    """
    names = [*by_system]
    kept = [k for k, name in enumerate(names) if name not in but]
    scores = [by_system[names[k]] for k in kept]
    _note_averages(scores, metric)
    if not scores or min(map(len, scores)) < _FEWEST:
        return
    odd = _codes(scores) or [_wild(own) for own in scores]
    total = sum(map(len, odd))
    if total:
        k = next(k for k, found in enumerate(odd) if len(found))
        i = int(odd[k][0])
        more = f" (and {total - 1:,} more)" if total > 1 else ""
        note(
            "text",
            text=(
                f"{place(kept[k], i)}, system '{names[kept[k]]}': {scores[k][i]:g}{more} is unlike all other scores. "
                "If it stands for a missing score, and is no limit, leave the cell empty"
            ),
        )


def _codes(scores: Sequence[Array]) -> list[IntArray]:
    """The places of each system's scores that look like codes for missing ones; empty if none does."""
    number = sum(map(len, scores))
    low, high = min(float(own.min()) for own in scores), max(float(own.max()) for own in scores)
    for code in _CODES:
        # Right and wrong answers have many zeros.
        if code not in (low, high) or (code == 0 and not _FEWEST_RATINGS <= high <= _MOST_RATINGS):
            continue
        found = [own == code for own in scores]
        others = np.concatenate([own[~hit] for own, hit in zip(scores, found, strict=True)])
        if others.size and _is_code(code, others, 1 - others.size / number):
            return [np.flatnonzero(hit) for hit in found]
    return []


def _is_code(code: int, others: Array, share: float) -> bool:
    """Whether the least or largest of all scores, which is this share of them, is a code beside the others (n,)."""
    if share > (_SHARE_NEGATIVE if code < 0 else _SHARE) or others.min() < 0:
        return False
    if code < 0:
        return code < -1 or share <= _SHARE or len(np.unique(others)) > _VOTES
    if others.max() < code / _BELOW:
        return True
    if code not in (0, 9) or others.max() > _MOST_RATINGS:
        return False
    values = np.unique(others).tolist()
    ratings = len(values) >= _FEWEST_RATINGS and values == [*range(1, len(values) + 1)]
    # The next rating would be no code.
    return (ratings and code != values[-1] + 1) or (code == 9 and values == [0, 1])


def _wild(own: Array) -> IntArray:
    """The places of a system's scores (n,) that are far larger than nearly all others."""
    sizes = np.abs(own)
    largest = sizes.max()
    # Few scores are as large as a wild one, so the mean is much smaller: most systems need no percentile.
    if largest <= 1 or sizes.mean() > largest / 10:
        return np.zeros(0, dtype=np.int64)
    # Numbers of four bytes times another would overflow.
    usual = float(np.quantile(sizes, 0.99, method="lower"))
    return np.flatnonzero((sizes > max(1, _TIMES * usual)) & (usual > 0))


def _note_averages(scores: Sequence[Array], metric: Metric) -> None:
    """Say where most scores of accuracy (n,) of each system are neither right nor wrong."""
    if metric.name != "accuracy" or any(own.dtype.kind == "i" for own in scores):
        return
    counts = [int(((own != 0) & (own != 1)).sum()) for own in scores]
    if counts and all(2 * count > len(own) for count, own in zip(counts, scores, strict=True)):
        note(
            "text",
            text=f"scores of accuracy are neither 0 nor 1 for {min(counts):,} of {len(scores[0]):,} items: if they are "
            "averages of items, such as one for each task, compare the scores of the items instead",
        )


def note_unlike_columns(names: Sequence[str], scores: Sequence[Array]) -> set[str]:
    """The columns that have scores (n,) unlike those of the others: a note says that they may describe the items.

    That is so where more than half of them are neither 0 nor 1 and most other columns have nothing else, or lie farther
    outside the others' range than that is wide. Right and wrong answers in percent, 0 and 100, are like 0 and 1.
    """
    if len(names) < 2 or min(own.size for own in scores) < FEWEST:
        return set()
    low, high = (np.array([float(end(own)) for own in scores]) for end in (np.min, np.max))
    neither = np.array([_neither(own, low[k], high[k]) for k, own in enumerate(scores)])
    odd, right_or_wrong = np.flatnonzero(neither > 0.5), (neither == 0) & (low < high)
    found: dict[int, str] = {}
    if odd.size and right_or_wrong.any():
        if odd.size < max(2, right_or_wrong.sum()):
            found = dict.fromkeys(odd.tolist(), "0 and 1")
    elif len(names) > 2:
        least, most = _of_others(low, np.sort(low)[:2]), _of_others(high, -np.sort(-high)[:2])
        below, above = 2 * least - most, 2 * most - least
        for k in np.flatnonzero((least < most) & ((low < below) | (high > above))).tolist():
            if ((scores[k] < below[k]) | (scores[k] > above[k])).mean() > 0.5:
                found[k] = f"{least[k]:.3g} to {most[k]:.3g}"
    found = {k: others for k, others in found.items() if not is_right_or_wrong(scores[k] / 100)}
    for k, others in found.items():
        note(
            "text",
            text=(
                f"'{names[k]}' is used as a system, but its values ({low[k]:.3g} to {high[k]:.3g}) are unlike those "
                f"of the other columns ({others}). If it is no system, leave the column out, or make it one of the "
                f"items: columns={{'{names[k]}': '{names[k]}'}}"
            ),
        )
    return {names[k] for k in found}


def _of_others(ends: FloatArray, first: FloatArray) -> FloatArray:
    """The least, or the largest, of all ends but each own one, given the first two of them."""
    own = np.arange(len(ends)) == np.argmax(ends == first[0])
    return np.asarray(np.where(own, first[1], first[0]))


def _neither(scores: Array, low: float, high: float) -> float:
    """The share of scores that are neither 0 nor 1."""
    if scores.dtype.kind == "i" and low >= 0 and high <= 1:
        return 0.0
    return float(((scores != 0) & (scores != 1)).mean())


def note_item_column(columns: Mapping[str, str]) -> None:
    """Say that rows are items where the column that `columns` names for them is called like one of systems."""
    name = columns.get("item", "")
    if plain(name) in ("system", *USUAL["system"]):
        note(
            "text",
            text=f"column '{name}' names the items, so the other columns are systems: are rows and columns exchanged?",
        )
