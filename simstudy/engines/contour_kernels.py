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
which nodes all of them are to be multiplied.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.by_arrays import NONE
from simstudy.engines.exact_kernels import added_in_order
from simstudy.engines.node_kernels import large_nodes, multiply
from simstudy.metrics.base import FloatArray, IntArray

# Nodes that lie this part of 1 / standard deviation apart: what Hoeffding's inequality leaves of the tails that are
# 2 pi / 0.85 standard deviations away is exp(-27).
_SPACING = 0.85

# Nodes that are looked at first, for each standard deviation that the saddle point is away from 0, and at least.
# At most so many nodes are kept: 3 MiB.
_NODES, _LEAST_NODES, _MOST_NODES = 512, 1024, 2**17

# From so many standard deviations on, what lies 2 pi / delta to the left adds less than 1e-9 of the tail.
_FAR = 5.0

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
    variance = added_in_order(times * values * values)
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
    deviation = math.sqrt(added_in_order(numbers.times * numbers.values * numbers.values))
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
