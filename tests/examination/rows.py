"""Rows of Comparisons, made up and of systems that are known by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics import get_metric
from simstudy.outputs import Outputs


def pair(**changed: object) -> pd.Series[Any]:
    """One row of Comparisons."""
    row: dict[str, object] = {
        "task": "", "test_set": "", "n_items": 1500, "metric": "accuracy", "metric_unit": "", "test": "sign_flips",
        "alternative": "two-sided", "convention": "default", "strata": "", "unit": "item", "n_units": 1500,
        "system_a": "new", "system_b": "old", "score_a": 75.0, "score_b": 70.0,
        "gain": 5.0, "gain_se": 2.3, "gain_low": 0.49, "gain_high": 9.51, "interval": "jackknife", "df": 1499,
        "wins": 200, "losses": 125, "ties": 1175,
        "p_value": 0.031, "p_low": 0.031, "p_high": 0.031, "p_two_sided": 0.031, "p_floor": 2.0**-324,
        "better": "new", "computation": "exact", "exact_level": True, "n_extreme": 0, "n_resamples": 0,
        "statistic": np.nan, "metric_signature": "", "seed": 0, "family_a": "new", "family_b": "old",
        "relation": "all pairs", "minimum_detectable_gain": 6.4,
        "skewness": np.nan, "accepted_a": np.nan, "wrong_a": np.nan, "accepted_b": np.nan, "wrong_b": np.nan,
        "caution": "",
    }  # fmt: skip
    assert set(changed) <= set(row)
    row |= changed
    return pd.Series({**row, "metric_unit": get_metric(str(row["metric"])).unit})


def only_new_is_right(n: int, both: int) -> Outputs:
    """Two systems: n items that only the new one has right, and some that both have."""
    return Outputs.from_statistics([[[1, 1]] * (n + both), [[0, 1]] * n + [[1, 1]] * both], "accuracy", ["new", "old"])


def scores(new: NDArray[Any] | list[float], old: NDArray[Any] | list[float]) -> Outputs:
    return Outputs.from_scores(pd.DataFrame({"new": new, "old": old}), "mean")
