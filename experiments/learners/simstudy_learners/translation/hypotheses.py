"""Stacks of a decoder's hypotheses: recombined, pruned, and no more than there is room for; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.segments import Floats, Integers


class Search(NamedTuple):
    """How far the decoder looks.

    Attributes
    ----------
    stack
        Hypotheses that are kept of those with as many words translated.
    width
        By how much of a logarithm one may be worse than the best of them.
    distortion_limit
        Words of the source sentence between the end of one phrase and the beginning of the next.
    """

    stack: int
    width: float
    distortion_limit: int


class Stacks(NamedTuple):
    """Hypotheses by number of words translated, in rows of 4 stacks' size.

    Attributes
    ----------
    filled, floor
        (words + 1,) how many there are, and what a new one's total must be above.
    whole
        (words + 1, size, 5): words translated as bits, where the last phrase ends, the language models' states, the
        place of the hypothesis that it continues in the stack that it is from, and by which option.
    real
        (words + 1, size, 2): total, that is score and what the rest is expected to bring; and score.
    table
        (words + 1, more than 2 * size) where hypotheses are, by the first three: place + 1, 0 for none.
    room, real_room, order
        (size, 5), (size, 2) and (size,) for pruning.
    """

    filled: Integers
    floor: Floats
    whole: Integers
    real: Floats
    table: Integers
    room: Integers
    real_room: Floats
    order: Integers


class Hypothesis(NamedTuple):
    """A translation of some words of a sentence.

    Attributes
    ----------
    coverage
        The words translated, as bits.
    stop
        Where the last phrase ends.
    state
        The language models' states.
    score, total
        What the models say of it; and with what the rest is expected to bring.
    previous, option
        The place of the hypothesis that it continues in the stack that it is from, and by which option.
    """

    coverage: int
    stop: int
    state: int
    score: float
    total: float
    previous: int
    option: int


#: What `Stacks.whole` and `Stacks.real` have in their columns.
COVERAGE, STOP, STATE, PREVIOUS, OPTION = range(5)
TOTAL, SCORE = range(2)


def stacks(n_words: int, stack: int) -> Stacks:
    """Empty stacks for sentences of so many words."""
    size, rows = 4 * stack, n_words + 1
    return Stacks(
        np.zeros(rows, np.int64), np.zeros(rows), np.zeros((rows, size, 5), np.int64), np.zeros((rows, size, 2)),
        np.zeros((rows, 1 << (2 * size).bit_length()), np.int64), np.zeros((size, 5), np.int64), np.zeros((size, 2)),
        np.zeros(size, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def clear(hyps, n):
    """Empty the stacks of up to n words."""
    for k in range(n + 1):
        hyps.filled[k], hyps.floor[k] = 0, -1e300
        for at in range(hyps.table.shape[1]):
            hyps.table[k, at] = 0


@njit(cache=True, nogil=True)
def _place(hyps, k, coverage, stop, state):
    """Where in a stack's table a hypothesis is, or would be."""
    size = hyps.table.shape[1]
    key = (coverage * np.int64(-7046029254386353131)) ^ (state * np.int64(0x9E3779B1) + stop * np.int64(0x85EBCA77))
    at = ((key * np.int64(-4417276706812531889)) >> 25) & (size - 1)
    while True:
        there = hyps.table[k, at] - 1
        if there < 0:
            return at
        own = hyps.whole[k, there]
        if own[COVERAGE] == coverage and own[STOP] == stop and own[STATE] == state:
            return at
        at = (at + 1) & (size - 1)


@njit(cache=True, nogil=True)
def prune(hyps, k, keep, width):
    """Keep the best hypotheses of a stack, best first; of equals the first found."""
    n = hyps.filled[k]
    best = hyps.real[k, 0, TOTAL]
    for h in range(1, n):
        best = max(best, hyps.real[k, h, TOTAL])
    # Their places in order, by insertion: sorting functions take long to compile.
    kept = 0
    for h in range(n):
        total = hyps.real[k, h, TOTAL]
        if total < best - width or (kept == keep and total <= hyps.real[k, hyps.order[keep - 1], TOTAL]):
            continue
        place = min(kept, keep - 1)
        while place > 0 and hyps.real[k, hyps.order[place - 1], TOTAL] < total:
            hyps.order[place] = hyps.order[place - 1]
            place -= 1
        hyps.order[place] = h
        kept = min(kept + 1, keep)
    for h in range(n):
        for field in range(5):
            hyps.room[h, field] = hyps.whole[k, h, field]
        for field in range(2):
            hyps.real_room[h, field] = hyps.real[k, h, field]
    for at in range(hyps.table.shape[1]):
        hyps.table[k, at] = 0
    for h in range(kept):
        for field in range(5):
            hyps.whole[k, h, field] = hyps.room[hyps.order[h], field]
        for field in range(2):
            hyps.real[k, h, field] = hyps.real_room[hyps.order[h], field]
        own = hyps.whole[k, h]
        hyps.table[k, _place(hyps, k, own[COVERAGE], own[STOP], own[STATE])] = h + 1
    hyps.filled[k] = kept
    hyps.floor[k] = hyps.real[k, kept - 1, TOTAL] if kept == keep else best - width


@njit(cache=True, nogil=True)
def push(hyps, k, search, hypothesis):
    """Keep a hypothesis in stack k, unless it is too bad, or one that can do the same is as good."""
    coverage, stop, state, score, total, previous, option = hypothesis
    if total <= hyps.floor[k]:
        return
    at = _place(hyps, k, coverage, stop, state)
    h = hyps.table[k, at] - 1
    if h < 0:
        if hyps.filled[k] == hyps.real.shape[1]:
            prune(hyps, k, search.stack, search.width)
            if total <= hyps.floor[k]:
                return
            at = _place(hyps, k, coverage, stop, state)
        h = hyps.filled[k]
        hyps.filled[k] += 1
        hyps.table[k, at] = h + 1
    elif total <= hyps.real[k, h, TOTAL]:
        return
    own = hyps.whole[k, h]
    own[COVERAGE], own[STOP], own[STATE], own[PREVIOUS], own[OPTION] = coverage, stop, state, previous, option
    hyps.real[k, h, TOTAL], hyps.real[k, h, SCORE] = total, score
    hyps.floor[k] = max(hyps.floor[k], total - search.width)
