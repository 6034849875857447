"""Few units: where no p-value can be small enough there is no power, in every form, design and pilot."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.planning import predict
from simstudy.planning.differences import NormalDifference
from simstudy.planning.settings import Level
from tests.oracles import compared
from tests.planning.options import plan_with


def flipped(n: int) -> np.ndarray:  # type: ignore[type-arg]
    """All signs of n units (2^n, n)."""
    return np.array(list(product([1.0, -1.0], repeat=n)))


def least_units(level: Level) -> int:
    """The fewest units whose p-value can be significant, by counting flips that add up to as much as no flip."""
    for n in range(1, 12):
        sums = flipped(n).sum(axis=1)
        extreme = np.abs(sums) >= n if level.alternative == "two-sided" else sums >= n
        if extreme.mean() <= level.alpha / level.comparisons:
            return n
    raise AssertionError


@pytest.mark.parametrize(
    "level", [Level(), Level(0.05, "greater"), Level(0.01), Level(0.05, comparisons=10), Level(1 / 16, "greater")]
)
def test_the_least_size_of_a_huge_gain_is_the_first_that_can_be_significant(level: Level) -> None:
    how: dict[str, Any] = {
        "alpha": level.alpha,
        "alternative": level.alternative,
        "comparisons": level.comparisons,
        "gain": 1.0,
    }
    n = least_units(level)
    for guesses in (
        {"metric": "mean", "sd_difference": 0.01},
        {"metric": "mean", "sd_difference": 0.01, "judge_sd": 0.001},
        {"metric": "mean", "sd_difference": 0.01, "cluster_size": 3, "icc": 0.2},
    ):
        assert plan_with(**guesses, **how).answers["n_units"].item() == n
    # Right and wrong answers that all differ, in one direction.
    answers = plan_with(metric="accuracy", score=0, agreement=0.0, **(how | {"gain": 100})).answers
    assert answers["n_units"].item() == n


def test_the_engine_gives_the_least_p_value() -> None:
    outputs = ss.Outputs.from_scores(pd.DataFrame({"new": [2.0, 3.5, 4.1, 5.2, 9.3], "old": [1.0, 1.1, 1.2, 1.3, 1.4]}))
    assert compared(outputs)["p_value"].item() == Level().least_p(5)
    one_sided = compared(outputs, alternative="greater")["p_value"].item()
    assert one_sided == Level(alternative="greater").least_p(5)


@pytest.mark.parametrize(
    ("n", "gain", "level"), [(6, 1.2, Level()), (9, 0.9, Level()), (9, 1.5, Level(comparisons=12))]
)
def test_the_power_of_few_units_is_that_of_all_flips(n: int, gain: float, level: Level) -> None:
    """Normal differences, each drawn set tested by all 2^n flips; exact where one outcome is significant."""
    drawn = np.random.default_rng(3).normal(gain, 1.0, (20_000, n))
    sums = drawn @ flipped(n).T
    observed = drawn.sum(axis=1)
    p = (np.abs(sums) >= np.abs(observed)[:, None] - 1e-9).mean(axis=1)
    significant = p <= level.alpha / level.comparisons
    found = NormalDifference(1.0).detection(gain, n, level)
    one = level.attainable_tail(n) * 2**n == 1
    assert found.power == pytest.approx((significant & (observed > 0)).mean(), abs=0.012 if one else 0.02)
    gains = np.abs(observed[significant]) / n
    assert found.exaggeration == pytest.approx(gains.mean() / gain, rel=0.01 if one else 0.05)


def test_few_clusters_of_a_pilot_have_no_power() -> None:
    rng = np.random.default_rng(4)
    items = pd.DataFrame({"id": range(44), "cluster": np.repeat(range(11), 4)})
    answers = pd.DataFrame({"new": rng.random(44) < 0.8, "old": rng.random(44) < 0.4}).astype(int)
    outputs = ss.Outputs.from_scores(answers, "accuracy", items=items)
    few = ss.plan(ss.Pilot(outputs, n_sets=0), n_items=12)
    assert np.isnan(few.answers["minimum_detectable_gain_high"].item())
    assert "no gain can be significant (two-sided, p <= 0.05): the least possible p-value is 0.25." in few.text
    # Six clusters can be significant; no gain is larger than the scale.
    some = ss.plan(ss.Pilot(outputs, n_sets=0), n_items=24).answers
    assert some["minimum_detectable_gain"].item() <= 100
    ends = some[["minimum_detectable_gain_low", "minimum_detectable_gain_high"]].to_numpy()
    assert not (ends > 100).any()


def test_predictions_of_few_units_have_no_significant_pair() -> None:
    outputs = ss.truth.correlated_accuracies([0.1 + k / 12 for k in range(10)], 300)
    rows = predict(outputs, [5, 6, 60], n_draws=100).set_index("n_units")
    shown = ["share_significant", "separated", "separated_corrected"]
    assert (rows.loc[5, [f"{name}_high95" for name in shown]] == 0).all()
    assert rows.loc[5, "ranks_high95"] == 1
    assert rows.loc[60, "share_significant"] > 0
    # Nine comparisons of neighbours by Holm need 2 / 2^9.
    assert rows.loc[6, "separated_corrected_high95"] == 0


def test_neighbours_far_apart_are_corrected_by_the_least_p_value() -> None:
    """Of two comparisons the smaller p-value must be at most 0.025: 2 / 2^6 is not, and 2 / 2^7 is."""
    scores = np.random.default_rng(1).normal(size=(40, 3)) + [0, 100, 200]
    rows = predict(ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("abc"))), [6, 7], n_draws=100)
    assert rows["separated"].tolist() == [2, 2]
    assert rows["separated_corrected"].tolist() == [0, 2]
