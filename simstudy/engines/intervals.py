"""The interval of a gain, its standard error, and the least gain that a pair would detect.

No test is needed for them: the jackknife gives the covariances of all scores as one Gram matrix. Where items are right
or wrong and taken one by one, the interval is Tango's (1998), which covers for few items too: 0.95 to 1.00 on 5 to 50
items with accuracies of 0.8 and 0.95. The jackknife's is approximate: the study error_rates has its coverage by
condition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from simstudy.engines.array_scores import bootstrap_deviations
from simstudy.engines.question import Question, products
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import deviations, n_undefined
from simstudy.statistics.proportions import tango

#: Coverage of the interval; level (two-sided) and power of the minimum detectable gain.
LEVEL, ALPHA, POWER = 0.95, 0.05, 0.8

# Variances of a difference below this part of both systems' are rounding.
_ROUNDING = 1e-12


def intervals(question: Question, gain: FloatArray, better: IntArray, worse: IntArray) -> dict[str, Any]:
    """Columns of Comparisons that tell how well the gains (P,) are known; NaN where there is no number.

    `better` and `worse` are on how many units the better system of each pair is better, and worse. A jackknife interval
    is the gain and t times its standard error, where there is one (`spread`).
    """
    df = question.n_units - (len(question.strata) - 1)
    se, skewness = spread(question)
    by_score = question.right_or_wrong and len(question.strata) == 2
    if by_score:
        low, high = (question.metric.scale * bound for bound in tango(better, worse, question.n_units, LEVEL))
    else:
        reach = special.stdtrit(df, (1 + LEVEL) / 2) * se
        low, high = gain - reach, gain + reach
    return {
        "gain_se": se,
        "gain_low": low,
        "gain_high": high,
        "minimum_detectable_gain": (special.stdtrit(df, 1 - ALPHA / 2) + special.stdtrit(df, POWER)) * se,
        "interval": "score" if by_score else "jackknife" if question.metric.of_sums else "bootstrap",
        "df": df,
        "skewness": skewness,
    }


def spread(question: Question) -> tuple[FloatArray, FloatArray]:
    """The standard error of each pair's gain, and the skewness of what the units contribute to it; (P,) each.

    Both are by the jackknife (`metrics.influence.contributions`), of a metric of arrays by the bootstrap
    (`engines.array_scores.bootstrap_deviations`). The skewness of a mean's contributions is that of the
    units' differences: the third central moment over the 1.5th power of the second, positive where a few units favour
    the better system by much. Both are NaN where no unit tells the two systems apart, and where a system's score is
    undefined without one of the units: the whole denominator is there.
    """
    i, j = question.pairs
    n = question.n_units
    if isinstance(question.metric, ArrayMetric):
        centred = bootstrap_deviations(
            question.metric, question.statistics, question.members, question.strata, question.seed
        ) * (1 if question.metric.higher_is_better else -1)
        # Its skewness is that of the gain, not of n contributions.
        n *= centred.shape[1]
    else:
        centred = deviations(question.contributions, question.strata)
    squares = centred**2
    own, cubes = (np.einsum("kn,kn->k", power, centred) for power in (centred, squares))
    variance = own[i] + own[j] - 2 * products(centred, question)
    third = cubes[i] - cubes[j] - 3 * (products(squares, question, centred) - products(centred, question, squares))
    # What is left of two nearly equal systems is rounding: their own difference tells.
    for p in np.flatnonzero(variance <= 1e-6 * (own[i] + own[j])):
        difference = centred[i[p]] - centred[j[p]]
        variance[p], third[p] = (difference**2).sum(), (difference**3).sum()
    variance[variance <= _ROUNDING**2 * (own[i] + own[j])] = np.nan
    if question.metric.of_sums:
        undefined = n_undefined(question.statistics, question.metric) > 0
        variance[undefined[i] | undefined[j]] = np.nan
    return question.factor * np.sqrt(variance), third / variance**1.5 * np.sqrt(n)
