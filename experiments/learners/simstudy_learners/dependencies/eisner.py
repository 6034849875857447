"""The projective dependency tree of the highest score, by Eisner's algorithm (1996; 2000, section 3); compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy_learners.segments import longest_segment


@njit(cache=True, nogil=True)
def best_projective_tree(scores, n, heads):
    """Fill heads[1 … n] with the projective tree of the highest sum of scores[head, word]; its root has one dependent.

    Words are 1 … n, the root is 0. Spans of words without the root are built up; at last the root takes the word whose
    spans to both sides are best.
    """
    # Best scores of spans from i to j whose head is one end: whole ones, and such as still lack the other end's
    # dependents; and where their best parts meet. Index 0: the head is the right end, 1: the left.
    whole, part = np.zeros((2, n + 1, n + 1)), np.zeros((2, n + 1, n + 1))
    whole_at, part_at = np.zeros((2, n + 1, n + 1), np.int64), np.zeros((n + 1, n + 1), np.int64)
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            best, at = -np.inf, i
            for k in range(i, j):
                score = whole[1, i, k] + whole[0, k + 1, j]
                if score > best:
                    best, at = score, k
            part_at[i, j] = at
            part[0, i, j] = best + scores[j, i]
            part[1, i, j] = best + scores[i, j]
            best, at = -np.inf, i
            for k in range(i, j):
                score = whole[0, i, k] + part[0, k, j]
                if score > best:
                    best, at = score, k
            whole[0, i, j], whole_at[0, i, j] = best, at
            best, at = -np.inf, j
            for k in range(i + 1, j + 1):
                score = part[1, i, k] + whole[1, k, j]
                if score > best:
                    best, at = score, k
            whole[1, i, j], whole_at[1, i, j] = best, at
    best, top = -np.inf, 1
    for k in range(1, n + 1):
        score = whole[0, 1, k] + scores[0, k] + whole[1, k, n]
        if score > best:
            best, top = score, k
    heads[top] = 0
    # Spans to take apart: which end is the head, whether whole, from, to.
    todo = np.empty((2 * n + 2, 4), np.int64)
    todo[0] = 0, 1, 1, top
    todo[1] = 1, 1, top, n
    left = 2
    while left > 0:
        left -= 1
        side, is_whole, i, j = todo[left]
        if i == j:
            continue
        if is_whole:
            k = whole_at[side, i, j]
            if side == 0:
                todo[left] = 0, 1, i, k
                todo[left + 1] = 0, 0, k, j
            else:
                todo[left] = 1, 0, i, k
                todo[left + 1] = 1, 1, k, j
        else:
            if side == 0:
                heads[i] = j
            else:
                heads[j] = i
            k = part_at[i, j]
            todo[left] = 1, 1, i, k
            todo[left + 1] = 0, 1, k + 1, j
        left += 2


@njit(cache=True, nogil=True)
def reparse(bounds, proposals, votes, heads):
    """Fill heads with the trees of most votes, given the heads (members, entries) that the members propose."""
    longest = longest_segment(bounds)
    scores = np.zeros((longest, longest))
    heads[:] = -1
    for item in range(len(bounds) - 1):
        first, last = bounds[item], bounds[item + 1]
        n = last - first - 2
        scores[: n + 1, : n + 1] = 0
        for member in range(len(votes)):
            for m in range(1, n + 1):
                scores[proposals[member, first + m], m] += votes[member]
        best_projective_tree(scores, n, heads[first:last])
