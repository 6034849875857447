"""Test sets that are handed in together are analysed as they are one by one, and options say what they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration
from simstudy.comparisons.curves import curve
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import size_fit, thresholds
from simstudy.outputs import Outputs
from tests.comparisons.made_up import made_up, several

Analysis = Callable[..., pd.DataFrame]


def accuracies(pairs: pd.DataFrame, seed: int, n: int = 60) -> Outputs:
    """Another test set of the systems of some pairs."""
    names = sorted({*pairs["system_a"], *pairs["system_b"]})
    right = np.random.default_rng(seed).random((n, len(names))) < 0.7
    metric = str(pairs["metric"].iloc[0])
    return Outputs.from_scores(pd.DataFrame(right.astype(float), columns=names), metric)


def calibrated(pairs: pd.DataFrame) -> pd.DataFrame:
    """Two test sets elsewhere, of other sizes."""
    every = pd.concat([*several(), made_up(1, k=20)])
    elsewhere = {"near": accuracies(every, 8), "far": accuracies(every, 9, n=45)}
    return calibration(pairs, elsewhere, bins=[0, 0.05, 0.3, 1], min_pairs=4, n_bootstrap=30, seed=3)


def of_two_tests(pairs: pd.DataFrame) -> pd.DataFrame:
    """The same pairs by another test, whose p-values are others."""
    p_value = 1 - (1 - pairs["p_value"]) ** 0.8
    favours = pairs["better"].where(pairs["gain_se"] < 1, pairs["system_a"])
    other = pairs.assign(test="sign", p_value=p_value, better=favours)
    return agreement(pd.concat([pairs, other]), reference="t_paired", n_bootstrap=30)


FEW = {"window": (0.02, 0.7), "min_pairs": 4, "n_bootstrap": 30}
TOGETHER: dict[str, Analysis] = {
    "curve": lambda pairs: curve(pairs, n_points=9),
    "thresholds": lambda pairs: thresholds(pairs, **FEW, seed=3),
    "significant_gains": lambda pairs: significant_gains(pairs, alpha=0.1, power=(0.9, 0.3)),
    "calibration": calibrated,
    "ranks": lambda pairs: ranks(pairs, alpha=0.1),
    "agreement": of_two_tests,
}


@pytest.mark.parametrize("name", list(TOGETHER))
def test_test_sets_together_are_each_one_alone(name: str) -> None:
    """Whatever tells them apart, in whichever order their rows come."""
    analysis, tables = TOGETHER[name], several()
    tables = tables if name != "calibration" else [table for table in tables if table["metric"].iloc[0] == "accuracy"]
    mixed = pd.concat(tables).sample(frac=1, random_state=1).reset_index(drop=True)
    order = list(mixed[["task", "test_set", "n_items", "metric"]].drop_duplicates().itertuples(index=False, name=None))
    one_by_one = {tuple(table[["task", "test_set", "n_items", "metric"]].iloc[0]): analysis(table) for table in tables}
    whole, expected = analysis(mixed), pd.concat([one_by_one[key] for key in order], ignore_index=True)
    found = [column for column in expected if column not in ("low", "high")]
    pd.testing.assert_frame_equal(whole[found], expected[found])
    assert whole.columns.tolist() == expected.columns.tolist()
    in_order = analysis(pd.concat(tables, ignore_index=True))
    pd.testing.assert_frame_equal(in_order, pd.concat(one_by_one.values(), ignore_index=True))


def test_fits_over_sizes_are_those_of_each_test_set_alone() -> None:
    """Of thresholds that lie on curves of their own, whose rows are mixed, and of which one has no number."""
    base = {
        "task": "tagging", "test_set": "news", "metric": "accuracy", "relation": "same group", "alternative": "greater",
        "unit": "item",
    }  # fmt: skip
    keys = [tuple(base.values()), *(tuple({**base, column: "other"}.values()) for column in base)]
    rows = []
    for k, key in enumerate(keys):
        c, power = 10.0 + 7**k, -0.4 - 0.03 * k
        rows += [(*key, size, c * size**power, c, power) for size in (100, 150, 450)]
        rows.append((*key, 800, np.nan, c, power))
    names = ["task", "test_set", "metric", "relation", "alternative", "unit", "n_items", "threshold", "c0", "power"]
    table = pd.DataFrame(rows, columns=names).sample(frac=1, random_state=2)
    fitted = size_fit(table)
    pd.testing.assert_frame_equal(fitted[names], table)
    pd.testing.assert_frame_equal(size_fit(table.set_axis(table.index % 3)), fitted.set_axis(fitted.index % 3))
    np.testing.assert_allclose(fitted["exponent"], table["power"])
    for _, own in fitted.groupby(names[:6]):
        known = own[own["threshold"].notna()]
        c = np.prod(known["threshold"] * np.sqrt(known["n_items"])) ** (1 / 3)
        np.testing.assert_allclose(own["c"], c)
        np.testing.assert_allclose(own["fit"], c / own["n_items"] ** 0.5)
    one = table[table["n_items"] == 150]
    again = pd.concat([one, one.assign(n_items=[300] * len(one), threshold=0.0)])
    assert size_fit(again)[["c", "fit", "exponent"]].isna().all(axis=None), "a threshold of 0 is none"
