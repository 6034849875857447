"""Second-order hidden Markov models of tag sequences: counting, smoothing by deleted interpolation, Viterbi decoding.

States are numbered from 1; state 0 is the boundary, twice before and once after a sentence. Which states an observed
symbol can have, and how probable it is in each, is for the model that uses this to say (`Emissions`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]


class Transitions(NamedTuple):
    """P(c | a, b) of three states in a row; S states, the boundary among them.

    Attributes
    ----------
    lower
        (S, S): the interpolated part that depends on (b, c) alone, l1 P(c) + l2 P(c | b).
    rows
        (S * S + 1,): where the states that follow (a, b) begin in `following`; (a, b) is row a * S + b.
    following, upper
        The states c seen after (a, b), ascending, and l3 P(c | a, b) of each.
    unseen
        What `lower` is multiplied by where (a, b) was never seen: 1 / (l1 + l2), so that the sum over c is 1.
    """

    lower: Floats
    rows: NDArray[np.int64]
    following: NDArray[np.int64]
    upper: Floats
    unseen: float

    def probability(self, a: int, b: int, c: int) -> float:
        """P(c | a, b).

        Examples
        --------
        >>> always = count_transitions(np.array([1, 2]), np.array([0, 2]), np.array([7]), 3)
        >>> round(always.probability(0, 1, 2), 2), always.probability(1, 1, 2) > 0
        (0.97, True)
        """
        return float(_probability(self, a, b, c))


class Emissions(NamedTuple):
    """The states that each symbol can have: those of symbol x are at ``first[x]:first[x + 1]``.

    Attributes
    ----------
    first
        (n symbols + 1,) bounds.
    states
        States from 1 on; every symbol has at least one.
    log_probabilities
        log P(symbol | state), up to a constant for each symbol.
    """

    first: NDArray[np.int64]
    states: NDArray[np.int64]
    log_probabilities: Floats


def count_transitions(
    states: Integers, first: NDArray[np.int64], weights: NDArray[np.int64], n_states: int
) -> Transitions:
    """Transitions from tagged sentences, by relative frequencies and deleted interpolation.

    The interpolation's weights are those of Brants (2000, "TnT: a statistical part-of-speech tagger", figure 1), from
    counts that are one too large, so that none is 0. A pair (a, b) that was never seen leaves its weight to the lower
    orders.

    States (tokens,) are from 1 to n_states - 1; `n_states` counts the boundary too. `first` (sentences + 1,) has the
    bounds of the sentences' tokens, `weights` (sentences,) how often each is counted. A ValueError is raised where no
    sentence has a weight.
    """
    lengths = np.diff(first)
    if not (weights[lengths > 0] > 0).any():
        raise ValueError("weights must give at least one sentence a count above 0")
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    padded = np.zeros(len(states) + 3 * len(lengths), np.int64)
    padded[np.arange(len(states)) + 3 * sentence + 2] = states
    ends = np.ones(len(padded), bool)
    begin = first[:-1] + 3 * np.arange(len(lengths))
    ends[begin] = ends[begin + 1] = False
    at = np.flatnonzero(ends)
    often = np.repeat(weights * (lengths > 0), lengths + 1)
    at, often = at[often > 0], often[often > 0]
    codes, inverse = np.unique(
        (padded[at - 2] * n_states + padded[at - 1]) * n_states + padded[at], return_inverse=True
    )
    counts = np.bincount(inverse, often)
    pair, c = np.divmod(codes, n_states)
    b = pair % n_states

    of_pair = np.bincount(pair, counts, n_states * n_states)
    of_bc = np.bincount(b * n_states + c, counts, n_states * n_states).reshape(n_states, n_states)
    of_b = of_bc.sum(axis=1)
    of_c = of_bc.sum(axis=0)
    total = counts.sum()

    evidence = [
        _ratio(of_c[c] - 1, total - 1),
        _ratio(of_bc[b, c] - 1, of_b[b] - 1),
        _ratio(counts - 1, of_pair[pair] - 1),
    ]
    shares = 1 + np.bincount(np.argmax(evidence, axis=0), counts, 3)
    l1, l2, l3 = shares / shares.sum()
    lower = l1 * of_c / total + np.where(of_b[:, None] > 0, l2 * _ratio(of_bc, of_b[:, None]), l2 * of_c / total)
    rows = np.searchsorted(pair, np.arange(n_states * n_states + 1))
    return Transitions(lower, rows.astype(np.int64), c, l3 * counts / of_pair[pair], float(1 / (l1 + l2)))


def decode(
    transitions: Transitions, emissions: Emissions, symbols: Integers, first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The most probable states (tokens,) of every sentence, by the Viterbi algorithm.

    `symbols` (tokens,) are numbers of the observed ones, `first` (sentences + 1,) the bounds of the sentences' tokens.

    Examples
    --------
    >>> always = count_transitions(np.array([1, 2]), np.array([0, 2]), np.array([7]), 3)
    >>> any_state = Emissions(np.array([0, 2]), np.array([1, 2]), np.zeros(2))
    >>> decode(always, any_state, np.zeros(2, np.int64), np.array([0, 2]))
    array([1, 2])
    """
    found: NDArray[np.int64] = _viterbi(transitions, emissions, symbols, first)
    return found


