"""The compiled loops of resampling: counts and coins from a counter-based generator, and tallies over pairs.

All compiled loops are `nogil`, single-threaded and deterministic; the engine runs several tiles side by side in
threads. Nothing here knows a metric or a system's name: systems come as rows, best first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.compiled import compiled
from simstudy.metrics.base import Array

# Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): the words of replicate r are
# a function of (seed, r) alone, so no tile, thread or order can change them, and no two replicates overlap.
_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint32(0x9E3779B9)
_W1 = np.uint32(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)

# Coins have blocks of a replicate's stream that no bootstrap of the same seed reaches.
_COIN_BLOCKS = 2**31

# How many resamples one pass over the pairs looks at: the rows of K systems stay in the second-level cache.
_CHUNK, _CHUNK_OF_RATIOS = 1024, 256

# Differences of scores (as fractions) below this are settled by integers.
_NEAR = 2.0**-44


class Ratio(NamedTuple):
    """A score as a fraction, or the scores of many systems as arrays of numerators and of denominators."""

    above: Array
    below: Array | int


class Event(NamedTuple):
    """One tail: sign * (gain(x*) - target * gain(x)) >= 0, or > 0 where strict."""

    target: int
    sign: int
    strict: bool


class Tail(NamedTuple):
    """Which gains are extreme: of one or of both signs, and whether a gain must be more than the observed one."""

    two_sided: bool
    strict: bool


class ObservedPair(NamedTuple):
    """The scores of a better and a worse system on the test set, and their difference, which is at least 0."""

    better: Ratio
    worse: Ratio
    gain: float


@compiled(inline=True)
def _philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0 = _M0 * np.uint64(c0)
        p1 = _M1 * np.uint64(c2)
        c0, c1, c2, c3 = (
            np.uint32(np.uint32(p1 >> _SHIFT) ^ c1 ^ k0),
            np.uint32(p1 & _LOW),
            np.uint32(np.uint32(p0 >> _SHIFT) ^ c3 ^ k1),
            np.uint32(p0 & _LOW),
        )
        k0 = np.uint32(k0 + _W0)
        k1 = np.uint32(k1 + _W1)
    return c0, c1, c2, c3


@compiled
def philox_words(seed, replicate, first_block, words):
    """Fill words (4, n_blocks) with blocks first_block … of the stream (seed, replicate)."""
    k0 = np.uint32(np.uint64(seed) & _LOW)
    k1 = np.uint32(np.uint64(seed) >> _SHIFT)
    r0 = np.uint32(np.uint64(replicate) & _LOW)
    r1 = np.uint32(np.uint64(replicate) >> _SHIFT)
    for b in range(words.shape[1]):
        w0, w1, w2, w3 = _philox((np.uint32(first_block + b), np.uint32(0), r0, r1), (k0, k1))
        words[0, b] = w0
        words[1, b] = w1
        words[2, b] = w2
        words[3, b] = w3


@compiled
def draw_counts(strata, seed, first, counts):
    """Draw resamples first, first + 1, … into counts (T, n): how often each unit is drawn.

    strata (H + 1,) are the bounds of H runs of units; each run is resampled within itself, to its own size.
    A word becomes a unit by Lemire's multiplication (2019), with his rejection: every unit is equally likely.
    """
    n_units = counts.shape[1]
    n_blocks = (n_units + 3) // 4
    words = np.empty((4, n_blocks), np.uint32)
    drawn = words.reshape(-1)
    spare = np.empty((4, 1), np.uint32)
    # A byte a unit stays in the first-level cache where floats would not. It cannot overflow in practice: a unit
    # drawn 256 times has probability below 1/256!, 10^-507.
    row = np.empty(n_units, np.uint8)
    for t in range(counts.shape[0]):
        row[:] = 0
        philox_words(seed, first + t, 0, words)
        next_block = n_blocks
        for h in range(len(strata) - 1):
            size = np.uint64(strata[h + 1] - strata[h])
            biased_below = (np.uint64(1) << _SHIFT) % size
            n_biased = np.int64(0)
            for d in range(strata[h], strata[h + 1]):
                n_biased += np.int64(((np.uint64(drawn[d]) * size) & _LOW) < biased_below)
            if n_biased:
                for d in range(strata[h], strata[h + 1]):
                    while ((np.uint64(drawn[d]) * size) & _LOW) < biased_below:
                        philox_words(seed, first + t, next_block, spare)
                        next_block += 1
                        drawn[d] = spare[0, 0]
            # An unsigned index spares the compiled loop the test for a negative one.
            start = np.uint64(strata[h])
            for d in range(strata[h], strata[h + 1]):
                row[start + ((np.uint64(drawn[d]) * size) >> _SHIFT)] += np.uint8(1)
        for i in range(n_units):
            counts[t, i] = row[i]


@compiled
def draw_coins(seed, first, coins):
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


@compiled
def count_reached(values, pairs, margins, extreme):
    """Add to extreme (P,) how often values[better[p]] - values[worse[p]] >= margins[p]; values (K, T)."""
    better, worse = pairs
    n_resamples = values.shape[1]
    for begin in range(0, n_resamples, _CHUNK):
        end = min(begin + _CHUNK, n_resamples)
        for p in range(len(better)):
            a = values[better[p], begin:end]
            b = values[worse[p], begin:end]
            margin = margins[p]
            # A 32-bit count keeps as many lanes busy as the comparison has.
            count = np.int32(0)
            for t in range(end - begin):
                count = np.int32(count + np.int32(a[t] - b[t] >= margin))
            extreme[p] += count


@compiled
def add_sizes(values, pairs, step, steps):
    """Add to steps (P,) the sum over t of |values[better, t] - values[worse, t]| in whole steps; values (K, T)."""
    better, worse = pairs
    for p in range(len(better)):
        i, j = better[p], worse[p]
        total = np.int64(0)
        for t in range(values.shape[1]):
            total += np.int64(np.rint(abs(values[i, t] - values[j, t]) / step))
        steps[p] += total


@compiled
def count_flips(picked, pairs, unflipped, two_sided, extreme):
    """Add to extreme (P,) how often a pair's flipped contributions add up to `least` or more, or, two-sided, as far.

    `picked` (S, K, T) is what the coins pick of the systems' columns, of which a pair contributes weighted differences.
    Flipping a picked unit takes off twice what it has from the sums without a flip. `unflipped` are these sums (P,),
    the weights (P, S) and `least` (P,).
    """
    better, worse = pairs
    totals, weights, least = unflipped
    for begin in range(0, picked.shape[2], _CHUNK_OF_RATIOS):
        end = min(begin + _CHUNK_OF_RATIOS, picked.shape[2])
        flipped = np.empty(end - begin)
        for p in range(len(better)):
            i, j = better[p], worse[p]
            # Half of everything: picked units then take off what they have.
            flipped[:] = 0.5 * totals[p]
            bound = 0.5 * least[p]
            for s in range(len(picked)):
                weight, a, b = weights[p, s], picked[s, i, begin:end], picked[s, j, begin:end]
                for t in range(end - begin):
                    flipped[t] -= weight * (a[t] - b[t])
            count = np.int32(0)
            for t in range(end - begin):
                count = np.int32(count + np.int32((abs(flipped[t]) if two_sided else flipped[t]) >= bound))
            extreme[p] += count


@compiled
def swap_sums(sums, totals, rows, pairs, first, swapped):
    """Fill swapped (S, 2, P, T) with the summed statistics of both pseudo-systems, in T shuffles from `first` on.

    sums (C, …) are what coins pick of the columns, totals (K, S) the systems' own; rows (K, S) says which column is
    which statistic of a system.
    """
    better, worse = pairs
    for p in range(len(better)):
        i, j = better[p], worse[p]
        for s in range(rows.shape[1]):
            row_i, row_j, total_i, total_j = rows[i, s], rows[j, s], totals[i, s], totals[j, s]
            of_better, of_worse = swapped[s, 0, p], swapped[s, 1, p]
            for t in range(len(of_better)):
                moved = sums[row_j, first + t] - sums[row_i, first + t]
                of_better[t] = total_i + moved
                of_worse[t] = total_j - moved


@compiled
def exact_sign(drawn_i, drawn_j, observed_i, observed_j, target):
    """The sign of (s_i* - s_j*) - target (s_i - s_j), scores being `Ratio`: drawn and observed.

    Multiplied out by the four denominators this is an integer of up to 106 bits. It is only asked for where
    floating point has shown it to be small, so its value modulo 2^64 is its value.
    """
    below_i = np.uint64(max(drawn_i.below, 1))
    below_j = np.uint64(max(drawn_j.below, 1))
    whole_i, whole_j = np.uint64(observed_i.below), np.uint64(observed_j.below)
    drawn = np.uint64(np.int64(drawn_i.above)) * below_j - np.uint64(np.int64(drawn_j.above)) * below_i
    observed = np.uint64(observed_i.above) * whole_j - np.uint64(observed_j.above) * whole_i
    drawn *= whole_i * whole_j
    observed *= below_i * below_j * np.uint64(target)
    return np.int64(drawn - observed)


@compiled
def count_resampled_ratios(sums, pairs, observed, event, extreme):
    """Add to extreme (P,) how often the event holds, for scores with a denominator each.

    sums (2K, T) holds the numerators, then the denominators; observed (K,) are the same on the test
    set. Counts below 2^26 and |numerator| <= denominator make the difference of two scores, if below 2^-44,
    less than 2^62 when multiplied by the four denominators: there, integer arithmetic decides.
    """
    better, worse = pairs
    totals, wholes = observed
    target, sign, strict = event
    n_systems = totals.shape[0]
    n_resamples = sums.shape[1]
    values = np.empty((n_systems, _CHUNK), np.float64)
    for begin in range(0, n_resamples, _CHUNK):
        width = min(_CHUNK, n_resamples - begin)
        for k in range(n_systems):
            above = sums[k, begin : begin + width]
            below = sums[n_systems + k, begin : begin + width]
            shift = target * totals[k] / wholes[k]
            for t in range(width):
                values[k, t] = sign * (np.float64(above[t]) / max(np.float64(below[t]), 1.0) - shift)
        for p in range(len(better)):
            i, j = better[p], worse[p]
            a, b = values[i, :width], values[j, :width]
            count = np.int32(0)
            near = np.int32(0)
            for t in range(width):
                difference = a[t] - b[t]
                count = np.int32(count + np.int32(difference >= _NEAR))
                near = np.int32(near + np.int32(abs(difference) < _NEAR))
            extreme[p] += count
            if near:
                for t in range(width):
                    if abs(a[t] - b[t]) < _NEAR:
                        drawn_i = Ratio(sums[i, begin + t], sums[n_systems + i, begin + t])
                        drawn_j = Ratio(sums[j, begin + t], sums[n_systems + j, begin + t])
                        observed_i, observed_j = Ratio(totals[i], wholes[i]), Ratio(totals[j], wholes[j])
                        exact = sign * exact_sign(drawn_i, drawn_j, observed_i, observed_j, target)
                        if exact > 0 or (exact == 0 and not strict):
                            extreme[p] += 1


@compiled(inline=True)
def _reaches(first, second, observed, excess, strict):
    """Whether one score less the other is at least (strict: more than) the observed gain, given the excess over it."""
    if abs(excess) >= _NEAR:
        return excess > 0
    exact = exact_sign(first, second, observed.better, observed.worse, np.int64(1))
    return exact > 0 or (exact == 0 and not strict)


@compiled(inline=True)
def is_extreme(first, second, observed, tail):
    """Whether two pseudo-systems (`Ratio`) differ by at least (strict: more than) the observed gain >= 0."""
    gain = first.above / first.below - second.above / second.below
    return _reaches(first, second, observed, gain - observed.gain, tail.strict) or (
        tail.two_sided and _reaches(second, first, observed, -gain - observed.gain, tail.strict)
    )


@compiled
def count_swapped_ratios(sums, pairs, observed, tail, extreme):
    """Add to extreme (P,) how often two pseudo-systems differ by the gain, for scores with a denominator each.

    sums (2K, T) holds what the coins pick of the numerators, then of the denominators; observed (K,) are the sums on
    the test set. A pseudo-system has its system's total, less what was picked, plus what was picked of the other.
    Where the gain is near the observed one, integers decide, as in `count_resampled_ratios`.
    """
    better, worse = pairs
    totals, wholes = observed
    n_systems = totals.shape[0]
    for begin in range(0, sums.shape[1], _CHUNK_OF_RATIOS):
        picked = sums[:, begin : begin + _CHUNK_OF_RATIOS].astype(np.float64)
        excess = np.empty(picked.shape[1])
        for p in range(len(better)):
            i, j = better[p], worse[p]
            # An empty denominator has numerator 0: 0/1 is its score of 0.
            of_i, of_j = Ratio(totals[i], max(wholes[i], 1)), Ratio(totals[j], max(wholes[j], 1))
            gain = of_i.above / of_i.below - of_j.above / of_j.below
            above_i, above_j, below_i, below_j = picked[i], picked[j], picked[n_systems + i], picked[n_systems + j]
            count, near = np.int32(0), np.int32(0)
            for t in range(len(excess)):
                above, below = above_i[t] - above_j[t], below_i[t] - below_j[t]
                difference = (totals[i] - above) / max(wholes[i] - below, 1.0)
                difference -= (totals[j] + above) / max(wholes[j] + below, 1.0)
                if tail.two_sided:
                    difference = abs(difference)
                excess[t] = difference - gain
                count = np.int32(count + np.int32(excess[t] >= _NEAR))
                near = np.int32(near + np.int32(abs(excess[t]) < _NEAR))
            extreme[p] += count
            if near:
                for t in range(len(excess)):
                    if abs(excess[t]) < _NEAR:
                        above, below = above_i[t] - above_j[t], below_i[t] - below_j[t]
                        first = Ratio(totals[i] - above, max(wholes[i] - below, 1.0))
                        second = Ratio(totals[j] + above, max(wholes[j] + below, 1.0))
                        extreme[p] += is_extreme(first, second, ObservedPair(of_i, of_j, gain), tail)
