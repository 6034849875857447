"""The inner products of pairs: a pair's has the same bits whatever other pairs are asked for, and on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled
from simstudy.metrics.base import Array, FloatArray, IntArray

# Every so-many-th product is added to one sum, and these sums to each other in the end: a processor adds them at once.
_LANES = 16

# Words of 64 answers that are looked at together.
_WORDS = 2**20

# Numbers of which numpy makes the products before the compiled loop could be loaded.
_FEW = 2**20


def pair_products(rows: Array, others: Array, pairs: tuple[Array, Array], found: Array) -> None:
    """The inner product of each pair's better system in `rows` (K, n) and its worse one in `others`: found (P,)."""
    if len(found) * rows.shape[1] <= _FEW:
        found[:] = few_products(rows[pairs[0]], others[pairs[1]])
    else:
        many_products(rows, others, pairs, found)


def few_products(one: Array, other: Array) -> Array:
    """The inner products of rows (P, n), by the additions of `many_products`."""
    n = one.shape[1]
    products = np.zeros((len(one), -(-n // _LANES) * _LANES), dtype=one.dtype)
    np.multiply(one, other, out=products[:, :n])
    lanes = products.reshape(len(one), -1, _LANES).sum(axis=1)
    total = np.zeros(len(one), dtype=one.dtype)
    for lane in range(_LANES):
        total += lanes[:, lane]
    return total


@compiled
def many_products(rows, others, pairs, found):
    """The same of systems by their numbers."""
    i, j = pairs
    n = rows.shape[1]
    whole = n - n % _LANES
    lanes = np.empty(_LANES, rows.dtype)
    for p in range(len(i)):
        one, other = rows[i[p]], others[j[p]]
        lanes[:] = 0
        for u in range(0, whole, _LANES):
            for lane in range(_LANES):
                lanes[lane] += one[u + lane] * other[u + lane]
        for lane in range(n - whole):
            lanes[lane] += one[whole + lane] * other[whole + lane]
        found[p] = 0
        for lane in range(_LANES):
            found[p] += lanes[lane]


def common_bits(rows: NDArray[np.bool_], pairs: tuple[Array, Array]) -> IntArray:
    """In how many places both of two rows (K, n) are true: (P,)."""
    packed = np.packbits(rows, axis=1)
    words = np.ascontiguousarray(np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)]).view(np.uint64).T)
    found = np.empty(len(pairs[0]), dtype=np.int64)
    width = max(1, _WORDS // len(words))
    for first in range(0, len(found), width):
        i, j = (words[:, side[first : first + width]] for side in pairs)
        found[first : first + width] = np.bitwise_count(i & j).sum(axis=0, dtype=np.int64)
    return found


def answer_moments(rows: NDArray[np.bool_], values: FloatArray, pairs: tuple[Array, Array]) -> FloatArray:
    """The inner products of x y, x x y and x y y, (3, P), where a system has its first value or, if true, its second.

    Values are (K, 2). The sums have the bits of `pair_products`, but a byte is read for each number.
    """
    found = np.empty((3, len(pairs[0])))
    if found.shape[1] * rows.shape[1] <= _FEW:
        x, y = (np.where(rows[side], values[side, 1:], values[side, :1]) for side in pairs)
        found[:] = few_products(x, y), few_products(x * x, y), few_products(x, y * y)
    else:
        many_moments(rows, values, pairs, found)
    return found


@compiled(inline=True)
def add_moments(x, y, lane, sums):
    """Add a number's products to the sums of a lane."""
    products, first, second = sums
    products[lane] += x * y
    first[lane] += x * x * y
    second[lane] += x * (y * y)


@compiled
def many_moments(rows, values, pairs, found):
    """The same of more numbers."""
    i, j = pairs
    n = rows.shape[1]
    whole = n - n % _LANES
    sums = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for p in range(len(i)):
        one, other = rows[i[p]], rows[j[p]]
        x0, x1, y0, y1 = values[i[p], 0], values[i[p], 1], values[j[p], 0], values[j[p], 1]
        sums[0][:], sums[1][:], sums[2][:] = 0, 0, 0
        for u in range(0, whole, _LANES):
            for lane in range(_LANES):
                add_moments(x1 if one[u + lane] else x0, y1 if other[u + lane] else y0, lane, sums)
        for lane in range(n - whole):
            add_moments(x1 if one[whole + lane] else x0, y1 if other[whole + lane] else y0, lane, sums)
        for m in range(3):
            found[m, p] = 0
            for lane in range(_LANES):
                found[m, p] += sums[m][lane]
