"""One score an item: from what files say to a metric's statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from simstudy.loaders.tables import Where, first_of
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.ratio import whole

_TRUTH = {"true": 1.0, "false": 0.0}


def takes_one_score(metric: Metric) -> bool:
    """Whether items may have one score each: 0 to 1 for accuracy, any number within its range for a mean."""
    return metric.item_range is not None


def number(text: str) -> float:
    """A text as a number, NaN where it is none: ASCII digits, and no underscores between them.

    Examples
    --------
    >>> number("1e-3"), number("1_000"), number("٣")
    (0.001, nan, nan)
    """
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def numbers(cells: pd.Series[Any]) -> FloatArray:
    """Cells as numbers, True and False as 1 and 0; NaN where one is not a number.

    Examples
    --------
    >>> numbers(pd.Series(["1", "0.5", "True", "no", ""])).tolist()
    [1.0, 0.5, 1.0, nan, nan]
    """
    if is_bool_dtype(cells) or is_numeric_dtype(cells):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    if cells.dtype.kind in "mM":
        # Times would be taken for their nanoseconds.
        return np.full(len(cells), np.nan)
    found = np.asarray(pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)).copy()
    words = np.flatnonzero(np.isnan(found))
    found[words] = [_TRUTH.get(str(cell).lower(), np.nan) for cell in cells.iloc[words]]
    return found


def narrow(values: FloatArray) -> Array:
    """Whole numbers as integers, so that scores that tie are known to tie."""
    return values.astype(np.int64) if values.size and whole(values) else values


def score_statistics(cells: pd.Series[Any], metric: Metric, where: Where) -> Array:
    """The statistics (n, 2) of items with one score each: numbers, true and false, or texts of these.

    The first score that is no number, is infinite, or is out of the metric's range is a ValueError.

    Examples
    --------
    >>> from simstudy.metrics import get_metric
    >>> score_statistics(pd.Series(["1", "0"]), get_metric("accuracy"), str).tolist()
    [[1, 1], [0, 1]]
    >>> score_statistics(pd.Series(["1", "3"]), get_metric("rr"), lambda i: f"a.csv, line {i + 2}")
    Traceback (most recent call last):
    ValueError: a.csv, line 3: a score must be between 0 and 1 for metric 'rr', not 3
    """
    check_takes_one_score(metric)
    found = numbers(cells)
    low, high = metric.item_range or (-np.inf, np.inf)
    # Between 0 and 1 for accuracy: the mean of several answers to one question.
    hint = "; metric='mean' takes any number" if metric.name == "accuracy" else ""
    between = f"between {low:g} and {high:g} for metric '{metric.name}'"
    out_of_range = ~((found >= low) & (found <= high))
    for wrong, rule, more in ((~np.isfinite(found), "a number", ""), (out_of_range, between, hint)):
        if (row := first_of(wrong)) is not None:
            value = cells.iloc[row]
            if pd.isna(value) or value == "":
                raise ValueError(f"{where(row)}: no score; leave out the rows of items that a system lacks")
            shown = repr(value) if np.isnan(found[row]) else np.format_float_positional(found[row], trim="-")
            raise ValueError(f"{where(row)}: a score must be {rule}, not {shown}{more}")
    return narrow(np.stack([found, np.ones_like(found)], axis=-1))


def check_takes_one_score(metric: Metric) -> None:
    """Raise a ValueError for a metric that needs more than one number an item."""
    if not takes_one_score(metric):
        raise ValueError(
            f"metric '{metric.name}' needs ({', '.join(metric.statistics)}) of each item, but there is one score: "
            "metric='accuracy' (0 to 1) or metric='mean'"
        )
