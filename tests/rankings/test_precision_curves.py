"""Precision over n, against counting by hand and R's intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.rankings.candidates import Candidates
from simstudy.rankings.precision_curves import count_up_to, precision_curve
from tests.rankings.test_candidates import FRAME, random_candidates


@pytest.mark.parametrize("ties", ["jitter", "keep"])
@pytest.mark.parametrize("seed", range(3))
def test_curves_are_counts_of_lists(seed: int, ties: str) -> None:
    candidates = random_candidates(seed, ties=ties)
    curves = precision_curve(candidates)
    assert len(curves) == 3 * 40
    for row in curves.itertuples():
        accepted = candidates.n_best(row.ranking, row.n)
        hits = int((accepted & candidates.true).sum())
        assert (row.n_accepted, row.n_true) == (accepted.sum(), hits)
        assert row.n_accepted == row.n if ties == "jitter" else row.n_accepted >= row.n
        assert row.precision == pytest.approx(hits / accepted.sum())
        assert row.recall == pytest.approx(hits / candidates.true.sum())
        interval = stats.binomtest(hits, int(accepted.sum())).proportion_ci(0.95, method="exact")
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
    assert curves["baseline"].unique() == pytest.approx([candidates.true.mean()])


def test_precision_and_recall_are_equivalent_for_one_length() -> None:
    """Pi = n_TP R / n (footnote 2)."""
    candidates = random_candidates(7)
    curves = precision_curve(candidates)
    np.testing.assert_allclose(curves["precision"], candidates.true.sum() * curves["recall"] / curves["n"])


def test_the_papers_interval() -> None:
    """200 of 500 true: 35.7 % to 44.4 % (section 3.2, R's binom.test(200, 500))."""
    frame = pd.DataFrame({"g": np.arange(500)})
    row = precision_curve(Candidates.from_scores(frame, np.arange(500) % 5 < 2), [500]).iloc[0]
    assert (row.n_true, row.precision) == (200, 0.4)
    assert (round(100 * row.low, 1), round(100 * row.high, 1)) == (35.7, 44.4)


def test_level_of_the_interval() -> None:
    frame = pd.DataFrame({"g": np.arange(10)})
    row = precision_curve(Candidates.from_scores(frame, [1, 0] * 5), [10], level=0.5).iloc[0]
    interval = stats.binomtest(5, 10).proportion_ci(0.5, method="exact")
    assert (row.low, row.high) == pytest.approx((interval.low, interval.high))


def test_one_length_may_be_given_as_such() -> None:
    pd.testing.assert_frame_equal(precision_curve(random_candidates(0), 7), precision_curve(random_candidates(0), [7]))


def test_lengths_are_put_in_order() -> None:
    assert precision_curve(random_candidates(0), [9, 3])["n"].tolist() == [3, 9] * 3


@pytest.mark.parametrize(
    ("n", "message"),
    [
        ([41], "n must be between 1 and 40, the number of candidates, not 41"),
        ([0], "n must be at least 1, not 0"),
        ([3, 3], r"n must name at least one length, each once, not \[3, 3\]"),
        ([], "n must name at least one length"),
    ],
)
def test_bad_lengths_are_refused(n: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        precision_curve(random_candidates(0), n)


def test_a_bad_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level must lie between 0 and 1, both excluded, not 95"):
        precision_curve(random_candidates(0), level=95)


def test_all_true_and_none_true() -> None:
    all_true = precision_curve(Candidates.from_scores(FRAME, [1, 1, 1]), [2])
    assert all_true[["precision", "high", "baseline"]].to_numpy().tolist() == [[1, 1, 1]] * 2
    # Clopper-Pearson of 2 of 2: the bound is (alpha / 2) ^ (1 / 2).
    assert all_true["low"].tolist() == pytest.approx([0.025**0.5] * 2)
    assert all_true["recall"].tolist() == pytest.approx([2 / 3] * 2)
    none = precision_curve(Candidates.from_scores(FRAME, [0, 0, 0]), [2])
    assert none["precision"].tolist() == [0, 0]
    assert none["recall"].isna().all()


def test_counts_reach_beyond_the_last_rank() -> None:
    assert count_up_to(np.array([], dtype=np.int64), np.array([1, 5])).tolist() == [0, 0]