def _ratio(above: Any, below: Any) -> Any:
    """Above / below, 0 where below is."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


@njit(cache=True, nogil=True)
def _probability(transitions, a, b, c):
    lower, rows, following, upper, unseen = transitions
    row = a * lower.shape[0] + b
    low, end = rows[row], rows[row + 1]
    if low == end:
        return unseen * lower[b, c]
    high = end
    while low < high:
        middle = (low + high) // 2
        if following[middle] < c:
            low = middle + 1
        else:
            high = middle
    if low < end and following[low] == c:
        return lower[b, c] + upper[low]
    return lower[b, c]


@njit(cache=True, nogil=True)
def _viterbi(transitions, emissions, symbols, first):
    emitted, states, log_emission = emissions
    # The best sequence that ends in each pair of candidates (of the previous token, of this one) is kept.
    widest = 0
    largest = 0
    for symbol in symbols:
        widest = max(widest, emitted[symbol + 1] - emitted[symbol])
    for s in range(len(first) - 1):
        size, before = 0, 1
        for k in range(first[s], first[s + 1]):
            here = emitted[symbols[k] + 1] - emitted[symbols[k]]
            size += before * here
            before = here
        largest = max(largest, size)
    back = np.zeros(largest, np.int32)
    best = np.zeros((widest, widest))
    following_best = np.zeros((widest, widest))
    chosen = np.zeros(len(symbols), np.int64)
    boundary = np.zeros(1, np.int64)
    starts = np.zeros(len(symbols) + 1, np.int64)
    for s in range(len(first) - 1):
        begin, end = first[s], first[s + 1]
        if begin == end:
            continue
        of_a = boundary
        of_b = boundary
        best[0, 0] = 0.0
        size = 0
        for k in range(begin, end):
            low, high = emitted[symbols[k]], emitted[symbols[k] + 1]
            of_c = states[low:high]
            starts[k] = size
            for j in range(len(of_b)):
                for i in range(len(of_c)):
                    top, arg = -np.inf, 0
                    for h in range(len(of_a)):
                        p = _probability(transitions, of_a[h], of_b[j], of_c[i])
                        score = best[h, j] + np.log(p)
                        if score > top:
                            top, arg = score, h
                    following_best[j, i] = top + log_emission[low + i]
                    back[size + j * len(of_c) + i] = arg
            size += len(of_b) * len(of_c)
            best, following_best = following_best, best
            of_a, of_b = of_b, of_c
        top, at_b, at_c = -np.inf, 0, 0
        for h in range(len(of_a)):
            for j in range(len(of_b)):
                score = best[h, j] + np.log(_probability(transitions, of_a[h], of_b[j], 0))
                if score > top:
                    top, at_b, at_c = score, h, j
        for k in range(end - 1, begin - 1, -1):
            low, width = emitted[symbols[k]], emitted[symbols[k] + 1] - emitted[symbols[k]]
            chosen[k] = states[low + at_c]
            at_b, at_c = back[starts[k] + at_b * width + at_c], at_b
    return chosen
