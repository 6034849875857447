"""What the pairs of some systems say of other systems: intervals for numbers that are taken over pairs.

Pairs that share a system are not independent, and systems of one family are variants of one another: a table of 2,775
pairs of 75 systems on 5 base models knows 5 base models. So what is left out, or drawn again, are families.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.metrics.base import FloatArray
from simstudy.tables import system_codes

Number = TypeVar("Number", np.int64, np.float64)

#: What an interval holds for (column interval_for).
OTHER_SYSTEMS, OTHER_VARIANTS = "other systems", "other variants of these families"

# With fewer families in effect than these (five, some larger than others), or fewer variants, coverage was below 0.9.
_LEAST_FAMILIES, _LEAST_VARIANTS = 4.5, 10
# Weights of pairs that are held at a time: 8 MiB, a few times over.
_TOGETHER = 2**20
# The share of pairs that may be with a system without other variants, where variants are drawn.
_MOST_ALONE = 0.1


@dataclass(frozen=True)
class OtherSystems:
    """How the systems of P pairs are left out or drawn again (`other_systems`)."""

    #: (P,) the pairs' two clusters: families, or, where families are few, systems.
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    #: (C,) what cluster c belongs to: families keep their number of systems where systems are drawn, and clusters that
    #: are families are one stratum.
    strata: NDArray[np.int64]
    #: How many clusters there are in effect, less the number of strata. A cluster counts by its share of the pairs, so
    #: that one large family and many small ones are few.
    df: float
    #: `OTHER_SYSTEMS`, `OTHER_VARIANTS`, or "" where there are too few of both for an interval; and then why.
    interval_for: str
    note: str

    def taken_along(self) -> scipy.sparse.csr_array:
        """(C, P) 1 where a pair goes when cluster c is left out; no rows where there is no interval."""
        n_clusters = len(self.strata) if self.interval_for else 0
        if not n_clusters:
            return scipy.sparse.csr_array((0, len(self.first)))
        pairs, apart = np.arange(len(self.first), dtype=np.int32), self.first != self.second
        rows = np.concatenate([self.first.astype(np.int32), self.second[apart].astype(np.int32)])
        columns = np.concatenate([pairs, pairs[apart]])
        ones = np.ones(len(rows), dtype=np.int8)
        taken = scipy.sparse.csr_array((ones, (rows, columns)), shape=(n_clusters, len(self.first)))
        taken.sort_indices()
        return taken

    def redrawn(self, inside: NDArray[np.bool_], n_bootstrap: int, seed: int) -> Iterator[NDArray[np.int64]]:
        """How often each pair inside is there when clusters are drawn again: some rows of (n_bootstrap, P) at a time.

        A family brings all its systems along; so their number, and what they have in common, vary as they do.
        """
        first, second = self.first[inside], self.second[inside]
        drawn = self._drawn(n_bootstrap, np.random.default_rng(seed))
        width = max(1, _TOGETHER // max(len(first), 1))
        for begin in range(0, n_bootstrap, width):
            yield _times(drawn[begin : begin + width].T, first, second).T

    def redrawn_counts(
        self, counted: NDArray[np.bool_], n_bootstrap: int, seed: int, draw: NDArray[np.int64] | None = None
    ) -> FloatArray:
        """(H, n_bootstrap) how many pairs of each row of `counted` (H, P) are there when clusters are drawn again.

        Draws (P,), numbered from 0, are drawn again too: a pair is there as often as its clusters and its draw. The
        pairs of one draw are summed by their weights first, which are computed once for all draws.
        """
        rng = np.random.default_rng(seed)
        clusters = np.ascontiguousarray(self._drawn(n_bootstrap, rng).T, dtype=np.float64)
        draw = np.zeros(len(self.first), dtype=np.int64) if draw is None else draw
        n_draws = int(draw.max()) + 1
        draws = np.ones((1, n_bootstrap))
        if n_draws > 1:
            draws = rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_bootstrap).T.astype(np.float64)
        cells, cell = np.unique(self.first * len(clusters) + self.second, return_inverse=True)
        first, second = np.divmod(cells, len(clusters))
        row, pair = np.nonzero(counted)
        shape = (len(counted) * n_draws, len(cells))
        n_pairs = scipy.sparse.csr_array((np.ones(len(row)), (row * n_draws + draw[pair], cell[pair])), shape=shape)
        sums = np.empty((len(counted), n_bootstrap))
        width = max(1, 4 * _TOGETHER // max(shape))
        for begin in range(0, n_bootstrap, width):
            some = slice(begin, begin + width)
            by_draw = (n_pairs @ _times(clusters[:, some], first, second)).reshape(len(counted), n_draws, -1)
            sums[:, some] = (by_draw * draws[:, some]).sum(axis=1)
        return sums

    def jackknife(self, estimate: float, left_out: FloatArray) -> tuple[float, float]:
        """The 95 % interval of a positive number from its values with one cluster left out each, (C,)."""
        if not self.interval_for:
            return np.nan, np.nan
        return jackknife_interval(estimate, left_out, self.strata, self.df)

    def bootstrap(self, estimate: float, redrawn: FloatArray) -> tuple[float, float]:
        """The 95 % interval of a positive number from its values with the clusters drawn again, (R,); NaN is none.

        For percentiles of few pairs, for which the jackknife is rough. The values tell the spread, and the bias, by
        which one end is moved outwards; their own percentiles cover too rarely, since no resample has a larger gain
        than the largest seen.
        """
        known = np.log(redrawn[np.isfinite(redrawn)])
        if not self.interval_for or not len(known):
            return np.nan, np.nan
        low, high = _log_interval(estimate, self.spread(known), self.df)
        shift = float(np.exp(np.log(estimate) - known.mean()))
        return low * min(shift, 1.0), high * max(shift, 1.0)

    def spread(self, redrawn: FloatArray) -> float:
        """The standard error of a number from its values with the clusters drawn again, (R,); NaN is none."""
        n_clusters = len(self.strata)
        # Clusters drawn from C of a stratum vary by (C - 1) / C of what others would.
        inflation = n_clusters / (n_clusters - len(np.unique(self.strata)))
        return float(np.std(redrawn[np.isfinite(redrawn)]) * np.sqrt(inflation))

    def _drawn(self, n_bootstrap: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """(n_bootstrap, C) how often each cluster is there when as many of each stratum are drawn again."""
        drawn = np.zeros((n_bootstrap, len(self.strata)), dtype=np.int64)
        for stratum in np.unique(self.strata):
            members = np.flatnonzero(self.strata == stratum)
            drawn[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=n_bootstrap)
        return drawn


def _times(clusters: NDArray[Number], first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[Number]:
    """(P, R) how often each pair is there when its clusters (C, R) are: two systems of one family as often as it is."""
    return np.where((first == second)[:, None], clusters[first], clusters[first] * clusters[second])


def jackknife_interval(
    estimate: float, left_out: FloatArray, strata: NDArray[np.int64], df: float
) -> tuple[float, float]:
    """The 95 % interval of a positive number from its values with one of C clusters left out each, within strata.

    On logarithms, with t: the number is a scale, and clusters are few (Tukey 1958; Efron and Stein 1981).
    """
    values, variance = np.log(left_out), 0.0
    for stratum in np.unique(strata):
        members = values[strata == stratum]
        n = len(members)
        if n > 1:
            variance += (n - 1) / n * float(((members - members.mean()) ** 2).sum())
    return _log_interval(estimate, float(np.sqrt(variance)), df)


def redrawn_share_interval(count: FloatArray, of: FloatArray) -> tuple[float, float]:
    """The percentiles 2.5 and 97.5 of shares over resamples (R,), but for those without a pair; NaN if all are."""
    shares = count[of > 0] / of[of > 0]
    low, high = np.percentile(shares, [2.5, 97.5]) if len(shares) else (np.nan, np.nan)
    return float(low), float(high)


def weighted_percentile(values: FloatArray, weights: NDArray[np.int64], percentile: float) -> FloatArray:
    """`numpy.percentile` of values (P,), each repeated as often as a row of the weights (R, P) says; (R,).

    NaN where all weights of a row are 0.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = np.cumsum(weights[:, order], axis=1)
    total = ends[:, -1]
    position = percentile / 100 * np.maximum(total - 1, 0)
    below = np.floor(position).astype(np.int64)
    lower = (ends <= below[:, None]).sum(axis=1)
    upper = (ends <= np.minimum(below + 1, np.maximum(total - 1, 0))[:, None]).sum(axis=1)
    last = len(values) - 1
    at_lower, at_upper = ordered[np.minimum(lower, last)], ordered[np.minimum(upper, last)]
    return np.where(total > 0, at_lower + (position - below) * (at_upper - at_lower), np.nan)


