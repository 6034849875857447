"""The compiled loops of the sign-flip test without random flips: tails of a sum of numbers with random signs.

Up to 32 numbers, and up to 2^16 sums in a tail, are counted. A number that is larger than eight standard deviations of
all smaller ones together must have the sign that the tail asks for, and is taken off. The rest is a contour integral
(`simstudy.engines.contour_kernels`), which bounds its own error.

A tail does not depend on the order of the numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.contour_kernels import contour_tail, log_bound, saddle_point, tilted
from simstudy.engines.exact_kernels import added_in_order, divisor
from simstudy.metrics.base import FloatArray

#: Numbers of which all signs are looked at, in two halves of 2^16 sums each.
MOST_SIGNS = 32

#: A tail of at most so many sums is counted.
_MOST_COUNTED = 2**16

# A number that is so many standard deviations of all smaller ones is taken off.
_APART = 8.0

# Numbers below this part of the largest one are none: sums tie that differ by far more.
_TINY = 1e-60

# Numbers that differ by this part of the largest one differ by rounding.
_SAME = 1e-12

_LOG_2 = math.log(2.0)


class FlippedSum(NamedTuple):
    """What is asked of the sum of one pair's flipped contributions."""

    #: Sums from this on are extreme.
    least: float
    #: Contributions up to this size are what rounding left of none.
    rounded: float
    #: Contributions are whole multiples of this, at least; 0 where they are multiples of nothing.
    step: float
    #: 1 where the sum without flips counts, although rounding may leave it below `least`; else 0.
    observed: int


class FlippedSums(NamedTuple):
    """The same for pairs (P,)."""

    #: The pair's pooled ratio, by which contributions to the denominators are multiplied; 0 where there are none.
    pooled: FloatArray
    least: FloatArray
    rounded: FloatArray
    step: float = 0.0
    observed: int = 1


@compiled
def sorted_sums(sizes):
    """The sums of all subsets of a few numbers (m,), in order: (2^m,)."""
    sums = np.zeros(1 << len(sizes))
    merged = np.empty(1 << len(sizes))
    n = 1
    for size in sizes:
        # What lacks the number and what has it are both in order.
        a = b = 0
        for k in range(2 * n):
            if b == n or (a < n and sums[a] <= sums[b] + size):
                merged[k] = sums[a]
                a += 1
            else:
                merged[k] = sums[b] + size
                b += 1
        n *= 2
        sums, merged = merged, sums
    return sums


@compiled
def count_in_halves(sizes, most):
    """How many subsets of a few numbers (m,) have a sum of at most `most`."""
    half = len(sizes) // 2
    first, second = sorted_sums(sizes[:half]), sorted_sums(sizes[half:])
    count = np.int64(0)
    b = len(second)
    for a in range(len(first)):
        while b > 0 and first[a] + second[b - 1] > most:
            b -= 1
        if b == 0:
            break
        count += b
    return count


@compiled
def count_few(sizes, most):
    """How many subsets of numbers in ascending order have a sum of at most `most`; -1 where they are too many."""
    count = 1
    chosen = np.empty(len(sizes), np.int64)
    depth = 0
    total = 0.0
    following = 0
    while True:
        if following < len(sizes) and total + sizes[following] <= most:
            chosen[depth] = following
            depth += 1
            total += sizes[following]
            following += 1
            count += 1
            if count > _MOST_COUNTED:
                return -1
        else:
            # Numbers that follow are larger: the last one makes room for the one after it.
            if depth == 0:
                return count
            depth -= 1
            following = chosen[depth]
            total = 0.0
            for k in range(depth):
                total += sizes[chosen[k]]
            following += 1


@compiled
def distinct(sizes):
    """The distinct numbers among sizes in ascending order, the largest first, and how often each is there."""
    values, times = np.empty(len(sizes)), np.zeros(len(sizes), np.int64)
    n = 0
    same = _SAME * sizes[-1]
    for size in sizes[::-1]:
        if n > 0 and values[n - 1] - size <= same:
            times[n - 1] += 1
        else:
            values[n] = size
            times[n] = 1
            n += 1
    return values[:n], times[:n]


