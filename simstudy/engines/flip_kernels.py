"""The compiled loops of the sign-flip test without random flips: tails of a sum of numbers with random signs.

The sum S of c_u e_u, with signs e_u = +1 or -1 by fair coins, has the moment generating function M(w) = product of
cosh(c_u w). Its tail is the integral of M(w) exp(-w x) / w along a line Re w = s > 0, over 2 pi i (the Bromwich
integral; Daniels 1954, "Saddlepoint approximations in statistics", equation 2.3). Near the saddle point s the integrand
falls like a normal density, and nothing cancels: small tails are as accurate as large ones. The trapezoid rule with
nodes `delta` apart adds tails of S that lie 2 pi / delta away (Davies 1973, "Numerical inversion of a characteristic
function"). To the right they are below 1e-11 of the tail by Hoeffding's inequality. To the left they are a geometric
series, which is taken off where it counts.

The integral is cut off where the product has become small. It may become large again: numbers that are whole multiples
of one step come back with a period, and others nearly so. So nodes are looked at far beyond the first decay, and the
last ones tell how much those may add that are not looked at. A return beyond t cannot hide much: it comes from a
distribution that looks smooth, but has steps of at most the density times pi / t. V distinct multiples of a step have a
standard deviation of at least step * V^1.5 / 1.8, so that many distinct numbers need fewer nodes.

Everything here is `nogil`, single-threaded and deterministic, and a tail does not depend on the order of the numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.exact_kernels import divisor
from simstudy.metrics.base import FloatArray

#: Numbers of which all signs are looked at, in two halves of 2^16 sums each.
MOST_SIGNS = 32

#: A tail of at most so many sums is counted.
_MOST_COUNTED = 2**16

# Nodes that lie this part of 1 / standard deviation apart: what Hoeffding's inequality leaves of the tails that are
# 2 pi / 0.85 standard deviations away is exp(-27).
_SPACING = 0.85

# Nodes that are looked at in any case: at least and at most, and times distinct numbers.
_LEAST_NODES, _NODES, _FACTORS = 64, 2**15, 2**17

#: A tail is known if its error is at most this part of it (the error of 2^18 flips at p = 0.05), or at most this much.
MOST_ERROR, LEAST_ERROR = 0.01, 1e-10

# The nodes that are left out add to each other like random numbers: their sum is this times the largest node that is
# looked at, times the square root of their number, at most.
_SUMS_OF_REST = 10.0

# From so many standard deviations on, what lies 2 pi / delta to the left adds less than 1e-9 of the tail.
_FAR = 5.0

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
    #: Nodes times distinct contributions at most, where the tail is not known sooner.
    most_factors: int


class FlippedSums(NamedTuple):
    """The same for pairs (P,)."""

    #: The pair's pooled ratio, by which contributions to the denominators are multiplied; 0 where there are none.
    pooled: FloatArray
    least: FloatArray
    rounded: FloatArray
    step: float = 0.0
    observed: int = 1
    most_factors: int = 2**24


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
def distinct(sizes, values, times):
    """Fill in the distinct numbers among sizes in ascending order, and how often each is there; how many there are."""
    n = 0
    same = _SAME * sizes[-1]
    for size in sizes:
        if n > 0 and size - values[n - 1] <= same:
            times[n - 1] += 1
        else:
            values[n] = size
            times[n] = 1
            n += 1
    return n


@compiled
def saddle_point(values, times, least, variance):
    """Near the s at which the mean of the numbers, tilted by exp(s S), is `least`: at least half a deviation.

    The mean is concave in s: Newton's steps from the left never pass it.
    """
    s = max(least / variance, 0.0)
    for _ in range(50):
        mean = spread = 0.0
        for v in range(len(values)):
            h = math.tanh(values[v] * s)
            mean += times[v] * values[v] * h
            spread += times[v] * values[v] * values[v] * (1.0 - h * h)
        if not spread > 0:
            break
        step = (least - mean) / spread
        if step * math.sqrt(spread) < 0.1:
            break
        s += step
    return max(s, 0.5 / math.sqrt(variance))


@compiled
def _rotate(cosines, sines, by_cosine, by_sine):
    """Turn all angles by theirs: cosines and sines (V,) of the next node."""
    for v in range(len(cosines)):
        c, s = cosines[v], sines[v]
        cosines[v] = c * by_cosine[v] - s * by_sine[v]
        sines[v] = s * by_cosine[v] + c * by_sine[v]


@compiled
def _product(cosines, sines, tilts, times):
    """The product of (cosine + i tilt sine)^times (V,): real and imaginary part.

    Four products side by side: one alone would wait for its own last step.
    """
    n = len(cosines)
    r0 = r1 = r2 = r3 = 1.0
    i0 = i1 = i2 = i3 = 0.0
    for v in range(0, n - 3, 4):
        a, b = cosines[v], sines[v] * tilts[v]
        for _ in range(times[v]):
            r0, i0 = r0 * a - i0 * b, r0 * b + i0 * a
        a, b = cosines[v + 1], sines[v + 1] * tilts[v + 1]
        for _ in range(times[v + 1]):
            r1, i1 = r1 * a - i1 * b, r1 * b + i1 * a
        a, b = cosines[v + 2], sines[v + 2] * tilts[v + 2]
        for _ in range(times[v + 2]):
            r2, i2 = r2 * a - i2 * b, r2 * b + i2 * a
        a, b = cosines[v + 3], sines[v + 3] * tilts[v + 3]
        for _ in range(times[v + 3]):
            r3, i3 = r3 * a - i3 * b, r3 * b + i3 * a
    for v in range(n - n % 4, n):
        a, b = cosines[v], sines[v] * tilts[v]
        for _ in range(times[v]):
            r0, i0 = r0 * a - i0 * b, r0 * b + i0 * a
    r0, i0 = r0 * r1 - i0 * i1, r0 * i1 + i0 * r1
    r2, i2 = r2 * r3 - i2 * i3, r2 * i3 + i2 * r3
    return r0 * r2 - i0 * i2, r0 * i2 + i0 * r2


@compiled
def log_bound(values, times, least, s):
    """The logarithm of M(s) exp(-s least), which the tail is below (Chernoff)."""
    size = -s * least
    for v in range(len(values)):
        y = values[v] * s
        size += times[v] * (y + math.log1p(math.exp(-2.0 * y)) - _LOG_2)
    return size


@compiled
def contour_tail(values, times, asked, s):
    """P(S >= least), and a bound of its error, for S of times (V,) copies of each of the values (V,).

    What is `asked` is a `FlippedSum`, and the line of integration is Re w = s. If the values are multiples of a step,
    `least` is half-way between two sums, and the integral over one period is a finite sum, without an error if it is
    looked at whole.
    """
    n = len(values)
    least, step = asked.least, asked.step
    deviation = math.sqrt((times * values * values).sum())
    delta, n_nodes = _SPACING / deviation, min(max(_FACTORS // n, _LEAST_NODES), _NODES)
    most_nodes = max(asked.most_factors // n, n_nodes)
    whole = False
    if step > 0:
        # Nodes divide the period.
        half = int(math.ceil(math.pi / (2.0 * step * delta)))
        if half <= most_nodes:
            delta, n_nodes, whole = math.pi / (2.0 * step * half), half, True
    tilts, by_cosine, by_sine = np.empty(n), np.empty(n), np.empty(n)
    for v in range(n):
        tilts[v] = math.tanh(values[v] * s)
        by_cosine[v] = math.cos(values[v] * delta)
        by_sine[v] = math.sin(values[v] * delta)
    cosines, sines = np.ones(n), np.zeros(n)
    size = math.exp(log_bound(values, times, least, s)) * delta / math.pi
    # What is added of the tails to the left.
    shift = 1.0 / math.expm1(2.0 * math.pi * s / delta) if s * deviation < _FAR else 0.0
    total = 0.5 * (step / math.sinh(step * s) if step > 0 else 1.0 / s)
    largest = 0.0
    k = 0
    while True:
        k += 1
        _rotate(cosines, sines, by_cosine, by_sine)
        real, imaginary = _product(cosines, sines, tilts, times)
        t = k * delta
        kernel = step / np.sinh(step * complex(s, t)) if step > 0 else 1.0 / complex(s, t)
        node = complex(real, imaginary) * complex(math.cos(t * least), -math.sin(t * least)) * kernel
        # The middle of a period has no twin at -t.
        total += 0.5 * node.real if whole and k == n_nodes else node.real
        if 2 * k > n_nodes:
            largest = max(largest, abs(node))
        if k == n_nodes:
            tail = size * total - shift
            error = 0.0 if whole else _SUMS_OF_REST * size * largest * math.sqrt(n_nodes)
            if error <= max(MOST_ERROR * tail, LEAST_ERROR) or 2 * n_nodes > most_nodes:
                return tail, error
            n_nodes *= 2
            largest = 0.0


@compiled
def flip_tail(contributions, asked):
    """P(S >= least) for numbers (n,) with random signs, and a bound of its error; what is `asked` is a `FlippedSum`."""
    sizes = np.abs(contributions)
    sizes = np.sort(sizes[sizes > asked.rounded])
    m = len(sizes)
    # A sum is the sum of all sizes, less twice those with a negative sign.
    whole = sizes.sum()
    most = (whole - asked.least) / 2.0
    if m <= MOST_SIGNS:
        return max(count_in_halves(sizes, most), asked.observed) * 2.0**-m, 0.0
    if sizes[:4].sum() > most:
        count = count_few(sizes, most)
        if count > 0:
            return count * 2.0**-m, 0.0
    values, times = np.empty(m), np.zeros(m, np.int64)
    n = distinct(sizes, values, times)
    values, times = values[:n], times[:n]
    s = saddle_point(values, times, asked.least, (times * values * values).sum())
    # Sums are counted where they may be few: the bound is some four times the tail.
    if log_bound(values, times, asked.least, s) + m * _LOG_2 < math.log(4.0 * _MOST_COUNTED):
        count = count_few(sizes, most)
        if count > 0:
            return count * 2.0**-m, 0.0
    step, least = asked.step, asked.least
    if step > 0:
        # Sums are two steps apart. Half-way between two of them is as good as the larger one.
        step *= divisor((values / step).astype(np.int64))
        least = whole - 2.0 * step * math.floor(most / step) - step
    return contour_tail(values, times, FlippedSum(least, 0.0, step, 1, asked.most_factors), s)


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
        asked = FlippedSum(sums.least[p], sums.rounded[p], sums.step, sums.observed, sums.most_factors)
        found[0, k], found[1, k] = flip_tail(parts, asked)
