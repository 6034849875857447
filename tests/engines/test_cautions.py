"""Cautions and what gains rest on: counts and effective numbers by hand, skewness by scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.cautions import FEW_EFFECTIVE, SKEWED
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, compared

COUNTS = ["accepted_a", "wrong_a", "accepted_b", "wrong_b"]


def scored(scores: np.ndarray, **items: object) -> Outputs:
    names = [f"s{k}" for k in range(len(scores))]
    frame = pd.DataFrame({"id": range(scores.shape[1]), **items})
    return Outputs.from_scores(pd.DataFrame(scores.T, columns=names), items=frame)


def precision(n: int, *systems: tuple[int, int]) -> Outputs:
    """Systems that accept so many of the first candidates, and have so many of these wrong: the last ones."""
    accepted = np.array([np.arange(n) < of for of, _ in systems]).astype(int)
    right = np.array([np.arange(n) < of - wrong for of, wrong in systems]).astype(int)
    return Outputs.from_statistics(np.stack([right, accepted], axis=-1), METRICS["precision_of_accepted"])


def test_skewness_is_that_of_the_units_differences() -> None:
    rng = np.random.default_rng(1)
    scores = rng.lognormal(sigma=1.0, size=(6, 83))
    pairs = compared(scored(scores))
    for row in pairs.itertuples():
        a, b = (scores[int(name[1:])] for name in (row.system_a, row.system_b))
        assert row.skewness == pytest.approx(stats.skew(a - b), rel=1e-9)
    # Few pairs are multiplied in another way.
    assert compared(scored(scores[:2]))["skewness"][0] == pytest.approx(
        abs(stats.skew(scores[0] - scores[1])), rel=1e-9
    )


def test_skewness_of_clusters_is_that_of_their_sums() -> None:
    rng = np.random.default_rng(2)
    scores, cluster = rng.exponential(size=(2, 120)), np.repeat(np.arange(40), 3)
    row = compared(scored(scores, cluster=cluster)).iloc[0]
    sums = (scores[0] - scores[1]).reshape(40, 3).sum(axis=1)
    assert row.skewness == pytest.approx(stats.skew(sums) * np.sign(sums.sum()), rel=1e-9)


def test_nearly_equal_systems_have_the_skewness_of_their_own_difference() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=200)
    difference = 1e-6 * rng.exponential(size=200)
    row = compared(scored(np.stack([first + difference, first]))).iloc[0]
    assert row.skewness == pytest.approx(stats.skew(first + difference - first), rel=1e-4)


def test_where_nothing_varies_there_is_no_skewness() -> None:
    row = compared(scored(np.stack([np.arange(30.0), np.arange(30.0)]))).iloc[0]
    assert np.isnan(row.skewness)
    assert row.caution == ""


def test_answers_and_wrong_ones_are_counted() -> None:
    row = compared(precision(60, (40, 6), (20, 5))).iloc[0]
    assert row[COUNTS].tolist() == [40, 6, 20, 5]
    counts = np.array([[5, 6, 7], [2, 2, 7], [0, 3, 7], [4, 4, 7]])
    f1 = Outputs.from_statistics(np.stack([counts, counts[::-1]]), "f1")
    assert compared(f1).iloc[0][COUNTS].tolist() == [15, 4, 15, 4]


def test_where_less_is_better_what_is_counted_is_wrong() -> None:
    """The same answers, told by how many are right and by how many are wrong."""
    of_right = precision(60, (40, 6), (20, 5))
    right, accepted = np.moveaxis(of_right.statistics, -1, 0)
    of_wrong = Outputs.from_statistics(np.stack([accepted - right, accepted], axis=-1), "mean (lower is better)")
    for outputs in (of_right, of_wrong):
        assert compared(outputs).iloc[0][COUNTS].tolist() == [40, 6, 20, 5]


@pytest.mark.parametrize(("sizes", "caution"), [([9] + 24 * [1], ""), ([10] + 24 * [1], FEW_EFFECTIVE)])
def test_a_giant_cluster_leaves_few_effective_units(sizes: list[int], caution: str) -> None:
    """The effective number of units is (9 + 24)^2 / (9^2 + 24) = 10.4, and (10 + 24)^2 / (10^2 + 24) = 9.3."""
    cluster = np.repeat(np.arange(25), sizes)
    scores = np.stack([np.random.default_rng(4).normal(size=len(cluster)), np.zeros(len(cluster))])
    row = compared(scored(scores, cluster=cluster)).iloc[0]
    assert row.n_units == 25
    assert row.caution == caution


def test_a_system_with_few_answers_has_few_effective_units() -> None:
    """The denominators of answers are 1 and 0, so the effective number of units is the number of answers."""
    for accepted in (9, 10):
        for wrong in (4, 5):
            row = compared(precision(60, (40, 20), (accepted, wrong))).iloc[0]
            assert (row.caution == FEW_EFFECTIVE) == (accepted < 10)


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
            statistics = np.stack([[scale * differences, np.zeros(n)], np.ones((2, n))], axis=-1)
            row = compared(Outputs.from_statistics(statistics, METRICS[metric])).iloc[0]
            assert row.caution == (SKEWED if expected else "")
            seen.add((row.caution, bool(other < 0.25)))
    assert seen == {(SKEWED, True), ("", True), ("", False)}


def test_right_and_wrong_answers_need_no_caution() -> None:
    right = np.ones((2, 300), dtype=int)
    right[1, :3] = 0
    for metric in ("accuracy", ERROR_RATE):
        counted = right if metric == "accuracy" else 1 - right
        row = compared(Outputs.from_statistics(np.stack([counted, np.ones_like(right)], -1), metric)).iloc[0]
        assert row.skewness > 0.2 * np.sqrt(300)
        assert row.caution == ""
        assert row[COUNTS].isna().all()
