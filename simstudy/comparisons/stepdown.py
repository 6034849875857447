"""Which systems of a leaderboard differ significantly, all pairs at once: joint sign flips of the units, and stepdown.

These are the confidence sets for ranks of Mogstad, Romano, Shaikh and Wilhelm (2024, "Inference for Ranks with
Applications to Mobility across Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies
91, 476 - 518), as R's csranks computes them: one-sided hypotheses of ordered pairs, and the largest statistic of those
not yet rejected as the critical value (Romano and Wolf 2005). What differs is how units are resampled. csranks divides
a gain by its standard error and draws normal numbers, which takes hundreds of units to hold; here each unit's
contributions to all scores change sign together, and a gain is divided by the root of its squared contributions, which
no sign changes. For two systems that is the sign-flip test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled, few
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric
from simstudy.metrics.influence import over_denominator

# Draws and units that are held together: some 20 MB. Signs are drawn by blocks of draws and units, so that a draw does
# not depend on how many there are.
_DRAWS, _UNITS = 512, 4096

# Systems over whose pairs the loops pass as they are written before they could be compiled.
_FEW = 2

# Statistics that differ by less than this part of their size tie, and contributions by less differ by rounding.
_TIE, _ROUNDING = 1e-9, 1e-12


@dataclass(frozen=True)
class GainParts:
    """Contributions of n units to the gains of all pairs of K systems, held as a few numbers a system and unit.

    Unit i contributes ``parts[j, i] - parts[k, i] - pooled[j, k] * (shares[j, i] - shares[k, i])`` to the gain of j
    over k; without shares the last term is not there.
    """

    #: (K,), higher is better, on the scale of the parts.
    scores: FloatArray
    #: (K, n), as are the shares; pooled is (K, K), symmetric.
    parts: FloatArray
    #: (K,) systems whose contributions mean nothing: they differ from none.
    unknown: NDArray[np.bool_]
    shares: FloatArray | None = None
    pooled: FloatArray | None = None

    def gains(self, one: int | IntArray, others: slice | IntArray) -> FloatArray:
        """What each unit contributes to the gains of pairs, (pairs, n)."""
        found = self.parts[one] - self.parts[others]
        if self.shares is not None and self.pooled is not None:
            found -= self.pooled[one, others][:, None] * (self.shares[one] - self.shares[others])
        return np.asarray(found)

    def roots(self) -> FloatArray:
        """The root of each pair's squared contributions, (K, K); infinite where nothing differs but rounding."""
        size = np.einsum("kn,kn->k", self.parts, self.parts)
        # Gains are the same without what all systems have in common, and lose fewer digits.
        parts = self.parts - self.parts.mean(axis=0)
        squares, own = _squared_differences(parts, parts)
        if self.shares is not None and self.pooled is not None:
            shares = self.shares - self.shares.mean(axis=0)
            of_both, _ = _squared_differences(parts, shares)
            of_shares, _ = _squared_differences(shares, shares)
            squares += self.pooled * (self.pooled * of_shares - 2 * of_both)
        # What is left of two nearly equal systems is rounding: their own difference tells.
        for j, k in np.argwhere(np.triu(squares <= 1e-6 * (own[:, None] + own), 1)):
            (difference,) = self.gains(j, np.array([k]))
            squares[j, k] = squares[k, j] = difference @ difference
        squares[squares <= _ROUNDING**2 * (size[:, None] + size)] = np.inf
        squares[self.unknown] = squares[:, self.unknown] = np.inf
        np.fill_diagonal(squares, np.inf)
        return np.asarray(np.sqrt(squares))


