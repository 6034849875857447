"""Figures of studies: one panel of tables as data, and which pairs of systems it shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.pages.sections import Figure


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
