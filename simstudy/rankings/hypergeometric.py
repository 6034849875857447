"""Fisher's exact test and tails of the hypergeometric distribution, of many 2 x 2 tables at once.

The probability of a table whose margins are given. Neighbouring tables' probabilities have a simple ratio, so a tail is
a short sum of products once one probability is known, and a p-value, which is a ratio of sums, needs none at all.
"""

from __future__ import annotations

from math import lgamma, log, log1p, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simstudy.compiled import compiled
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.rankings.contingency import deviations

#: Tables count as no more likely than the observed one up to this relative difference, as in R's fisher.test.
TIE = 1e-7

# Terms below this part of their sum end it: those that are left out are fewer than 10^5 standard deviations.
_NEGLIGIBLE = 1e-20

# Weights are kept within powers of two, which cost no accuracy; _FELL leaves room so that none goes to and fro.
_ROSE, _FELL, _UNIT = 2.0**500, 2.0**-400, 2.0**-500


class _Tables(NamedTuple):
    """2 x 2 tables (tables,): the first cell, its row's and its column's sum, and all."""

    o11: IntArray
    r1: IntArray
    c1: IntArray
    n: IntArray


def fisher_exact(hits_1: ArrayLike, of_1: ArrayLike, hits_2: ArrayLike, of_2: ArrayLike) -> FloatArray:
    """Two-sided p-values of Fisher's exact test: hits_1 of of_1 candidates are true, and hits_2 of of_2.

    The probability, among all tables with the same margins, of those that are no more likely than the observed one
    (Evert 2004, section 3.3; Agresti 1990, 60 - 66). Small p-values are as accurate, relatively, as large ones, down to
    2e-308. The counts are trusted, and their shapes broadcast. The p-value is 1 where one side has no candidate, none
    is true, or all are.
    """
    x, n_1, y, n_2 = _counts(hits_1, of_1, hits_2, of_2)
    p_value = np.empty(x.shape)
    _two_sided(x.ravel(), n_1.ravel(), y.ravel(), n_2.ravel(), p_value.reshape(-1))
    return p_value


def log10_upper_tail(o11: ArrayLike, r1: ArrayLike, c1: ArrayLike, n: ArrayLike) -> FloatArray:
    """log10 P(X >= O11), X being how many of C1 that are drawn without replacement from N are among R1.

    The relative accuracy is that of the logarithm: some 10 digits or more, near p = 1 too. The counts are trusted to be
    those of possible tables, and their shapes broadcast.
    """
    observed, row, column, total = _counts(o11, r1, c1, n)
    tails = np.empty(observed.shape)
    above = deviations(observed, row, column, total)
    tables = _Tables(observed.ravel(), row.ravel(), column.ravel(), total.ravel())
    _upper_tails(tables, above.ravel(), tails.reshape(-1))
    return tails


def log_likelihood_ratio(o11: IntArray, r1: IntArray, c1: IntArray, n: IntArray) -> FloatArray:
    """G2 = 2 sum O ln(O / E) of possible 2 x 2 tables (n,), 0 or more, accurate near independence too.

    O ln(O / E) - O + E, whose sum over the four cells is the same since the differences cancel, is positive and
    computed without cancellation (Loader 2000, Fast and accurate computation of binomial probabilities). A table's
    hypergeometric probability is exp(-G2 / 2) but for the square roots and small terms of Stirling's formula.
    """
    ratios = np.empty(o11.shape)
    _ratios(_Tables(o11, r1, c1, n), deviations(o11, r1, c1, n), ratios)
    return ratios


def _counts(*given: ArrayLike) -> tuple[Array, ...]:
    """Counts as whole numbers of one shape."""
    return np.broadcast_arrays(*(np.asarray(counts).astype(np.int64) for counts in given))


@compiled
def _ratios(tables, above, ratios):
    o11, r1, c1, n = tables
    for t in range(len(o11)):
        ratios[t] = 2.0 * _deviance(float(o11[t]), r1[t], c1[t], n[t], above[t])


@compiled
def _two_sided(hits_1, of_1, hits_2, of_2, p_value):
    for t in range(len(hits_1)):
        x, n_1, y, n_2 = hits_1[t], of_1[t], hits_2[t], of_2[t]
        # From x the probabilities rise towards more hits among the first: else the two change places.
        if float(n_1 - x) * y < (x + 1.0) * (n_2 - y + 1.0):
            x, n_1, y, n_2 = y, n_2, x, n_1
        p_value[t] = _no_more_likely(float(x), float(n_1), float(y), float(n_2))


