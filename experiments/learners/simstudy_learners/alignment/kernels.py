"""Posteriors of links under translation models in which every target word has one source word, or none.

One direction is written here: words on the given side generate those on the other. The other direction is the same
with the sides changed (`turned`: the cell of given word c and generated word g is then g * n_given + c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.segments import Floats, Integers, longest_segment


class Direction(NamedTuple):
    """Sentence pairs, of which the words of one side are given and generate those of the other.

    Attributes
    ----------
    first_given, first_generated, first_cell
        (sentence pairs + 1,) bounds of given words, generated words and cells.
    turned
        Whether the given words are the target words.
    pairs
        (cells,) numbers of the word pairs.
    generated
        (words,) numbers of the generated words.
    """

    first_given: Integers
    first_generated: Integers
    first_cell: Integers
    turned: bool
    pairs: Integers
    generated: Integers


class Lexical(NamedTuple):
    """P(generated word | given word) of every word pair (pairs,), and P(generated word | empty word) (words,)."""

    table: Floats
    of_null: Floats


class Posteriors(NamedTuple):
    """Probabilities of links: of cells (cells,), and of the empty word for every generated word (words,)."""

    cells: Floats
    nulls: Floats


@njit(cache=True, nogil=True)
def link_posteriors(words, weights, lexical, tension, p_null):
    """IBM model 1 (p_null below 0: the empty word is one given word more) and fast_align's model.

    Returns the posteriors, 0 in sentences whose weight is not above 0, the log-likelihood, and the expected distance
    from the diagonal; the latter two are weighted sums.
    """
    first_given, first_generated, first_cell, turned, pairs, generated = words
    table, of_null = lexical
    posteriors, null_posteriors = np.zeros(len(pairs)), np.zeros(len(generated))
    log_likelihood, distance = 0.0, 0.0
    prior = np.zeros(max(1, longest_segment(first_given)))
    for s in range(len(first_given) - 1):
        if weights[s] <= 0:
            continue
        m, n = first_given[s + 1] - first_given[s], first_generated[s + 1] - first_generated[s]
        on_null = p_null if p_null >= 0 else 1.0 / (m + 1)
        for g in range(n):
            normaliser = 0.0
            for c in range(m):
                prior[c] = np.exp(-tension * abs((c + 1) / m - (g + 1) / n))
                normaliser += prior[c]
            place = first_generated[s] + g
            total = on_null * of_null[generated[place]]
            null_posteriors[place] = total
            for c in range(m):
                cell = first_cell[s] + (g * m + c if turned else c * n + g)
                posteriors[cell] = (1.0 - on_null) * prior[c] / normaliser * table[pairs[cell]]
                total += posteriors[cell]
            null_posteriors[place] /= total
            for c in range(m):
                cell = first_cell[s] + (g * m + c if turned else c * n + g)
                posteriors[cell] /= total
                distance += weights[s] * posteriors[cell] * abs((c + 1) / m - (g + 1) / n)
            log_likelihood += weights[s] * np.log(total)
    return Posteriors(posteriors, null_posteriors), log_likelihood, distance


@njit(cache=True, nogil=True)
def prior_distance(first_given, first_generated, generated_posteriors, tension):
    """The distance from the diagonal that fast_align's prior expects, weighted by what words have to link."""
    distance = 0.0
    for s in range(len(first_given) - 1):
        m, n = first_given[s + 1] - first_given[s], first_generated[s + 1] - first_generated[s]
        for g in range(n):
            weight = generated_posteriors[first_generated[s] + g]
            if weight <= 0.0:
                continue
            normaliser, total = 0.0, 0.0
            for c in range(m):
                away = abs((c + 1) / m - (g + 1) / n)
                p = np.exp(-tension * away)
                normaliser += p
                total += p * away
            distance += weight * total / normaliser
    return distance


@njit(cache=True, nogil=True, inline="always")
def _width(r, c, most):
    """The place of a jump from state r to position c among those by width; wider ones than `most` are counted there."""
    return most + max(-most, min(most, c - r + 1))


@njit(cache=True, nogil=True)
def _fill_jumps(m, jumps, p_null, transitions):
    # Row r is the position r - 1 that was last linked, row 0 the beginning of the sentence.
    most = len(jumps) // 2
    for r in range(m + 1):
        total = 0.0
        for c in range(m):
            transitions[r, c] = jumps[_width(r, c, most)]
            total += transitions[r, c]
        for c in range(m):
            transitions[r, c] *= (1.0 - p_null) / total


class _Room(NamedTuple):
    """Sums of one sentence of m given and n generated words; the same room is used for all sentences.

    A state is the position r - 1 that was last linked, row 0 the beginning of the sentence.

    Attributes
    ----------
    transitions
        (m + 1, m) P(position | state) of words that are linked, 1 - p_null in sum.
    emitted
        (n, m) P(generated word | given word).
    on_null
        (n,) the probability that a word is linked to the empty word, and generated from it.
    forward
        (n + 1, m + 1) in row g: P(state before word g | words before it).
    linked
        (n, m) P(word g is linked to this position | words up to it); after the backward pass, | all words.
    scales
        (n,) P(word g | words before it).
    nulls
        (n,) posteriors of the empty word.
    backward, earlier, outgoing
        (m + 1,) for the backward pass; outgoing: how often a link is made from each state.
    """

    transitions: Floats
    emitted: Floats
    on_null: Floats
    forward: Floats
    linked: Floats
    scales: Floats
    nulls: Floats
    backward: Floats
    earlier: Floats
    outgoing: Floats


