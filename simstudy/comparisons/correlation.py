"""How correlated two systems are on the units of a test set, and what assuming independence costs (Yeh 2000, 2.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import contributions
from simstudy.metrics.scaling import rescaled
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import in_units
from simstudy.pairs import relations
from simstudy.validation import InputError

# Below this part of both variances together, the variance of their difference is rounding.
_ROUNDING = 1e-12


def correlation(outputs: Outputs, *, unit: str | None = None) -> pd.DataFrame:
    """Correlation r12 of every two systems over resampling units (Yeh 2000, section 2.1).

    r12 = sum_k (y1k - y1) (y2k - y2) / ((n - 1) s1 s2), where y1k is the first system's score of unit k of n, and y1
    and s1 are the mean and standard deviation of these. Systems that find the same units easy have r12 > 0, and the
    standard deviation of their gain is sqrt((s1^2 + s2^2 - 2 r12 s1 s2) / n): smaller than for independent systems.

    Parameters
    ----------
    outputs
        At least two systems, on at least two units. For a ratio of sums (accuracy, recall, mean, F1, attachment scores)
        a unit's deviation is its numerator less the system's score times its denominator: so long sentences do not
        correlate with long sentences, and with denominators of 1 it is y_k less its mean. For other metrics (BLEU,
        chrF) it is the unit's part in the score by the jackknife.
    unit
        The resampling unit, as for `compare`: "item", or a column of the items that names clusters. None: clusters
        where the items have a column ``cluster``, else items.

    Returns
    -------
    correlations
        One row for each pair, in the order of `simstudy.compare`: task, test_set, n_items, metric, system_a (the
        better one), system_b, relation, r12 (NaN if a system's scores of units do not vary), sd_independent and
        sd_paired (standard deviation of the gain with r12 = 0 and with this r12; metric's scale), and their ratio: how
        many times larger a gain must be under independence (inf if sd_paired is 0).

    Raises
    ------
    ValueError
        For fewer than two systems, or a single unit.

    Examples
    --------
    Two systems that are right on 2 of 4 items, on one of these both:

    >>> frame = pd.DataFrame({"a": [1, 1, 0, 0], "b": [1, 0, 1, 0], "c": [1, 1, 1, 0]})
    >>> table = correlation(Outputs.from_scores(frame, "accuracy"))
    >>> table[["system_a", "system_b", "r12", "ratio"]].round(3).values.tolist()
    [['c', 'a', 0.577, 1.528], ['c', 'b', 0.577, 1.528], ['a', 'b', 0.0, 1.0]]
    """
    require_outputs(outputs)
    ranked = in_units(outputs.best_first(), unit)
    parts, sizes, factor = _deviations(ranked)
    n = ranked.n_items
    # A system whose scores are all equal has no deviations at all, not those of rounding.
    varies = np.abs(parts).max(axis=1) > _ROUNDING * sizes
    deviations = np.where(varies[:, None], parts, 0.0)
    i, j = np.triu_indices(ranked.n_systems, k=1)
    covariance = deviations @ deviations.T / (n - 1)
    variance = np.diag(covariance)
    independent = variance[i] + variance[j]
    paired = independent - 2 * covariance[i, j]
    paired = np.where(paired > _ROUNDING * independent, paired, 0.0)
    # 0 / 0 is NaN and x / 0 is inf.
    with np.errstate(divide="ignore", invalid="ignore"):
        r12 = np.clip(covariance[i, j] / np.sqrt(variance[i] * variance[j]), -1, 1)
        ratio = np.sqrt(independent / paired)
    names, family = np.array(ranked.names, dtype=object), ranked.systems["family"].to_numpy()
    return pd.DataFrame(
        {
            "task": outputs.task,
            "test_set": outputs.test_set,
            "n_items": outputs.n_items,
            "metric": outputs.metric.name,
            "system_a": names[i],
            "system_b": names[j],
            "relation": relations(family[i], family[j]),
            "r12": r12,
            "sd_independent": factor * np.sqrt(independent / n),
            "sd_paired": factor * np.sqrt(paired / n),
            "ratio": ratio,
        }
    )


def _deviations(outputs: Outputs) -> tuple[FloatArray, FloatArray, float]:
    """Deviations of units (K, n) and their sizes (K,), whose mean times the factor is the score; the factor."""
    k, n = outputs.n_systems, outputs.n_items
    if k < 2 or n < 2:
        raise InputError("outputs", f"must have at least 2 systems and 2 resampling units, not {k} and {n}")
    metric = outputs.metric
    statistics, factor = rescaled(outputs.statistics, metric)
    ratio = metric.ratio(statistics)
    if ratio is None:
        parts = contributions(statistics, metric) * n
        return parts - parts.mean(axis=1, keepdims=True), np.abs(parts).max(axis=1), factor
    above, below = (side.astype(np.float64) for side in ratio)
    totals = below.sum(axis=1, keepdims=True)
    totals[totals == 0] = np.inf
    scales = metric.scale * n / totals
    expected = above.sum(axis=1, keepdims=True) / totals * below
    return (above - expected) * scales, np.abs(above).max(axis=1) * scales[:, 0], factor
