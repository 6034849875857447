"""The compiled loops of approximate randomization: coins, and tallies over pairs of pseudo-systems.

Systems come as rows, best first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.engines.kernels import NEAR, Ratio, exact_sign, philox_words
from simstudy.metrics.base import FloatArray, IntArray

# Coins have blocks of a replicate's stream that no bootstrap of the same seed reaches.
_COIN_BLOCKS = 2**31

# How many shuffles one pass over the pairs looks at: the rows of K systems stay in the second-level cache.
_CHUNK = 256

# Four denominators with a product below this leave rounding no say in what is extreme.
_SMALL = 2.0**50


class Tail(NamedTuple):
    """Which gains are extreme: of one or of both signs, and whether a gain must be more than the observed one."""

    two_sided: bool
    strict: bool


class ObservedPair(NamedTuple):
    """The scores of a better and a worse system on the test set, and their difference, which is at least 0."""

    better: Ratio
    worse: Ratio
    gain: float


class Contributions(NamedTuple):
    """What the units of each pair contribute to its gain, in sum (P,)."""

    #: Sums without a flip.
    totals: FloatArray
    #: The pair's pooled ratio, by which contributions to the denominators are multiplied.
    pooled: FloatArray
    #: Flipped sums from this on are extreme.
    least: FloatArray


class Summed(NamedTuple):
    """Which columns are a system's statistics (K, S), and their sums on the test set (K, S)."""

    rows: IntArray
    totals: FloatArray


class Decisive(NamedTuple):
    """Gains (P,) that decide on a shuffle: from `surely` on it is extreme, below `maybe` it is not."""

    surely: FloatArray
    maybe: FloatArray


