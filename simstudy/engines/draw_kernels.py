"""The compiled loops of the bootstrap without resamples: tails of a sum of draws with replacement.

The sum S of n draws from numbers c_1 ... c_n has the moment generating function M(w) = (mean of exp(c_u w))^n; with
strata it is a product of such powers. Its tail is the integral of M(w) exp(-w x) / w along a line Re w = s, as
`simstudy.engines.contour_kernels` has it for random signs. The trapezoid rule with nodes `delta` apart adds tails of S
that lie 2 pi / delta away. Draws may be skewed, so Chernoff's bounds of those tails say how close nodes must be.

Everything here is `nogil`, single-threaded and deterministic.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.metrics.base import Array, FloatArray, IntArray

# What tails 2 pi / delta away may add, as a part of Chernoff's bound of the tail.
_ALIASES = 1e-12

# Nodes are 2 pi / 8 standard deviations apart at first, and closer by half so often at most that aliases are small;
# Chernoff's bounds of these are looked for at 3, 6 and 9 / standard deviation from s.
_APART, _CLOSER, _REACH = 8.0, 12, 3

# Nodes that are looked at in any case: at least and at most, and times distinct numbers. The product comes back where
# numbers are nearly multiples of one another, late if they are few. And nodes times distinct numbers at most.
_LEAST_NODES, _NODES, _FACTORS, _MOST_FACTORS = 48, 2**14, 2**17, 2**20

# The nodes that are left out add up to this times the largest late node times the root of their number, at most.
_SUMS_OF_REST = 10.0

#: A tail is known if its error is at most this part of it, or at most this much.
MOST_ERROR, LEAST_ERROR = 1e-6, 1e-12


class Drawn(NamedTuple):
    """Distinct numbers to draw from, stratum by stratum."""

    values: FloatArray
    #: The share of its stratum that each number has.
    shares: FloatArray
    #: (H + 1,) bounds of the strata in the values, and how many are drawn from each (H,).
    bounds: IntArray
    sizes: IntArray


class DrawnEvents(NamedTuple):
    """For pairs (P,): the sum of draws from better . x_i - worse . x_j, for columns x (K, n, S), is `least` or more."""

    #: Weights (P, S) of the columns.
    better: Array
    worse: Array
    least: Array
    #: Whether the numbers are whole, and `least` is.
    whole: bool = False
    #: Probabilities below this are 0.
    negligible: float = 0.0


@compiled
def distinct_draws(numbers, strata):
    """The distinct ones among numbers (n,), each stratum's in ascending order, as `Drawn`."""
    n = len(numbers)
    values, shares = np.empty(n), np.empty(n)
    bounds, sizes = np.zeros(len(strata), np.int64), np.diff(strata)
    filled = 0
    for h in range(len(sizes)):
        first = filled
        for number in np.sort(numbers[strata[h] : strata[h + 1]]):
            if filled == first or number != values[filled - 1]:
                values[filled] = number
                shares[filled] = 0.0
                filled += 1
            shares[filled - 1] += 1.0 / sizes[h]
        bounds[h + 1] = filled
    return Drawn(values[:filled], shares[:filled], bounds, sizes)


