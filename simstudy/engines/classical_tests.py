"""Classical tests: of matched pairs, of independent samples, of counts, and of acceptance sets.

Tests of matched pairs apply where the metric is a mean of unit scores, and not to precision or F (Yeh 2000, sections
3.1 and 3.2). Most others take the systems to be independent (section 2). Systems that answer the same items are mostly
correlated positively, so these tests need a larger gain than the data do. They are here to be studied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from simstudy.engines import exact_distributions
from simstudy.engines.question import Question, SignificanceResult, common_bits, difference_moments
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, item_deviations

# Differences of some pairs that are held at a time: 32 MiB, and as much of each of the two systems.
_TOGETHER = 2**22

# Wilcoxon's exact distribution is computed where ranks times cells stay below this; beyond, the normal one is as good.
_EXACT_RANKS = 2**23

# Tables are equally likely if the logarithms of their probabilities differ by no more.
_EQUALLY_LIKELY = 1e-7

# P-values, statistics, directions (their sign is the preferred system) and exactness of some pairs, (P',) each.
_Tested = tuple[Array, Array, Array, Array | bool]


def t_paired(question: Question) -> SignificanceResult:
    """Matched-pair t test: the mean difference over its standard error, n - 1 degrees of freedom."""

    def test(difference: Array, _: slice) -> _Tested:
        n = difference.shape[1]
        t = standardised(difference.mean(axis=1), difference.std(axis=1, ddof=1) / np.sqrt(n))
        return tail_probability(scipy.stats.t(n - 1), t, question.two_sided), t, t, False

    return _matched_pairs(question, test)


def sign(question: Question) -> SignificanceResult:
    """Sign test: the number of wins of the better system is binomial, B(wins + losses, 1/2).

    On right and wrong answers this is McNemar's exact test.
    """

    def test(difference: Array, _: slice) -> _Tested:
        wins, losses = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        most = np.maximum(wins, losses) if question.two_sided else wins
        p = scipy.stats.binom.sf(most - 1, wins + losses, 0.5)
        return np.minimum(2 * p, 1.0) if question.two_sided else p, wins, wins - losses, True

    return _matched_pairs(question, test)


def wilcoxon(question: Question) -> SignificanceResult:
    """Wilcoxon signed-rank test: mid-ranks of the differences that are not 0.

    The distribution of the sum of ranks is exact, ties included, up to some 200 differences (unless
    `monte_carlo` is True); beyond that normal, with the variance that the ties leave.
    """

    def test(difference: Array, part: slice) -> _Tested:
        ranks, unit = _mid_ranks(question, part, difference)
        plus, minus = (np.where(side, ranks, 0).sum(axis=1) for side in (difference > 0, difference < 0))
        n_ranks = (difference != 0).sum(axis=1)
        exact = (n_ranks == 0) | (not question.monte_carlo) & (n_ranks * (plus + minus) <= _EXACT_RANKS)
        exact_p = np.empty(len(ranks))
        least = np.minimum(plus, minus) if question.two_sided else minus
        exact_distributions.rank_sum_tails(ranks, least, exact, exact_p)
        z = (plus - minus) / np.sqrt(np.maximum((ranks.astype(np.float64) ** 2).sum(axis=1), 1))
        p = np.where(exact, exact_p, scipy.stats.norm.sf(np.abs(z) if question.two_sided else z))
        if question.two_sided:
            p = np.where(plus == minus, 1.0, np.minimum(2 * p, 1.0))
        return p, plus * unit, plus - minus, exact

    return _matched_pairs(question, test)


def _mid_ranks(question: Question, part: slice, difference: Array) -> tuple[Array, FloatArray]:
    """Ranks (P', n) of the sizes of differences as multiples of a pair's unit (P',); 0 for no difference."""
    assert question.unit_scores is not None
    largest = np.abs(question.unit_scores).max(axis=1)
    i, j = (side[part] for side in question.pairs)
    tolerance = 0.0 if question.integers else TIE_TOLERANCE * np.maximum(largest[i], largest[j])
    levels = _levels(np.abs(difference), tolerance)
    n_zeros = (difference == 0).sum(axis=1, keepdims=True)
    # Twice the mid-ranks are whole numbers. With many ties they have a large common divisor.
    twice = np.rint(2 * (scipy.stats.rankdata(levels, axis=1) - n_zeros)).astype(np.int64)
    twice[difference == 0] = 0
    divisor = np.maximum(np.gcd.reduce(twice, axis=1), 1)
    return twice // divisor[:, None], divisor / 2


def _levels(sizes: Array, tolerance: FloatArray | float) -> Array:
    """Sizes (P, n) of differences as whole numbers in the order of each row; those that tie are equal.

    Sizes tie with the next smaller one up to the tolerance (P,); a size of 0 ties with 0 only.
    """
    order = np.argsort(sizes, axis=1)
    ascending = np.take_along_axis(sizes, order, axis=1)
    steps = np.diff(ascending, axis=1) > np.reshape(tolerance, (-1, 1))
    steps |= (ascending[:, :-1] == 0) & (ascending[:, 1:] > 0)
    levels = np.zeros(sizes.shape, dtype=np.int64)
    np.put_along_axis(levels, order[:, 1:], np.cumsum(steps, axis=1), axis=1)
    return levels


def _matched_pairs(question: Question, test: Callable[[Array, slice], _Tested]) -> SignificanceResult:
    """Result of a `test` of differences (P', n), for some pairs at a time; p = 1 without any difference."""
    p_value, statistic, direction = np.empty((3, question.n_pairs))
    exact = np.empty(question.n_pairs, dtype=bool)
    width = max(1, _TOGETHER // question.n_units)
    for first in range(0, question.n_pairs, width):
        part = slice(first, min(first + width, question.n_pairs))
        difference = question.differences(part.start, part.stop)
        p, statistic[part], direction[part], exact[part] = test(difference, part)
        p_value[part] = np.where((difference == 0).all(axis=1), 1.0, p)
    return SignificanceResult.analytic(p_value, statistic, direction, exact)


def standardised(gain: Array, standard_error: Array) -> FloatArray:
    """The gain over its standard error; where nothing varies, 0 for no gain and infinite for any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = gain / standard_error
    return np.where(np.isnan(ratio), 0.0, ratio)


def tail_probability(distribution: Any, statistic: FloatArray, two_sided: bool) -> FloatArray:
    """P(as large or larger), or, two-sided, P(as far from 0 or farther)."""
    if two_sided:
        return np.asarray(2 * distribution.sf(np.abs(statistic)))
    return np.asarray(distribution.sf(statistic))


def z_paired(question: Question) -> SignificanceResult:
    """Normal z with r12 as estimated from the units."""
    return _tail_result(question, scipy.stats.norm, _gain_ratio(question, paired=True))


def z_independent(question: Question) -> SignificanceResult:
    """Normal z with r12 = 0."""
    return _tail_result(question, scipy.stats.norm, _gain_ratio(question, paired=False))


def t_two_sample(question: Question) -> SignificanceResult:
    """Two-sample t test with a common variance: z's ratio, with 2 n - 2 degrees of freedom."""
    return _tail_result(question, scipy.stats.t(2 * question.n_units - 2), _gain_ratio(question, paired=False))


def _gain_ratio(question: Question, *, paired: bool) -> FloatArray:
    """Each pair's gain over its standard deviation (Yeh 2000, section 2.1, equations 1 and 2), (P,).

    The standard deviation is sqrt(s1^2 + s2^2 - 2 r12 s1 s2), and r12 = 0 unless `paired`.
    """
    assert question.ratio is not None
    above, below = question.ratio
    i, j = question.pairs
    mean, deviations = above.mean(axis=1), item_deviations(above, below[0])
    if paired:
        squares, _ = difference_moments(deviations, question.pairs)
    else:
        squares = (deviations**2).sum(axis=1)[np.stack(question.pairs)].sum(axis=0)
    return standardised(mean[i] - mean[j], np.sqrt(squares / ((question.n_units - 1) * question.n_units)))


def two_proportions(question: Question) -> SignificanceResult:
    """Difference of two proportions of counts, with the variance of the pooled proportion."""
    return _tail_result(question, scipy.stats.norm, _proportions_z(question))


def chi_square(question: Question) -> SignificanceResult:
    """Chi-square of the 2 x 2 table of right and wrong (recalled and spurious), without Yates' correction."""
    z = _proportions_z(question)
    return _tail_result(question, scipy.stats.norm, z, z**2)


def _proportions_z(question: Question) -> FloatArray:
    """The root of each pair's chi-square, with the gain's sign: the gain over its pooled standard error, (P,)."""
    assert question.ratio is not None
    above, total = (side.sum(axis=1).astype(np.float64) for side in question.ratio)
    # Numerators of errors are negative.
    right = above if question.metric.higher_is_better else total + above
    wrong = total - right
    i, j = question.pairs
    # Chi-square is the table's n (ad - bc)^2 over the product of its margins; 0 where a margin is empty.
    determinant = right[i] * wrong[j] - right[j] * wrong[i]
    margins = total[i] * total[j] * (right[i] + right[j]) * (wrong[i] + wrong[j])
    return np.asarray(determinant * np.sqrt((total[i] + total[j]) / np.maximum(margins, 1)))


def _tail_result(
    question: Question, distribution: Any, ratio: FloatArray, statistic: FloatArray | None = None
) -> SignificanceResult:
    """Result of a ratio, with p = 1 for systems with the same counts on all units. Recall ignores other guesses."""
    assert question.ratio is not None
    p_value = tail_probability(distribution, ratio, question.two_sided)
    i, j = question.pairs
    for p in np.flatnonzero(ratio == 0):
        if all(np.array_equal(counts[i[p]], counts[j[p]]) for counts in question.ratio):
            p_value[p] = 1.0
    return SignificanceResult.analytic(p_value, ratio if statistic is None else statistic, ratio)


def fisher(question: Question) -> SignificanceResult:
    """Fisher's exact test of the candidates that only one system accepts, two-sided (Evert 2004, section 3.3).

    If neither system is better, the candidates that only one accepts (D1) are true as often as the candidates that only
    the other accepts (D2). The statistic is the precision of D1 less that of D2, a fraction, 0 for no candidates. It
    may be negative: a system that accepts far fewer can have the better precision by what both accept (footnote 13).
    """
    accepted, true, both, both_true = _accepted_counts(question)
    i, j = question.pairs
    only_1, only_2 = accepted[i] - both, accepted[j] - both
    true_1, true_2 = true[i] - both_true, true[j] - both_true
    statistic = true_1 / np.maximum(only_1, 1) - true_2 / np.maximum(only_2, 1)
    p_value = np.array([fisher_exact(*counts) for counts in zip(true_1, only_1, true_2, only_2, strict=True)])
    return SignificanceResult.analytic(p_value, statistic, statistic, exact=True)


def fisher_exact(true_1: float, n_1: float, true_2: float, n_2: float) -> float:
    """Two-sided p-value of Fisher's exact test: true_1 of n_1 candidates are true, and true_2 of n_2.

    The share of the tables that are no more likely than the observed one, among all tables with the same margins
    (Evert 2004, section 3.3; Agresti 1990, 60 - 66). Probabilities count as equal up to a relative difference of
    1e-7, as in R's fisher.test. The p-value is 1 if one side has no candidate, none is true, or all are.
    """
    n_true = true_1 + true_2
    lowest, highest = max(0, n_true - n_2), min(n_1, n_true)
    k = np.arange(lowest, highest)
    # P(k) is proportional to C(n_1, k) C(n_2, n_true - k). The ratio P(k + 1) / P(k) needs no factorial.
    ratios = (n_1 - k) * (n_true - k) / ((k + 1) * (n_2 - n_true + k + 1))
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    weights = np.exp(logarithms - logarithms.max())
    no_more_likely = logarithms <= logarithms[int(true_1 - lowest)] + _EQUALLY_LIKELY
    return float(weights[no_more_likely].sum() / weights.sum())


def precision_score(question: Question) -> SignificanceResult:
    """Score test of two precisions: Kosinski's (2013) weighted generalized score statistic, normal.

    With n1 and n2 accepted candidates and the pooled precision R, z = (P1 - P2) sqrt(n1 n2) / sqrt(S). S is the sum of
    (a - R)^2 over the candidates that only one system accepts, where a is 1 for a true candidate and 0 for a false one.
    Other tests estimate a precision's variance from its own candidates, and take a system with few false ones, or none
    by luck, to be more certain than it is. The statistic does not apply to clusters of candidates, nor to F.
    """
    accepted, true, both, both_true = _accepted_counts(question)
    i, j = question.pairs
    only, only_true = accepted[i] + accepted[j] - 2 * both, true[i] + true[j] - 2 * both_true
    precision = np.divide(true, accepted, out=np.zeros_like(accepted), where=accepted > 0)
    pooled = (true[i] + true[j]) / np.maximum(accepted[i] + accepted[j], 1)
    squares = only_true * (1 - pooled) ** 2 + (only - only_true) * pooled**2
    z = standardised((precision[i] - precision[j]) * np.sqrt(accepted[i] * accepted[j]), np.sqrt(squares))
    p = np.where(only > 0, tail_probability(scipy.stats.norm, z, question.two_sided), 1.0)
    return SignificanceResult.analytic(p, z, z)


def _accepted_counts(question: Question) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Candidates that each system accepts, and the true ones of them, (K,); the same of both of a pair, (P,)."""
    assert question.ratio is not None
    true, accepted = (counts.astype(np.bool_) for counts in question.ratio)
    # A candidate that both accept is true for both.
    both, both_true = (common_bits(rows, question.pairs).astype(np.float64) for rows in (accepted, true))
    return accepted.sum(axis=1, dtype=np.float64), true.sum(axis=1, dtype=np.float64), both, both_true
