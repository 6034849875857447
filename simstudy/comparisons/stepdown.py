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
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled, few
from simstudy.engines.gain_contributions import gain_contributions
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric

# Draws and units that are held together: some 20 MB. Signs are drawn by blocks of draws and units, so that a draw does
# not depend on how many there are.
_DRAWS, _UNITS = 512, 4096

# Systems over whose pairs the loops pass as they are written before they could be compiled.
_FEW = 2

# Contributions that are held together.
_TOGETHER = 2**20

# Statistics that differ by less than this part of their size tie, and contributions by less differ by rounding.
_TIE, _ROUNDING = 1e-9, 1e-12


@dataclass(frozen=True)
class GainParts:
    """Contributions of n units to the gains of all pairs of K systems, as few columns a system.

    Unit u contributes ``sum_s weights[j, k, s] (columns[s, j, u] - columns[s, k, u])`` to the gain of j over k.
    """

    #: (S, K, n).
    columns: FloatArray
    #: (K, K, S), symmetric.
    weights: FloatArray
    #: (K, K) the gains, of the row's system over the column's, in the unit of the contributions.
    gains: FloatArray
    #: (K,) systems whose contributions mean nothing: they differ from none.
    unknown: NDArray[np.bool_]

    @classmethod
    def from_scores(cls, scores: FloatArray, parts: FloatArray, unknown: NDArray[np.bool_]) -> Self:
        """The contributions to all gains, given those (K, n) to the systems' scores (K,); more is better."""
        return cls(parts[None], np.ones((len(parts), len(parts), 1)), scores[:, None] - scores, unknown)

    def contributions(self, one: int, others: IntArray) -> FloatArray:
        """What each unit contributes to the gains of one system over others, (others, n)."""
        parts = np.zeros((len(others), self.columns.shape[2]))
        for column, weight in zip(self.columns, self.weights[one, others].T, strict=True):
            parts += weight[:, None] * (column[one] - column[others])
        return parts

    def roots(self) -> FloatArray:
        """The root of each pair's squared contributions, (K, K); infinite where nothing differs but rounding."""
        k, n = self.columns.shape[1:]
        roots, sizes = np.full((k, k), np.inf), np.einsum("skn,skn->ks", self.columns, self.columns)
        together = max(1, _TOGETHER // n)
        for j in range(k):
            for first in range(j + 1, k, together):
                others = np.arange(first, min(first + together, k))
                parts = self.contributions(j, others)
                squares = np.einsum("kn,kn->k", parts, parts)
                size = (self.weights[j, others] ** 2 * (sizes[j] + sizes[others])).sum(axis=1)
                squares[(squares <= _ROUNDING**2 * size) | self.unknown[j] | self.unknown[others]] = np.inf
                roots[j, others] = roots[others, j] = np.sqrt(squares)
        return roots


def gain_parts(statistics: Array, metric: Metric, unknown: NDArray[np.bool_]) -> GainParts:
    """Contributions to the gains of all pairs (`simstudy.engines.gain_contributions`), given statistics (K, n, S).

    Unknown are systems (K,) whose score is undefined without one of the units.
    """
    k = len(statistics)
    i, j = np.triu_indices(k, k=1)
    ratio = metric.ratio(statistics)
    if ratio is not None:
        ratio = metric.sign * ratio[0], ratio[1]
    columns, of_pairs, gains_of_pairs = gain_contributions(statistics, metric, ratio, (i, j))
    weights, gains = np.zeros((k, k, len(columns))), np.zeros((k, k))
    weights[i, j] = weights[j, i] = of_pairs
    gains[i, j], gains[j, i] = gains_of_pairs, -gains_of_pairs
    return GainParts(columns.astype(np.float64), weights, gains, unknown)


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
    k = len(gains.gains)
    scale = 1 / gains.roots()
    observed = gains.gains * scale
    ahead = (gains.gains > 0) | (gains.gains == 0) & np.triu(np.ones((k, k), dtype=np.bool_), 1)
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
    for flipped in _flipped(gains.columns, n_bootstrap, seed):
        drawn = _Drawn(flipped, gains.weights, scale)
        beaten, turned = np.empty((2, *flipped.shape[1:]))
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


def _flipped(columns: FloatArray, n_draws: int, seed: int) -> Iterator[FloatArray]:
    """What columns (S, K, n) add up to with random signs of the units, (S, K, draws) for some draws at a time."""
    n = columns.shape[2]
    held = np.empty((min(n, _UNITS), _DRAWS))
    for block, start in enumerate(range(0, n_draws, _DRAWS)):
        sums = np.zeros((*columns.shape[:2], _DRAWS))
        for run, begin in enumerate(range(0, n, _UNITS)):
            rng = np.random.default_rng([seed, block, run])
            n_units = min(_UNITS, n - begin)
            coins = np.unpackbits(rng.integers(0, 256, (n_units, _DRAWS // 8), dtype=np.uint8), axis=1)
            signs = np.multiply(coins, -2.0, out=held[:n_units])
            signs += 1
            sums += columns[:, :, begin : begin + n_units] @ signs
        yield np.ascontiguousarray(sums[:, :, : n_draws - start])


def _least(observed: FloatArray) -> FloatArray:
    """What draws must reach to be as large as these statistics."""
    return observed - _TIE * np.abs(observed)


def _stepped(counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Counts of rising statistics, none less than that of a larger statistic: no step before the one above it."""
    return np.asarray(np.maximum.accumulate(counts[..., ::-1], axis=-1)[..., ::-1])


# Compiled loops over each pair of systems and each draw: `nogil`, single-threaded and deterministic. A statistic is a
# gain over the root of its squared contributions; 0 where only rounding differs.


class _Drawn(NamedTuple):
    """What the columns of K systems add up to in each draw, and what makes them statistics of their pairs."""

    #: (S, K, draws).
    sums: Array
    #: (K, K, S).
    weights: Array
    #: (K, K) one over the root of the squared contributions.
    scale: Array


@compiled
def _statistics(drawn, a, b, statistics):
    """The statistic of system a over b in each draw, (draws,)."""
    statistics[:] = 0.0
    for s in range(drawn.sums.shape[0]):
        weight = drawn.weights[a, b, s] * drawn.scale[a, b]
        one, other = drawn.sums[s, a], drawn.sums[s, b]
        for t in range(statistics.shape[0]):
            statistics[t] += weight * (one[t] - other[t])


@compiled
def _extremes(drawn, ahead, beaten, turned):
    """Each system's largest statistics (K, draws): of any other over it; of the worse over the better of its pairs."""
    found = np.empty(drawn.sums.shape[2])
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
