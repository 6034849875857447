"""Cautions about pairs whose p-value and interval rest on few effective units or on skewed differences.

Sign flips hold their level, and jackknife intervals cover, if many units contribute to the gain. Two numbers tell that
they may not:

- The effective number of a system's units (Kish 1965), (sum d)^2 / sum d^2 for the units' denominators d, or for their
  mean share of each statistic if the score is no ratio. It is small if a system accepts few answers, or if one item or
  cluster carries most of the weight. If the score is no ratio, the same number of each statistic that all systems share
  counts twice: a class of macro-F1 with fewer than five items has few.
- The skewness of the gain, sum c^3 / (sum c^2)^1.5 for the units' centred contributions c to it. It does not count if a
  contribution of the opposite sign is as large as sqrt(sum c^2) / 4: contributions with symmetric heavy tails have such
  ones, and sign flips hold their level for symmetric contributions.

docs/validation.md tells how often cautions are right. Nothing in a test set tells of rare large differences that it
lacks, so test sets that are significant for that reason have no caution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.question import Question
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.f_measure import Counts
from simstudy.metrics.influence import deviations

#: Values of the column ``caution``.
FEW_EFFECTIVE, SKEWED = "few effective units", "skewed differences"

#: A system with a smaller effective number of units has few.
LEAST_EFFECTIVE = 10

#: Skewness of the gain above which differences are skewed.
LARGE = 0.2

#: Contribution of the opposite sign, in standard errors of the gain, from which on differences count as two-sided.
OPPOSITE = 0.25


def cautions(question: Question, skewness: FloatArray, gain_se: FloatArray) -> dict[str, Any]:
    """Columns of Comparisons with the answers that each pair's scores rest on, and its caution.

    `skewness` and `gain_se` (P,) are those of `intervals.spread`. Counts are NaN if the metric counts no answers. The
    caution is "" if there is none, and for right and wrong answers: their test is exact, and their interval covers.
    """
    (i, j), caution = question.pairs, np.full(question.n_pairs, "", dtype=object)
    accepted, wrong = _answers(question)
    if not question.right_or_wrong:
        skewed = np.abs(skewness) > LARGE * np.sqrt(question.n_units)
        if question.metric.of_sums and skewed.any():
            skewed[skewed] = _one_sided(question, skewness, gain_se, np.flatnonzero(skewed))
        caution[skewed] = SKEWED
        few = _effective_units(question) < LEAST_EFFECTIVE
        caution[few[i] | few[j]] = FEW_EFFECTIVE
    of_pairs = {"accepted_a": accepted[i], "wrong_a": wrong[i], "accepted_b": accepted[j], "wrong_b": wrong[j]}
    return {**of_pairs, "caution": caution}


def _one_sided(question: Question, skewness: FloatArray, gain_se: FloatArray, pairs: IntArray) -> NDArray[np.bool_]:
    """Whether the contributions of the sign opposite to the skewness are small, for some pairs (P',)."""
    rows, (i, j) = deviations(question.contributions, question.strata), question.pairs
    sign = np.sign(skewness)
    opposite = np.array([(sign[p] * (rows[j[p]] - rows[i[p]])).max() for p in pairs])
    return np.asarray(question.factor * opposite < OPPOSITE * gain_se[pairs])


def _effective_units(question: Question) -> FloatArray:
    """Effective number of units of each system (K,); NaN if the metric is not of sums, or has nothing to divide by."""
    if not question.metric.of_sums:
        return np.full(question.n_systems, np.nan)
    if question.ratio is not None:
        return _effective_number(question.ratio[1])
    effective = _effective_number(_shares(question.statistics))
    metric = question.metric
    for name in metric.shared:
        shared = np.abs(question.statistics[..., metric.statistics.index(name)], dtype=np.float64)
        effective = np.fmin(effective, 2 * _effective_number(shared))
    return effective


def _effective_number(weights: Array) -> FloatArray:
    """Kish's effective number of the weights (K, n) of each system, (K,); NaN of weights of 0."""
    total = weights.sum(axis=1, dtype=np.float64)
    squares = np.einsum("kn,kn->k", weights, weights, dtype=np.float64)
    return np.asarray(np.divide(total**2, squares, out=np.full_like(squares, np.nan), where=squares > 0))


def _shares(statistics: Array) -> FloatArray:
    """The part of each system's statistics that each unit has (K, n), on average over the statistics that it has."""
    shares = np.zeros(statistics.shape[:2])
    for s in range(statistics.shape[2]):
        sizes = np.abs(statistics[..., s], dtype=np.float64)
        total = sizes.sum(axis=1, keepdims=True)
        shares += np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0)
    return shares


def _answers(question: Question) -> tuple[FloatArray, FloatArray]:
    """How many answers each system gave, or candidates it accepted, and how many are wrong (K,); NaN: not counted."""
    metric = question.metric
    none = np.full(question.n_systems, np.nan)
    if question.right_or_wrong or question.unit_scores is not None or question.factor != 1:
        return none, none
    if isinstance(metric, Counts):
        right, accepted = question.statistics[..., 0], question.statistics[..., 1]
    elif question.ratio is not None and question.fractions and metric.is_proportion:
        above, accepted = question.ratio
        right = above if metric.higher_is_better else accepted + above
    else:
        return none, none
    n_accepted = accepted.sum(axis=1, dtype=np.float64)
    return n_accepted, n_accepted - right.sum(axis=1, dtype=np.float64)
