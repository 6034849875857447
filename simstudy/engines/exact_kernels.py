"""The compiled loops of exact distributions: sums of swapped units, and of items drawn with replacement.

They add positive numbers only, so that small probabilities are as accurate as large ones.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines import by_arrays
from simstudy.engines.by_arrays import Either
from simstudy.engines.kernels import Ratio
from simstudy.engines.swap_kernels import ObservedPair, is_extreme

# Numbers are kept below this by powers of two, which cost no accuracy.
_LARGE = 2.0**500

# Sums that are added to at a time: copies of so many stay in the first-level cache.
_BLOCK = 2048


@compiled
def added_in_order(numbers):
    """The sum of numbers, one after the other."""
    found = 0.0
    for number in numbers:
        found += number
    return found


@compiled
def swap_counts(above, below, pairs, counts):
    """For each pair how many units differ, and how far: counts (P, 4).

    Columns: units whose numerator or denominator (K, n) differs; units on which the better system has the larger
    numerator, and the smaller one; the largest difference of numerators.
    """
    i, j = pairs
    for p in range(len(i)):
        x, y = above[i[p]], above[j[p]]
        v, w = below[i[p]], below[j[p]]
        differ = more = less = largest = 0
        for u in range(x.shape[0]):
            d = x[u] - y[u]
            if d > 0:
                more += 1
            elif d < 0:
                less += 1
            if d != 0 or v[u] != w[u]:
                differ += 1
            largest = max(largest, abs(d))
        counts[p, 0] = differ
        counts[p, 1] = more
        counts[p, 2] = less
        counts[p, 3] = largest


@partial(Either, by_arrays.join)
def join(weights, kept, step, top):
    """Add to the weights of sums from `step` to `top` those of the sums `step` below, as they were."""
    # From the top down, each block by a copy of what joins it: loops over two arrays run on all lanes.
    for end in range(top + 1, step, -_BLOCK):
        begin = max(end - _BLOCK, step)
        joins, block = weights[begin - step : end - step], weights[begin:end]
        for s in range(end - begin):
            kept[s] = joins[s]
        for s in range(end - begin):
            block[s] += kept[s]


@compiled
def subset_sums(steps, last):
    """The distribution of the sum of a random half of positive whole numbers, up to `last`: weights, log2 of the unit.

    The probability of sum s is weights[s] * 2^unit. Each number joins the sum by a fair coin.
    """
    weights = np.zeros(last + 1)
    weights[0] = 1.0
    kept = np.empty(_BLOCK)
    top = 0
    unit = 0
    # Small numbers first: sums stay few for as long as they can.
    steps = np.sort(steps)
    for m in range(len(steps)):
        step = steps[m]
        top = min(top + step, last)
        join(weights, kept, step, top)
        unit -= 1
        if m % 500 == 499:
            for s in range(top + 1):
                weights[s] /= _LARGE
                # A number of no weight in the end would slow down every addition to come.
                if weights[s] < 1e-290:
                    weights[s] = 0.0
            unit += 500
    return weights, unit


@compiled
def rank_sum_tails(ranks, least, which, p_value):
    """P(the sum of a random half of a row's ranks (P, n) <= least (P,)) for the rows that are asked for."""
    for p in range(len(ranks)):
        if which[p]:
            weights, unit = subset_sums(ranks[p][ranks[p] > 0], least[p])
            p_value[p] = weights.sum() * 2.0**unit


@compiled
def swapped_sum_tails(scores, pairs, tail, p_value):
    """Exact p-values of the pairs whose unit scores (K, n), whole numbers, the coins swap.

    With D the sum of all |differences| and w the sum of those that are swapped, gain* = D - 2 w in law, so that
    gain* >= gain where w is at most what the worse system wins back.
    """
    i, j = pairs
    n_units = scores.shape[1]
    steps = np.empty(n_units, np.int64)
    for p in range(len(i)):
        x, y = scores[i[p]], scores[j[p]]
        n_steps = 0
        back = np.int64(0)
        all_of_it = np.int64(0)
        for u in range(n_units):
            d = np.int64(x[u]) - np.int64(y[u])
            if d != 0:
                steps[n_steps] = abs(d)
                n_steps += 1
                all_of_it += abs(d)
                if d < 0:
                    back -= d
        last = back - 1 if tail.strict else back
        if last < 0:
            p_value[p] = 0.0
            continue
        if tail.two_sided and 2 * back == all_of_it and not tail.strict:
            p_value[p] = 1.0
            continue
        weights, unit = subset_sums(steps[:n_steps], last)
        share = added_in_order(weights) * 2.0**unit
        p_value[p] = min(2 * share if tail.two_sided else share, 1.0)


@compiled
def divisor(numbers):
    """The greatest common divisor of whole numbers >= 0, at least 1."""
    divisor = np.int64(0)
    for number in numbers:
        while number:
            divisor, number = number, divisor % number
        if divisor == 1:
            break
    return max(divisor, 1)


@compiled
def ratio_cells(above, below, pairs, cells):
    """For each pair the cells (P,) of the joint distribution of `swapped_ratio_tails`."""
    i, j = pairs
    for p in range(len(i)):
        d, e = np.abs(above[i[p]] - above[j[p]]), np.abs(below[i[p]] - below[j[p]])
        cells[p] = (d.sum() // divisor(d) + 1.0) * (e.sum() // divisor(e) + 1.0)


@compiled
def swapped_ratio_tails(sides, pairs, tail, p_value):
    """Exact p-values of the pairs whose ratios have a denominator each, by the joint distribution of both sums.

    A unit's differences (numerator, denominator), turned so that the first that is not 0 is positive, become one
    whole number, numerator * stride + denominator: wide enough strides keep their sums apart, and one distribution
    of sums serves for both. sides are numerators and denominators, (K, n) each.
    """
    above, below = sides
    i, j = pairs
    for p in range(len(i)):
        total_i, total_j = above[i[p]].sum(), above[j[p]].sum()
        whole_i, whole_j = below[i[p]].sum(), below[j[p]].sum()
        d, e = above[i[p]] - above[j[p]], below[i[p]] - below[j[p]]
        # What a pseudo-system has less where all units are turned is no part of the sums.
        least_above, most_below = total_i, whole_i
        for u in range(len(d)):
            if d[u] < 0 or (d[u] == 0 and e[u] < 0):
                least_above -= d[u]
                most_below -= e[u]
                d[u], e[u] = -d[u], -e[u]
        unit_above, unit_below = divisor(d), divisor(np.abs(e))
        d, e = d // unit_above, e // unit_below
        right, up, down = d.sum(), np.maximum(e, 0).sum(), np.maximum(-e, 0).sum()
        stride = up + down + 1
        steps = d * stride + e
        weights, unit = subset_sums(steps[steps != 0], right * stride + up)
        of_i, of_j = Ratio(total_i, max(whole_i, 1)), Ratio(total_j, max(whole_j, 1))
        observed = ObservedPair(of_i, of_j, of_i.above / of_i.below - of_j.above / of_j.below)
        share = 0.0
        for x in range(right + 1):
            a = np.float64(least_above - x * unit_above)
            c = total_i + total_j - a
            # The sum x * stride + y has a place of its own, as y lies between -down and up; with x, sums begin at 0.
            for y in range(-down if x else 0, up + 1):
                weight = weights[x * stride + y]
                if weight > 0:
                    below_i = most_below - y * unit_below
                    b = max(np.float64(below_i), 1.0)
                    f = max(np.float64(whole_i + whole_j - below_i), 1.0)
                    if is_extreme(Ratio(a, b), Ratio(c, f), observed, tail):
                        share += weight
        p_value[p] = min(share * 2.0**unit, 1.0)


@compiled
def drawn_wins_tail(n, n_more, n_less, least):
    """P(more - less >= least) for n items drawn with replacement from n, for least >= 0.

    n_more of them are won by one system, n_less by the other. The difference's distribution has the coefficients of
    (p_more z + p_tie + p_less / z)^n. From the top they follow, by P Q' = n P' Q for Q = P^n, the recurrence
    k p_more q_k = (n + 1 - k) p_tie q_(k-1) + (2 (n + 1) - k) p_less q_(k-2), all of it positive for k <= n.
    """
    if n_more == 0:
        return ((n - n_less) / n) ** n if least == 0 else 0.0
    steps = n - least
    if steps < 0:
        return 0.0
    tie = (n - n_more - n_less) / n_more
    less = n_less / n_more
    unit = n * np.log2(n_more / n)
    before, now = 0.0, 1.0
    total = 1.0
    for k in range(1, steps + 1):
        part = 1.0 / k
        before, now = now, ((n + 1 - k) * tie * now + (2 * (n + 1) - k) * less * before) * part
        total += now
        if total > _LARGE:
            before /= _LARGE
            now /= _LARGE
            total /= _LARGE
            unit += 500
    return min(2.0 ** (unit + np.log2(total)), 1.0)


@compiled
def drawn_wins_tails(n, more, less, least, tails):
    """`drawn_wins_tail` for pairs."""
    for p in range(len(more)):
        tails[p] = drawn_wins_tail(n, more[p], less[p], least[p])