@njit(cache=True, nogil=True)
def _room(m, n):
    return _Room(
        np.zeros((m + 1, m)), np.zeros((n, m)), np.zeros(n), np.zeros((n + 1, m + 1)), np.zeros((n, m)), np.zeros(n),
        np.zeros(n), np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _forward(room, m, n):
    """The forward pass: fill in forward, linked and scales."""
    transitions, emitted, on_null = room.transitions, room.emitted, room.on_null
    forward, linked, scales = room.forward, room.linked, room.scales
    forward[0, : m + 1] = 0.0
    forward[0, 0] = 1.0
    for g in range(n):
        for c in range(m):
            linked[g, c] = 0.0
        for r in range(m + 1):
            before = forward[g, r]
            if before > 0.0:
                for c in range(m):
                    linked[g, c] += before * transitions[r, c]
        total = 0.0
        for c in range(m):
            linked[g, c] *= emitted[g, c]
            total += linked[g, c]
        for r in range(m + 1):
            forward[g + 1, r] = forward[g, r] * on_null[g]
            total += forward[g + 1, r]
        scales[g] = total
        for r in range(m + 1):
            forward[g + 1, r] /= total
        for c in range(m):
            linked[g, c] /= total
            forward[g + 1, c + 1] += linked[g, c]


@njit(cache=True, nogil=True)
def _backward(room, m, n, weight, jumped):
    """The backward pass: turn linked into posteriors, fill in nulls and outgoing, and count jumps by their width."""
    transitions, emitted, on_null, forward, linked, scales, nulls, backward, earlier, outgoing = room
    most = len(jumped) // 2
    backward[: m + 1] = 1.0
    outgoing[: m + 1] = 0.0
    for g in range(n - 1, -1, -1):
        at_null = 0.0
        for r in range(m + 1):
            earlier[r] = on_null[g] * backward[r] / scales[g]
            at_null += forward[g, r] * earlier[r]
        nulls[g] = at_null
        for c in range(m):
            linked[g, c] *= backward[c + 1]
            emitted[g, c] *= backward[c + 1] / scales[g]
        for r in range(m + 1):
            total = 0.0
            for c in range(m):
                total += transitions[r, c] * emitted[g, c]
            earlier[r] += total
            before = weight * forward[g, r]
            if before > 0.0:
                outgoing[r] += before * total
                for c in range(m):
                    jumped[_width(r, c, most)] += before * transitions[r, c] * emitted[g, c]
        backward, earlier = earlier, backward


@njit(cache=True, nogil=True)
def hmm_posteriors(words, weights, lexical, jumps, p_null):
    """The hidden Markov model of Vogel et al. (1996), by forward and backward sums.

    A state is the position that was last linked and whether this word is linked to it or to the empty word (Och and
    Ney 2003). Returns the posteriors, 0 in sentences whose weight is not above 0; the expected numbers of jumps by
    their width; those that the jump probabilities themselves expect from where jumps begin; and the log-likelihood, a
    weighted sum.
    """
    first_given, first_generated, first_cell, turned, pairs, generated = words
    found = Posteriors(np.zeros(len(pairs)), np.zeros(len(generated)))
    jumped, expected = np.zeros(len(jumps)), np.zeros(len(jumps))
    room = _room(max(1, longest_segment(first_given)), max(1, longest_segment(first_generated)))
    last_m = -1
    log_likelihood = 0.0
    for s in range(len(first_given) - 1):
        if weights[s] <= 0:
            continue
        m, n = first_given[s + 1] - first_given[s], first_generated[s + 1] - first_generated[s]
        if m != last_m:
            _fill_jumps(m, jumps, p_null, room.transitions)
            last_m = m
        for g in range(n):
            room.on_null[g] = p_null * lexical.of_null[generated[first_generated[s] + g]]
            for c in range(m):
                room.emitted[g, c] = lexical.table[pairs[first_cell[s] + (g * m + c if turned else c * n + g)]]
        _forward(room, m, n)
        _backward(room, m, n, weights[s], jumped)
        for g in range(n):
            log_likelihood += weights[s] * np.log(room.scales[g])
            found.nulls[first_generated[s] + g] = room.nulls[g]
            for c in range(m):
                found.cells[first_cell[s] + (g * m + c if turned else c * n + g)] = room.linked[g, c]
        for r in range(m + 1):
            for c in range(m):
                width = _width(r, c, len(jumps) // 2)
                expected[width] += room.outgoing[r] * room.transitions[r, c] / (1.0 - p_null)
    return found, jumped, expected, log_likelihood