@compiled
def _no_more_likely(x, n_1, y, n_2):
    """The probability of tables that are no more likely than x hits of n_1 and y of n_2, which is 1 here.

    Downwards from x probabilities fall. Upwards they rise to the mode and fall: those above 1 are the others.
    """
    extreme = 1.0 + _falling(x, n_1, y, n_2)
    others, weight = 0.0, 1.0
    # How often `weight` was scaled down, and `others`.
    scaled = most = 0
    mirrored = n_1 == n_2
    steps = int(min(n_1 - x, y))
    if mirrored:
        # k and x + y - k hits are equally likely: up to the middle is enough.
        steps = int((y - x) // 2)
        extreme *= 2.0 if y > x else 1.0
    for k in range(steps):
        ratio = (n_1 - x - k) * (y - k) / ((x + k + 1.0) * (n_2 - y + k + 1.0))
        weight *= ratio
        if weight > _ROSE:
            weight *= _UNIT
            others *= _UNIT
            scaled += 1
            most += 1
        elif weight < _FELL and scaled > 0:
            weight *= _ROSE
            scaled -= 1
        # The middle itself, where there is one, has no twin.
        twins = 2.0 if mirrored and 2 * (k + 1) < y - x else 1.0
        if scaled == 0 and weight <= 1.0 + TIE:
            extreme += twins * weight
            if ratio < 1.0 and weight < _NEGLIGIBLE * extreme:
                break
        elif scaled == most:
            others += twins * weight
    if most == 0:
        return extreme / (extreme + others)
    p = extreme / others
    for _ in range(most):
        p *= _UNIT
    return p


@compiled
def _falling(x, n_1, y, n_2):
    """The sum of the probabilities of fewer than x hits of n_1, in units of that of x."""
    total, weight = 0.0, 1.0
    for k in range(int(min(x, n_2 - y))):
        weight *= (x - k) * (n_2 - y - k) / ((n_1 - x + k + 1.0) * (y + k + 1.0))
        total += weight
        if weight < _NEGLIGIBLE * total:
            break
    return total


@compiled
def _upper_tails(tables, above, tails):
    o11, r1, c1, n = tables
    for t in range(len(o11)):
        x, row, column, total = float(o11[t]), float(r1[t]), float(c1[t]), float(n[t])
        if above[t] > 0.0:
            # More hits are fewer hits of the other row.
            others = _falling(column - x, total - row, x, row)
            tails[t] = (_log_probability(x, row, column, total, above[t]) + log1p(others)) / log(10.0)
        elif x == max(0.0, row + column - total):
            tails[t] = 0.0
        else:
            below = _log_probability(x - 1.0, row, column, total, above[t] - 1.0)
            below += log1p(_falling(x - 1.0, row, column - x + 1.0, total - row))
            tails[t] = log1p(-np.exp(below)) / log(10.0)


@compiled
def _log_probability(x, row, column, n, above):
    """The logarithm of R1! R2! C1! C2! / (N! O11! O12! O21! O22!); its n ln n make up the deviance."""
    margins = _rest(row) + _rest(n - row) + _rest(column) + _rest(n - column) - _rest(n)
    cells = _rest(x) + _rest(row - x) + _rest(column - x) + _rest(n - row - column + x)
    return margins - cells - _deviance(x, row, column, n, above)


@compiled
def _rest(n):
    """What is left of ln n!: ln n! - n ln n + n (Stirling's series: 0.5 ln(2 pi n) + 1 / 12 n - …)."""
    if n == 0.0:
        return 0.0
    if n <= 15.0:
        return lgamma(n + 1.0) - n * log(n) + n
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
    return 0.5 * log(2.0 * pi * n) + series


@compiled
def _deviance(o11, r1, c1, n, above):
    """Sum of O ln(O / E), where every cell is `above` more or less than expected."""
    row, column, total = float(r1), float(c1), float(n)
    r2, c2 = total - row, total - column
    return (
        _excess(o11, row * column / total, above)
        + _excess(row - o11, row * c2 / total, -above)
        + _excess(column - o11, r2 * column / total, -above)
        + _excess(r2 - column + o11, r2 * c2 / total, above)
    )


@compiled
def _excess(observed, expected, difference):
    """O ln(O / E) - O + E, by a series in (O - E) / (O + E) where the two are near (Loader's bd0)."""
    if observed == 0.0 or expected == 0.0:
        return expected
    if abs(difference) >= 0.1 * (observed + expected):
        return observed * log(observed / expected) - difference
    v = difference / (observed + expected)
    total, power = difference * v, 2.0 * observed * v
    j = 1
    while True:
        power *= v * v
        longer = total + power / (2 * j + 1)
        if longer == total:
            return total
        total = longer
        j += 1
