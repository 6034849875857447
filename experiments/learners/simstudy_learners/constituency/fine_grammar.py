"""An annotated grammar as the fine pass of the parser reads it: rules by their children, in a hash table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import FloatArray, IntArray
from simstudy_learners.constituency.grammars import Rules, totals


class Fine(NamedTuple):
    """An annotated grammar as the fine pass reads it.

    Attributes
    ----------
    keys, slots
        A hash table: pairs left * symbols + right (-1 where free), and the row of `first`.
    first
        (pairs + 1,) where the rules of a pair of children begin.
    parent, weight
        (rules,)
    unary_first, unary_parent, unary_weight
        Unary rules by their child.
    coarse
        (symbols,) the plain symbol of each.
    share
        (symbols,) how large a part of its plain symbol's nodes each is.
    """

    keys: NDArray[np.int64]
    slots: IntArray
    first: IntArray
    parent: IntArray
    weight: FloatArray
    unary_first: IntArray
    unary_parent: IntArray
    unary_weight: FloatArray
    coarse: IntArray
    share: FloatArray


def fine_grammar(rules: Rules, coarse: IntArray, count: FloatArray) -> Fine:
    """Arrays for the fine pass, from rule probabilities and how often each symbol was seen."""
    n = len(coarse)
    share = count / np.maximum(totals(coarse, count, n)[coarse], 1e-300)
    pairs, first = np.unique(rules.binary[:, 1].astype(np.int64) * n + rules.binary[:, 2], return_index=True)
    keys, slots = _hashed(pairs)
    unary_first = np.searchsorted(rules.unary[:, 1], np.arange(n + 1)).astype(np.int32)
    return Fine(
        keys, slots, np.append(first, len(rules.binary)).astype(np.int32), np.ascontiguousarray(rules.binary[:, 0]),
        rules.binary_weight, unary_first, np.ascontiguousarray(rules.unary[:, 0]), rules.unary_weight, coarse, share,
    )  # fmt: skip


@njit(cache=True, nogil=True, inline="always")
def slot_of(keys: NDArray[np.int64], pair: int) -> int:
    """Where a pair is in the hash table, or the free place where it would be."""
    mask = len(keys) - 1
    at = (pair * 0x9E3779B1 >> 7) & mask
    while keys[at] != pair and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _hashed(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntArray]:
    size = 4
    while size < 3 * len(pairs):
        size *= 2
    keys, slots = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32)
    for i, pair in enumerate(pairs):
        at = slot_of(keys, pair)
        keys[at], slots[at] = pair, i
    return keys, slots
