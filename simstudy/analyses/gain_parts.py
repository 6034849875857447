"""What each unit contributes to the gain of every pair of systems, as if the two were equally good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.base import Array, FloatArray, Metric
from simstudy.metrics.influence import over_denominator

# Contributions that differ by less than this part of their size differ by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class GainParts:
    """Contributions of n units to the gains of all pairs of K systems, held as a few numbers a system and unit.

    Unit i contributes ``parts[j, i] - parts[k, i] - pooled[j, k] * (shares[j, i] - shares[k, i])`` to the gain of j
    over k; without shares the last term is not there.

    Attributes
    ----------
    scores
        (K,), higher is better, on the scale of the parts.
    parts, shares
        (K, n).
    pooled
        (K, K), symmetric.
    unknown
        (K,) systems whose contributions mean nothing: they differ from none.
    """

    scores: FloatArray
    parts: FloatArray
    unknown: NDArray[np.bool_]
    shares: FloatArray | None = None
    pooled: FloatArray | None = None

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
            difference = self.parts[j] - self.parts[k]
            if self.shares is not None and self.pooled is not None:
                difference -= self.pooled[j, k] * (self.shares[j] - self.shares[k])
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
    """What units contribute to gains under the hypothesis that two systems are equally good.

    Of a ratio whose denominators all systems share (accuracy, recall; clusters of any size) they are the units'
    numerators over the denominator: sign flips swap the two systems' units. Where each system has a denominator of its
    own (precision, F), a unit contributes its numerator less what the pair's pooled ratio makes expect of its
    denominator, over the system's denominator (`simstudy.metrics.influence.over_denominator`). Of other metrics they
    are the jackknife's.

    The jackknife's contributions (K, n) are those of `simstudy.metrics.influence.contributions`; unknown are systems
    (K,) whose score is undefined without one of the units.

    Examples
    --------
    >>> from simstudy.metrics import METRICS
    >>> from simstudy.metrics.influence import contributions
    >>> statistics = np.array([[[3, 4], [0, 1]], [[2, 4], [1, 1]]])
    >>> metric = METRICS["accuracy"]
    >>> found = gain_parts(statistics, metric, contributions(statistics, metric), np.zeros(2, dtype=bool))
    >>> (found.parts[0] - found.parts[1]).tolist()
    [20.0, -20.0]
    """
    turned = 1.0 if metric.higher_is_better else -1.0
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
