"""The score test of two precisions: candidates that each system accepts or rejects, true or false for both.

After Kosinski (2013, "A weighted generalized score statistic for comparison of predictive values of diagnostic tests").
Under the null hypothesis both systems have one precision, so that the variance of each is what the pooled precision R
makes of its number of candidates. That of the gain is then the sum of (a - R)^2 over what only one of the two accepts
(a: 1 if true, else 0) over the product of the two numbers of accepted candidates.

Other tests estimate each precision's variance by its own candidates: a system with few false ones, or none by luck,
then looks more certain than it is. Of answers that come in units (documents), and of F, variances are not known by the
score: there this test would be wrong, and does not apply.

The study error_rates has its level at 0.05: 0.035 to 0.068 from 50 units on, for systems that accept candidates
independently of each other. It is 0.10 where one system accepts 8 candidates on average, and the other these and more.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from simstudy.engines.paired_tests import standardised, tail_of
from simstudy.engines.question import Question, SignificanceResult, products


def precision_score(question: Question) -> SignificanceResult:
    """Kosinski's weighted generalized score statistic, by the normal distribution."""
    assert question.ratio is not None
    # Counts are exact in float64, and their products are fast.
    true, accepted = (side.astype(np.float64) for side in question.ratio)
    i, j = question.pairs
    of, of_true = accepted.sum(axis=1), true.sum(axis=1)
    both, both_true = products(accepted, question), products(true, question)
    # A candidate that both accept is true for both.
    only, only_true = of[i] + of[j] - 2 * both, of_true[i] + of_true[j] - 2 * both_true
    precision = np.divide(of_true, of, out=np.zeros_like(of), where=of > 0)
    pooled = (of_true[i] + of_true[j]) / np.maximum(of[i] + of[j], 1)
    squares = only_true * (1 - pooled) ** 2 + (only - only_true) * pooled**2
    z = standardised((precision[i] - precision[j]) * np.sqrt(of[i] * of[j]), np.sqrt(squares))
    p = np.where(only > 0, tail_of(stats.norm, z, question.two_sided), 1.0)
    return SignificanceResult.analytic(p, z, z)
