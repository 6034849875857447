"""Tests by the standard deviation of a gain, and of counts, which mostly take systems to be independent (Yeh 2000, 2).

Systems that answer the same items are mostly correlated positively, so tests that assume independence need a larger
gain than the data do. They are here to be studied against the others.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from simstudy.engines.paired_tests import standardised, tail_of
from simstudy.engines.question import Question, SignificanceResult, products
from simstudy.metrics.base import FloatArray
from simstudy.metrics.ratio import item_deviations


def sd_of_gain(sd_1: ArrayLike, sd_2: ArrayLike, r12: ArrayLike = 0.0) -> FloatArray:
    """The standard deviation of a difference of two results, s_d (Yeh 2000, section 2.1, equation 2).

    Parameters
    ----------
    sd_1, sd_2
        Standard deviations of the two results, on the results' scale.
    r12
        Their correlation, -1 … 1; 0 is the assumption of independence.

    Raises
    ------
    ValueError
        For a correlation beyond -1 … 1.

    Examples
    --------
    >>> [round(float(sd_of_gain(1, 1) / sd_of_gain(1, 1, r12)), 2) for r12 in (0.38, 0.50, 0.80)]   # Yeh's table
    [1.27, 1.41, 2.24]
    """
    first, second, r = (np.asarray(value, dtype=np.float64) for value in (sd_1, sd_2, r12))
    if not (np.abs(r) <= 1).all():
        raise ValueError(f"r12 must lie between -1 and 1, not {r12!r}")
    return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0.0))


def z_paired(question: Question) -> SignificanceResult:
    """Normal z with r12 as estimated from the units."""
    gain, sd_1, sd_2, r12 = _gains(question)
    return _by_tail(question, stats.norm, standardised(gain, sd_of_gain(sd_1, sd_2, r12)))


def z_independent(question: Question) -> SignificanceResult:
    """Normal z with r12 = 0."""
    gain, sd_1, sd_2, _ = _gains(question)
    return _by_tail(question, stats.norm, standardised(gain, sd_of_gain(sd_1, sd_2)))


def t_two_sample(question: Question) -> SignificanceResult:
    """Two-sample t test with a common variance: z's ratio, with 2 n - 2 degrees of freedom."""
    gain, sd_1, sd_2, _ = _gains(question)
    return _by_tail(question, stats.t(2 * question.n_units - 2), standardised(gain, sd_of_gain(sd_1, sd_2)))


def two_proportions(question: Question) -> SignificanceResult:
    """Difference of two proportions of counts, with the variance of the pooled proportion."""
    right, of = _counts(question)
    i, j = question.pairs
    pooled = (right[i] + right[j]) / np.maximum(of[i] + of[j], 1)
    # Nothing is known of the proportion of no counts at all: z is 0, as chi-square is.
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(pooled * (1 - pooled) * (1 / of[i] + 1 / of[j]))
    gain = right[i] / np.maximum(of[i], 1) - right[j] / np.maximum(of[j], 1)
    return _by_tail(question, stats.norm, standardised(gain, spread))


def chi_square(question: Question) -> SignificanceResult:
    """Chi-square of the 2 x 2 table of right and wrong (recalled and spurious), without Yates' correction."""
    right, of = _counts(question)
    i, j = question.pairs
    wrong = of - right
    # The table's n (ad - bc)^2 over the product of its margins; 0 where a margin is empty.
    determinant = right[i] * wrong[j] - right[j] * wrong[i]
    margins = of[i] * of[j] * (right[i] + right[j]) * (wrong[i] + wrong[j])
    chi2 = (of[i] + of[j]) * determinant**2 / np.maximum(margins, 1)
    return _result(question, stats.chi2.sf(chi2, 1), chi2, determinant)


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
    """Two systems with the same counts on every unit do not differ: p = 1.

    Which counts, the metric says: recall does not see what else was guessed.
    """
    i, j = question.pairs
    assert question.ratio is not None
    above, below = question.ratio
    # By their bytes, one system at a time: sorting them all would take several copies. Adding 0 makes of -0.0, which
    # equals 0.0 and has other bytes, the same.
    digests = [blake2b((a + 0).tobytes() + (b + 0).tobytes()).hexdigest() for a, b in zip(above, below, strict=True)]
    codes = np.unique(digests, return_inverse=True)[1]
    return SignificanceResult.analytic(np.where(codes[i] == codes[j], 1.0, p_value), statistic, direction)
