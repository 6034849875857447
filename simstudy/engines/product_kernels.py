"""The compiled inner products of pairs: a pair's has the same bits whatever other pairs are asked for."""

from __future__ import annotations

from simstudy.compiled import compiled


@compiled(any_order=True)
def pair_products(rows, others, pairs, found):
    """The inner product of each pair's better system in `rows` (K, n) and its worse one in `others`: found (P,)."""
    i, j = pairs
    for p in range(len(i)):
        one, other = rows[i[p]], others[j[p]]
        total = one[0] * other[0]
        for u in range(1, one.shape[0]):
            total += one[u] * other[u]
        found[p] = total
