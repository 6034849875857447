"""The compiled loops of importance sampling for the bootstrap: resamples that are tilted towards a pair's event.

A unit u is drawn with a probability proportional to exp(rate * c_u), within its stratum, where c_u is what it adds to
the pair's linear event. With M(rate) as in `simstudy.engines.draw_kernels`, a resample whose linear sum is S is
exp(rate * S) / M(rate) times as likely as without tilting.
"""

from __future__ import annotations

import math

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.draw_kernels import distinct_draws, saddle_point, tilted
from simstudy.engines.kernels import philox_words

# Tilted resamples have streams of their own: numbers of resamples are below this.
_APART = np.uint64(2**62)


@compiled
def _numbers(columns, better, worse, weights):
    """What each unit adds to a pair's linear event, (n,)."""
    of_better, of_worse = weights
    x, y = columns[better], columns[worse]
    numbers = np.zeros(columns.shape[1])
    for u in range(columns.shape[1]):
        for s in range(columns.shape[2]):
            numbers[u] += of_better[s] * x[u, s] - of_worse[s] * y[u, s]
    return numbers


@compiled
def tilts(units, pairs, events, which, found):
    """Fill in rates and log(exp(rate * least) / M(rate)), found (2, P), of the pairs that are asked for (P,)."""
    columns, strata = units
    better, worse = pairs
    for p in range(len(which)):
        if which[p]:
            numbers = _numbers(columns, better[p], worse[p], (events.better[p], events.worse[p]))
            drawn = distinct_draws(numbers, strata)
            rate = saddle_point(drawn, events.least[p], math.sqrt(tilted(drawn, 0.0)[2]))
            found[0, p], found[1, p] = rate, rate * events.least[p] - tilted(drawn, rate)[0]


@compiled
def tilted_sums(units, pair, event, seed, sums):
    """Fill in sums (T, 2 S) of the statistics of a pair's two systems over T tilted resamples.

    `event` has the weights of the better and the worse system (S,) each, and the rate. The random numbers of a resample
    depend on the seed and its place alone, so they are the same for all pairs.
    """
    columns, strata = units
    better, worse = pair
    of_better, of_worse, rate = event
    numbers = _numbers(columns, better, worse, (of_better, of_worse))
    n_units, n_statistics = columns.shape[1], columns.shape[2]
    both = np.empty((n_units, 2 * n_statistics))
    both[:, :n_statistics], both[:, n_statistics:] = columns[better], columns[worse]
    # Words below ends[u] draw unit u or one before it; those of the g-th part of all draw firsts[g] or one after it.
    ends, firsts = np.empty(n_units), np.empty(n_units, np.int64)
    for h in range(len(strata) - 1):
        first, end = strata[h], strata[h + 1]
        chances = np.exp(rate * (numbers[first:end] - numbers[first:end].max()))
        ends[first:end] = np.cumsum(chances) / chances.sum() * 2.0**32
        ends[end - 1] = 2.0**32
        u = first
        for g in range(end - first):
            while ends[u] <= g * 2.0**32 / (end - first):
                u += 1
            firsts[first + g] = u
    words = np.empty((4, (n_units + 3) // 4), np.uint32)
    drawn = words.reshape(-1)
    for t in range(len(sums)):
        philox_words(seed, _APART + np.uint64(t), 0, words)
        total = sums[t]
        total[:] = 0.0
        for h in range(len(strata) - 1):
            first, size = strata[h], np.uint64(strata[h + 1] - strata[h])
            for d in range(strata[h], strata[h + 1]):
                u = firsts[first + np.int64((np.uint64(drawn[d]) * size) >> np.uint64(32))]
                while ends[u] <= drawn[d]:
                    u += 1
                row = both[u]
                for s in range(len(total)):
                    total[s] += row[s]