def _log_interval(estimate: float, spread: float, df: float) -> tuple[float, float]:
    factor = float(np.exp(scipy.stats.t.isf(0.025, df) * spread))
    return estimate / factor, estimate * factor


def other_systems(pairs: pd.DataFrame) -> OtherSystems:
    """Decide what intervals over these pairs generalize to: other systems, other variants of these, or nothing.

    The pairs are of one test set and relation class. Without columns family_a and family_b, or without a value there,
    each system is a family of its own.
    """
    first, second, names = system_codes(pairs)
    n_systems = len(names)
    family = _families(pairs, first, second, n_systems)
    n_families = int(family.max()) + 1
    families = _in_effect(family[first], family[second], n_families)
    if families >= _LEAST_FAMILIES:
        one = np.zeros(n_families, dtype=np.int64)
        return OtherSystems(family[first], family[second], one, families - 1, OTHER_SYSTEMS, "")
    # What other variants would be like, a family of one system does not tell.
    alone = np.bincount(family)[family] == 1
    variants = _in_effect(first, second, n_systems) - n_families
    if variants >= _LEAST_VARIANTS and (alone[first] | alone[second]).mean() <= _MOST_ALONE:
        return OtherSystems(first, second, family, variants, OTHER_VARIANTS, "")
    note = f"too few systems for an interval: {n_systems} of {n_families} families"
    return OtherSystems(first, second, family, 1.0, "", note)