def _squared_differences(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums over units of (one_j - one_k)(other_j - other_k), (K, K), and those of one_k other_k, (K,)."""
    products = one @ other.T
    own = np.diag(products)
    return own[:, None] + own - products - products.T, own


def gain_parts(statistics: Array, metric: Metric, jackknife: FloatArray, unknown: NDArray[np.bool_]) -> GainParts:
    """What units contribute to gains of all pairs under the hypothesis that the two systems are equally good.

    Of a ratio whose denominators all systems share (accuracy, recall; clusters of any size) they are the units'
    numerators over the denominator: sign flips swap the two systems' units. Where each system has a denominator of its
    own (precision, F), a unit contributes its numerator less what the pair's pooled ratio makes expect of its
    denominator, over the system's denominator (`simstudy.metrics.influence.over_denominator`). Of other metrics they
    are the jackknife's.

    The jackknife's contributions (K, n) are those of `simstudy.metrics.influence.contributions`; unknown are systems
    (K,) whose score is undefined without one of the units.
    """
    turned = float(metric.sign)
    if (ratio := metric.ratio(statistics)) is None:
        parts = turned * jackknife
        return GainParts(parts.sum(axis=1), parts, unknown)
    above, below = turned * metric.scale * ratio[0], ratio[1].astype(np.float64)
    of = below.sum(axis=1)
    of[of == 0] = 1.0
    sums = above.sum(axis=1)
    if (below == below[0]).all():
        above /= of[:, None]
        return GainParts(sums / of, above, unknown)
    pooled = (sums[:, None] + sums) / (of[:, None] + of)
    return GainParts(sums / of, over_denominator(above, below), unknown, over_denominator(below, below), pooled)


@dataclass(frozen=True)
class Places:
    """What is known of the ranks of K systems, (K,) each, 1 being the best."""

    #: The sets low … high hold the ranks of all systems at once.
    low: IntArray
    high: IntArray
    #: Each holds the rank of its own system, chosen beforehand.
    low_own: IntArray
    high_own: IntArray
    #: The systems of a set that holds every one than which none is better.
    may_be_best: NDArray[np.bool_]
    #: (K, K) the system of the row is significantly better than that of the column, all pairs being one family.
    better: NDArray[np.bool_]


def places(gains: GainParts, *, level: float, n_bootstrap: int, seed: int) -> Places:
    """Confidence sets for the ranks of K systems, from what each unit contributes to their gains."""
    k = len(gains.scores)
    weights = 1 / gains.roots()
    observed = (gains.scores[:, None] - gains.scores) * weights
    rank = np.argsort(np.argsort(-gains.scores, kind="stable"), kind="stable")
    ahead = rank[:, None] < rank
    # Hypotheses from the smallest statistic to the largest: pairs, the pairs of each system, and systems.
    first, second = np.nonzero(ahead)
    by_size = np.argsort(observed[first, second], kind="stable")
    first, second = first[by_size], second[by_size]
    lead = np.where(ahead, observed, -observed)
    own_order = np.argsort(lead, axis=1, kind="stable")
    behind = -observed.min(axis=1)
    best_order = np.argsort(behind, kind="stable")
    least, least_own = _least(observed[first, second]), _least(np.take_along_axis(lead, own_order, axis=1))
    del by_size, observed, lead
    # How many draws reach each.
    of_pairs, of_own, of_best = (np.zeros(size, dtype=np.int32) for size in (len(first), (k, k), k))
    nothing = np.empty((0, 0))
    for flipped in _flipped(gains, n_bootstrap, seed):
        shares, pooled = (nothing if side is None else side for side in (flipped.shares, flipped.pooled))
        drawn = _Drawn(np.ascontiguousarray(flipped.parts), np.ascontiguousarray(shares), weights, pooled)
        beaten, turned = np.empty((2, *drawn.parts.shape))
        with few(0) if k <= _FEW else nullcontext():
            _extremes(drawn, ahead, beaten, turned)
            _reached_by_own(drawn, (ahead, own_order, least_own), turned, of_own)
            # That the one behind is better is never rejected, and so it is in every family.
            _reached(drawn, (first, second, least), turned.max(axis=0), of_pairs)
        largest = np.maximum.accumulate(beaten[best_order], axis=0)
        of_best += (largest >= _least(behind[best_order])[:, None]).sum(axis=1, dtype=np.int32)
    most = (1 - level) * (n_bootstrap + 1) - 1 + _TIE
    better = np.zeros((k, k), dtype=np.bool_)
    better[first, second] = _stepped(of_pairs) <= most
    own = np.zeros((k, k), dtype=np.bool_)
    np.put_along_axis(own, own_order, _stepped(of_own) <= most, axis=1)
    best = np.ones(k, dtype=np.bool_)
    best[best_order] = _stepped(of_best) > most
    return Places(
        1 + better.sum(axis=0),
        k - better.sum(axis=1),
        1 + (own & ahead.T).sum(axis=1),
        k - (own & ahead).sum(axis=1),
        best,
        better,
    )


def _flipped(gains: GainParts, n_draws: int, seed: int) -> Iterator[GainParts]:
    """What the gains' parts (and shares) add up to with random signs, (K, draws) at a time: draws are the units."""
    n = gains.parts.shape[1]
    held = np.empty((min(n, _UNITS), _DRAWS))
    for block, start in enumerate(range(0, n_draws, _DRAWS)):
        columns = [gains.parts] if gains.shares is None else [gains.parts, gains.shares]
        sums = [np.zeros((len(side), _DRAWS)) for side in columns]
        for run, begin in enumerate(range(0, n, _UNITS)):
            rng = np.random.default_rng([seed, block, run])
            n_units = min(_UNITS, n - begin)
            coins = np.unpackbits(rng.integers(0, 256, (n_units, _DRAWS // 8), dtype=np.uint8), axis=1)
            signs = np.multiply(coins, -2.0, out=held[:n_units])
            signs += 1
            for total, side in zip(sums, columns, strict=True):
                total += side[:, begin : begin + n_units] @ signs
        sums = [total[:, : n_draws - start] for total in sums]
        yield replace(gains, parts=sums[0], shares=sums[1] if len(sums) > 1 else None)


def _least(observed: FloatArray) -> FloatArray:
    """What draws must reach to be as large as these statistics."""
    return observed - _TIE * np.abs(observed)


def _stepped(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Counts of rising statistics, none less than that of a larger statistic: no step before the one above it."""
    return np.asarray(np.maximum.accumulate(counts[..., ::-1], axis=-1)[..., ::-1])


# Compiled loops over each pair of systems and each draw: `nogil`, single-threaded and deterministic. A statistic is a
# gain times the pair's weight, one over the root of its squared contributions; 0 where only rounding differs.


class _Drawn(NamedTuple):
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
def _extremes(drawn, ahead, beaten, turned):
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
def _reached(drawn, hypotheses, largest, counts):
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
def _reached_by_own(drawn, own, turned, counts):
    """`_reached` for the pairs of each system, the better one first; own are `ahead`, each row's order, and `least`."""
    ahead, order, least = own
    k = ahead.shape[0]
    first, second = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for a in range(k):
        for place in range(k):
            b = order[a, place]
            first[place], second[place] = (a, b) if ahead[a, b] else (b, a)
        _reached(drawn, (first, second, least[a]), turned[a].copy(), counts[a])
