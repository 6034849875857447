"""Intervals of numbers over pairs of systems: for other systems, or for other variants of these families.

Pairs that share a system are dependent, and systems of one family are variants of one another: 2,775 pairs of 75
systems of 5 base models are evidence of 5 base models. So intervals leave out, or resample, clusters of systems:
families, or the systems within them if families are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.tables import system_codes

#: What an interval holds for (column interval_for).
OTHER_SYSTEMS, OTHER_VARIANTS = "other systems", "other variants of these families"

# With fewer families in effect than these (five, some larger than others), or fewer variants, coverage was below 0.9.
_LEAST_FAMILIES, _LEAST_VARIANTS = 4.5, 10
# Weights of pairs in memory at a time: 16 MiB, a few times over.
_TOGETHER = 2**21
# The largest share of pairs with a system without other variants, if variants are resampled.
_MOST_ALONE = 0.1


@dataclass(frozen=True)
class OtherSystems:
    """The clusters of systems of P pairs, for jackknife and bootstrap (`other_systems`)."""

    #: (P,) the pairs' two clusters: families, or, if families are few, systems.
    first: IntArray
    second: IntArray
    #: (C,) the stratum of each cluster: its family if clusters are systems; families are one stratum.
    strata: IntArray
    #: The effective number of clusters less the number of strata. A cluster counts by its share of the pairs, so that
    #: one large family and many small ones are few.
    df: float
    #: `OTHER_SYSTEMS`, `OTHER_VARIANTS`, or "" if there are too few clusters for an interval; and then why.
    interval_for: str
    note: str

    def pairs_by_cluster(self) -> scipy.sparse.csr_array:
        """(C, P) 1 if a pair has a system of the cluster; no rows without an interval."""
        n_clusters = len(self.strata) if self.interval_for else 0
        if not n_clusters:
            return scipy.sparse.csr_array((0, len(self.first)))
        pairs, across = np.arange(len(self.first), dtype=np.int32), self.first != self.second
        rows = np.concatenate([self.first.astype(np.int32), self.second[across].astype(np.int32)])
        columns = np.concatenate([pairs, pairs[across]])
        ones = np.ones(len(rows), dtype=np.int8)
        members = scipy.sparse.csr_array((ones, (rows, columns)), shape=(n_clusters, len(self.first)))
        members.sort_indices()
        return members

    def redrawn(self, inside: NDArray[np.bool_], n_bootstrap: int, seed: int) -> Iterator[IntArray]:
        """Weights of the pairs inside when clusters are resampled: some rows of (n_bootstrap, P) at a time.

        A pair of two clusters counts as often as both together, a pair within a cluster as often as the cluster: a
        family comes with all its systems.
        """
        first, second = self.first[inside], self.second[inside]
        clusters, _ = self._drawn(n_bootstrap, seed, 1)
        width = max(1, _TOGETHER // max(len(first), 1))
        for begin in range(0, n_bootstrap, width):
            drawn = clusters[:, begin : begin + width]
            yield np.where((first == second)[:, None], drawn[first], drawn[first] * drawn[second]).T

    def redrawn_counts(
        self, counted: NDArray[np.bool_], n_bootstrap: int, seed: int, draw: IntArray | None = None
    ) -> FloatArray:
        """(H, n_bootstrap) sums of the weights of `redrawn` over each row of `counted` (H, P).

        The draws (P,) of the pairs, whole numbers from 0, are resampled too, if there are any. Pairs of two clusters
        and one draw are counted before the sums.
        """
        draw = np.zeros(len(self.first), dtype=np.int64) if draw is None else draw
        n_draws, n_clusters = int(draw.max()) + 1, len(self.strata)
        codes, cell = np.unique(self.first * n_clusters + self.second, return_inverse=True)
        rows, pairs = np.nonzero(counted)
        shape = (len(counted) * n_draws, len(codes))
        n_pairs = scipy.sparse.csr_array((np.ones(len(rows)), (rows * n_draws + draw[pairs], cell[pairs])), shape=shape)
        cells = replace(self, first=codes // n_clusters, second=codes % n_clusters)
        _, draws = self._drawn(n_bootstrap, seed, n_draws)
        sums, begin = np.empty((len(counted), n_bootstrap)), 0
        for weights in cells.redrawn(np.ones(len(codes), dtype=np.bool_), n_bootstrap, seed):
            end = begin + len(weights)
            by_draw = np.asarray(n_pairs @ weights.T).reshape(len(counted), n_draws, -1)
            sums[:, begin:end] = (by_draw * draws[:, begin:end]).sum(axis=1)
            begin = end
        return sums

    def _drawn(self, n_bootstrap: int, seed: int, n_draws: int) -> tuple[IntArray, IntArray]:
        """Clusters (C, R) and draws (D, R) in each resample; as many clusters of each stratum as it has."""
        rng = np.random.default_rng(seed)
        clusters = np.zeros((len(self.strata), n_bootstrap), dtype=np.int64)
        for stratum in np.unique(self.strata):
            members = np.flatnonzero(self.strata == stratum)
            clusters[members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), n_bootstrap).T
        return clusters, rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), n_bootstrap).T

    def jackknife(self, estimate: float, left_out: FloatArray) -> tuple[float, float]:
        """The 95 % interval of a positive number from its values (C,) without each cluster; NaN without an interval."""
        if not self.interval_for:
            return np.nan, np.nan
        return jackknife_interval(estimate, left_out, self.df, self.strata)

    def bootstrap(self, estimate: float, redrawn: FloatArray) -> tuple[float, float]:
        """The 95 % interval of a positive number from its values (R,) over resampled clusters; NaN is no value.

        For percentiles of few pairs, for which the jackknife is rough. The values give the standard error and the bias,
        which moves one end outwards. Their own percentiles cover too rarely, since no resample has a larger gain than
        the largest observed one.
        """
        logs = np.log(redrawn[np.isfinite(redrawn)])
        low, high = _log_interval(estimate, self.spread(logs), self.df)
        shift = float(np.exp(np.log(estimate) - logs.mean()))
        return low * min(shift, 1.0), high * max(shift, 1.0)

    def spread(self, redrawn: FloatArray) -> float:
        """The standard error of a number from its values (R,) over resampled clusters; NaN is no value."""
        n_clusters = len(self.strata)
        # Resamples of C clusters of a stratum vary by (C - 1) / C of new ones.
        inflation = n_clusters / (n_clusters - len(np.unique(self.strata)))
        return float(np.std(redrawn[np.isfinite(redrawn)]) * np.sqrt(inflation))


def jackknife_interval(
    estimate: float, left_out: FloatArray, df: float, strata: IntArray | None = None
) -> tuple[float, float]:
    """The 95 % interval of a positive number, on logarithms, from its values without each of C clusters of strata.

    See Tukey (1958) and Efron and Stein (1981).
    """
    values, variance = np.log(left_out), 0.0
    strata = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    for stratum in np.unique(strata):
        members = values[strata == stratum]
        variance += (len(members) - 1) * float(members.var())
    return _log_interval(estimate, float(np.sqrt(variance)), df)


def redrawn_share_interval(counts: FloatArray, totals: FloatArray) -> tuple[float, float]:
    """The percentiles 2.5 and 97.5 of counts / totals over resamples (R,) with any pair; NaN if there are none."""
    shares = counts[totals > 0] / totals[totals > 0]
    low, high = np.percentile(shares, [2.5, 97.5]) if len(shares) else (np.nan, np.nan)
    return float(low), float(high)


def weighted_percentile(values: FloatArray, weights: IntArray, percentile: float) -> FloatArray:
    """(R,) `numpy.percentile` of values (P,) repeated by each row of the weights (R, P); NaN if all weights are 0."""
    order = np.argsort(values, kind="stable")
    ordered, ends = values[order], np.cumsum(weights[:, order], axis=1)
    total = ends[:, -1]
    position = percentile / 100 * np.maximum(total - 1, 0)
    lower, upper = (
        ordered[np.minimum((ends <= rank[:, None]).sum(axis=1), len(values) - 1)]
        for rank in (np.floor(position), np.ceil(position))
    )
    return np.where(total > 0, lower + (position - np.floor(position)) * (upper - lower), np.nan)


def _log_interval(estimate: float, spread: float, df: float) -> tuple[float, float]:
    """The 95 % interval of a positive number from the standard error of its logarithm."""
    factor = float(np.exp(scipy.stats.t.isf(0.025, df) * spread))
    return estimate / factor, estimate * factor


def other_systems(pairs: pd.DataFrame) -> OtherSystems:
    """The clusters of pairs of one test set and relation class: families, systems within them, or too few of both.

    A system without a value in family_a or family_b is a family of its own.
    """
    first, second, names = system_codes(pairs)
    n_systems = len(names)
    family = _families(pairs, first, second, n_systems)
    n_families = int(family.max()) + 1
    families = _in_effect(family[first], family[second], n_families)
    if families >= _LEAST_FAMILIES:
        one_stratum = np.zeros(n_families, dtype=np.int64)
        return OtherSystems(family[first], family[second], one_stratum, families - 1, OTHER_SYSTEMS, "")
    # A family of one system does not show how its variants would vary.
    alone = np.bincount(family)[family] == 1
    variants = _in_effect(first, second, n_systems) - n_families
    if variants >= _LEAST_VARIANTS and (alone[first] | alone[second]).mean() <= _MOST_ALONE:
        return OtherSystems(first, second, family, variants, OTHER_VARIANTS, "")
    note = f"too few systems for an interval: {n_systems} of {n_families} families"
    return OtherSystems(first, second, family, 1.0, "", note)


def every_system(pairs: pd.DataFrame) -> OtherSystems:
    """The systems of pairs as clusters of one stratum, whatever their families and however few they are."""
    first, second, names = system_codes(pairs)
    return OtherSystems(first, second, np.zeros(len(names), dtype=np.int64), len(names) - 1.0, OTHER_SYSTEMS, "")


def _families(pairs: pd.DataFrame, first: IntArray, second: IntArray, n_systems: int) -> IntArray:
    """(n_systems,) the family of each system, as whole numbers from 0."""
    if "family_a" not in pairs or "family_b" not in pairs:
        return np.arange(n_systems)
    family = np.empty(n_systems, dtype=np.int64)
    codes = pd.factorize(pd.concat([pairs["family_a"], pairs["family_b"]], ignore_index=True))[0]
    family[np.concatenate([first, second])] = codes
    alone = family < 0
    family[alone] = codes.max() + 1 + np.arange(alone.sum())
    return np.asarray(pd.factorize(family)[0], dtype=np.int64)


def _in_effect(first: IntArray, second: IntArray, n_clusters: int) -> float:
    """The effective number of clusters, by the number of pairs with each (Kish's formula)."""
    n_pairs = np.bincount(first, minlength=n_clusters) + np.bincount(second, minlength=n_clusters)
    n_pairs = n_pairs - np.bincount(first[first == second], minlength=n_clusters)
    sides = [n_pairs > 0]
    if (side := _two_sides(first, second, n_clusters)) is not None:
        # Three systems against each of thirty others are three: an interval with 32 degrees of freedom covers in 85 %.
        sides = [side & (n_pairs > 0), ~side & (n_pairs > 0)]
    return min(float(n_pairs[side].sum() ** 2 / (n_pairs[side] ** 2).sum()) for side in sides)


def _two_sides(first: IntArray, second: IntArray, n_clusters: int) -> NDArray[np.bool_] | None:
    """(C,) one of two sides, if all pairs are of the one side with the other; None if they are not.

    Every cluster is there twice, and a pair joins either copy of the one with the other copy of the other: clusters
    have two sides if no cluster is joined with its copy.
    """
    rows, columns = np.concatenate([first, first + n_clusters]), np.concatenate([second + n_clusters, second])
    joined = scipy.sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(2 * n_clusters,) * 2)
    part = scipy.sparse.csgraph.connected_components(joined, directed=False)[1]
    original, copy = part[:n_clusters], part[n_clusters:]
    return None if (original == copy).any() else np.asarray(original < copy)
