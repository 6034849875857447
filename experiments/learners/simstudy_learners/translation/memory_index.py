"""Looking sentences up in a translation memory by the n-grams that they share; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.segments import Floats, Integers


class Asked(NamedTuple):
    """Sentences to look up.

    Attributes
    ----------
    bounds, ngrams
        The distinct n-grams of sentence k are ngrams[bounds[k]] … ngrams[bounds[k + 1] - 1], -1 for those that the
        memory has not.
    whole
        (sentences,) the worth of all n-grams of each.
    """

    bounds: Integers
    ngrams: Integers
    whole: Floats


class Index(NamedTuple):
    """Which sentences of the memory have which n-grams.

    Attributes
    ----------
    bounds, entries
        N-gram g is in the sentences entries[bounds[g]] … entries[bounds[g + 1] - 1].
    worth, whole
        Of an n-gram, and of all that a sentence of the memory has.
    """

    bounds: Integers
    entries: Integers
    worth: Floats
    whole: Floats


@njit(cache=True, nogil=True)
def look_up(asked, index, best):
    """Fill best (sentences, n) with the memory's n sentences that share most with each, best first; -1 for none.

    What two sentences share is the worth of their common n-grams, twice, by that of all n-grams of both.
    """
    bounds, ngrams, first = asked
    entry_bounds, entries, worth, whole = index
    n_best = best.shape[1]
    n_memory = len(whole)
    shared = np.zeros(n_memory)
    for k in range(len(bounds) - 1):
        shared[:] = 0
        for at in range(bounds[k], bounds[k + 1]):
            g = ngrams[at]
            if g >= 0:
                for e in range(entry_bounds[g], entry_bounds[g + 1]):
                    shared[entries[e]] += worth[g]
        found = 0
        least = 0.0
        top = np.empty(n_best)
        for s in range(n_memory):
            if shared[s] <= 0:
                continue
            # Rounded, so that no machine's last bits decide.
            likeness = np.round(2 * shared[s] / (first[k] + whole[s]), 9)
            if found == n_best and likeness <= least:
                continue
            place = min(found, n_best - 1)
            while place > 0 and top[place - 1] < likeness:
                top[place] = top[place - 1]
                best[k, place] = best[k, place - 1]
                place -= 1
            top[place] = likeness
            best[k, place] = s
            found = min(found + 1, n_best)
            least = top[found - 1]
        best[k, found:] = -1