def every_system(pairs: pd.DataFrame) -> OtherSystems:
    """Systems that are drawn again whatever their families, and however few they are."""
    first, second, names = system_codes(pairs)
    return OtherSystems(first, second, np.zeros(len(names), dtype=np.int64), len(names) - 1.0, OTHER_SYSTEMS, "")


def _families(
    pairs: pd.DataFrame, first: NDArray[np.int64], second: NDArray[np.int64], n_systems: int
) -> NDArray[np.int64]:
    """(n_systems,) the family of each system, as whole numbers from 0."""
    if "family_a" not in pairs or "family_b" not in pairs:
        return np.arange(n_systems)
    # A row in which each system is: a million pairs have no object of Python's for each of their families.
    at_first, at_second = np.full((2, n_systems), -1)
    at_first[first] = at_second[second] = np.arange(len(first))
    of_first, of_second = pairs["family_a"].iloc[at_first], pairs["family_b"].iloc[at_second]
    known = np.where(at_second >= 0, of_second.to_numpy(dtype=object), of_first.to_numpy(dtype=object))
    named = [("system", k) if pd.isna(family) else ("family", family) for k, family in enumerate(known)]
    return np.asarray(pd.factorize(pd.Series(named, dtype=object))[0], dtype=np.int64)


def _in_effect(first: NDArray[np.int64], second: NDArray[np.int64], n_clusters: int) -> float:
    """How many clusters of equal weight these are worth, by the pairs that each is in (Kish's formula)."""
    touched = np.bincount(first, minlength=n_clusters) + np.bincount(second, minlength=n_clusters)
    touched = touched - np.bincount(first[first == second], minlength=n_clusters)
    sides = [np.flatnonzero(touched)]
    if (side := _two_sides(first, second, n_clusters)) is not None:
        # Three systems, each against thirty others, are three: what the thirty say of other systems, they say of these.
        sides = [np.flatnonzero((touched > 0) & (side == which)) for which in (False, True)]
    return min(float(touched[side].sum() ** 2 / (touched[side] ** 2).sum()) for side in sides)


def _two_sides(first: NDArray[np.int64], second: NDArray[np.int64], n_clusters: int) -> NDArray[np.bool_] | None:
    """On which of two sides each cluster is, if all pairs are of one side with the other; None if they are not.

    Every cluster is there twice, and a pair joins either copy of the one with the other copy of the other: two sides
    are what is not joined.
    """
    edges = pd.unique(np.minimum(first, second) * n_clusters + np.maximum(first, second))
    # So many edges have a triangle among them, or a loop (Mantel's theorem); all pairs of many systems are looked at no
    # further.
    if len(edges) > n_clusters**2 // 4:
        return None
    first, second = np.divmod(edges, n_clusters)
    rows = np.concatenate([first, first + n_clusters])
    columns = np.concatenate([second + n_clusters, second])
    joined = scipy.sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(2 * n_clusters,) * 2)
    part = scipy.sparse.csgraph.connected_components(joined, directed=False)[1]
    one, other = part[:n_clusters], part[n_clusters:]
    if (one == other).any():
        return None
    # The first cluster of each connected part is on the one side.
    return np.asarray(one < other, dtype=np.bool_)
