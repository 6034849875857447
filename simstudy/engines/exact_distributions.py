"""Exact distributions: sums of random halves of numbers, and of items drawn with replacement.

The compiled loops add positive numbers only, so that small probabilities are as accurate as large ones.
"""

from __future__ import annotations

import math

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.kernels import ObservedPair, Ratio, is_extreme

# Weights are kept below this power of two by powers of two, which cost no accuracy.
_LARGE = 2.0**500

# Sums that are added to at a time: copies of so many stay in the first-level cache.
_BLOCK = 2048


@compiled
def greatest_divisor(numbers):
    """The greatest common divisor of whole numbers >= 0, at least 1."""
    divisor = np.int64(0)
    for number in numbers:
        while number:
            divisor, number = number, divisor % number
        if divisor == 1:
            break
    return max(divisor, 1)


@compiled
def subset_sums(steps, last):
    """The distribution of the sum of a random half of positive whole numbers, up to `last`: weights, log2 of the unit.

    The probability of sum s is weights[s] * 2^unit. Each number joins the sum by a fair coin.
    """
    weights = np.zeros(last + 1)
    weights[0] = 1.0
    joining = np.empty(_BLOCK)
    top = 0
    unit = 0
    # Small numbers first: sums stay few for as long as they can.
    steps = np.sort(steps)
    for m in range(len(steps)):
        step = steps[m]
        top = min(top + step, last)
        # From the top down, each block by a copy of what joins it: loops over two arrays run on all lanes.
        for end in range(top + 1, step, -_BLOCK):
            begin = max(end - _BLOCK, step)
            size = end - begin
            joining[:size] = weights[begin - step : end - step]
            weights[begin:end] += joining[:size]
        unit -= 1
        if m % 500 == 499:
            weights[: top + 1] /= _LARGE
            # A number of no weight in the end would slow down every addition to come.
            for s in range(top + 1):
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
def _sorted_sums(sizes):
    """The sums of all subsets of a few numbers (m,), in order: (2^m,)."""
    sums, merged = np.zeros(1 << len(sizes)), np.empty(1 << len(sizes))
    n = 1
    for size in sizes:
        # Sums without the number and sums with it are both in order.
        a = b = 0
        for k in range(2 * n):
            if b == n or (a < n and sums[a] <= sums[b] + size):
                merged[k] = sums[a]
                a += 1
            else:
                merged[k] = sums[b] + size
                b += 1
        n *= 2
        sums, merged = merged, sums
    return sums


@compiled
def count_subsets(sizes, most):
    """How many subsets of a few numbers (m,) have a sum of at most `most`, by halves (Horowitz and Sahni 1974)."""
    first, second = _sorted_sums(sizes[::2]), _sorted_sums(sizes[1::2])
    count = 0
    b = len(second)
    for a in range(len(first)):
        while b > 0 and first[a] + second[b - 1] > most:
            b -= 1
        count += b
    return count


@compiled
def _resampled_wins_tail(n, n_more, n_less, least):
    """P(more - less >= least) for n items drawn with replacement from n, for least >= 0.

    n_more of them are won by one system, n_less by the other. The difference's distribution has the coefficients of
    (p_more z + p_tie + p_less / z)^n. From the top they follow, by P Q' = n P' Q for Q = P^n, the recurrence
    k p_more q_k = (n + 1 - k) p_tie q_(k-1) + (2 (n + 1) - k) p_less q_(k-2), all of it positive for k <= n.
    """
    # Functions of module math have the same bits compiled and as they are written; 2.0**x has others.
    if n_more == 0:
        return math.pow((n - n_less) / n, float(n)) if least == 0 else 0.0
    steps = n - least
    if steps < 0:
        return 0.0
    tie = (n - n_more - n_less) / n_more
    less = n_less / n_more
    log_unit = n * math.log(n_more / n)
    before, now = 0.0, 1.0
    total = 1.0
    for k in range(1, steps + 1):
        before, now = now, ((n + 1 - k) * tie * now + (2 * (n + 1) - k) * less * before) / k
        total += now
        if total > _LARGE:
            before /= _LARGE
            now /= _LARGE
            total /= _LARGE
            log_unit += math.log(_LARGE)
    return min(math.exp(log_unit + math.log(total)), 1.0)


@compiled
def add_trinomial_tails(n, counts, two_sided, p_values):
    """Add to p_values (P,) the probabilities of resampled gains of twice the gain, and two-sided of none or less."""
    for p in range(len(counts)):
        wins, losses = counts[p]
        p_values[p] += _resampled_wins_tail(n, wins, losses, 2 * (wins - losses))
        if two_sided:
            p_values[p] += _resampled_wins_tail(n, losses, wins, 0)


@compiled
def joint_cells(sides, pairs, cells):
    """For each pair the cells (P,) of the joint distribution of `joint_tails`."""
    above, below = sides
    i, j = pairs
    for p in range(len(i)):
        d, e = np.abs(above[i[p]] - above[j[p]]), np.abs(below[i[p]] - below[j[p]])
        cells[p] = (d.sum() // greatest_divisor(d) + 1.0) * (e.sum() // greatest_divisor(e) + 1.0)


@compiled
def joint_tails(sides, pairs, tail, p_value):
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
        unit_above, unit_below = greatest_divisor(d), greatest_divisor(np.abs(e))
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
