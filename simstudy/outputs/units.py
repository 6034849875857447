"""Items as tests use them: resampling units and strata in one order, and battles of two systems."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from simstudy.outputs.frames import shortest_first
from simstudy.validation import check_text

#: Columns of items that are battles: the two systems, and the points of the first (1, 0.5 for a tie, 0).
BATTLE = ("model_a", "model_b", "points_a")


def in_units(outputs: Outputs, unit: str | None = None) -> Outputs:
    """The Outputs with a row for each unit, in the order of the units' names.

    Random numbers belong to places: units in an order of their own keep theirs, in whatever order files have them. A
    unit is "item", or a column of the item table whose values name clusters; None is the natural unit. Anything else is
    a ValueError.
    """
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    unit = unit or outputs.natural_unit
    units = outputs if unit == "item" else outputs.sum_by(unit)
    order = shortest_first(units.items["id"])
    return units if (order == np.arange(len(order))).all() else units.take(order)


def stratified(units: Outputs, strata: str | None) -> tuple[IntArray, IntArray, list[str]]:
    """An order of the units in which a stratum's are next to each other, the strata's bounds, and their names.

    Without strata all units are one.
    """
    if strata is None:
        return np.arange(units.n_items), np.array([0, units.n_items], dtype=np.int64), [""]
    codes, names = pd.factorize(units.labels(strata))
    by_name = shortest_first(pd.Series(names))
    places = np.argsort(by_name)[codes]
    bounds = np.cumsum(np.bincount(places + 1)).astype(np.int64)
    return np.argsort(places, kind="stable"), bounds, [str(names[k]) for k in by_name]


def are_battles(items: pd.DataFrame) -> bool:
    """Whether the items are battles of an arena, as their columns tell."""
    return set(BATTLE) <= set(items)


def battles(outputs: Outputs) -> tuple[IntArray, IntArray, FloatArray] | None:
    """The positions of the two systems of each item, (n,) each, and the points of the first; None for other items.

    Battles with a system that is not among the outputs are left out.
    """
    if not are_battles(outputs.items):
        return None
    names = pd.Index(outputs.names)
    first, second = (names.get_indexer(pd.Index(outputs.items[column])) for column in BATTLE[:2])
    present = (first >= 0) & (second >= 0)
    return first[present], second[present], outputs.items[BATTLE[2]].to_numpy(np.float64)[present]


def meetings(outputs: Outputs) -> tuple[IntArray, IntArray] | None:
    """How often each system won against each other one, and how often they tied, (K, K) each; None for other items."""
    rows = battles(outputs)
    if rows is None:
        return None
    first, second, points = rows
    won, tied = np.zeros((2, outputs.n_systems, outputs.n_systems), dtype=np.int64)
    np.add.at(won, (first[points == 1], second[points == 1]), 1)
    np.add.at(won, (second[points == 0], first[points == 0]), 1)
    np.add.at(tied, (first[points == 0.5], second[points == 0.5]), 1)
    return won, tied + tied.T
