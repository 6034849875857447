"""The inner products of pairs: a pair's has the same bits whatever other pairs are asked for, and on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled
from simstudy.metrics.base import Array, IntArray

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
