"""What Fisher's exact test of two rankings costs for every length of n-best list, beside scipy one table at a time.

- All 36 pairs of nine rankings of 5,102 candidates (the size of Evert 2004), every n from 1 on: 183,672 tests.
- The same for a list of 100,000 candidates and two rankings.
- `scipy.stats.fisher_exact` on a choice of the same tables, in the same run.

    python benchmarks/rankings.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from all_pairs import seconds
from scipy import stats

from simstudy.rankings.candidates import Candidates
from simstudy.rankings.differences import ranking_differences
from simstudy.rankings.hypergeometric import fisher_exact

TIMED = 300


def ranked(n_candidates: int, n_rankings: int, share_true: float = 0.11) -> Candidates:
    """Rankings that share much: a common score and noise of each one's own."""
    rng = np.random.default_rng(0)
    true = rng.random(n_candidates) < share_true
    common = rng.standard_normal(n_candidates) + true
    own = rng.standard_normal((n_candidates, n_rankings))
    return Candidates.from_scores(pd.DataFrame(common[:, None] + own).add_prefix("ranking "), true)


def main() -> None:
    print("| rankings x candidates | tests | s | µs a test | the test alone | scipy.stats.fisher_exact | ratio |")
    print("|---|---|---|---|---|---|---|")
    for n_rankings, n_candidates in ((9, 5_102), (2, 100_000)):
        candidates = ranked(n_candidates, n_rankings)
        table = ranking_differences(candidates)
        wall = seconds(lambda candidates=candidates: ranking_differences(candidates), 3)
        counts = table[["true_only_1", "only_1", "true_only_2", "only_2"]].to_numpy().T
        alone = seconds(lambda counts=counts: fisher_exact(*counts), 3)
        some = table.sample(TIMED, random_state=0)
        tables = [
            [[row.true_only_1, row.true_only_2], [row.only_1 - row.true_only_1, row.only_2 - row.true_only_2]]
            for row in some.itertuples()
        ]
        theirs = seconds(lambda tables=tables: [stats.fisher_exact(two) for two in tables]) / TIMED
        largest = max(
            abs(stats.fisher_exact(two).pvalue / p - 1)
            for two, p in zip(tables, some["p_value"], strict=True)
            if p > 1e-290
        )
        print(
            f"| {n_rankings} x {n_candidates:,} | {len(table):,} | {wall:.2f} | {1e6 * wall / len(table):.1f} | "
            f"{1e6 * alone / len(table):.1f} µs | {1e6 * theirs:.0f} µs | {theirs * len(table) / wall:.0f} |"
        )
        print(f"\nlargest relative difference from scipy: {largest:.1g}\n", flush=True)


if __name__ == "__main__":
    main()
