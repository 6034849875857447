"""The compiled loops of a contour integral: tails of a sum of many numbers with random signs, with an error bound.

The sum S of c_u e_u, with signs e_u = +1 or -1 by fair coins, has the moment generating function M(w) = product of
cosh(c_u w). Its tail P(S >= x) is the integral of M(w) exp(-w x) / w along a line Re w = s > 0, over 2 pi i (the
Bromwich integral; Daniels 1954, "Saddlepoint approximations in statistics", equation 2.3). Near the saddle point s the
integrand falls like a normal density, and nothing cancels: small tails are as accurate as large ones. Three things are
not exact:

- Nodes lie `delta` apart on the line. This adds tails of S that lie 2 pi / delta away (Davies 1973, "Numerical
  inversion of a characteristic function"). To the right they are below 1e-11 of the tail by Hoeffding's inequality. To
  the left they are a geometric series, which is taken off.
- The nodes end at some T. They know S to a distance of about 2 pi / T: steps that are finer than this they do not see.
  Graham and Vaaler (1981, "A class of extremal functions for the Fourier transform") have the closest functions above
  and below exp(-s y), y >= 0, whose transforms end at T. By these the tail lies between two finite sums over the nodes,
  whatever the numbers are. This is the bound of the error. It is about the density of S times pi / T, so that ever
  smaller tails and ever finer bounds need more nodes.
- Products below 1e-12 are taken to be 0.

If the numbers are multiples of one step, the integral over one period is a finite sum, and only rounding is left.

Far from 0 nearly all products are 0 after a few numbers. So the sizes of products of some of the numbers tell first at
which nodes all of them are to be multiplied. Everything here is `nogil`, single-threaded and deterministic.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines import by_arrays
from simstudy.engines.by_arrays import BLOCK, NONE, TOGETHER, TRIED, Either
from simstudy.engines.exact_kernels import summed
from simstudy.metrics.base import FloatArray, IntArray

# Nodes that lie this part of 1 / standard deviation apart: what Hoeffding's inequality leaves of the tails that are
# 2 pi / 0.85 standard deviations away is exp(-27).
_SPACING = 0.85

# Nodes that are looked at first, for each standard deviation that the saddle point is away from 0, and at least.
# At most so many nodes are kept: 3 MiB.
_NODES, _LEAST_NODES, _MOST_NODES = 512, 1024, 2**17

# From so many standard deviations on, what lies 2 pi / delta to the left adds less than 1e-9 of the tail.
_FAR = 5.0

# Numbers are squared so often at most where it is tried whether their product is 0.
_MOST_SQUARED = 2

#: A tail is good enough if the bound of its error is at most this part of it: the error of 2^18 flips at p = 0.05. Of
#: a tail below `SMALL` the bound may be the second part.
MOST_ERROR, SMALL, MOST_ERROR_OF_SMALL = 0.01, 1e-4, 0.05

#: Smaller tails are given as this, which is a bound of them: double precision ends soon after.
LEAST_TAIL = 1e-300

#: Nodes times distinct numbers at most that are multiplied for one tail, where it is not good enough sooner.
MOST_FACTORS = 2**24

# Random flips would not tell tails below the first number: more nodes and factors are spent on them, some seconds.
_RARE, _MOST_NODES_OF_RARE, _MOST_FACTORS_OF_RARE = 1e-6, 2**20, 2**31


class Line(NamedTuple):
    """Nodes on the line of integration, t = k delta for whole numbers k."""

    delta: float
    #: The largest k of all that were looked at, from 1 on.
    last: int
    #: Those k (m,) at which M(s + i t) / M(s) is not small, and this: real and imaginary parts (2, m).
    nodes: IntArray
    products: FloatArray


class Tilted(NamedTuple):
    """Numbers, and what the line of integration Re w = s makes of them."""

    #: Distinct numbers above 0 (V,), the largest first, and how often each is there.
    values: FloatArray
    times: IntArray
    s: float
    #: tanh(number s), (V,).
    tilts: FloatArray
    #: The logarithm of M(s).
    log_size: float


@compiled
def saddle_point(values, times, least):
    """Near the s at which the mean of the numbers, tilted by exp(s S), is `least`: at least half a deviation.

    Any s > 0 is a line of integration, so that tanh need not be exact here. The mean is concave in s: Newton's steps
    from the left hardly pass it.
    """
    variance = summed(times * values * values)
    s = least / variance
    for _ in range(50):
        mean = spread = 0.0
        for v in range(len(values)):
            y = values[v] * s
            square = y * y
            h = min(y * (15.0 + square) / (15.0 + 6.0 * square), 1.0)
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
def tilted(values, times, s):
    """What the line makes of the numbers."""
    tilts = np.empty(len(values))
    log_size = 0.0
    for v in range(len(values)):
        y = values[v] * s
        e = math.exp(-2.0 * y)
        tilts[v] = (1.0 - e) / (1.0 + e)
        log_size += times[v] * (y + math.log(0.5 * (1.0 + e)))
    return Tilted(values, times, s, tilts, log_size)


@compiled
def log_bound(numbers, least):
    """The logarithm of M(s) exp(-s least), which the tail is below (Chernoff)."""
    return numbers.log_size - numbers.s * least


@compiled
def _power(a, b, times):
    """(a + i b)^times, for times >= 1."""
    real, imaginary = 1.0, 0.0
    while times > 0:
        if times & 1:
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
        a, b = a * a - b * b, 2.0 * a * b
        times >>= 1
    return real, imaginary


@partial(Either, by_arrays.large_nodes)
def large_nodes(numbers, delta, first, last):
    """The nodes t = k delta, for k = first … last, at which |M(s + i t) / M(s)| may be `NONE` or more; factors tried.

    A number v has the factor |cos(v t) + i tilt sin(v t)|^2 = 1 - q + q cos(2 v t), with q = (1 - tilt^2) / 2. Factors
    are at most 1: some of them are enough, and powers may be rounded down to powers of two.
    """
    values, times, tilts = numbers.values, numbers.times, numbers.tilts
    found = np.empty(last + 1 - first, np.int64)
    twice, now, before, q, factors = np.empty((5, BLOCK))
    squared = np.empty(BLOCK, np.int64)
    n_found = n_factors = 0
    for start in range(first, last + 1, TOGETHER):
        reached = min(TOGETHER, last + 1 - start)
        sizes = np.ones(reached)
        for begin in range(0, min(len(values), TRIED), BLOCK):
            # Factors of 1 fill the last block.
            twice[:], now[:], before[:], q[:], squared[:] = 2.0, 1.0, 1.0, 0.0, 0
            for v in range(min(BLOCK, len(values) - begin)):
                angle = 2.0 * values[begin + v] * delta
                twice[v], now[v], before[v] = (
                    2.0 * math.cos(angle),
                    math.cos(start * angle),
                    math.cos((start - 1) * angle),
                )
                q[v] = 0.5 - 0.5 * tilts[begin + v] ** 2
                squared[v] = min(int(math.log2(times[begin + v])), _MOST_SQUARED)
            most = squared.max()
            n_factors += BLOCK * reached
            alive = 0
            for k in range(reached):
                for v in range(BLOCK):
                    cosine = now[v]
                    factors[v] = 1.0 - q[v] + q[v] * cosine
                    now[v], before[v] = twice[v] * cosine - before[v], cosine
                for r in range(most):
                    for v in range(BLOCK):
                        factors[v] = factors[v] * factors[v] if squared[v] > r else factors[v]
                half = BLOCK // 2
                while half > 0:
                    for v in range(half):
                        factors[v] *= factors[half + v]
                    half //= 2
                sizes[k] *= factors[0]
                if abs(sizes[k]) >= NONE * NONE:
                    alive = k + 1
            reached = alive
        for k in range(reached):
            if abs(sizes[k]) >= NONE * NONE:
                found[n_found] = start + k
                n_found += 1
    return found[:n_found], n_factors


@partial(Either, by_arrays.multiply)
def multiply(numbers, delta, nodes):
    """M(s + i t) / M(s), the product of cos(v t) + i tilt sin(v t), at nodes t = delta k for whole numbers k (m,).

    Real and imaginary parts, (2, m), and how many factors were multiplied. Products below `NONE` stay unfinished.
    """
    values, times, tilts = numbers.values, numbers.times, numbers.tilts
    products = np.zeros((2, len(nodes)))
    products[0] = 1.0
    real, imaginary = products
    cosines, sines, by_cosine, by_sine, a, b, tilt = np.empty((7, BLOCK))
    n_factors = 0
    for begin in range(0, len(values), BLOCK):
        width = min(BLOCK, len(values) - begin)
        # Factors of 1 fill the last block.
        cosines[:], sines[:], by_cosine[:], by_sine[:], tilt[:] = 1.0, 0.0, 1.0, 0.0, 0.0
        angles = values[begin : begin + width] * delta
        tilt[:width] = tilts[begin : begin + width]
        by_cosine[:width], by_sine[:width] = np.cos(angles), np.sin(angles)
        several = times[begin : begin + width].max() > 1
        before = 0
        for k in range(len(nodes)):
            if real[k] * real[k] + imaginary[k] * imaginary[k] < NONE * NONE:
                continue
            n_factors += BLOCK
            if nodes[k] == before + 1:
                for v in range(BLOCK):
                    c, d = cosines[v], sines[v]
                    cosines[v] = c * by_cosine[v] - d * by_sine[v]
                    sines[v] = d * by_cosine[v] + c * by_sine[v]
            else:
                for v in range(width):
                    cosines[v], sines[v] = math.cos(nodes[k] * angles[v]), math.sin(nodes[k] * angles[v])
            before = nodes[k]
            for v in range(BLOCK):
                a[v], b[v] = cosines[v], sines[v] * tilt[v]
            if several:
                for v in range(width):
                    a[v], b[v] = _power(a[v], b[v], times[begin + v])
            half = BLOCK // 2
            while half > 0:
                for v in range(half):
                    c, d = a[v], b[v]
                    a[v] = c * a[half + v] - d * b[half + v]
                    b[v] = c * b[half + v] + d * a[half + v]
                half //= 2
            c, d = real[k], imaginary[k]
            real[k], imaginary[k] = c * a[0] - d * b[0], c * b[0] + d * a[0]
    return products, n_factors


@compiled
def _sinh(z):
    return complex(math.cos(z.imag) * math.sinh(z.real), math.sin(z.imag) * math.cosh(z.real))


@compiled
def _tanh(z):
    above = _sinh(z)
    below = complex(math.cos(z.imag) * math.cosh(z.real), math.sin(z.imag) * math.sinh(z.real))
    part = 1.0 / (below.real * below.real + below.imag * below.imag)
    return complex(
        (above.real * below.real + above.imag * below.imag) * part,
        (above.imag * below.real - above.real * below.imag) * part,
    )


@compiled
def _of_period(line, least, step, s):
    """The trapezoid rule over one period of multiples of a step, for `least` half-way between two sums."""
    total = 0.5 * step / math.sinh(step * s)
    for m in range(len(line.nodes)):
        t = float(line.nodes[m] * line.delta)
        product = complex(line.products[0, m], line.products[1, m])
        node = product * complex(math.cos(t * least), -math.sin(t * least)) * step / _sinh(step * complex(s, t))
        # The middle of a period has no twin at -t.
        total += 0.5 * node.real if line.nodes[m] == line.last else node.real
    return total


@compiled
def _of_line(line, least, s):
    """The trapezoid rule over all nodes, and how far the true integral may be from it.

    With T at the last node, rate = 2 pi / T and u = rate (s + i t), Graham and Vaaler's two functions have the mean
    transform rate ((1 - t / T) coth(u / 2) + s / T (coth(rate s / 2) - coth(u / 2)) / i) / 2, and half their difference
    has the transform rate (1 - t / T) / 2.
    """
    end = line.last * line.delta
    rate = 2.0 * math.pi / end
    at_0 = 1.0 / math.tanh(0.5 * rate * s)
    total, mean, half = 0.5 / s, 0.25 * rate * at_0, 0.25 * rate
    for m in range(len(line.nodes)):
        t = float(line.nodes[m] * line.delta)
        product = complex(line.products[0, m], line.products[1, m])
        node = product * complex(math.cos(t * least), -math.sin(t * least))
        w, left = complex(s, t), 1.0 - t / end
        coth = 1.0 / _tanh(0.5 * rate * w)
        total += (node / w).real
        mean += 0.5 * rate * (node * (left * coth + (at_0 - coth) * complex(0.0, -s / end))).real
        half += 0.5 * rate * left * node.real
    return total, half + abs(total - mean)


@compiled
def _to_the_left(s, delta, deviation):
    """The part of the tails to the left, nearly 1 before they are tilted, that nodes `delta` apart add."""
    return 1.0 / math.expm1(2.0 * math.pi * s / delta) if s * deviation < _FAR else 0.0


@compiled
def most_error(tail):
    """The part of a tail that the bound of its error may be."""
    return MOST_ERROR if tail >= SMALL else MOST_ERROR_OF_SMALL


@compiled
def contour_tail(numbers, least, step):
    """P(S >= least) for least >= 0, and a bound of its error.

    If the numbers (`Tilted`) are multiples of a step > 0, `least` is half-way between two sums.
    """
    # Of numpy's own numbers complex ones would be divided in another way.
    s, least, step = float(numbers.s), float(least), float(step)
    if log_bound(numbers, least) < math.log(LEAST_TAIL):
        return LEAST_TAIL, 0.0
    deviation = math.sqrt(summed(numbers.times * numbers.values * numbers.values))
    size = math.exp(log_bound(numbers, least)) / math.pi
    delta = float(_SPACING / deviation)
    if step > 0:
        # Nodes divide the period.
        half = int(math.ceil(math.pi / (2.0 * step * delta)))
        if half <= _MOST_NODES:
            delta = math.pi / (2.0 * step * half)
            nodes, _ = large_nodes(numbers, delta, 1, half)
            products, _ = multiply(numbers, delta, nodes)
            total = size * delta * _of_period(Line(delta, half, nodes, products), least, step, s)
            return total - _to_the_left(s, delta, deviation), NONE * half * total
    n_nodes = min(max(int(_NODES * s * deviation * MOST_ERROR / most_error(math.pi * size)), _LEAST_NODES), _MOST_NODES)
    nodes, n_factors = large_nodes(numbers, delta, 1, n_nodes)
    products, n_multiplied = multiply(numbers, delta, nodes)
    while True:
        n_factors += n_multiplied
        total, error = _of_line(Line(delta, n_nodes, nodes, products), least, s)
        tail = size * delta * total - _to_the_left(s, delta, deviation)
        # Of the nodes that are left out, those near 0 count most.
        error = size * delta * (error + abs(total) * NONE * 32.0 * (1.0 + s / delta))
        most_factors, most_nodes = (
            (_MOST_FACTORS_OF_RARE, _MOST_NODES_OF_RARE) if tail < _RARE else (MOST_FACTORS, _MOST_NODES)
        )
        if error <= most_error(tail) * tail or 2 * n_factors > most_factors or 2 * n_nodes > most_nodes:
            return tail, error
        more, n_tried = large_nodes(numbers, delta, n_nodes + 1, 2 * n_nodes)
        beyond, n_multiplied = multiply(numbers, delta, more)
        nodes, products = np.concatenate((nodes, more)), np.concatenate((products, beyond), axis=1)
        n_factors += n_tried
        n_nodes *= 2
