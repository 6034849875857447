"""Tails of a sum of numbers with random signs: what the sign-flip test asks for.

Let S = s_1 c_1 + ... + s_n c_n with fair signs s_u = 1 or -1. The tail P(S >= least) is

- exact for up to 22 numbers that are not 0, and for whole numbers that have few distinct sums;
- else the saddlepoint approximation of Lugannani and Rice (1980), if no number dominates the sum, and if the numbers
  are not nearly multiples of one of them, so that sums lie close to each other. Whole numbers have a continuity
  correction (Daniels 1987);
- else to be estimated by random flips. Tails below 2^-20 are approximated all the same.

The cumulant generating function is K(t) = sum log cosh(c_u t). A sum is S = sum |c_u| - 2 (sum of those with a negative
sign), so that it is enough to look at subsets of |c_u|.
"""

from __future__ import annotations

import math

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.exact_distributions import count_subsets, greatest_divisor, subset_sums
from simstudy.metrics.base import TIE_TOLERANCE

#: Numbers of which all signs are looked at.
MOST_ENUMERATED = 22

#: Whole numbers have an exact distribution of at most so many sums, that costs at most so many additions.
MOST_SUMS, MOST_ADDITIONS = 2**13, 2**22

#: The part of the variance, at the saddlepoint, that one number may have.
MOST_OF_VARIANCE = 0.1

#: How far sums that lie apart may change a tail, as a part of it.
MOST_APART = 0.01

# Numbers at so many quantiles are tried as the unit that others may be multiples of, and the largest.
_TRIED = 8

#: Flips are not drawn for tails below this: few would be extreme, and the approximation is better.
NEGLIGIBLE = 2.0**-20

#: How a tail is computed; flips are to be drawn where the approximation may be wrong.
DRAWN, EXACT, APPROXIMATED = 0, 1, 2


@compiled
def _saddlepoint(sizes, least):
    """The t at which the mean of the tilted sum is `least` > 0: K'(t) = sum c_u tanh(c_u t) = least.

    K' is concave for t > 0, so that Newton's steps from below stay below.
    """
    t = least / (sizes * sizes).sum()
    for _ in range(200):
        e = np.exp(-2.0 * t * sizes)
        mean = (sizes * (1.0 - e) / (1.0 + e)).sum()
        step = (least - mean) / (4.0 * sizes * sizes * e / (1.0 + e) ** 2).sum()
        t += step
        if step <= 1e-13 * t:
            break
    return t