@compiled
def taken_off(sizes, least):
    """Take off the largest sizes, in ascending order: how many are left, what is asked of their sum, and the error.

    With the largest size c, P(S >= x) = P(rest >= x - c) / 2 + P(rest >= x + c) / 2. The last is left out if c is much
    larger than what the rest adds up to. Hoeffding's inequality bounds it.
    """
    squares = np.cumsum(sizes * sizes)
    m, error = len(sizes), 0.0
    while m > MOST_SIGNS and least >= 0 and sizes[m - 1] * sizes[m - 1] > _APART * _APART * squares[m - 2]:
        m -= 1
        error = 2.0 * error + math.exp(-0.5 * (least + sizes[m]) ** 2 / squares[m - 1])
        least -= sizes[m]
    return m, least, error


@compiled
def tail_of_many(sizes, least, step):
    """P(S >= least) of more sizes than are counted in halves, in ascending order, for least >= 0; a bound of its error.

    Sums are two steps apart, if there is a step > 0.
    """
    # A sum is the sum of all sizes, less twice those with a negative sign.
    whole = added_in_order(sizes)
    most = (whole - least) / 2.0
    if most < 0:
        return 0.0, 0.0
    part = 2.0 ** -len(sizes)
    if sizes[:4].sum() > most:
        count = count_few(sizes, most)
        if count > 0:
            return count * part, 0.0
    if step > 0:
        # Half-way between two sums is as good as the larger one.
        step *= divisor((sizes / step).astype(np.int64))
        least = whole - 2.0 * step * math.floor(most / step) - step
    values, times = distinct(sizes)
    numbers = tilted(values, times, saddle_point(values, times, least))
    # Sums are counted where they may be few: the bound is some four times the tail.
    if log_bound(numbers, least) + len(sizes) * _LOG_2 < math.log(4.0 * _MOST_COUNTED):
        count = count_few(sizes, most)
        if count > 0:
            return count * part, 0.0
    return contour_tail(numbers, least, step)


@compiled
def flip_tail(contributions, asked):
    """P(S >= least) for numbers (n,) with random signs, and a bound of its error; what is `asked` is a `FlippedSum`."""
    sizes = np.abs(contributions)
    # Squares of very small and of very large numbers are lost. A power of two costs no digit.
    largest = max(sizes.max(), 1e-300)
    scale = 2.0 ** -math.floor(math.log2(largest))
    sizes = np.sort(sizes[sizes > max(asked.rounded, _TINY * largest)] * scale)
    n, step = len(sizes), asked.step * scale
    m, least, left_out = taken_off(sizes, asked.least * scale)
    rest = sizes[:m]
    if m <= MOST_SIGNS:
        share, error = count_in_halves(rest, (added_in_order(rest) - least) / 2.0) * 2.0**-m, 0.0
    elif least >= 0:
        share, error = tail_of_many(rest, least, step)
    else:
        # Sums are symmetric around 0, and none is -least: what is asked is never a sum.
        share, error = tail_of_many(rest, -least, step)
        share = 1.0 - share
    part = 2.0 ** (m - n)
    return max(part * share, asked.observed * 2.0**-n), part * (error + left_out)


@compiled
def flip_tails(columns, pairs, sums, which, found):
    """Fill in tails and bounds of their errors, found (2, P'), of the pairs `which` (P',).

    columns are the systems' contributions (K, n), or (2 K, n) with those that a pair's pooled ratio multiplies; `sums`
    are `FlippedSums` of all pairs.
    """
    better, worse = pairs
    n_systems = columns.shape[0] // 2
    for k in range(len(which)):
        p = which[k]
        i, j = better[p], worse[p]
        parts = columns[i] - columns[j]
        if sums.pooled[p] != 0.0:
            parts -= sums.pooled[p] * (columns[n_systems + i] - columns[n_systems + j])
        asked = FlippedSum(sums.least[p], sums.rounded[p], sums.step, sums.observed)
        found[0, k], found[1, k] = flip_tail(parts, asked)
