"""How the units' contributions to a gain are spread: the gain's standard error, and their skewness."""

from __future__ import annotations

import numpy as np

from simstudy.engines.question import Question, products
from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import deviations, n_undefined

# Variances of a difference below this part of both systems' are rounding.
_ROUNDING = 1e-12


def spread(question: Question) -> tuple[FloatArray, FloatArray]:
    """The standard error of each pair's gain, and the skewness of what the units contribute to it; (P,) each.

    Both are by the jackknife (`metrics.influence.contributions`). The skewness of a mean's contributions is that of the
    units' differences: the third central moment over the 1.5th power of the second, positive where a few units favour
    the better system by much. Both are NaN where no unit tells the two systems apart, and where a system's score is
    undefined without one of the units: the whole denominator is there.
    """
    i, j = question.pairs
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
    undefined = n_undefined(question.statistics, question.metric) > 0
    variance[undefined[i] | undefined[j]] = np.nan
    return question.factor * np.sqrt(variance), third / variance**1.5 * np.sqrt(question.n_units)