@compiled
def tilted(drawn, s):
    """Logarithm of M(s), and mean and variance of the sum that is tilted by exp(s S)."""
    log_m = mean = variance = 0.0
    for h in range(len(drawn.sizes)):
        first, end = drawn.bounds[h], drawn.bounds[h + 1]
        shift = max(s * drawn.values[first], s * drawn.values[end - 1])
        weight = once = twice = 0.0
        # Squares around a value in the middle: few digits cancel.
        centre = drawn.values[(first + end) // 2]
        for v in range(first, end):
            w = drawn.shares[v] * math.exp(s * drawn.values[v] - shift)
            x = drawn.values[v] - centre
            weight += w
            once += w * x
            twice += w * x * x
        once /= weight
        twice = max(twice / weight - once * once, 0.0)
        log_m += drawn.sizes[h] * (math.log(weight) + shift)
        mean += drawn.sizes[h] * (once + centre)
        variance += drawn.sizes[h] * twice
    return log_m, mean, variance


@compiled
def saddle_point(drawn, least, deviation):
    """Near the s at which the tilted mean is `least`: at least half a standard deviation's inverse.

    Newton's steps, halved where they leave the bracket.
    """
    low, high = 0.0, math.inf
    s = 0.5 / deviation
    for _ in range(100):
        _, mean, variance = tilted(drawn, s)
        if mean < least:
            low = s
        else:
            high = s
        if abs(mean - least) <= 0.05 * math.sqrt(variance) or high - low <= 1e-3 * low:
            break
        step = s + (least - mean) / variance if variance > 0 else math.inf
        if not low < step < min(high, 4.0 * s + 1.0 / deviation):
            step = 0.5 * (low + high) if high < math.inf else 2.0 * s
        s = step
        if high <= 0.5 / deviation:
            break
    return max(s, 0.5 / deviation)


@compiled
def node_spacing(drawn, least, s):
    """The spacing of nodes on the line Re w = s at which aliases are small, and M(s) exp(-s least) in logarithms.

    Also whether tails on the left are nearly 1, and to be taken off; else what they weigh is small itself.
    """
    log_m, _, variance = tilted(drawn, s)
    size, unit = log_m - s * least, 1.0 / math.sqrt(variance)
    away, nearly_one = _APART / unit, False
    for _ in range(_CLOSER):
        # What tails weigh, or on the left what they lack of 1, all by Chernoff's bound.
        right, left, lacks = math.inf, -s * away, math.inf
        for k in range(1, _REACH + 1):
            r = 3.0 * k * unit
            right = min(right, tilted(drawn, s + r)[0] - (s + r) * least - r * away)
            bound = tilted(drawn, s - r)[0] - (s - r) * least - r * away
            if r < s:
                left = min(left, bound)
            else:
                lacks = min(lacks, bound)
        nearly_one = lacks < left
        if max(right, min(left, lacks)) <= size + math.log(_ALIASES):
            break
        away *= 1.5
    return 2.0 * math.pi / away, size, nearly_one


@compiled
def contour_tail(drawn, least, step, s):
    """P(S >= least), and a bound of its error, by the integral along Re w = s.

    If sums are multiples of a step (not 0), `least` is half-way between two of them, and the integral over one period
    is a finite sum, without an error if it is looked at whole.
    """
    n = len(drawn.values)
    delta, log_size, nearly_one = node_spacing(drawn, least, s)
    most_nodes = max(_MOST_FACTORS // n, _LEAST_NODES)
    n_nodes, whole = min(max(_FACTORS // n, _LEAST_NODES), _NODES), False
    if step > 0:
        half = int(math.ceil(math.pi / (step * delta)))
        if half <= most_nodes:
            delta, n_nodes, whole = math.pi / (step * half), half, True
    by_cosine, by_sine = np.cos(drawn.values * delta), np.sin(drawn.values * delta)
    real, imaginary = np.empty(n), np.zeros(n)
    for h in range(len(drawn.sizes)):
        first, end = drawn.bounds[h], drawn.bounds[h + 1]
        weight = 0.0
        shift = max(s * drawn.values[first], s * drawn.values[end - 1])
        for v in range(first, end):
            real[v] = drawn.shares[v] * math.exp(s * drawn.values[v] - shift)
            weight += real[v]
        for v in range(first, end):
            real[v] /= weight
    # Tails of 1 each: a geometric series.
    shift = 1.0 / math.expm1(2.0 * math.pi * s / delta) if nearly_one else 0.0
    total = 0.5 * (0.5 * step / math.sinh(0.5 * step * s) if step > 0 else 1.0 / s)
    size, largest, k = math.exp(log_size) * delta / math.pi, 0.0, 0
    while True:
        k += 1
        log_size = angle = 0.0
        for h in range(len(drawn.sizes)):
            a = b = 0.0
            for v in range(drawn.bounds[h], drawn.bounds[h + 1]):
                x, y = real[v], imaginary[v]
                x, y = x * by_cosine[v] - y * by_sine[v], x * by_sine[v] + y * by_cosine[v]
                real[v], imaginary[v] = x, y
                a += x
                b += y
            log_size += 0.5 * drawn.sizes[h] * math.log(max(a * a + b * b, 1e-300))
            angle += drawn.sizes[h] * math.atan2(b, a)
        t = k * delta
        angle -= t * least
        kernel = 0.5 * step / np.sinh(0.5 * step * complex(s, t)) if step > 0 else 1.0 / complex(s, t)
        power = math.exp(log_size)
        node = power * (math.cos(angle) * kernel.real - math.sin(angle) * kernel.imag)
        # The middle of a period has no twin at -t.
        total += 0.5 * node if whole and k == n_nodes else node
        if 2 * k > n_nodes:
            largest = max(largest, power * abs(kernel))
        if k == n_nodes:
            tail = size * total - shift
            error = 0.0 if whole else _SUMS_OF_REST * size * largest * math.sqrt(n_nodes)
            if error <= max(MOST_ERROR * tail, LEAST_ERROR) or 2 * n_nodes > most_nodes:
                return tail, error
            n_nodes *= 2
            largest = 0.0


@compiled
def drawn_tail(numbers, strata, least, whole, negligible):
    """P(S >= least) for draws from numbers (n,) within strata (H + 1,) bounds, and a bound of its error.

    It is 0 if by Chernoff's bound it is below what is `negligible`. Where all numbers are whole, sums are multiples of
    the divisor of all differences.
    """
    drawn = distinct_draws(numbers, strata)
    low = high = 0.0
    step = np.int64(0)
    for h in range(len(drawn.sizes)):
        first, end = drawn.bounds[h], drawn.bounds[h + 1]
        low += drawn.sizes[h] * drawn.values[first]
        high += drawn.sizes[h] * drawn.values[end - 1]
        if whole:
            for v in range(first + 1, end):
                a = np.int64(drawn.values[v] - drawn.values[first])
                while a:
                    step, a = a, step % a
    if least > high:
        return 0.0, 0.0
    if least <= low:
        return 1.0, 0.0
    if step > 0:
        # Half-way between the last sum below `least` and the first one from there on.
        least = low + step * (math.ceil((least - low) / step) - 0.5)
        if least > high:
            return 0.0, 0.0
        if least + step > high:
            # The largest sum alone: nothing can be tilted so far.
            share = 0.0
            for h in range(len(drawn.sizes)):
                share += drawn.sizes[h] * math.log(drawn.shares[drawn.bounds[h + 1] - 1])
            return math.exp(share), 0.0
    s = saddle_point(drawn, least, math.sqrt(tilted(drawn, 0.0)[2]))
    log_m, _, variance = tilted(drawn, s)
    if log_m - s * least < math.log(max(negligible, 1e-300)):
        return 0.0, 0.0
    # Nothing is left of the spread where `least` is all but the largest sum.
    return contour_tail(drawn, least, float(step), s) if variance > 0 else (0.0, math.inf)


@compiled
def drawn_tails(units, pairs, events, which, found):
    """Fill in tails and bounds of their errors, found (2, P'), of the pairs `which` (P',); `events` are `DrawnEvents`.

    units are columns (K, n, S) and the strata (H + 1,) that they are drawn within.
    """
    columns, strata = units
    better, worse = pairs
    _, n_units, n_columns = columns.shape
    numbers = np.empty(n_units)
    for k in range(len(which)):
        p = which[k]
        x, y = columns[better[p]], columns[worse[p]]
        for u in range(n_units):
            number = 0.0
            for s in range(n_columns):
                number += events.better[p, s] * x[u, s] - events.worse[p, s] * y[u, s]
            numbers[u] = number
        found[0, k], found[1, k] = drawn_tail(numbers, strata, events.least[p], events.whole, events.negligible)
