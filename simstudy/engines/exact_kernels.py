"""The compiled loops of exact distributions: sums of swapped units, and of items drawn with replacement.

Everything here is `nogil`, single-threaded and deterministic, and adds positive numbers only, so that small
probabilities are as accurate as large ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy.engines.swap_kernels import is_extreme

# Numbers are kept below this by powers of two, which cost no accuracy.
_LARGE = 2.0**500

# Sums that are added to at a time: copies of so many stay in the first-level cache.
_BLOCK = 2048


@njit(cache=True, nogil=True)
def swap_counts(above, below, i, j, counts):
    """For each pair how many units differ, and how far: counts (P, 4).

    Columns: units whose numerator or denominator (K, n) differs; units on which the better system has the larger
    numerator, and the smaller one; the largest difference of numerators.
    """
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


@njit(cache=True, nogil=True)
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
        # From the top down, each block by a copy of what joins it: loops over two arrays run on all lanes.
        for end in range(top + 1, step, -_BLOCK):
            begin = max(end - _BLOCK, step)
            joins, block = weights[begin - step : end - step], weights[begin:end]
            for s in range(end - begin):
                kept[s] = joins[s]
            for s in range(end - begin):
                block[s] += kept[s]
        unit -= 1
        if m % 500 == 499:
            for s in range(top + 1):
                weights[s] /= _LARGE
                # A number of no weight in the end would slow down every addition to come.
                if weights[s] < 1e-290:
                    weights[s] = 0.0
            unit += 500
    return weights, unit


@njit(cache=True, nogil=True)
def rank_sum_tails(ranks, least, which, p_value):
    """P(the sum of a random half of a row's ranks (P, n) <= least (P,)) for the rows that are asked for."""
    for p in range(len(ranks)):
        if which[p]:
            weights, unit = subset_sums(ranks[p][ranks[p] > 0], least[p])
            p_value[p] = weights.sum() * 2.0**unit


@njit(cache=True, nogil=True)
def swapped_sum_tails(scores, i, j, strict, two_sided, p_value):
    """Exact p-values of the pairs whose unit scores (K, n), whole numbers, the coins swap.

    With D the sum of all |differences| and w the sum of those that are swapped, gain* = D - 2 w in law, so that
    gain* >= gain where w is at most what the worse system wins back.
    """
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
        last = back - 1 if strict else back
        if last < 0:
            p_value[p] = 0.0
            continue
        if two_sided and 2 * back == all_of_it and not strict:
            p_value[p] = 1.0
            continue
        weights, unit = subset_sums(steps[:n_steps], last)
        tail = weights.sum() * 2.0**unit
        p_value[p] = min(2 * tail if two_sided else tail, 1.0)


@njit(cache=True, nogil=True)
def swapped_ratio_tails(above, below, i, j, strict, two_sided, p_value):
    """Exact p-values of the pairs whose ratios have a denominator each, by the joint distribution of both sums.

    A unit's differences (numerator, denominator), turned so that the first that is not 0 is positive, become one
    whole number, numerator * stride + denominator: wide enough strides keep their sums apart, and one distribution
    of sums serves for both. above and below are (K, n).
    """
    n_units = above.shape[1]
    steps = np.empty(n_units, np.int64)
    for p in range(len(i)):
        total_i = total_j = whole_i = whole_j = np.int64(0)
        turned_above = turned_below = np.int64(0)
        up = down = right = np.int64(0)
        unit_above = unit_below = np.int64(0)
        for u in range(n_units):
            d = above[i[p], u] - above[j[p], u]
            e = below[i[p], u] - below[j[p], u]
            total_i += above[i[p], u]
            total_j += above[j[p], u]
            whole_i += below[i[p], u]
            whole_j += below[j[p], u]
            if d < 0 or (d == 0 and e < 0):
                turned_above += d
                turned_below += e
                d, e = -d, -e
            right += d
            if e > 0:
                up += e
            else:
                down -= e
            unit_above = _common_divisor(d, unit_above)
            unit_below = _common_divisor(abs(e), unit_below)
        unit_above, unit_below = max(unit_above, 1), max(unit_below, 1)
        up, down, right = up // unit_below, down // unit_below, right // unit_above
        stride = up + down + 1
        n_steps = 0
        for u in range(n_units):
            d = (above[i[p], u] - above[j[p], u]) // unit_above
            e = (below[i[p], u] - below[j[p], u]) // unit_below
            if d < 0 or (d == 0 and e < 0):
                d, e = -d, -e
            if d != 0 or e != 0:
                steps[n_steps] = d * stride + e
                n_steps += 1
        weights, unit = subset_sums(steps[:n_steps], right * stride + up)
        n_i, n_j = max(whole_i, 1), max(whole_j, 1)
        gain = total_i / n_i - total_j / n_j
        tail = 0.0
        for x in range(right + 1):
            a = total_i - (turned_above + x * unit_above)
            c = total_i + total_j - a
            # The sum x * stride + y has a place of its own, as y lies between -down and up; with x, sums begin at 0.
            for y in range(-down if x else 0, up + 1):
                weight = weights[x * stride + y]
                if weight > 0:
                    b = whole_i - (turned_below + y * unit_below)
                    d = whole_i + whole_j - b
                    if is_extreme(
                        np.float64(a),
                        max(np.float64(b), 1.0),
                        np.float64(c),
                        max(np.float64(d), 1.0),
                        total_i,
                        n_i,
                        total_j,
                        n_j,
                        gain,
                        two_sided,
                        strict,
                    ):
                        tail += weight
        p_value[p] = min(tail * 2.0**unit, 1.0)


@njit(cache=True, nogil=True)
def _common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@njit(cache=True, nogil=True)
def ratio_cells(above, below, i, j, cells):
    """For each pair the cells (P,) of the joint distribution of `swapped_ratio_tails`."""
    for p in range(len(i)):
        right = side = np.int64(0)
        unit_above = unit_below = np.int64(0)
        x, y = above[i[p]], above[j[p]]
        v, w = below[i[p]], below[j[p]]
        for u in range(x.shape[0]):
            d = abs(x[u] - y[u])
            e = abs(v[u] - w[u])
            right += d
            side += e
            unit_above = _common_divisor(d, unit_above)
            unit_below = _common_divisor(e, unit_below)
        cells[p] = (right // max(unit_above, 1) + 1.0) * (side // max(unit_below, 1) + 1.0)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def drawn_wins_tails(n, more, less, least, other, p_value):
    """`drawn_wins_tail` for pairs: P(difference >= least) if least >= 0, plus P(difference <= -other) if other >= 0."""
    for p in range(len(more)):
        tail = 0.0
        if least[p] >= 0:
            tail += drawn_wins_tail(n, more[p], less[p], least[p])
        if other[p] >= 0:
            tail += drawn_wins_tail(n, less[p], more[p], other[p])
        p_value[p] = min(tail, 1.0)
