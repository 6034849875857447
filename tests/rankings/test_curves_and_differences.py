"""Precision by the length of lists, and tests of two rankings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.rankings.candidates import Candidates
from simstudy.rankings.n_best_lists import count_up_to, precision_curve, ranking_differences
from simstudy.statistics.multiplicity import corrected
from tests.oracles import compared
from tests.rankings.test_candidates import FRAME, random_candidates


@pytest.mark.parametrize("ties", ["jitter", "keep"])
def test_curves_are_counts_of_lists(ties: str) -> None:
    candidates = random_candidates(1, ties=ties)
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


@pytest.mark.parametrize("ties", ["jitter", "keep"])
@pytest.mark.parametrize("seed", range(2))
def test_every_pair_and_length_is_scipys_test_of_the_difference_regions(seed: int, ties: str) -> None:
    candidates = random_candidates(seed, ties=ties)
    table = ranking_differences(candidates)
    assert len(table) == 3 * 40
    assert list(table[["ranking_1", "ranking_2"]].drop_duplicates().itertuples(index=False, name=None)) == list(
        combinations(candidates.names, 2)
    )
    for row in table.itertuples():
        a, b = candidates.n_best(row.ranking_1, row.n), candidates.n_best(row.ranking_2, row.n)
        only_1, only_2 = a & ~b, b & ~a
        hits = [int((region & candidates.true).sum()) for region in (only_1, only_2)]
        assert (row.only_1, row.only_2, row.true_only_1, row.true_only_2) == (only_1.sum(), only_2.sum(), *hits)
        misses = [int((region & ~candidates.true).sum()) for region in (only_1, only_2)]
        assert row.p_value == pytest.approx(stats.fisher_exact([hits, misses]).pvalue)
        precisions = (a & candidates.true).sum() / a.sum(), (b & candidates.true).sum() / b.sum()
        assert (row.precision_1, row.precision_2) == pytest.approx(precisions)
        assert row.gain == pytest.approx(abs(precisions[0] - precisions[1]))
        # pi_D1 > pi_D2 (footnote 13), unless there is nothing to compare.
        shares = [hit / max(hit + miss, 1) for hit, miss in zip(hits, misses, strict=True)]
        favour = 0 if 0 in (only_1.sum(), only_2.sum()) else int(np.sign(round(shares[0] - shares[1], 12)))
        assert row.preferred == {1: row.ranking_1, 0: "", -1: row.ranking_2}[favour]
        if ties == "jitter":
            assert row.preferred == row.better
        better = {1: row.ranking_1, 0: "", -1: row.ranking_2}[int(np.sign(round(precisions[0] - precisions[1], 12)))]
        assert row.better == better


def test_lists_of_different_lengths_can_favour_the_less_precise() -> None:
    """Footnote 13: beside 90 true ones that both accept, g accepts 10 false ones, h (by ties) 60 true of 100."""
    g = [1000] * 90 + [900] * 10 + [1] * 100 + [-1] * 300
    h = [5] * 90 + [1] * 10 + [5] * 100 + [0] * 300
    true = [1] * 90 + [0] * 10 + [1] * 60 + [0] * 40 + [0] * 300
    row = ranking_differences(Candidates.from_scores(pd.DataFrame({"g": g, "h": h}), true, ties="keep"), 100).iloc[0]
    assert (row.only_1, row.true_only_1, row.only_2, row.true_only_2) == (10, 0, 100, 60)
    assert (row.better, row.preferred) == ("g", "h")
    assert row.p_value == pytest.approx(stats.fisher_exact([[0, 60], [10, 40]]).pvalue)


def test_one_length_is_what_compare_says() -> None:
    candidates = random_candidates(11)
    table = ranking_differences(candidates, [15])
    pairs = compared(candidates.outputs(15), test="fisher")
    by_names = {frozenset((row.system_a, row.system_b)): row for row in pairs.itertuples()}
    for row in table.itertuples():
        found = by_names[frozenset((row.ranking_1, row.ranking_2))]
        assert row.p_value == pytest.approx(found.p_value)
        assert row.gain == pytest.approx(found.gain)


def test_multiplicity_is_over_the_lengths_of_a_pair() -> None:
    candidates = random_candidates(2)
    plain, both = (ranking_differences(candidates, [5, 10, 20], multiplicity=m) for m in (False, True))
    assert "p_holm" not in plain
    pd.testing.assert_frame_equal(both[plain.columns], plain)
    for _, pair in both.groupby(["ranking_1", "ranking_2"]):
        expected = corrected(pair[["p_value"]])
        np.testing.assert_allclose(pair[["p_holm", "p_bh"]], expected[["p_holm", "p_bh"]])


def test_two_functions_with_the_same_scores_never_differ() -> None:
    frame = pd.DataFrame({"g": [1, 1, 0, 2, 0]})
    table = ranking_differences(Candidates.from_scores(frame.assign(h=frame["g"]), [1, 0, 0, 1, 1]))
    assert (table["p_value"] == 1).all()
    assert (table[["only_1", "only_2", "gain"]] == 0).all(axis=None)


@pytest.mark.parametrize("value", [0, 1])
def test_all_true_and_none_true_never_differ(value: int) -> None:
    table = ranking_differences(Candidates.from_scores(FRAME, [value] * 3))
    assert (table["p_value"] == 1).all()
    assert (table["better"] == "").all()


def test_the_whole_list_never_differs() -> None:
    table = ranking_differences(random_candidates(2), [40])
    assert (table[["only_1", "only_2"]] == 0).all(axis=None)
    assert (table["p_value"] == 1).all()


def test_one_scoring_function_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least two scoring functions .* only \['g1'\]"):
        ranking_differences(Candidates.from_scores(FRAME[["g1"]], [1, 0, 1]))
    with pytest.raises(ValueError, match="n must be between 1 and 3"):
        ranking_differences(Candidates.from_scores(FRAME, [1, 0, 1]), [5])
