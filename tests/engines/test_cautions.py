"""Cautions and what gains rest on: counts and effective numbers by hand, skewness by scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.cautions import FEW_EFFECTIVE, SKEWED
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from tests.engines.pairs import scored
from tests.oracles import ERROR_RATE, compared

COUNTS = ["accepted_a", "wrong_a", "accepted_b", "wrong_b"]


def precision(n: int, *systems: tuple[int, int]) -> Outputs:
    """Systems that accept so many of the first candidates, and have so many of these wrong: the last ones."""
    accepted = np.array([np.arange(n) < of for of, _ in systems]).astype(int)
    right = np.array([np.arange(n) < of - wrong for of, wrong in systems]).astype(int)
    return Outputs.from_statistics(np.stack([right, accepted], axis=-1), METRICS["precision_of_accepted"])


def test_skewness_is_that_of_the_units_differences() -> None:
    """Also of clusters, and of systems that differ by a millionth."""
    rng = np.random.default_rng(1)
    first, cluster = rng.normal(size=120), np.repeat(np.arange(40), 3)
    nearly_equal = np.stack([first + 1e-6 * rng.exponential(size=120), first])
    # Few pairs are multiplied in another way.
    for scores in (rng.lognormal(size=(6, 120)), rng.lognormal(size=(2, 120)), nearly_equal):
        sums = scores.reshape(-1, 40, 3).sum(axis=2)
        for units, outputs in ((scores, scored(scores)), (sums, scored(scores, cluster=cluster))):
            for row in compared(outputs).itertuples():
                a, b = (units["abcdef".index(name)] for name in (row.system_a, row.system_b))
                assert row.skewness == pytest.approx(stats.skew(a - b), rel=1e-4 if scores is nearly_equal else 1e-9)
    row = compared(scored([first, first])).iloc[0]
    assert np.isnan(row.skewness), "nothing varies"
    assert row.caution == ""


def test_answers_and_wrong_ones_are_counted() -> None:
    """The same answers, told by how many are right and by how many are wrong."""
    of_right = precision(60, (40, 6), (20, 5))
    right, accepted = np.moveaxis(of_right.statistics, -1, 0)
    of_wrong = Outputs.from_statistics(np.stack([accepted - right, accepted], axis=-1), "mean (lower is better)")
    for outputs in (of_right, of_wrong):
        assert compared(outputs).iloc[0][COUNTS].tolist() == [40, 6, 20, 5]
    counts = np.array([[5, 6, 7], [2, 2, 7], [0, 3, 7], [4, 4, 7]])
    f1 = Outputs.from_statistics(np.stack([counts, counts[::-1]]), "f1")
    assert compared(f1).iloc[0][COUNTS].tolist() == [15, 4, 15, 4]


@pytest.mark.parametrize(("sizes", "caution"), [([9] + 24 * [1], ""), ([10] + 24 * [1], FEW_EFFECTIVE)])
def test_a_giant_cluster_leaves_few_effective_units(sizes: list[int], caution: str) -> None:
    """The effective number of units is (9 + 24)^2 / (9^2 + 24) = 10.4, and (10 + 24)^2 / (10^2 + 24) = 9.3."""
    cluster = np.repeat(np.arange(25), sizes)
    scores = [np.random.default_rng(4).normal(size=len(cluster)), np.zeros(len(cluster))]
    row = compared(scored(scores, cluster=cluster)).iloc[0]
    assert row.n_units == 25
    assert row.caution == caution


def test_a_system_with_few_answers_has_few_effective_units() -> None:
    """The denominators of answers are 1 and 0, so the effective number of units is the number of answers."""
    for accepted in (9, 10):
        for wrong in (4, 5):
            row = compared(precision(60, (40, 20), (accepted, wrong))).iloc[0]
            assert (row.caution == FEW_EFFECTIVE) == (accepted < 10)


@pytest.mark.parametrize(("rare", "caution"), [(1, FEW_EFFECTIVE), (4, FEW_EFFECTIVE), (5, "")])
def test_a_class_of_few_items_leaves_few_effective_units(rare: int, caution: str) -> None:
    """In simulations intervals covered 58 to 81 % for classes of two and three items, and 89 to 95 % for five."""
    gold = ["a"] * 20 + ["b"] * 20 + ["c"] * rare
    answers = pd.DataFrame({"new": gold, "old": ["b", "a"] * 10 + gold[20:]})
    row = compared(Outputs.from_labels(gold, answers, "macro_f1")).iloc[0]
    assert row.caution == caution


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(("metric", "scale"), [("mean", 1.0), ("mean", 0.1), ("mean (lower is better)", 1e6)])
def test_skewed_are_differences_with_large_ones_on_one_side(side: int, metric: str, scale: float) -> None:
    """Two outliers of opposite signs are moved across the bounds of the skewness, and of the smaller one's size."""
    n, seen = 64, set()
    for outlier in range(2, 13, 2):
        for opposite in (1, 3, 4, 9):
            differences = np.tile([-1.0, 1.0], n // 2)
            differences[:2] = side * outlier, -side * opposite
            differences += 1
            centred = differences - differences.mean()
            other = max(-np.sign(stats.skew(differences)) * centred) / np.sqrt((centred**2).sum())
            expected = abs(stats.skew(differences)) > 0.2 * np.sqrt(n) and other < 0.25
            row = compared(scored([scale * differences, np.zeros(n)], metric)).iloc[0]
            assert row.caution == (SKEWED if expected else "")
            seen.add((row.caution, bool(other < 0.25)))
    assert seen == {(SKEWED, True), ("", True), ("", False)}


def test_right_and_wrong_answers_need_no_caution() -> None:
    right = np.ones((2, 300), dtype=int)
    right[1, :3] = 0
    for metric in ("accuracy", ERROR_RATE):
        counted = right if metric == "accuracy" else 1 - right
        row = compared(scored(counted, metric)).iloc[0]
        assert row.skewness > 0.2 * np.sqrt(300)
        assert row.caution == ""
        assert row[COUNTS].isna().all()
