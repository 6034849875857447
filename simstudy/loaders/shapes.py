"""Shapes of tables of scores, as their columns tell: tidy, wide, or with a column for each sample."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.loaders.tables import numbers, takes_one_score
from simstudy.loaders.usual_names import sample_columns, system_columns
from simstudy.metrics import Metric


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
    low, high = metric.item_range or (-np.inf, np.inf)
    others, _ = system_columns(frame.columns, {"item", *columns})
    cells = (numbers(frame[name]) for name in others)
    return not any(((found >= low) & (found <= high)).all() for found in cells)
