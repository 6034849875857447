"""Which pairs a figure shows: thousands of points on one spot are no picture, and make large files."""

from __future__ import annotations

import numpy as np
import pandas as pd


def plotted_pairs(pairs: pd.DataFrame, most: int) -> pd.DataFrame:
    """Of pairs with p >= 0.001 (of all, where there are none) an even choice over the gains, at most so many.

    Curves, thresholds and calibration always use all pairs.
    """
    ordered = pairs.sort_values(["gain", "p_value", "system_a", "system_b"])
    undecided = ordered[ordered["p_value"] >= 0.001]
    if undecided.empty:
        undecided = ordered
    positions = np.linspace(0, len(undecided) - 1, min(most, len(undecided))).round().astype(int)
    return undecided.iloc[np.unique(positions)]
