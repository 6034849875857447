"""Tests of systems that accept or reject each candidate, which is true or false for both.

Fisher's exact test (Evert 2004, section 3.3): two such systems can only differ where they decide differently. If
neither is better, the candidates that only the one accepts (D1) are true as often as those that only the other accepts
(D2).

The score test of two precisions is after Kosinski (2013, "A weighted generalized score statistic for comparison of
predictive values of diagnostic tests"). Under the null hypothesis both systems have one precision, so that the variance
of each is what the pooled precision R makes of its number of candidates. That of the gain is then the sum of (a - R)^2
over what only one of the two accepts (a: 1 if true, else 0) over the product of the two numbers of accepted candidates.

Other tests estimate each precision's variance by its own candidates: a system with few false ones, or none by luck,
then looks more certain than it is. The score does not tell the variance where answers come in units (documents), nor
that of F: this test would be wrong there, and does not apply.

The study error_rates has its level at 0.05: 0.035 to 0.068 from 50 units on, for systems that accept candidates
independently of each other. It is 0.10 where one system accepts 8 candidates on average, and the other these and more.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from simstudy.engines.paired_tests import standardised, tail_of
from simstudy.engines.question import Question, SignificanceResult, products
from simstudy.metrics.base import FloatArray
from simstudy.rankings.hypergeometric import fisher_exact


def fisher(question: Question) -> SignificanceResult:
    """Fisher's exact test of true and false candidates in D1 and D2, two-sided.

    The statistic is the precision of D1, what only the better system accepts, less that of D2, a fraction; it is 0
    for no candidates. It may be negative if the two systems accept very different numbers of candidates: the system
    that accepts fewer can have the better precision by what both accept (footnote 13).
    """
    of, of_true, both, both_true = _accepted(question)
    i, j = question.pairs
    only_1, only_2 = of[i] - both, of[j] - both
    true_1, true_2 = of_true[i] - both_true, of_true[j] - both_true
    statistic = true_1 / np.maximum(only_1, 1) - true_2 / np.maximum(only_2, 1)
    return SignificanceResult.analytic(fisher_exact(true_1, only_1, true_2, only_2), statistic, statistic, exact=True)


def precision_score(question: Question) -> SignificanceResult:
    """Kosinski's weighted generalized score statistic, by the normal distribution."""
    of, of_true, both, both_true = _accepted(question)
    i, j = question.pairs
    only, only_true = of[i] + of[j] - 2 * both, of_true[i] + of_true[j] - 2 * both_true
    precision = np.divide(of_true, of, out=np.zeros_like(of), where=of > 0)
    pooled = (of_true[i] + of_true[j]) / np.maximum(of[i] + of[j], 1)
    squares = only_true * (1 - pooled) ** 2 + (only - only_true) * pooled**2
    z = standardised((precision[i] - precision[j]) * np.sqrt(of[i] * of[j]), np.sqrt(squares))
    p = np.where(only > 0, tail_of(stats.norm, z, question.two_sided), 1.0)
    return SignificanceResult.analytic(p, z, z)


def _accepted(question: Question) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """How many candidates each system accepts, and how many of these are true, (K,); what both of a pair do, (P,)."""
    assert question.ratio is not None
    # Counts are exact in float64, and their products are fast.
    true, accepted = (side.astype(np.float64) for side in question.ratio)
    # A candidate that both accept is true for both.
    return accepted.sum(axis=1), true.sum(axis=1), products(accepted, question), products(true, question)
