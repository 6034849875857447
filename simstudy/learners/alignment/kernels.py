"""Posteriors of links under translation models in which every target word has one source word, or none.

One direction is written here: words on the given side generate those on the other. The other direction is the same
with the sides changed (`turned`: the cell of given word c and generated word g is then g * n_given + c).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def link_posteriors(
    first_given, first_generated, first_cell, turned, pairs, generated, weights,
    table, of_null, tension, p_null, posteriors, null_posteriors,
):  # fmt: skip
    """IBM model 1 (p_null below 0: the empty word is one given word more) and fast_align's model.

    Fills in the posteriors of cells, and of the empty word for generated words, of sentences whose weight is above 0.
    Returns the log-likelihood and the expected distance from the diagonal, both weighted sums.
    """
    log_likelihood, distance = 0.0, 0.0
    longest = 1
    for s in range(len(first_given) - 1):
        longest = max(longest, first_given[s + 1] - first_given[s])
    prior = np.zeros(longest)
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
    return log_likelihood, distance


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


@njit(cache=True, nogil=True)
def _fill_jumps(m, jumps, p_null, transitions):
    # Row r is the position r - 1 that was last linked, row 0 the beginning of the sentence.
    most = len(jumps) // 2
    for r in range(m + 1):
        total = 0.0
        for c in range(m):
            transitions[r, c] = jumps[most + max(-most, min(most, c - r + 1))]
            total += transitions[r, c]
        for c in range(m):
            transitions[r, c] *= (1.0 - p_null) / total


@njit(cache=True, nogil=True)
def hmm_posteriors(
    first_given, first_generated, first_cell, turned, pairs, generated, weights,
    table, of_null, jumps, p_null, posteriors, null_posteriors, jumped, expected,
):  # fmt: skip
    """The hidden Markov model of Vogel et al. (1996), by forward and backward sums.

    A state is the position that was last linked and whether this word is linked to it or to the empty word (Och and
    Ney 2003). `jumped` gets the expected numbers of jumps by their width, `expected` those that the jump probabilities
    themselves expect from where jumps begin. Returns the log-likelihood, a weighted sum.
    """
    longest_m, longest_n = 1, 1
    for s in range(len(first_given) - 1):
        longest_m = max(longest_m, first_given[s + 1] - first_given[s])
        longest_n = max(longest_n, first_generated[s + 1] - first_generated[s])
    most = len(jumps) // 2
    transitions = np.zeros((longest_m + 1, longest_m))
    emitted = np.zeros((longest_n, longest_m))
    linked = np.zeros((longest_n, longest_m))
    forward = np.zeros((longest_n + 1, longest_m + 1))
    scales = np.zeros(longest_n)
    backward = np.zeros(longest_m + 1)
    earlier = np.zeros(longest_m + 1)
    outgoing = np.zeros(longest_m + 1)
    last_m = -1
    log_likelihood = 0.0
    for s in range(len(first_given) - 1):
        if weights[s] <= 0:
            continue
        m, n = first_given[s + 1] - first_given[s], first_generated[s + 1] - first_generated[s]
        if m != last_m:
            _fill_jumps(m, jumps, p_null, transitions)
            last_m = m
        for g in range(n):
            for c in range(m):
                emitted[g, c] = table[pairs[first_cell[s] + (g * m + c if turned else c * n + g)]]
        # forward[g, r]: the last link before generated word g is to position r - 1; `linked` those made by g itself.
        forward[0, : m + 1] = 0.0
        forward[0, 0] = 1.0
        for g in range(n):
            on_null = p_null * of_null[generated[first_generated[s] + g]]
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
                forward[g + 1, r] = forward[g, r] * on_null
                total += forward[g + 1, r]
            scales[g] = total
            for r in range(m + 1):
                forward[g + 1, r] /= total
            for c in range(m):
                linked[g, c] /= total
                forward[g + 1, c + 1] += linked[g, c]
            log_likelihood += weights[s] * np.log(total)
        backward[: m + 1] = 1.0
        outgoing[: m + 1] = 0.0
        for g in range(n - 1, -1, -1):
            on_null = p_null * of_null[generated[first_generated[s] + g]]
            at_null = 0.0
            for r in range(m + 1):
                earlier[r] = on_null * backward[r] / scales[g]
                at_null += forward[g, r] * earlier[r]
            null_posteriors[first_generated[s] + g] = at_null
            for c in range(m):
                cell = first_cell[s] + (g * m + c if turned else c * n + g)
                posteriors[cell] = linked[g, c] * backward[c + 1]
                emitted[g, c] *= backward[c + 1] / scales[g]
            for r in range(m + 1):
                total = 0.0
                for c in range(m):
                    total += transitions[r, c] * emitted[g, c]
                earlier[r] += total
                before = weights[s] * forward[g, r]
                if before > 0.0:
                    outgoing[r] += before * total
                    for c in range(m):
                        width = most + max(-most, min(most, c - r + 1))
                        jumped[width] += before * transitions[r, c] * emitted[g, c]
            backward, earlier = earlier, backward
        for r in range(m + 1):
            for c in range(m):
                width = most + max(-most, min(most, c - r + 1))
                expected[width] += outgoing[r] * transitions[r, c] / (1.0 - p_null)
    return log_likelihood
