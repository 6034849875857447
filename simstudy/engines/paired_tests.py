"""Classical tests of matched pairs: no assumption on how two systems depend on each other (Yeh 2000, section 3.1).

They look at the differences of unit scores, so they apply where the metric is a mean of them, and not to precision
or F (section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from simstudy.engines import exact_kernels
from simstudy.engines.question import Question, SignificanceResult, not_computed
from simstudy.metrics.base import Array, FloatArray

# Differences that are held at a time: 32 MiB, and as much of each of the two systems.
_TOGETHER = 2**22

# Wilcoxon's exact distribution is built where units times cells stay below this; beyond, the normal one is as good.
_EXACT_RANKS = 2**23


def t_paired(question: Question) -> SignificanceResult:
    """Matched-pair t test: the mean difference over its standard error, n - 1 degrees of freedom."""

    def tails(difference: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
        n = difference.shape[1]
        t = standardised(difference.mean(axis=1), difference.std(axis=1, ddof=1) / np.sqrt(n))
        return tail_of(stats.t(n - 1), t, question.two_sided), t, t

    return _of_differences(question, tails)


def sign(question: Question) -> SignificanceResult:
    """Sign test: of the units that differ, how many are won by the better system? Fair coins, exactly.

    Of right and wrong answers it is McNemar's exact test.
    """

    def tails(difference: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
        more, less = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        p: FloatArray = stats.binom.sf(more - 1, more + less, 0.5)
        if question.two_sided:
            p = np.minimum(2 * stats.binom.sf(np.maximum(more, less) - 1, more + less, 0.5), 1.0)
        return p, more.astype(np.float64), (more - less).astype(np.float64)

    return _of_differences(question, tails, exact=True)


def wilcoxon(question: Question) -> SignificanceResult:
    """Wilcoxon signed-rank test: ranks of the differences that are not 0, ties by mid-ranks, signs by fair coins.

    The distribution of the sum of ranks is exact, ties included, up to some 200 differences (unless
    `monte_carlo` is True); beyond that normal, with the variance that the ties leave.
    """
    p_value = np.ones(question.n_pairs)
    rank_sum, exact = np.zeros_like(p_value), np.ones(len(p_value), dtype=bool)
    direction = np.zeros(len(p_value), dtype=np.int64)
    for first, difference in _parts(question):
        those = slice(first, first + len(difference))
        ranks, unit = _mid_ranks(question, those, difference)
        plus, minus = (np.where(side, ranks, 0).sum(axis=1) for side in (difference > 0, difference < 0))
        rank_sum[those], direction[those] = plus * unit, np.sign(plus - minus)
        n_ranks = (difference != 0).sum(axis=1)
        exact[those] = (n_ranks == 0) | (question.monte_carlo is not True) & (n_ranks * (plus + minus) <= _EXACT_RANKS)
        tails = np.empty(len(ranks))
        least = np.minimum(plus, minus) if question.two_sided else minus
        exact_kernels.rank_sum_tails(ranks, least, exact[those], tails)
        z = (plus - minus) / np.sqrt(np.maximum((ranks.astype(np.float64) ** 2).sum(axis=1), 1))
        p = np.where(exact[those], tails, stats.norm.sf(np.abs(z) if question.two_sided else z))
        if question.two_sided:
            p = np.where(plus == minus, 1.0, np.minimum(2 * p, 1.0))
        p_value[those] = np.where(n_ranks > 0, p, 1.0)
    if question.monte_carlo is False and not exact.all():
        raise not_computed(
            "test 'wilcoxon' with so many units that differ, of which the normal distribution is an approximation"
        )
    return SignificanceResult.analytic(p_value, rank_sum, direction, exact)


def _mid_ranks(question: Question, those: slice, difference: Array) -> tuple[Array, FloatArray]:
    """Ranks (P', n) of the sizes of differences as multiples of a pair's unit (P',); 0 for no difference."""
    assert question.unit_scores is not None
    largest = np.abs(question.unit_scores).max(axis=1)
    i, j = (side[those] for side in question.pairs)
    levels = question.ties.levels(np.abs(difference), np.maximum(largest[i], largest[j]))
    n_zeros = (difference == 0).sum(axis=1, keepdims=True)
    # Twice the mid-ranks are whole numbers, which with many ties have a large common divisor.
    twice = np.rint(2 * (stats.rankdata(levels, axis=1) - n_zeros)).astype(np.int64)
    twice[difference == 0] = 0
    divisor = np.maximum(np.gcd.reduce(twice, axis=1), 1)
    return twice // divisor[:, None], divisor / 2


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


def _parts(question: Question) -> Iterator[tuple[int, Array]]:
    """Differences of some pairs at a time, and the first of these pairs."""
    width = max(1, _TOGETHER // question.n_units)
    for first in range(0, question.n_pairs, width):
        yield first, question.differences(first, first + width)


def _of_differences(
    question: Question, tails: Callable[[Array], tuple[FloatArray, FloatArray, FloatArray]], exact: bool = False
) -> SignificanceResult:
    """A result from p-values, statistics and their signs of differences of some pairs (P', n); none at all: p = 1."""
    p_value, statistic, direction = np.empty((3, question.n_pairs))
    for first, difference in _parts(question):
        p, found, speaks_for = tails(difference)
        those = slice(first, first + len(p))
        p_value[those] = np.where((difference == 0).all(axis=1), 1.0, p)
        statistic[those], direction[those] = found, speaks_for
    return SignificanceResult.analytic(p_value, statistic, direction, exact)
