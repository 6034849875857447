"""Fisher's exact test of what only one of two systems accepts (Evert 2004, section 3.3).

Two systems that accept or reject each candidate can only differ where they decide differently. If neither is better,
the candidates that only the one accepts (D1) are true as often as those that only the other accepts (D2).
"""

from __future__ import annotations

import numpy as np

from simstudy.engines.question import Question, SignificanceResult, products
from simstudy.rankings.hypergeometric import fisher_exact


def fisher(question: Question) -> SignificanceResult:
    """Fisher's exact test of true and false candidates in D1 and D2, two-sided.

    The statistic is the precision of D1, what only the better system accepts, less that of D2, a fraction; it is 0
    for no candidates. Where the two systems accept very different numbers of candidates it may be negative: the
    system that accepts fewer can have the better precision by what both accept (footnote 13).
    """
    assert question.ratio is not None
    # Counts are exact in float64, and their products are fast.
    true, accepted = (side.astype(np.float64) for side in question.ratio)
    i, j = question.pairs
    # A candidate that both accept is true for both.
    both, both_true = products(accepted, question), products(true, question)
    of, of_true = accepted.sum(axis=1), true.sum(axis=1)
    only_1, only_2 = of[i] - both, of[j] - both
    true_1, true_2 = of_true[i] - both_true, of_true[j] - both_true
    statistic = true_1 / np.maximum(only_1, 1) - true_2 / np.maximum(only_2, 1)
    return SignificanceResult.analytic(fisher_exact(true_1, only_1, true_2, only_2), statistic, statistic, exact=True)
