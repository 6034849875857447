"""The score test of precision, by its formula and by a test of two proportions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from tests.oracles import compared

ACCEPTED = METRICS["precision_of_accepted"]


def accepting(rng: np.random.Generator, n: int) -> np.ndarray:
    """Statistics (2, n, 2) of two systems that accept some of n candidates."""
    accepted = rng.random((2, n)) < [[0.5], [0.2]]
    return np.stack([accepted & (rng.random(n) < 0.8), accepted], axis=-1).astype(int)


def test_the_score_of_precisions_is_kosinskis() -> None:
    """His formula of 2013: pooled precision p, and C of what both accept, candidate by candidate."""
    rng = np.random.default_rng(3)
    for n in (30, 200):
        pair = accepting(rng, n)
        row = compared(Outputs.from_statistics(pair, ACCEPTED, ["a", "b"]), test="precision_score").iloc[0]
        n_1, n_2 = pair[..., 1].sum(axis=1)
        p = pair[..., 0].sum() / (n_1 + n_2)
        c = sum((t - p) ** 2 for (t, one), (_, other) in zip(*pair.tolist(), strict=True) if one and other)
        variance = (p * (1 - p) - 2 * c / (n_1 + n_2)) * (1 / n_1 + 1 / n_2)
        assert row.statistic == pytest.approx(row.gain / ACCEPTED.scale / np.sqrt(variance), rel=1e-9)
        assert row.p_value == pytest.approx(stats.chi2.sf(row.statistic**2, 1), rel=1e-9)


def test_sets_that_share_nothing_are_a_test_of_two_proportions() -> None:
    """Pooled: statsmodels' and every textbook's z."""
    true = np.repeat([1, 0], [43, 17])
    accepted = np.stack([np.arange(60) % 3 > 0, np.arange(60) % 3 == 0]).astype(int)
    outputs = Outputs.from_statistics(np.stack([accepted * true, accepted], axis=-1), ACCEPTED, ["a", "b"])
    row = compared(outputs, test="precision_score").iloc[0]
    table = [[int((side * true).sum()), int((side * (1 - true)).sum())] for side in accepted]
    assert row.p_value == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-9)
