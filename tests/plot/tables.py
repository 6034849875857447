"""A table for each figure that is drawn from one, and what else a figure takes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.studies.side_by_side import correlation_shares

_GAIN = np.tile(np.linspace(0, 3, 60), 2)

POINTS = pd.DataFrame(
    {
        "gain": _GAIN, "p_value": 0.5 * np.exp(-_GAIN), "metric": "accuracy", "n_items": np.repeat([100, 400], 60),
        "relation": np.repeat(["same family", "different families"], 60), "test_set": "home",
    }
)  # fmt: skip
CURVES = POINTS.assign(confidence=1 - POINTS["p_value"], confidence_05=0.98 - POINTS["p_value"],
                       confidence_95=1.01 - POINTS["p_value"])  # fmt: skip

THRESHOLDS = pd.DataFrame(
    {
        "n_items": [100, 400] * 2, "relation": ["same family"] * 2 + ["different families"] * 2,
        "threshold": [6.1, 3.2, 8.3, 4.4], "low": [5.0, 2.5, 8.0, 4.3], "high": [6.5, 5.5, 9.9, 7.0],
        "c": [60.0] * 2 + [80.0] * 2, "fit": [6.0, 3.0, 8.0, 4.0], "exponent": -0.4,
    }
)  # fmt: skip

CALIBRATION = pd.DataFrame(
    {
        "p_from": [0.0, 0.01, 0.1], "p_to": [0.01, 0.1, 1.0], "expected": [0.999, 0.95, 0.6],
        "share": [0.9, 0.8, 0.7], "low": [0.85, 0.6, 0.5], "high": [0.98, 0.82, 0.76], "elsewhere": "news",
    }
)  # fmt: skip

BY_TASK = pd.DataFrame(
    {
        "name": ["law", "code", "macro"], "hypothesis": ["single task", "single task", "these tasks"],
        "metric": "accuracy", "system_a": "new", "system_b": "old", "gain": [2.0, 4.0, 3.0],
        "gain_low": [0.5, 1.0, 1.3], "gain_high": [3.5, 7.0, 4.7],
    }
)  # fmt: skip

PAIRS = pd.DataFrame(
    {
        "system_a": ["x", "x", "y"], "system_b": ["y", "z", "z"], "gain": [2.0, 5.0, 3.0],
        "score_a": [9.0, 9.0, 7.0], "score_b": [7.0, 4.0, 4.0],
        "gain_low": [-0.5, 4.0, 1.0], "gain_high": [2.5, 9.0, 8.0], "p_value": [0.11, 0.001, 0.04],
        "n_extreme": 0, "n_resamples": 0,
    }
)  # fmt: skip

NOISE = pd.DataFrame({"samples": [1, 4, 16], "se": [5.0, 3.6, 3.2], "floor": 3.0})

# a with c, and b with c and d: neither of the first two is a run that the other is apart from.
GROUPS = pd.DataFrame(
    {
        "group": [1, 1, 2, 2, 2, 3], "rank": [1, 3, 2, 3, 4, 5], "system": list("acbcde"),
        "score": [50.0, 48.0, 49.0, 48.0, 47.0, 30.0],
    }
)  # fmt: skip

RATES = pd.DataFrame({"test": ["sign_flips"] * 3 + ["fisher"] * 3, "n_units": [500, 10, 100] * 2, "alpha": 0.1}).assign(
    share=[0.1, 0.02, 0.09, 0.05, 0.0, 0.06], low=0.0, high=0.15
)
COVERED = pd.DataFrame({"title": np.repeat(["F1", "BLEU"], 2), "n_units": [10, 100] * 2, "level": 0.9}).assign(
    share=[0.85, 0.9, 0.3, 0.91], low=[0.8, 0.88, 0.2, 0.89], high=[0.9, 0.92, 0.4, 0.97]
)
EXAGGERATED = pd.DataFrame(
    {
        "view": ["a", "a", "b"], "share": [0.8, 0.2, 0.5], "type_m": [1.1, 3.0, np.nan],
        "type_m_low": [1.0, 2.9, np.nan], "type_m_high": [1.3, 3.2, np.nan],
    }
)  # fmt: skip

AGREED = pd.DataFrame(
    {
        "relation": np.repeat(["same family", "different families", "all pairs"], 2),
        "test": ["z_independent", "sign"] * 3, "alpha": 0.01, "share": [0.5, 0.2, 0.7, 0.6, 0.65, 0.5],
        "low": [0.4, 0.1, 0.6, 0.5, 0.55, 0.4], "high": [0.65, 0.35, 0.85, 0.75, 0.8, 0.65],
    }
)  # fmt: skip
DEPENDENT = pd.DataFrame(
    {
        "within": [0.0, 0.4] * 2, "unit": ["item"] * 2 + ["cluster"] * 2, "alpha": 0.1,
        "share": [0.11, 0.4, 0.09, 0.1], "low": [0.1, 0.35, 0.08, 0.09], "high": [0.13, 0.5, 0.12, 0.11],
    }
)  # fmt: skip


def board(k: int = 4) -> pd.DataFrame:
    place = np.arange(1, k + 1)
    score = 90.0 - 5 * place
    return pd.DataFrame(
        {
            "metric": "accuracy", "level": 0.95, "system": [f"system {p}" for p in place], "score": score,
            "score_low": score - 4, "score_high": score + 3, "rank": place, "rank_low": np.maximum(place - 2, 1),
            "rank_high": np.minimum(place + 2, k), "rank_low_own": np.maximum(place - 1, 1),
            "rank_high_own": np.minimum(place + 1, k), "may_be_best": place <= 2,
        }
    )  # fmt: skip


# Numbers of two metrics that follow c / sqrt(n) exactly, c = 40 and 90.
BY_SIZE = pd.DataFrame({"n_items": [100, 400, 1600, 100, 900], "metric": ["las"] * 3 + ["bleu"] * 2})
BY_SIZE["true_80"] = np.where(BY_SIZE["metric"] == "las", 40.0, 90.0) / np.sqrt(BY_SIZE["n_items"])
BY_SIZE = BY_SIZE.assign(
    true_80_low=0.8 * BY_SIZE["true_80"], true_80_high=1.3 * BY_SIZE["true_80"], alternative="two-sided", alpha=0.05
)
BY_TEST_SET = pd.DataFrame(
    [
        ("large", 1000, "same group", 1.0, 2.0, 1.5, 1.2, 1.9),
        ("large", 1000, "different groups", 2.0, 4.0, 3.0, 2.5, 3.5),
        ("small", 50, "same group", 3.0, 5.5, 4.0, 3.5, 5.0),
        ("small", 50, "different groups", 6.0, 9.0, 8.0, 7.0, 9.5),
        ("middle", 200, "all pairs", 2.5, 4.5, 3.5, 3.0, 4.0),
        ("unknown", 20, "same group", *[np.nan] * 5),
    ],
    columns=["test_set", "n_items", "relation", "observed_50", "observed_95", "true_80", "true_80_low", "true_80_high"],
).assign(metric="accuracy", alternative="two-sided", alpha=0.05)

_POWER = [0.2, 0.5, 0.9]
POWER = pd.DataFrame(
    {
        "relation": ["variants"] * 3 + ["different families"] * 3, "n_items": [100, 400, 1600] * 2,
        "power": [*_POWER, 0.1, 0.3, 0.7], "power_low": [0.1, 0.4, 0.8, 0.05, 0.2, 0.6],
        "power_high": [0.3, 0.6, 0.95, 0.15, 0.4, 0.75],
    }
)  # fmt: skip
SIZES = POWER.rename(columns=lambda name: name.replace("power", "minimum_detectable_gain")).assign(
    minimum_detectable_gain=[6.0, 3.0, 1.5, 9.0, 4.5, np.nan]
)

#: The name of a figure's function -> a table without columns that it does not need.
TABLES = {
    "curve": POINTS[["gain", "p_value", "relation"]], "thresholds": THRESHOLDS, "calibration": CALIBRATION,
    "gain_intervals": PAIRS.drop(columns=["score_a", "score_b", "n_extreme", "n_resamples"]),
    "matrix": PAIRS.drop(columns=["gain", "gain_low", "gain_high"]), "groups": GROUPS, "leaderboard": board(),
    "error_rates": RATES, "power_curves": RATES.drop(columns="alpha"), "coverage": COVERED, "exaggeration": EXAGGERATED,
    "rejections": AGREED, "type_1_errors": DEPENDENT,
    "correlations": correlation_shares(pd.DataFrame({"relation": "same family", "r12": [0.5]})).drop(columns="n_pairs"),
    "gains_by_size": BY_SIZE, "gains_by_test_set": BY_TEST_SET,
    "gain_by_task": BY_TASK, "planned_power": POWER, "planned_gains": SIZES, "noise_curve": NOISE,
    "smaller_test_sets": pd.DataFrame(
        {"n_items": [400, 200, 100], "pairs": 10, "significant": [8, 6, 3], "significant_holm": [7, 2, 0]}
    ),
}  # fmt: skip
