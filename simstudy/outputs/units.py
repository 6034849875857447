"""What is resampled or swapped: items, or clusters of them, always in one order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.outputs import Outputs
from simstudy.outputs.frames import shortest_first
from simstudy.validation import check_text


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


def strata_of(units: Outputs, strata: str | None) -> tuple[IntArray, IntArray, list[str]]:
    """An order of the units in which those of a stratum are next to each other, the strata's bounds, and their names.

    Without strata all units are one.
    """
    if strata is None:
        return np.arange(units.n_items), np.array([0, units.n_items], dtype=np.int64), [""]
    codes, values = pd.factorize(units.labels(strata))
    place = np.empty(len(values), dtype=np.int64)
    by_name = shortest_first(pd.Series(values))
    place[by_name] = np.arange(len(values))
    codes = place[codes]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    return np.argsort(codes, kind="stable"), bounds, [str(values[k]) for k in by_name]
