"""Tests of acceptance sets: Fisher's against whole numbers and scipy, the score test of precision by its formula."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.classical_tests import fisher_exact
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.rankings.candidates import Candidates
from tests.oracles import compared


def accepting(accepts: np.ndarray, true: np.ndarray) -> Outputs:
    """Precision of systems a, b, … that accept some candidates (K, n), of which some (n,) are true."""
    counts = np.stack([accepts & true, accepts], -1).astype(int)
    return Outputs.from_statistics(counts, METRICS["precision_of_accepted"], list("abcde")[: len(accepts)])


@pytest.mark.parametrize("lists", ["acceptance sets", "n-best lists"])
def test_every_pair_is_scipys_test_of_what_only_one_accepts(lists: str) -> None:
    rng = np.random.default_rng(1)
    true = rng.random(300) < 0.3
    if lists == "acceptance sets":
        accepts = rng.random((5, 300)) < (0.1 + 0.1 * np.arange(5)[:, None] + 0.2 * true)
        outputs = accepting(accepts, true)
    else:
        scores = pd.DataFrame(rng.normal(size=(300, 3)) + true[:, None] * [0, 1, 2], columns=list("abc"))
        outputs = Candidates.from_scores(scores, true).outputs(50)
        accepts = scores.rank(ascending=False).to_numpy().T <= 50
    pairs = compared(outputs, test="fisher")
    assert len(pairs) == len(accepts) * (len(accepts) - 1) / 2
    for row in pairs.itertuples():
        first, second = (accepts["abcde".index(name)] for name in (row.system_a, row.system_b))
        regions = first & ~second, second & ~first
        table = [[int((region & side).sum()) for region in regions] for side in (true, ~true)]
        assert row.p_value == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)
        assert row.statistic == pytest.approx(true[regions[0]].mean() - true[regions[1]].mean())
        assert row.gain == pytest.approx(true[first].mean() - true[second].mean())
        assert (row.exact_level, row.computation, row.alternative, row.n_resamples) == (True, "exact", "two-sided", 0)


@pytest.mark.parametrize(
    ("sets", "statistic", "p"),
    [
        # 3 of 3 and 0 of 3 are true: 2 of the 20 ways to have 3 true ones in 6.
        ([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], 1, 2 / 20),
        ([[0, 1, 2], [0, 1, 2]], 0, 1),
        ([[], []], 0, 1),
        # One accepts all that the other does: one region is empty, and nothing can be said.
        ([[0, 1], [0, 1, 2, 4, 5]], -1 / 3, 1),
        ([[0, 1], []], 1, 1),
    ],
)
def test_small_pairs_by_hand(sets: list[list[int]], statistic: float, p: float) -> None:
    accepts = np.array([np.isin(np.arange(8), items) for items in sets])
    row = compared(accepting(accepts, np.arange(8) < 4 - (p == 1)), test="fisher").iloc[0]
    assert (row.p_value, row.statistic) == (pytest.approx(p), pytest.approx(statistic))


def exact_p(true_1: int, n_1: int, true_2: int, n_2: int) -> Fraction:
    """By the numbers of ways to have k true ones among the first, of all tables with these margins."""
    n_true = true_1 + true_2
    numbers = range(max(0, n_true - n_2), min(n_true, n_1) + 1)
    ways = {k: comb(n_1, k) * comb(n_2, n_true - k) for k in numbers}
    # The relative tolerance of R, 1 part in 10^7.
    no_more = sum(w for w in ways.values() if w * 10**7 <= ways[true_1] * (10**7 + 1))
    return Fraction(no_more, sum(ways.values()))


def test_fishers_p_of_every_small_table() -> None:
    """All tables of up to 7 and 8 candidates."""
    tables = [(x, n_1, y, n_2) for n_1 in range(8) for n_2 in range(9) for x in range(n_1 + 1) for y in range(n_2 + 1)]
    p_values = [fisher_exact(*table) for table in tables]
    np.testing.assert_allclose(p_values, [float(exact_p(*table)) for table in tables], rtol=1e-13)


@pytest.mark.parametrize("equal", [True, False], ids=["lists of one length", "of two"])
def test_fishers_p_of_tables_of_the_size_of_n_best_lists(equal: bool) -> None:
    rng = np.random.default_rng(1)
    n_1, n_2 = rng.integers(1, 1000, size=(2, 40))
    n_2 = n_1 if equal else n_2
    x, y = rng.binomial(n_1, rng.random(40) ** 2), rng.binomial(n_2, rng.random(40) ** 2)
    y[::2] = np.minimum(x * n_2 // n_1 + rng.integers(0, 5, 40), n_2)[::2]
    tables = [tuple(int(v) for v in table) for table in zip(x, n_1, y, n_2, strict=True)]
    expected = np.array([float(exact_p(*table)) for table in tables])
    assert 1e-300 < expected.min() < 1e-100 < 0.9 < expected.max()
    p_values = [fisher_exact(*table) for table in tables]
    np.testing.assert_allclose(p_values, expected, rtol=1e-10)
    theirs = [stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue for a, n, b, m in tables]
    np.testing.assert_allclose(p_values, theirs, rtol=1e-9)


@pytest.mark.parametrize("n", [5, 100, 250, 500])
def test_fishers_small_p_values_are_as_accurate_as_large_ones(n: int) -> None:
    """All true ones on one side: 2 / C(2 n, n), down to 1e-300."""
    assert fisher_exact(n, n, 0, n) == pytest.approx(float(Fraction(2, comb(2 * n, n))), rel=1e-10, abs=0)


def test_fishers_p_of_a_tail_far_from_the_mode() -> None:
    """The mode is 1e200 times as likely as the observed table and the other tail."""
    table = (400, 900, 0, 1000)
    assert fisher_exact(*table) == pytest.approx(float(exact_p(*table)), rel=1e-10, abs=0)


def test_the_score_test_of_precision_is_kosinskis_formula() -> None:
    """(P1 - P2)^2 over (R (1 - R) - 2 C) (1 / n1 + 1 / n2), where C is of the candidates that both accept."""
    rng = np.random.default_rng(3)
    true = rng.random(80) < 0.4
    accepts = rng.random((4, 80)) < 0.3 + 0.3 * true
    for row in compared(accepting(accepts, true), test="precision_score").itertuples():
        first, second = (accepts["abcd".index(name)] for name in (row.system_a, row.system_b))
        n_1, n_2, both = first.sum(), second.sum(), true[first & second]
        pooled = (true[first].sum() + true[second].sum()) / (n_1 + n_2)
        c = (both.sum() * (1 - pooled) ** 2 + (~both).sum() * pooled**2) / (n_1 + n_2)
        gain = true[first].mean() - true[second].mean()
        z = gain / np.sqrt((pooled * (1 - pooled) - 2 * c) * (1 / n_1 + 1 / n_2))
        assert (row.exact_level, row.computation) == (False, "approximated")
        assert row.statistic == pytest.approx(z)
        assert row.p_value == pytest.approx(2 * stats.norm.sf(z))


def test_sets_that_share_nothing_are_a_test_of_two_proportions() -> None:
    """Pooled: statsmodels' and every textbook's z."""
    true = np.repeat([1, 0], [43, 17])
    accepted = np.stack([np.arange(60) % 3 > 0, np.arange(60) % 3 == 0]).astype(int)
    row = compared(accepting(accepted, true), test="precision_score").iloc[0]
    table = [[int((side * true).sum()), int((side * (1 - true)).sum())] for side in accepted]
    assert row.p_value == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-9)
