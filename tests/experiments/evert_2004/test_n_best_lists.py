"""Precision by the length of lists, and tests of two rankings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.rankings.candidates import Candidates
from simstudy.statistics.multiplicity import corrected
from tests.experiments.programs import program
from tests.oracles import compared
from tests.rankings.test_candidates import random_candidates

LISTS = program("evert_2004", "n_best_lists")
precision_curve, ranking_differences = LISTS.precision_curve, LISTS.ranking_differences


@pytest.mark.parametrize("ties", ["jitter", "keep"])
def test_curves_are_counts_of_lists(ties: str) -> None:
    candidates = random_candidates(1, ties=ties)
    curves = precision_curve(candidates, range(1, 41))
    assert len(curves) == 3 * 40
    for row in curves.itertuples():
        accepted = candidates.n_best(row.ranking, row.n)
        hits = int((accepted & candidates.true).sum())
        assert (row.n_accepted, row.n_true) == (accepted.sum(), hits)
        assert row.precision == pytest.approx(hits / accepted.sum())
        assert row.recall == pytest.approx(hits / candidates.true.sum())
        interval = stats.binomtest(hits, int(accepted.sum())).proportion_ci(0.95, method="exact")
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
    assert curves["baseline"].unique() == pytest.approx([candidates.true.mean()])


def test_the_papers_interval() -> None:
    """200 of 500 true: 35.7 % to 44.4 % (section 3.2, R's binom.test(200, 500))."""
    frame = pd.DataFrame({"g": np.arange(500)})
    row = precision_curve(Candidates.from_scores(frame, np.arange(500) % 5 < 2), [500]).iloc[0]
    assert (row.n_true, row.precision) == (200, 0.4)
    assert (round(100 * row.low, 1), round(100 * row.high, 1)) == (35.7, 44.4)


@pytest.mark.parametrize("ties", ["jitter", "keep"])
@pytest.mark.parametrize("seed", range(2))
def test_every_pair_and_length_is_scipys_test_of_the_difference_regions(seed: int, ties: str) -> None:
    candidates = random_candidates(seed, ties=ties)
    table = ranking_differences(candidates, range(1, 41))
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
        better = {1: row.ranking_1, 0: "", -1: row.ranking_2}[int(np.sign(round(precisions[0] - precisions[1], 12)))]
        assert row.better == better
    for _, pair in table.groupby(["ranking_1", "ranking_2"]):
        expected = corrected(pair[["p_value"]])
        np.testing.assert_allclose(pair[["p_holm", "p_bh"]], expected[["p_holm", "p_bh"]])


def test_lists_of_different_lengths_can_favour_the_less_precise() -> None:
    """Footnote 13: beside 90 true ones that both accept, g accepts 10 false ones, h (by ties) 60 true of 100."""
    g = [1000] * 90 + [900] * 10 + [1] * 100 + [-1] * 300
    h = [5] * 90 + [1] * 10 + [5] * 100 + [0] * 300
    true = [1] * 90 + [0] * 10 + [1] * 60 + [0] * 40 + [0] * 300
    row = ranking_differences(Candidates.from_scores(pd.DataFrame({"g": g, "h": h}), true, ties="keep"), [100]).iloc[0]
    assert (row.only_1, row.true_only_1, row.only_2, row.true_only_2) == (10, 0, 100, 60)
    assert (row.better, row.preferred) == ("g", "h")
    assert row.p_value == pytest.approx(stats.fisher_exact([[0, 60], [10, 40]]).pvalue)


def test_a_length_is_what_compare_says() -> None:
    candidates = random_candidates(11)
    table = ranking_differences(candidates, [15])
    pairs = compared(candidates.outputs(15), test="fisher")
    by_names = {frozenset((row.system_a, row.system_b)): row for row in pairs.itertuples()}
    for row in table.itertuples():
        pair = by_names[frozenset((row.ranking_1, row.ranking_2))]
        assert row.p_value == pytest.approx(pair.p_value)
        assert row.gain == pytest.approx(pair.gain)
