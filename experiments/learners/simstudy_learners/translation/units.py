"""Sentence pairs as sequences of the smallest phrase pairs: unfolded tuples (Crego et al. 2005)."""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy_learners.alignment.aligners import Links
from simstudy_learners.alignment.bitexts import Bitext
from simstudy_learners.segments import Integers


def units(bitext: Bitext, links: Links) -> Integers:
    """The smallest phrase pairs that sentence pairs can be cut into without cutting a link, in the target's order.

    Source words without a link that no pair encloses are pairs with nothing, after the pair of the word before them;
    such target words belong to the pair before them, or to the first. A sentence pair without links is one pair.

    A row (units, 5) has the sentence pair, first word and number of words of the source phrase, and the same of the
    target phrase.
    """
    rows = np.empty((len(bitext.source) + len(bitext.target), 5), np.int64)
    return rows[: _cut(bitext.bounds, links, rows)].copy()


@njit(cache=True, nogil=True)
def _cut(all_bounds, linked, rows):
    source_bounds, target_bounds, bounds = all_bounds
    n_rows = 0
    for k in range(len(bounds) - 1):
        m = source_bounds[k + 1] - source_bounds[k]
        n = target_bounds[k + 1] - target_bounds[k]
        own = linked[bounds[k] : bounds[k + 1]].reshape(m, n)
        # Intervals of source words and of target words that must not be cut: [low, high] of the other side.
        block = _blocks(own, m, n)
        first_row = n_rows
        # Blocks in the order of their target words.
        j = 0
        while j < n:
            b = block[m + j]
            if b < 0:
                if n_rows > first_row:
                    rows[n_rows - 1, 4] += 1
                j += 1
                continue
            first, last = m, -1
            for i in range(m):
                if block[i] == b:
                    first, last = min(first, i), max(last, i)
            stop = j
            while stop < n and block[m + stop] == b:
                stop += 1
            rows[n_rows, 0], rows[n_rows, 1], rows[n_rows, 2] = k, first, last - first + 1
            # The first pair has the target words before it.
            rows[n_rows, 3] = 0 if n_rows == first_row else j
            rows[n_rows, 4] = stop - rows[n_rows, 3]
            n_rows += 1
            j = stop
        if n_rows == first_row:
            rows[n_rows] = np.array([k, 0, m, 0, n])
            n_rows += 1
            continue
        for i in range(m):
            if block[i] >= 0:
                continue
            # Words before all others come first.
            at = first_row
            for r in range(first_row, n_rows):
                if i > 0 and rows[r, 1] <= i - 1 < rows[r, 1] + rows[r, 2]:
                    at = r + 1
            for r in range(n_rows, at, -1):
                rows[r] = rows[r - 1]
            rows[at] = np.array([k, i, 1, 0 if at == first_row else rows[at - 1, 3] + rows[at - 1, 4], 0])
            n_rows += 1
    return n_rows


@njit(cache=True, nogil=True)
def _blocks(own, m, n):
    """(m + n,) the block of each source word, then of each target word; -1 for words outside of all."""
    block = np.full(m + n, -1)
    for i in range(m):
        for j in range(n):
            if own[i, j]:
                if block[i] < 0:
                    block[i] = i
                if block[m + j] < 0:
                    block[m + j] = block[i]
                elif block[m + j] != block[i]:
                    _join(block, block[m + j], block[i])
    changed = True
    while changed:
        changed = False
        for side in range(2):
            low, high = (0, m) if side == 0 else (m, m + n)
            for a in range(low, high):
                if block[a] < 0:
                    continue
                last = a
                for c in range(a + 1, high):
                    if block[c] == block[a]:
                        last = c
                for c in range(a + 1, last):
                    if block[c] < 0:
                        block[c] = block[a]
                    elif block[c] != block[a]:
                        _join(block, block[c], block[a])
                        changed = True
    return block


@njit(cache=True, nogil=True)
def _join(block, one, other):
    for i in range(len(block)):
        if block[i] == one:
            block[i] = other