@compiled
def coin_flips(seed, first, coins):
    """Fill coins (T, n) with 0 or 1: whether shuffle first, first + 1, … swaps each unit. One bit a coin."""
    n_units = coins.shape[1]
    words = np.empty((4, (n_units + 127) // 128), np.uint32)
    bits = words.reshape(-1)
    for t in range(coins.shape[0]):
        philox_words(seed, first + t, _COIN_BLOCKS, words)
        for w in range((n_units + 31) // 32):
            word = bits[w]
            begin = 32 * w
            for b in range(min(32, n_units - begin)):
                coins[t, begin + b] = (word >> np.uint32(b)) & np.uint32(1)


@compiled(inline=True)
def _reaches(one, other, observed, strict):
    """Whether one score less the other is at least (strict: more than) the observed gain >= 0."""
    excess = one.above * other.below - other.above * one.below - observed.gain * (one.below * other.below)
    near = NEAR * (one.below * other.below)
    if excess > near:
        return True
    if excess < -near:
        return False
    exact = exact_sign(one, other, observed.better, observed.worse, np.int64(1))
    return exact > 0 or (exact == 0 and not strict)


@compiled(inline=True)
def is_extreme(one, other, observed, tail):
    """Whether two pseudo-systems (`Ratio`) differ by at least (strict: more than) the observed gain >= 0."""
    return _reaches(one, other, observed, tail.strict) or (
        tail.two_sided and _reaches(other, one, observed, tail.strict)
    )


@compiled
def tally_swapped_ratios(sums, pairs, observed, tail, extreme):
    """Add to extreme (P,) how often two pseudo-systems differ by the gain, for scores with a denominator each.

    sums (2K, T) holds what the coins pick of the numerators, then of the denominators; observed (K,) are the sums on
    the test set. A pseudo-system has its system's total, less what was picked, plus what was picked of the
    other. Counts below 2^26 and |numerator| <= denominator make products exact in double precision. Only the gain
    rounds, times b d by less than 2^-51 b d, and a difference exceeds it by a multiple of 1 / (whole_i whole_j). Half
    of that tells ties from the rest where it is the larger of the two; elsewhere integers settle what is near a tie.
    """
    better, worse = pairs
    totals, wholes = observed
    two_sided, strict = tail
    n_systems = totals.shape[0]
    n_shuffles = sums.shape[1]
    swapped = np.empty((2 * n_systems, _CHUNK), np.float64)
    for begin in range(0, n_shuffles, _CHUNK):
        width = min(_CHUNK, n_shuffles - begin)
        for k in range(2 * n_systems):
            for t in range(width):
                swapped[k, t] = sums[k, begin + t]
        for p in range(len(better)):
            i, j = better[p], worse[p]
            total_i, total_j = np.float64(totals[i]), np.float64(totals[j])
            whole_i, whole_j = np.float64(wholes[i]), np.float64(wholes[j])
            n_i, n_j = max(whole_i, 1.0), max(whole_j, 1.0)
            gain = total_i / n_i - total_j / n_j
            most = (n_i + n_j) ** 2  # more than b * d can be
            if most * n_i * n_j < _SMALL:
                surely = 0.5 / (n_i * n_j) if strict else -0.5 / (n_i * n_j)
                maybe = surely
            else:
                surely, maybe = NEAR * most, -NEAR * most
            above_i, above_j = swapped[i, :width], swapped[j, :width]
            below_i, below_j = swapped[n_systems + i, :width], swapped[n_systems + j, :width]
            count = np.int32(0)
            candidates = np.int32(0)
            for t in range(width):
                above = above_i[t] - above_j[t]
                below = below_i[t] - below_j[t]
                # An empty denominator has numerator 0: 0/1 is its score of 0.
                b = max(whole_i - below, 1.0)
                d = max(whole_j + below, 1.0)
                difference = (total_i - above) * d - (total_j + above) * b
                if two_sided:
                    difference = abs(difference)
                excess = difference - gain * (b * d)
                count = np.int32(count + np.int32(excess > surely))
                candidates = np.int32(candidates + np.int32(excess > maybe))
            extreme[p] += count
            if candidates > count:
                for t in range(width):
                    above = above_i[t] - above_j[t]
                    below = below_i[t] - below_j[t]
                    a, c = total_i - above, total_j + above
                    b, d = max(whole_i - below, 1.0), max(whole_j + below, 1.0)
                    difference = a * d - c * b
                    if two_sided:
                        difference = abs(difference)
                    excess = difference - gain * (b * d)
                    if maybe < excess <= surely:
                        of_i, of_j = Ratio(totals[i], max(wholes[i], 1)), Ratio(totals[j], max(wholes[j], 1))
                        extreme[p] += is_extreme(Ratio(a, b), Ratio(c, d), ObservedPair(of_i, of_j, gain), tail)


@compiled
def tally_flips(picked, pairs, unflipped, two_sided, extreme):
    """Add to extreme (P,) how often a pair's flipped contributions add up to `least` or more, or, two-sided, as far.

    picked holds what the coins pick of the systems' contributions to their numerators (K, T) and, if it has rows (K, T)
    for these, to their denominators, of which a pair's pooled ratio is taken off. Flipping a picked unit takes off
    twice what it has from the unflipped `Contributions`.
    """
    above, below = picked
    better, worse = pairs
    totals, pooled, least = unflipped
    ratios = below.shape[0] > 0
    for begin in range(0, above.shape[1], _CHUNK):
        end = min(begin + _CHUNK, above.shape[1])
        for p in range(len(better)):
            i, j = better[p], worse[p]
            a, b = above[i, begin:end], above[j, begin:end]
            total, ratio, bound = totals[p], pooled[p], least[p]
            count = np.int32(0)
            if ratios:
                c, d = below[i, begin:end], below[j, begin:end]
                for t in range(end - begin):
                    flipped = total - 2.0 * ((a[t] - b[t]) - ratio * (c[t] - d[t]))
                    if two_sided:
                        flipped = abs(flipped)
                    count = np.int32(count + np.int32(flipped >= bound))
            else:
                for t in range(end - begin):
                    flipped = total - 2.0 * (a[t] - b[t])
                    if two_sided:
                        flipped = abs(flipped)
                    count = np.int32(count + np.int32(flipped >= bound))
            extreme[p] += count


@compiled
def arrange(sums, shuffles, rows, picked):
    """Fill picked (K, S, WIDTH) with the systems' statistics in some shuffles: their sums (C, …), and rows (K, S)."""
    begin, end = shuffles
    for k in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            row, to = sums[rows[k, s], begin:end], picked[k, s]
            for t in range(end - begin):
                to[t] = row[t]


@compiled
def swap(sums, systems, pairs, shuffles, swapped):
    """Fill swapped (S, 2, P, T) with the summed statistics of both pseudo-systems, in T shuffles of these sums.

    The shuffles are positions in the columns of sums (C, …): the first one of all pairs, or one of each (P,), T = 1.
    """
    better, worse = pairs
    rows, totals = systems
    for p in range(len(better)):
        i, j = better[p], worse[p]
        begin = shuffles[p % len(shuffles)]
        for s in range(rows.shape[1]):
            of_i, of_j, total_i, total_j = rows[i, s], rows[j, s], totals[i, s], totals[j, s]
            one, other = swapped[s, 0, p], swapped[s, 1, p]
            for t in range(len(one)):
                moved = sums[of_j, begin + t] - sums[of_i, begin + t]
                one[t] = total_i + moved
                other[t] = total_j - moved


@compiled
def tally_gains(gains, decisive, two_sided, extreme, kept):
    """Add to extreme (P,) how often gains (P, T) are surely extreme.

    Shuffles that are not decided are kept: their pairs and positions in the tile are added to `undecided` (2, U), which
    holds some already. Returns how many it holds then.
    """
    undecided, n_undecided, first_pair, first_shuffle = kept
    for p in range(len(gains)):
        of_pair, surely, maybe = gains[p], decisive.surely[p], decisive.maybe[p]
        count, candidates = np.int32(0), np.int32(0)
        for t in range(len(of_pair)):
            gain = abs(of_pair[t]) if two_sided else of_pair[t]
            count = np.int32(count + np.int32(gain >= surely))
            candidates = np.int32(candidates + np.int32(gain >= maybe))
        extreme[p] += count
        if candidates > count:
            for t in range(len(of_pair)):
                gain = abs(of_pair[t]) if two_sided else of_pair[t]
                if maybe <= gain < surely:
                    undecided[0, n_undecided] = first_pair + p
                    undecided[1, n_undecided] = first_shuffle + t
                    n_undecided += 1
    return n_undecided
