"""Inside and outside probabilities of latent states in observed trees, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import FloatArray, IntArray

LongArray = NDArray[np.int64]


class Forest(NamedTuple):
    """Observed trees under a grammar (see `latent_grammar.States`).

    Attributes
    ----------
    symbol, left, right
        (nodes,) symbols and children.
    n_states
        (symbols,) how many states each has.
    offset
        (nodes,) where the cells of a node's rule begin.
    probability
        (cells,)
    """

    symbol: IntArray
    left: IntArray
    right: IntArray
    n_states: LongArray
    offset: LongArray
    probability: FloatArray


class InsideOutside(NamedTuple):
    """Inside and outside probabilities (nodes, most states), their products scaled to a sum of 1, and scales (nodes,).

    The product of a tree's scales is its probability.
    """

    inside: FloatArray
    outside: FloatArray
    scale: FloatArray


@njit(cache=True, nogil=True)
def inside(forest: Forest, most: int) -> tuple[FloatArray, FloatArray]:
    """Inside probabilities (nodes, most states), scaled to a sum of 1 at each node, and the scales (nodes,)."""
    symbol, left, right, n_states, offset, probability = forest
    n = len(symbol)
    inside, scale = np.zeros((n, most)), np.empty(n)
    for node in range(n):
        a, b, cell = left[node], right[node], offset[node]
        own = n_states[symbol[node]]
        total = 0.0
        for x in range(own):
            value = 0.0
            if a < 0:
                value = probability[cell]
                cell += 1
            elif b < 0:
                for y in range(n_states[symbol[a]]):
                    value += probability[cell] * inside[a, y]
                    cell += 1
            else:
                n_right = n_states[symbol[b]]
                for y in range(n_states[symbol[a]]):
                    part = 0.0
                    for z in range(n_right):
                        part += probability[cell] * inside[b, z]
                        cell += 1
                    value += part * inside[a, y]
            inside[node, x] = value
            total += value
        scale[node] = total
        for x in range(own):
            inside[node, x] /= total
    return inside, scale


@njit(cache=True, nogil=True)
def outside(forest: Forest, inside: FloatArray, scale: FloatArray) -> FloatArray:
    """Outside probabilities, scaled so that at each node the products with the inside ones sum to 1."""
    symbol, left, right, n_states, offset, probability = forest
    outside = np.zeros(inside.shape)
    for node in range(len(symbol) - 1, -1, -1):
        a, b, cell = left[node], right[node], offset[node]
        if symbol[node] == 0:
            outside[node, 0] = 1.0
        if a < 0:
            continue
        for x in range(n_states[symbol[node]]):
            above = outside[node, x] / scale[node]
            for y in range(n_states[symbol[a]]):
                if b < 0:
                    outside[a, y] += above * probability[cell]
                    cell += 1
                    continue
                part = 0.0
                beside = above * inside[a, y]
                for z in range(n_states[symbol[b]]):
                    part += probability[cell] * inside[b, z]
                    outside[b, z] += beside * probability[cell]
                    cell += 1
                outside[a, y] += above * part
    return outside


@njit(cache=True, nogil=True)
def expected_counts(forest: Forest, found: InsideOutside, weight: FloatArray) -> FloatArray:
    """How often each cell is used in trees of these weights."""
    symbol, left, right, n_states, offset, probability = forest
    inside, outside, scale = found
    count = np.zeros(len(probability))
    for node in range(len(symbol)):
        a, b, cell = left[node], right[node], offset[node]
        for x in range(n_states[symbol[node]]):
            above = weight[node] * outside[node, x] / scale[node]
            if a < 0:
                count[cell] += above * probability[cell]
                cell += 1
                continue
            for y in range(n_states[symbol[a]]):
                beside = above * inside[a, y]
                if b < 0:
                    count[cell] += beside * probability[cell]
                    cell += 1
                    continue
                for z in range(n_states[symbol[b]]):
                    count[cell] += beside * inside[b, z] * probability[cell]
                    cell += 1
    return count


@njit(cache=True, nogil=True)
def merging_losses(
    symbol: IntArray, first: LongArray, found: InsideOutside, weight: FloatArray, frequency: FloatArray
) -> FloatArray:
    """How much of the log-likelihood each pair of states (1 and 2, 3 and 4, ...) is worth, node by node."""
    inside, outside, _ = found
    loss = np.zeros((len(frequency) - 1) // 2)
    for node in range(len(symbol)):
        begin = first[symbol[node]]
        if begin == 0:
            continue
        for x in range(0, first[symbol[node] + 1] - begin, 2):
            state = begin + x
            one, other = inside[node, x], inside[node, x + 1]
            apart = one * outside[node, x] + other * outside[node, x + 1]
            mean = frequency[state] * one + frequency[state + 1] * other
            joined = mean * (outside[node, x] + outside[node, x + 1])
            loss[(state - 1) // 2] -= weight[node] * np.log(max(1.0 + joined - apart, 1e-300))
    return loss
