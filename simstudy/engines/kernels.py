"""The compiled loops: resample counts from a counter-based generator, and tallies over pairs.

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

# How many resamples one pass over the pairs looks at: K rows of this length stay in the second-level cache.
_CHUNK = 1024

# The same where a pass looks at all S statistics.
_TOGETHER = 256

#: Weights are summed in so many steps of 1, so that the order does not matter.
STEPS = 2.0**32

# Differences of scores (as fractions) below this are settled by integers; see `tally_own_ratios`.
NEAR = 2.0**-44


class Ratio(NamedTuple):
    """A score as a fraction, or the scores of many systems as arrays of numerators and of denominators."""

    above: Array
    below: Array | int


class Event(NamedTuple):
    """One tail: sign * (gain(x*) - target * gain(x)) >= 0, or > 0 where strict."""

    target: int
    sign: int
    strict: bool


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
def resample_counts(strata, seed, first, counts):
    """Draw replicates first, first + 1, … into counts (T, n): how often each item is drawn.

    strata (H + 1,) are the bounds of H runs of items; each run is resampled within itself, to its own size.
    A word becomes an item by Lemire's multiplication (2019), with his rejection: every item is equally likely.
    """
    n_items = counts.shape[1]
    n_blocks = (n_items + 3) // 4
    words = np.empty((4, n_blocks), np.uint32)
    drawn = words.reshape(-1)
    spare = np.empty((4, 1), np.uint32)
    # A byte an item stays in the first-level cache where floats would not. It cannot overflow in practice: an item
    # drawn 256 times has probability below 1/256!, 10^-507.
    row = np.empty(n_items, np.uint8)
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
        for i in range(n_items):
            counts[t, i] = row[i]


@compiled
def tally(values, pairs, margins, extreme):
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
def cross_tally(drawn, pairs, margins, near, counts):
    """Add to counts (7, P) how often a pair's event holds, how often a linear event near it, and how often both.

    drawn are values (K, T), whose differences are to be at least margins (P,), and summed statistics (S, K, T). `near`
    are the linear events, weighted sums of these, `DrawnEvents`, and their tilts (3, P); events that must be infinite
    are not looked at. If there is a tilt, the last four rows sum up weights, and their squares, in steps of 2^-32: of
    resamples on which only the event holds, and of those on which only the linear event does.
    """
    values, sums = drawn
    events, tilts = near
    better, worse = pairs
    linear = np.empty(_TOGETHER)
    for begin in range(0, values.shape[1], _TOGETHER):
        width = min(_TOGETHER, values.shape[1] - begin)
        for p in range(len(better)):
            i, j = better[p], worse[p]
            a, b = values[i, begin : begin + width], values[j, begin : begin + width]
            margin = margins[p]
            n = np.int32(0)
            for t in range(width):
                n += np.int32(a[t] - b[t] >= margin)
            counts[0, p] += n
            if events.least[p] == np.inf:
                continue
            linear[:width] = -events.least[p]
            for s in range(sums.shape[0]):
                x, y = sums[s, i, begin : begin + width], sums[s, j, begin : begin + width]
                of_x, of_y = events.better[p, s], events.worse[p, s]
                for t in range(width):
                    linear[t] += of_x * x[t] - of_y * y[t]
            n, both = np.int32(0), np.int32(0)
            for t in range(width):
                n += np.int32(linear[t] >= 0)
                both += np.int32((linear[t] >= 0) & (a[t] - b[t] >= margin))
            counts[1, p] += n
            counts[2, p] += both
            if tilts[0, p] == 0.0:
                continue
            for t in range(width):
                holds = a[t] - b[t] >= margin
                if holds != (linear[t] >= 0):
                    weight = 1.0 / (1.0 + tilts[2, p] * np.exp(tilts[0, p] * linear[t] + tilts[1, p]))
                    row = 3 if holds else 5
                    counts[row, p] += np.int64(np.rint(weight * STEPS))
                    counts[row + 1, p] += np.int64(np.rint(weight * weight * STEPS))


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
def scaled_differences(drawn, observed, target, values):
    """Fill values (K, T) with u times both denominators, in integers.

    values[k, t] = drawn.above[k, t] * observed.below - target * observed.above[k] * drawn.below[t], where drawn are the
    sums (K, T) over the denominators (T,) that all systems share, and observed those of the test set, (K,) over one.
    """
    sums, below = drawn
    totals, whole = observed
    for k in range(values.shape[0]):
        shift = target * totals[k]
        for t in range(values.shape[1]):
            values[k, t] = np.int64(sums[k, t]) * whole - shift * max(np.int64(below[t]), 1)


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
def tally_own_ratios(sums, pairs, observed, event, extreme):
    """Add to extreme (P,) how often the event holds, for scores with a denominator each.

    sums (2K, T) holds the numerators, then the denominators; observed (K,) are the same on the test
    set. Counts below 2^26 and |numerator| <= denominator make the difference of two scores, if below NEAR,
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
                count = np.int32(count + np.int32(difference >= NEAR))
                near = np.int32(near + np.int32(abs(difference) < NEAR))
            extreme[p] += count
            if near:
                for t in range(width):
                    if abs(a[t] - b[t]) < NEAR:
                        drawn_i = Ratio(sums[i, begin + t], sums[n_systems + i, begin + t])
                        drawn_j = Ratio(sums[j, begin + t], sums[n_systems + j, begin + t])
                        observed_i, observed_j = Ratio(totals[i], wholes[i]), Ratio(totals[j], wholes[j])
                        exact = sign * exact_sign(drawn_i, drawn_j, observed_i, observed_j, target)
                        if exact > 0 or (exact == 0 and not strict):
                            extreme[p] += 1
