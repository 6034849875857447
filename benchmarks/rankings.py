"""What Fisher's exact test of two rankings costs for every length of n-best list, beside scipy one table at a time.

- All 36 pairs of nine rankings of 5,102 candidates (the size of Evert 2004), every n from 1 on: 183,672 tests.
- The same for a list of 100,000 candidates and two rankings.
- `scipy.stats.fisher_exact` on a choice of the same tables, in the same run.

    python benchmarks/rankings.py [--candidates 100000] [--tables 300]
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pandas as pd
from all_pairs import seconds
from scipy import stats

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.rankings.candidates import Candidates
from simstudy.rankings.hypergeometric import fisher_exact
from simstudy.rankings.n_best_lists import ranking_differences


def ranked(n_candidates: int, n_rankings: int, share_true: float = 0.11) -> Candidates:
    """Rankings that share much: a common score and noise of each one's own."""
    rng = np.random.default_rng(0)
    true = rng.random(n_candidates) < share_true
    common = rng.standard_normal(n_candidates) + true
    own = rng.standard_normal((n_candidates, n_rankings))
    return Candidates.from_scores(pd.DataFrame(common[:, None] + own).add_prefix("ranking "), true)


def scipys(tables: IntArray) -> FloatArray:
    """The p-values of 2 x 2 tables, one at a time."""
    return np.array([float(stats.fisher_exact(two).pvalue) for two in tables])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100_000, help="at most so many")
    parser.add_argument("--tables", type=int, default=300, help="that scipy tests one at a time")
    options = parser.parse_args()
    print("| rankings x candidates | tests | s | µs a test | the test alone | scipy.stats.fisher_exact | ratio |")
    print("|---|---|---|---|---|---|---|")
    largest = 0.0
    for n_rankings, at_most in ((9, 5_102), (2, 100_000)):
        n_candidates = min(at_most, options.candidates)
        candidates = ranked(n_candidates, n_rankings)
        table = ranking_differences(candidates)
        wall = seconds(partial(ranking_differences, candidates), 3)
        counts = table[["true_only_1", "only_1", "true_only_2", "only_2"]].to_numpy().T
        alone = seconds(partial(fisher_exact, *counts), 3)
        chosen = np.random.default_rng(0).permutation(len(table))[: options.tables]
        true_1, only_1, true_2, only_2 = counts[:, chosen]
        tables = np.stack([true_1, true_2, only_1 - true_1, only_2 - true_2], axis=-1).reshape(-1, 2, 2)
        theirs = seconds(partial(scipys, tables)) / len(tables)
        ours = table["p_value"].to_numpy()[chosen]
        seen = ours > 1e-290
        largest = max(largest, float(np.abs(scipys(tables)[seen] / ours[seen] - 1).max()))
        print(
            f"| {n_rankings} x {n_candidates:,} | {len(table):,} | {wall:.3g} | {1e6 * wall / len(table):.2g} | "
            f"{1e6 * alone / len(table):.2g} µs | {1e6 * theirs:.0f} µs | {theirs * len(table) / wall:.3g} |",
            flush=True,
        )
    print(f"\nlargest relative difference from scipy: {largest:.1g}")


if __name__ == "__main__":
    main()
