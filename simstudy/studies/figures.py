"""Figures of studies: one panel of tables as data, and which pairs of systems it shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.pages.sections import Figure

#: Points drawn from a relation class: on the home test set of training-set resampling, and of natural outputs.
POINTS_AT_HOME, POINTS = 1000, 200
# In figures of many test sets.
_POINTS_OF_MANY = 80


def panel(name: str, draw: Callable[..., Any], *tables: Any, **options: Any) -> Figure:
    """A figure of one panel, with the options of `simstudy.plot.single`."""
    return Figure(name, partial(plot.single, draw, *tables, **options))


def plotted_pairs(pairs: pd.DataFrame, most: int) -> pd.DataFrame:
    """Of pairs with p >= 0.001 (of all, where there are none) an even choice over the gains, at most so many.

    Thousands of points on one spot are no picture. Curves, thresholds and calibration always use all pairs.
    """
    ordered = pairs.sort_values(["gain", "p_value", "system_a", "system_b"])
    undecided = ordered[ordered["p_value"] >= 0.001]
    if undecided.empty:
        undecided = ordered
    positions = np.linspace(0, len(undecided) - 1, min(most, len(undecided))).round().astype(int)
    return undecided.iloc[np.unique(positions)]


def thinned(pairs: pd.DataFrame, home: str, home_size: int) -> pd.DataFrame:
    """The pairs that figures show: not those with p < 0.001, and of the others an even choice over the gains.

    At most 1,000 of a relation class on the whole home test set and 80 elsewhere; curves, thresholds and calibration
    always use all pairs.
    """
    shown = []
    for (test_set, n_items, _), members in pairs.groupby(["test_set", "n_items", "relation"], sort=False):
        most = POINTS_AT_HOME if (test_set, n_items) == (home, home_size) else _POINTS_OF_MANY
        shown.append(plotted_pairs(members, most))
    return pd.concat(shown)[["test_set", "n_items", "metric", "relation", "gain", "p_value"]].reset_index(drop=True)
