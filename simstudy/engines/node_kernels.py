"""The compiled loops over nodes of a contour integral: where products are not small, and the products there."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines import by_arrays
from simstudy.engines.by_arrays import BLOCK, NONE, TOGETHER, TRIED, Either

# Numbers are squared so often at most where it is tried whether their product is 0.
_MOST_SQUARED = 2


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
