"""The compiled loops of the stepdown over all pairs of systems: they pass over each pair once for every draw.

Everything here is `nogil`, single-threaded and deterministic. A statistic is a gain times the pair's weight, one over
the root of its squared contributions; a weight of 0 is that of a pair that differs by nothing but rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.metrics.base import Array


class Drawn(NamedTuple):
    """What K systems' parts, and shares, add up to in each draw; weights, and pooled ratios, of their pairs (K, K)."""

    #: (K, draws), as are the shares; without shares these and pooled are empty.
    parts: Array
    shares: Array
    weights: Array
    pooled: Array


@compiled
def _statistics(drawn, a, b, found):
    """The statistic of system a over b in each draw, (draws,)."""
    weight = drawn.weights[a, b]
    one, other = drawn.parts[a], drawn.parts[b]
    if drawn.shares.shape[0] == 0:
        for t in range(found.shape[0]):
            found[t] = (one[t] - other[t]) * weight
        return
    pooled, of_one, of_other = drawn.pooled[a, b], drawn.shares[a], drawn.shares[b]
    for t in range(found.shape[0]):
        found[t] = (one[t] - other[t] - pooled * (of_one[t] - of_other[t])) * weight


@compiled
def extremes(drawn, ahead, beaten, turned):
    """Each system's largest statistics (K, draws): of any other over it; of the worse over the better of its pairs."""
    found = np.empty(drawn.parts.shape[1])
    for a in range(ahead.shape[0]):
        over_it, behind = beaten[a], turned[a]
        over_it[:] = 0.0
        behind[:] = 0.0
        for b in range(ahead.shape[0]):
            _statistics(drawn, b, a, found)
            sign = 1.0 if ahead[a, b] else -1.0
            for t in range(found.shape[0]):
                over_it[t] = max(over_it[t], found[t])
                behind[t] = max(behind[t], sign * found[t])


@compiled
def reached(drawn, hypotheses, largest, counts):
    """Add how many draws reach each of the pairs (H,), smallest statistic first, by the largest statistic so far.

    `largest` (draws,) is what came before, and then the largest of all.
    """
    first, second, least = hypotheses
    found = np.empty(largest.shape[0])
    for h in range(len(first)):
        _statistics(drawn, first[h], second[h], found)
        least_of = least[h]
        n = 0
        for t in range(largest.shape[0]):
            top = max(largest[t], found[t])
            largest[t] = top
            n += top >= least_of
        counts[h] += n


@compiled
def reached_by_own(drawn, own, turned, counts):
    """`reached` for the pairs of each system: own are `ahead`, the order of each row (K, K), and what is to be reached.

    The better system of a pair is its first.
    """
    ahead, order, least = own
    k = ahead.shape[0]
    first, second = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for a in range(k):
        for place in range(k):
            b = order[a, place]
            first[place], second[place] = (a, b) if ahead[a, b] else (b, a)
        reached(drawn, (first, second, least[a]), turned[a].copy(), counts[a])
