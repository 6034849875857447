"""Classical tests: of matched pairs, of independent samples, of counts, and of acceptance sets.

Tests of matched pairs look at the differences of unit scores, so they apply where the metric is a mean of them, and not
to precision or F (Yeh 2000, sections 3.1 and 3.2). Tests by the standard deviation of a gain, and of counts, mostly
take systems to be independent (section 2). Systems that answer the same items are mostly correlated positively, so
tests that assume independence need a larger gain than the data do: they are here to be studied against the others.

Two tests are of systems that accept or reject each candidate, which is true or false for both. Fisher's exact test
(Evert 2004, section 3.3): such systems can only differ where they decide differently. If neither is better, the
candidates that only the one accepts (D1) are true as often as those that only the other accepts (D2).

The score test of two precisions is after Kosinski (2013, "A weighted generalized score statistic for comparison of
predictive values of diagnostic tests"). Under the null hypothesis both systems have one precision, so that the variance
of each is what the pooled precision R makes of its number of candidates. That of the gain is then the sum of (a - R)^2
over what only one of the two accepts (a: 1 if true, else 0) over the product of the two numbers of accepted candidates.
Other tests estimate each precision's variance by its own candidates: a system with few false ones, or none by luck,
then looks more certain than it is. The score does not tell the variance where answers come in units (documents), nor
that of F: this test would be wrong there, and does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simstudy.engines import exact_distributions
from simstudy.engines.question import Question, SignificanceResult, products
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray
from simstudy.metrics.ratio import item_deviations

# Differences that are held at a time: 32 MiB, and as much of each of the two systems.
_TOGETHER = 2**22

# Wilcoxon's exact distribution is built where units times cells stay below this; beyond, the normal one is as good.
_EXACT_RANKS = 2**23


def t_paired(question: Question) -> SignificanceResult:
    """Matched-pair t test: the mean difference over its standard error, n - 1 degrees of freedom."""

    def tails(difference: Array, _: slice) -> _Found:
        n = difference.shape[1]
        t = standardised(difference.mean(axis=1), difference.std(axis=1, ddof=1) / np.sqrt(n))
        return tail_of(scipy.stats.t(n - 1), t, question.two_sided), t, t, False

    return _of_differences(question, tails)


def sign(question: Question) -> SignificanceResult:
    """Sign test: of the units that differ, how many are won by the better system? Fair coins, exactly.

    Of right and wrong answers it is McNemar's exact test.
    """

    def tails(difference: Array, _: slice) -> _Found:
        more, less = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        p: FloatArray = scipy.stats.binom.sf(more - 1, more + less, 0.5)
        if question.two_sided:
            p = np.minimum(2 * scipy.stats.binom.sf(np.maximum(more, less) - 1, more + less, 0.5), 1.0)
        return p, more, more - less, True

    return _of_differences(question, tails)


def wilcoxon(question: Question) -> SignificanceResult:
    """Wilcoxon signed-rank test: ranks of the differences that are not 0, ties by mid-ranks, signs by fair coins.

    The distribution of the sum of ranks is exact, ties included, up to some 200 differences (unless
    `monte_carlo` is True); beyond that normal, with the variance that the ties leave.
    """

    def tails(difference: Array, those: slice) -> _Found:
        ranks, unit = _mid_ranks(question, those, difference)
        plus, minus = (np.where(side, ranks, 0).sum(axis=1) for side in (difference > 0, difference < 0))
        n_ranks = (difference != 0).sum(axis=1)
        exact = (n_ranks == 0) | (not question.monte_carlo) & (n_ranks * (plus + minus) <= _EXACT_RANKS)
        computed = np.empty(len(ranks))
        least = np.minimum(plus, minus) if question.two_sided else minus
        exact_distributions.rank_sum_tails(ranks, least, exact, computed)
        z = (plus - minus) / np.sqrt(np.maximum((ranks.astype(np.float64) ** 2).sum(axis=1), 1))
        p = np.where(exact, computed, scipy.stats.norm.sf(np.abs(z) if question.two_sided else z))
        if question.two_sided:
            p = np.where(plus == minus, 1.0, np.minimum(2 * p, 1.0))
        return p, plus * unit, plus - minus, exact

    return _of_differences(question, tails)


def _mid_ranks(question: Question, those: slice, difference: Array) -> tuple[Array, FloatArray]:
    """Ranks (P', n) of the sizes of differences as multiples of a pair's unit (P',); 0 for no difference."""
    assert question.unit_scores is not None
    largest = np.abs(question.unit_scores).max(axis=1)
    i, j = (side[those] for side in question.pairs)
    tolerance = 0.0 if question.integers else TIE_TOLERANCE * np.maximum(largest[i], largest[j])
    levels = _levels(np.abs(difference), tolerance)
    n_zeros = (difference == 0).sum(axis=1, keepdims=True)
    # Twice the mid-ranks are whole numbers, which with many ties have a large common divisor.
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


def standardised(gain: Array, spread: Array) -> FloatArray:
    """The gain over its spread; where nothing varies, 0 for no gain and infinite for any."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = gain / spread
    return np.where(np.isnan(ratio), 0.0, ratio)


def tail_of(distribution: Any, statistic: FloatArray, two_sided: bool) -> FloatArray:
    """P(as large or larger), or, two-sided, P(as far from 0 or farther)."""
    if two_sided:
        return np.asarray(2 * distribution.sf(np.abs(statistic)))
    return np.asarray(distribution.sf(statistic))


# P-values, statistics, which system they prefer (by their sign) and whether they are exact, of some pairs (P',).
_Found = tuple[Array, Array, Array, Array | bool]


def _of_differences(question: Question, tails: Callable[[Array, slice], _Found]) -> SignificanceResult:
    """A result from what `tails` finds in differences (P', n) of some pairs at a time; p = 1 without any difference."""
    p_value, statistic, direction = np.empty((3, question.n_pairs))
    exact = np.empty(question.n_pairs, dtype=bool)
    width = max(1, _TOGETHER // question.n_units)
    for first in range(0, question.n_pairs, width):
        those = slice(first, min(first + width, question.n_pairs))
        difference = question.differences(those.start, those.stop)
        p, statistic[those], direction[those], exact[those] = tails(difference, those)
        p_value[those] = np.where((difference == 0).all(axis=1), 1.0, p)
    return SignificanceResult.analytic(p_value, statistic, direction, exact)


def sd_of_gain(sd_1: ArrayLike, sd_2: ArrayLike, r12: ArrayLike = 0.0) -> FloatArray:
    """The standard deviation of a difference of two results that correlate by r12 (Yeh 2000, section 2.1, eq. 2)."""
    first, second, r = (np.asarray(value, dtype=np.float64) for value in (sd_1, sd_2, r12))
    return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0.0))


def z_paired(question: Question) -> SignificanceResult:
    """Normal z with r12 as estimated from the units."""
    gain, sd_1, sd_2, r12 = _gains(question)
    return _by_tail(question, scipy.stats.norm, standardised(gain, sd_of_gain(sd_1, sd_2, r12)))


def z_independent(question: Question) -> SignificanceResult:
    """Normal z with r12 = 0."""
    gain, sd_1, sd_2, _ = _gains(question)
    return _by_tail(question, scipy.stats.norm, standardised(gain, sd_of_gain(sd_1, sd_2)))


def t_two_sample(question: Question) -> SignificanceResult:
    """Two-sample t test with a common variance: z's ratio, with 2 n - 2 degrees of freedom."""
    gain, sd_1, sd_2, _ = _gains(question)
    return _by_tail(question, scipy.stats.t(2 * question.n_units - 2), standardised(gain, sd_of_gain(sd_1, sd_2)))


def two_proportions(question: Question) -> SignificanceResult:
    """Difference of two proportions of counts, with the variance of the pooled proportion."""
    right, of = _counts(question)
    i, j = question.pairs
    pooled = (right[i] + right[j]) / np.maximum(of[i] + of[j], 1)
    # Nothing is known of the proportion of no counts at all: z is 0, as chi-square is.
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(pooled * (1 - pooled) * (1 / of[i] + 1 / of[j]))
    gain = right[i] / np.maximum(of[i], 1) - right[j] / np.maximum(of[j], 1)
    return _by_tail(question, scipy.stats.norm, standardised(gain, spread))


def chi_square(question: Question) -> SignificanceResult:
    """Chi-square of the 2 x 2 table of right and wrong (recalled and spurious), without Yates' correction."""
    right, of = _counts(question)
    i, j = question.pairs
    wrong = of - right
    # The table's n (ad - bc)^2 over the product of its margins; 0 where a margin is empty.
    determinant = right[i] * wrong[j] - right[j] * wrong[i]
    margins = of[i] * of[j] * (right[i] + right[j]) * (wrong[i] + wrong[j])
    chi2 = (of[i] + of[j]) * determinant**2 / np.maximum(margins, 1)
    return _result(question, scipy.stats.chi2.sf(chi2, 1), chi2, determinant)


def _gains(question: Question) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Each pair's gain per unit, the standard deviations of the two means, and their correlation r12."""
    assert question.ratio is not None
    above, below = question.ratio
    n = question.n_units
    i, j = question.pairs
    mean, deviations = above.mean(axis=1), item_deviations(above, below[0])
    sd = np.sqrt(np.einsum("kn,kn->k", deviations, deviations) / ((n - 1) * n))
    product = sd[i] * sd[j]
    covariance = products(deviations, question) / ((n - 1) * n)
    r12 = np.divide(covariance, product, out=np.zeros_like(product), where=product > 0)
    return mean[i] - mean[j], sd[i], sd[j], np.clip(r12, -1, 1)


def _counts(question: Question) -> tuple[FloatArray, FloatArray]:
    """How many are right, and of how many, for each system."""
    assert question.ratio is not None
    above, below = (side.sum(axis=1).astype(np.float64) for side in question.ratio)
    # Errors are counted as negative: what is left is right.
    return (above if question.metric.higher_is_better else below + above), below


def _by_tail(question: Question, distribution: Any, statistic: FloatArray) -> SignificanceResult:
    return _result(question, tail_of(distribution, statistic, question.two_sided), statistic, statistic)


def _result(
    question: Question, p_value: FloatArray, statistic: FloatArray, direction: FloatArray
) -> SignificanceResult:
    """Of two systems with the same counts on every unit p is 1. Recall does not see what else was guessed."""
    i, j = question.pairs
    assert question.ratio is not None
    above, below = question.ratio
    # By their bytes, one system at a time: sorting them all would take several copies. Adding 0 makes of -0.0, which
    # equals 0.0 and has other bytes, the same.
    digests = [blake2b((a + 0).tobytes() + (b + 0).tobytes()).hexdigest() for a, b in zip(above, below, strict=True)]
    codes = np.unique(digests, return_inverse=True)[1]
    return SignificanceResult.analytic(np.where(codes[i] == codes[j], 1.0, p_value), statistic, direction)


def fisher(question: Question) -> SignificanceResult:
    """Fisher's exact test of true and false candidates in D1 and D2, two-sided.

    The statistic is the precision of D1, what only the better system accepts, less that of D2, a fraction; it is 0
    for no candidates. It may be negative if the two systems accept very different numbers of candidates: the system
    that accepts fewer can have the better precision by what both accept (footnote 13).
    """
    # Few answers need the room of rankings, which takes time to import.
    from simstudy.rankings.hypergeometric import fisher_exact

    of, of_true, both, both_true = _accepted(question)
    i, j = question.pairs
    only_1, only_2 = of[i] - both, of[j] - both
    true_1, true_2 = of_true[i] - both_true, of_true[j] - both_true
    statistic = true_1 / np.maximum(only_1, 1) - true_2 / np.maximum(only_2, 1)
    return SignificanceResult.analytic(fisher_exact(true_1, only_1, true_2, only_2), statistic, statistic, exact=True)


def precision_score(question: Question) -> SignificanceResult:
    """Kosinski's weighted generalized score statistic, by the normal distribution.

    The study error_rates has its level at 0.05: 0.035 to 0.068 from 50 units on, for systems that accept candidates
    independently of each other. It is 0.10 where one system accepts 8 candidates on average, and the other these and
    more.
    """
    of, of_true, both, both_true = _accepted(question)
    i, j = question.pairs
    only, only_true = of[i] + of[j] - 2 * both, of_true[i] + of_true[j] - 2 * both_true
    precision = np.divide(of_true, of, out=np.zeros_like(of), where=of > 0)
    pooled = (of_true[i] + of_true[j]) / np.maximum(of[i] + of[j], 1)
    squares = only_true * (1 - pooled) ** 2 + (only - only_true) * pooled**2
    z = standardised((precision[i] - precision[j]) * np.sqrt(of[i] * of[j]), np.sqrt(squares))
    p = np.where(only > 0, tail_of(scipy.stats.norm, z, question.two_sided), 1.0)
    return SignificanceResult.analytic(p, z, z)


def _accepted(question: Question) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """How many candidates each system accepts, and how many of these are true, (K,); what both of a pair do, (P,)."""
    assert question.ratio is not None
    # Counts are exact in float64, and their products are fast.
    true, accepted = (side.astype(np.float64) for side in question.ratio)
    # A candidate that both accept is true for both.
    return accepted.sum(axis=1), true.sum(axis=1), products(accepted, question), products(true, question)