@compiled
def _sums_lie_apart(sizes, t):
    """Whether sums lie so far apart that the tail is wrong by more than `MOST_APART` of it; sizes are in order.

    If the numbers are multiples of v, sums are 2 v apart, and the characteristic function of the tilted sum is 1 again
    at pi / v. If they nearly are, it is nearly 1. The tail is then wrong by about 2 t v / pi times its modulus there.
    The same holds if few large numbers always have the same sign at t: each other sign moves the sum by 2 v.
    """
    for k in range(_TRIED + 1):
        for part in (1, 2):
            unit = sizes[min((2 * k + 1) * len(sizes) // (2 * _TRIED), len(sizes) - 1)] / part
            error = 2.0 * t * unit / math.pi
            # Factors are |cos^2 + tanh^2 sin^2|, squared moduli.
            modulus = 1.0
            for size in sizes:
                sine, tilt = math.sin(math.pi * size / unit), math.tanh(t * size)
                modulus *= 1.0 - sine * sine * (1.0 - tilt * tilt)
                if error * error * modulus < MOST_APART * MOST_APART:
                    break
            else:
                return True
    return False


@compiled
def approximate_tail(sizes, least, unit):
    """P(S >= least) by Lugannani and Rice, for least > 0, and whether that is accurate.

    Sizes are in order. If they are multiples of a unit > 0, `least` lies half-way between two sums.
    """
    t = _saddlepoint(sizes, least)
    e = np.exp(-2.0 * t * sizes)
    variances = 4.0 * sizes * sizes * e / (1.0 + e) ** 2
    variance = variances.sum()
    log_cosh = (t * sizes + np.log1p(0.5 * np.expm1(-2.0 * t * sizes))).sum()
    r = math.sqrt(max(2.0 * (t * least - log_cosh), 0.0))
    tail = 0.5 * math.erfc(r / math.sqrt(2.0))
    # Close to the middle both terms of the correction are large, and their difference is nearly 0.
    if r > 1e-3:
        u = (math.sinh(t * unit) / unit if unit > 0 else t) * math.sqrt(variance)
        tail += math.exp(-0.5 * r * r) / math.sqrt(2.0 * math.pi) * (1.0 / u - 1.0 / r)
    accurate = variances.max() <= MOST_OF_VARIANCE * variance and not _sums_lie_apart(sizes, t)
    return max(tail, 2.0 ** -len(sizes)), accurate


@compiled
def sign_flip_tail(contributions, least, whole):
    """P(S >= least) of numbers (n,) with random signs, at least 2^-n, and how it is computed.

    `whole`: all are whole numbers. `least` lies between two possible sums, as far from them as rounding is small.
    """
    sizes = np.abs(contributions)
    sizes = np.sort(sizes[sizes > TIE_TOLERANCE * sizes.max()])
    n = len(sizes)
    if n == 0:
        return 1.0 if least <= 0 else 0.0, EXACT
    if least <= 0:
        # Sums are symmetric around 0, and none is `least`.
        tail, how = _upper_tail(sizes, -least, whole)
        return 1.0 - tail, how
    tail, how = _upper_tail(sizes, least, whole)
    # The sum without flips counts, although rounding may leave it below `least`.
    return max(tail, 2.0**-n), how


@compiled
def _upper_tail(sizes, least, whole):
    """The same for least >= 0, and sizes (n,) in order."""
    n, total = len(sizes), sizes.sum()
    # A sum is `total` less twice the numbers with a negative sign.
    most = 0.5 * (total - least)
    if most < 0:
        return 0.0, EXACT
    if n <= MOST_ENUMERATED:
        return count_subsets(sizes, most) * 2.0**-n, EXACT
    if most < sizes[0] + sizes[1]:
        # One number at most has a negative sign.
        return (1.0 + np.searchsorted(sizes, most, side="right")) * 2.0**-n, EXACT
    unit = 0.0
    if whole:
        steps = sizes.astype(np.int64)
        divisor = greatest_divisor(steps)
        unit = float(divisor)
        n_sums = total / unit + 1.0
        last = math.floor(most / unit)
        if n_sums <= MOST_SUMS and n_sums * n <= MOST_ADDITIONS:
            weights, log_unit = subset_sums(steps // divisor, last)
            # Added in order: the same bits as a compiled loop and as it is written.
            return np.cumsum(weights)[-1] * 2.0**log_unit, EXACT
        # Half-way between the smallest extreme sum and the next smaller one.
        least = total - 2.0 * unit * last - unit
        if least <= 0:
            return 0.5, APPROXIMATED
    tail, accurate = approximate_tail(sizes, least, unit)
    return tail, APPROXIMATED if accurate or tail < NEGLIGIBLE else DRAWN


@compiled
def sign_flip_tails(columns, pairs, weights, least, whole, tails, how):
    """Fill in the tails (P,) of pairs of systems, and how they are computed.

    Units contribute weighted differences of the two systems' columns (S, K, n); weights are (P, S).
    """
    better, worse = pairs
    for p in range(len(better)):
        i, j = better[p], worse[p]
        parts = weights[p, 0] * (columns[0, i] - columns[0, j])
        for s in range(1, len(columns)):
            parts += weights[p, s] * (columns[s, i] - columns[s, j])
        tails[p], how[p] = sign_flip_tail(parts, least[p], whole)
