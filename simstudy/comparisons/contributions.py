"""Contributions of items to the gain of one system over another, their outcomes, and how few units carry the lead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import difference, mean_slopes
from simstudy.outputs import Outputs
from simstudy.outputs.units import BATTLE, are_battles, battles

#: The outcomes of an item, from the first system's side; the last one is that of a battle with a third system.
WIN, LOSS, TIE, NEITHER = "win", "loss", "tie", "neither"

# The share of the units, and the number of them, whose contributions are told together.
_SHARE, _TOP = 0.01, 10

# A sum of contributions that is so small a part of their sizes is none.
_ROUNDING = 1e-9


def contributions_of_pairs(outputs: Outputs, i: IntArray, j: IntArray) -> Iterator[FloatArray]:
    """Yield for each of P pairs what each item adds (n,) to the gain of system i over system j."""
    metric, statistics = outputs.metric, outputs.statistics
    sign = metric.sign
    slopes = None
    if metric.of_sums and metric.ratio(statistics[:1]) is None:
        # Of many pairs together: numpy takes as long for one.
        sums = statistics.sum(axis=1, dtype=np.float64)
        slopes = mean_slopes(metric, sums[i], sums[j])
    for p, (a, b) in enumerate(zip(i, j, strict=True)):
        yield sign * difference(statistics[a], statistics[b], metric, None if slopes is None else slopes[p])


def item_scores(outputs: Outputs) -> FloatArray:
    """Scores (K, n) of single items, on the metric's scale; NaN where an item alone has none.

    Of battles they are the points of the two systems that met; of a metric of arrays the item's own ``score``.
    """
    metric, statistics = outputs.metric, outputs.statistics
    found = np.full(statistics.shape[:2], np.nan)
    if (met := battles(outputs)) is not None:
        first, second, points = met
        there = np.flatnonzero(
            outputs.items["model_a"].isin(outputs.names) & outputs.items["model_b"].isin(outputs.names)
        )
        found[first, there], found[second, there] = points, 1 - points
    elif metric.of_sums:
        for k, rows in enumerate(statistics):
            sums = rows.astype(np.int64 if rows.dtype.kind in "iu" else np.float64)
            found[k] = np.where(metric.defined(sums), metric.score(sums), np.nan)
    elif "score" in metric.statistics:
        found = statistics[..., metric.statistics.index("score")].astype(np.float64)
    return found


def unit_sums(codes: IntArray, parts: FloatArray) -> FloatArray:
    """Contributions of units (U,), given the unit of each item; 0 where rounding may have made them."""
    sums = np.bincount(codes, parts).astype(np.float64)
    sums[np.abs(sums) <= _ROUNDING * np.bincount(codes, np.abs(parts))] = 0.0
    return sums


def outcomes_of(pair: Outputs, parts: FloatArray) -> NDArray[np.object_]:
    """The outcome of each item for the first system, given the contributions."""
    if not are_battles(pair.items):
        return named_outcomes(parts)
    # A battle with a third system adds to the gain, but neither of the two wins it against the other.
    found = np.full(pair.n_items, NEITHER, dtype=object)
    first, second, points = (pair.items[name].to_numpy() for name in BATTLE)
    for one, other, sign in ((*pair.names, 1.0), (*pair.names[::-1], -1.0)):
        met = (first == one) & (second == other)
        found[met] = named_outcomes(sign * (points[met].astype(np.float64) - 0.5))
    return found


def named_outcomes(parts: FloatArray) -> NDArray[np.object_]:
    """The outcomes that contributions speak of."""
    return np.where(parts > 0, WIN, np.where(parts < 0, LOSS, TIE)).astype(object)


def gain_of(pair: Outputs, kept: NDArray[np.bool_]) -> float:
    """The gain on some of the items; NaN on none."""
    if not kept.any():
        return np.nan
    one, other = pair.metric.test_set_scores(pair.statistics[:, kept])
    return float(one - other) * pair.metric.sign


def carried(pair: Outputs, kinds: dict[str, IntArray], parts: FloatArray, gain: float) -> pd.DataFrame:
    """How few units carry the lead: a row for each kind of unit and number of units that add most to it."""
    columns = ["unit", "n_units", "n_top", "contribution", "share", "gain_without", "n_reversing"]
    rows = []
    for kind, codes in kinds.items() if gain else ():
        sums = unit_sums(codes, parts) * np.sign(gain)
        order = np.argsort(-sums, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        reversing = _reversing(pair, place[codes], sums[order], np.sign(gain))
        for n_top in _tops(len(sums)):
            added = float(sums[order[:n_top]].sum())
            without = gain_of(pair, place[codes] >= n_top) * np.sign(gain)
            rows.append((kind, len(sums), n_top, added, added / abs(gain), without, reversing))
    return pd.DataFrame(rows, columns=columns).astype({"n_reversing": "Int64"})


def _tops(n: int) -> list[int]:
    """One unit of a hundred, and ten units, where these are not most of them."""
    return sorted({max(1, round(_SHARE * n)), *([_TOP] if n > 2 * _TOP else [])})


def _reversing(pair: Outputs, place: IntArray, ordered: FloatArray, sign: float) -> int | None:
    """The least number of units, in this order of theirs, without which the lead is gone; None where none does it.

    `place` (n,) is the place of each item's unit, `ordered` the units' contributions to the lead, largest first.
    """
    if not pair.metric.of_sums:
        return None
    most = min(int((ordered > 0).sum()), len(ordered) - 1)
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(most), side="right") - 1
    one, other = (_scores_without(rows[order], pair.metric, ends) for rows in pair.statistics)
    left = (one - other) * sign * pair.metric.sign
    # A gain of rounding errors is none.
    gone = np.flatnonzero(left <= 1e-12 * np.maximum(np.abs(one), np.abs(other)))
    return int(gone[0]) + 1 if len(gone) else None


def _scores_without(rows: Array, metric: Metric, ends: IntArray) -> FloatArray:
    """Scores of what is left when all rows up to each of these places are left out."""
    exact = rows.astype(np.int64 if rows.dtype.kind in "iu" else np.float64)
    return np.asarray(metric.score(exact.sum(axis=0) - np.cumsum(exact, axis=0)[ends]))
