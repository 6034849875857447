"""Tests of acceptance sets: Fisher's against scipy's, the score test of precision by its formula."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
