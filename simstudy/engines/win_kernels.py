"""Units on which the better system of a pair is better, or worse, counted by compiled loops."""

from __future__ import annotations

from simstudy.compiled import compiled


@compiled
def of_scores(scores, tolerance, pairs, counts):
    """Fill counts (P, 2) of means of unit scores (K, n): by the unit's scores."""
    i, j = pairs
    for p in range(len(i)):
        one, other = scores[i[p]], scores[j[p]]
        better = worse = 0
        for u in range(scores.shape[1]):
            x, y = one[u], other[u]
            noise = tolerance * max(abs(x), abs(y))
            better += x - y > noise
            worse += y - x > noise
        counts[p] = better, worse


@compiled
def of_ratios(above, below, tolerance, pairs, counts):
    """Fill counts (P, 2) of ratios, numerators and denominators (K, n): at the pair's pooled ratio."""
    i, j = pairs
    for p in range(len(i)):
        one, other, price, paid = above[i[p]], above[j[p]], below[i[p]], below[j[p]]
        whole, total = price.sum() + paid.sum(), one.sum() + other.sum()
        better = worse = 0
        for u in range(above.shape[1]):
            more, cost = (one[u] - other[u]) * whole, (price[u] - paid[u]) * total
            noise = tolerance * max(abs(more), abs(cost))
            better += more - cost > noise
            worse += cost - more > noise
        counts[p] = better, worse


@compiled
def of_slopes(statistics, slopes, tolerance, pairs, counts):
    """Fill counts (P, 2) of any function of sums, statistics (K, n, S): at the score's slopes (P, S)."""
    i, j = pairs
    for p in range(len(i)):
        one, other, slope = statistics[i[p]], statistics[j[p]], slopes[p]
        better = worse = 0
        for u in range(statistics.shape[1]):
            worth = size = 0.0
            for s in range(statistics.shape[2]):
                # Numbers without a sign have no differences below 0.
                term = (float(one[u, s]) - float(other[u, s])) * slope[s]
                worth += term
                size += abs(term)
            better += worth > tolerance * size
            worse += -worth > tolerance * size
        counts[p] = better, worse


@compiled
def differing(statistics, members, pairs, found):
    """Fill found (P,) with the units whose statistics (K, n, S) differ; a unit's rows are between two of `members`."""
    i, j = pairs
    for p in range(len(i)):
        one, other = statistics[i[p]], statistics[j[p]]
        found[p] = 0
        for u in range(len(members) - 1):
            differ = False
            for row in range(members[u], members[u + 1]):
                for s in range(statistics.shape[2]):
                    differ |= one[row, s] != other[row, s]
            found[p] += differ
