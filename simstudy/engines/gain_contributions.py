"""What units contribute to the gains of pairs if the two systems are equally good: sign flips change their signs.

A unit contributes a weighted difference of few columns of the two systems. Only the weights depend on the pair, so that
random signs times columns is one product for all pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import mean_slopes, over_denominator


class GainContributions(NamedTuple):
    """Unit u contributes sum_s weights[p, s] (columns[s, i, u] - columns[s, j, u]) to the gain of pair p = (i, j)."""

    #: (S, K, n).
    columns: Array
    #: (P, S).
    weights: FloatArray
    #: (P,) the gains, in the unit of the contributions.
    gains: FloatArray


def gain_contributions(
    statistics: Array, metric: Metric, ratio: tuple[Array, Array] | None, pairs: tuple[IntArray, IntArray]
) -> GainContributions:
    """The contributions of units to the gains of pairs, by what kind of score a metric of sums is.

    - A ratio whose denominators all systems share (accuracy, recall; clusters of any size): the units' numerators.
      Flipping them swaps the two systems' units.
    - A ratio whose denominators differ (precision, F1): (a - R d) / D, the numerator less what the pair's pooled ratio
      makes expect of the denominator, over the system's denominator. Large units are weighted up
      (`simstudy.metrics.influence.over_denominator`), so that contributions do not add up to the gain exactly.
    - Other functions of sums (BLEU, macro-F1): the statistics, by the score's gradient, averaged on the straight way
      between the two systems' sums (Aumann and Shapley 1974).

    A unit on which the two systems have equal statistics contributes nothing.

    Parameters
    ----------
    statistics
        (K, n, S).
    metric
        A metric of sums.
    ratio
        Numerators and denominators (K, n), more being better; None if the metric is no ratio.
    pairs
        The two systems of each pair, (P,) each.
    """
    i, j = pairs
    if ratio is None:
        columns = np.moveaxis(statistics, 2, 0).astype(np.float64)
        sums = columns.sum(axis=2).T
        weights = mean_slopes(metric, sums[i], sums[j]) * metric.sign
        return GainContributions(columns, weights, ((sums[i] - sums[j]) * weights).sum(axis=1))
    above, below = ratio
    if (below == below[0]).all() and below[0].sum() > 0:
        total = above.sum(axis=1, dtype=np.float64)
        return GainContributions(above[None], np.ones((len(i), 1)), total[i] - total[j])
    above, below = (side.astype(np.float64) for side in ratio)
    total, of = above.sum(axis=1), below.sum(axis=1)
    scores = np.divide(total, of, out=np.zeros_like(of), where=of != 0)
    both = of[i] + of[j]
    pooled = np.divide(total[i] + total[j], both, out=np.zeros_like(both), where=both != 0)
    columns = np.stack([over_denominator(above, below), over_denominator(below, below)])
    return GainContributions(columns, np.stack([np.ones_like(pooled), -pooled], axis=1), scores[i] - scores[j])
