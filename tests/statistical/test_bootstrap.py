"""Long checks of the bootstrap: many pairs against their exact p-values, and what a p-value is worth under the null."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.truth import correlated_accuracies
from tests.oracles import compared, exact_bootstrap_p, intervals_that_miss

pytestmark = [pytest.mark.slow, pytest.mark.statistical]


def test_coverage_of_the_monte_carlo_interval() -> None:
    """2,000 pairs on test sets of 50 … 2000 items, 20,000 resamples each, each with a seed of its own."""
    tried = 2000
    missed = intervals_that_miss(tried, n_resamples=20_000, edge=0.002, seed=17)
    assert stats.binom.sf(missed - 1, tried, 0.05) > 1e-6
    assert stats.binom.cdf(missed, tried, 0.04) > 1e-6


def test_all_pairs_of_a_leaderboard_size_agree_with_the_exact_tail() -> None:
    """60 systems x 500 items, a million resamples: no pair is off by more than chance allows 1,770 times over."""
    outputs = correlated_accuracies([0.5 + k / 300 for k in range(60)], 500, between=0.5, seed=3)
    options: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "n_jobs": 2}
    pairs = compared(outputs, seed=11, monte_carlo=True, **options)
    limits = compared(outputs, **options)["p_value"]
    right = dict(zip(outputs.names, outputs.statistics[..., 0], strict=True))
    for row, limit in zip(pairs.itertuples(), limits, strict=True):
        exact = exact_bootstrap_p(right[row.system_a], right[row.system_b])
        assert limit == pytest.approx(exact, rel=1e-9, abs=0)
        spread = np.sqrt(exact * (1 - exact) / row.n_resamples)
        assert abs(row.n_extreme / row.n_resamples - exact) < 6 * spread + 2e-6, row
