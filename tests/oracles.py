"""What the bootstrap's p-values are checked against."""

from __future__ import annotations

import numpy as np
from scipy import stats

from simstudy.engines.comparisons import compare
from simstudy.generators.synthetic import correlated_accuracies


def exact_bootstrap_p(correct_a: np.ndarray, correct_b: np.ndarray) -> float:
    """P(gain(x*) >= 2 gain(x)) for 0/1 scores: the tail of a trinomial, by scipy's binomials.

    Of n draws, M fall on items where the systems differ, W of these on items that only a gets right; the sum of the
    differences is 2 W - M.
    """
    n = len(correct_a)
    only_a, only_b = int(((correct_a == 1) & (correct_b == 0)).sum()), int(((correct_a == 0) & (correct_b == 1)).sum())
    if only_a + only_b == 0:
        return 1.0
    m = np.arange(n + 1)
    least = np.ceil((2 * (only_a - only_b) + m) / 2)
    wins = stats.binom.sf(least - 1, m, only_a / (only_a + only_b))
    return float((stats.binom.pmf(m, n, (only_a + only_b) / n) * wins).sum())


def intervals_that_miss(n_pairs: int, *, n_resamples: int, edge: float, seed: int) -> int:
    """How many Monte Carlo intervals of random pairs miss the pair's exact p-value.

    Pairs on test sets of 50 … 2000 items, each with resamples of its own; those with an exact p within `edge` of 0
    or 1 do not count.
    """
    rng = np.random.default_rng(seed)
    missed = tried = 0
    while tried < n_pairs:
        n = int(rng.integers(50, 2001))
        accuracy = rng.uniform(0.5, 0.95)
        step = rng.uniform(0, 1.5) / np.sqrt(n)
        other = max(accuracy - step, 0.05)
        pair = correlated_accuracies([accuracy, other], n, between=0.6, seed=int(rng.integers(2**32)))
        row = compare(pair, n_resamples=n_resamples, seed=tried, n_jobs=2).iloc[0]
        by_name = dict(zip(pair.names, pair.statistics[..., 0], strict=True))
        exact = exact_bootstrap_p(by_name[row.system_a], by_name[row.system_b])
        if edge < exact < 1 - edge:
            tried += 1
            missed += not row.p_low <= exact <= row.p_high
    return missed
