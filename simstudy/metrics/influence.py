"""What each unit does to a score: contributions that add up to it, by leaving units out one at a time."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.arrays import not_of_sums
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric

# A unit that carries nearly all of a denominator says nothing of its ratio: its weight is large, not infinite.
_LEAST_LEFT = 1e-3


def contributions(statistics: Array, metric: Metric) -> FloatArray:
    """Each unit's part (K, n) of each system's score, by the jackknife (Tukey 1958; Efron and Stein 1981).

    Statistics are (K systems, n units, S). A system's parts add up to its score, on the metric's scale. A unit's part
    is the score's n-th, plus what leaving that unit out takes away, centred. Of a mean it is the unit's own score over
    n. Their spread tells the score's standard error (`deviations`) for any function of sums, without a derivative;
    where few units carry a denominator it errs on the safe side, unlike the infinitesimal jackknife.
    """
    if not metric.of_sums:
        raise ValueError(not_of_sums(metric))
    n = statistics.shape[1]
    parts = np.empty(statistics.shape[:2])
    for k, of_system in enumerate(statistics):
        # One system at a time: what is held is n x S numbers, whatever K is.
        exact = of_system.astype(np.int64 if of_system.dtype.kind in "iu" else np.float64)
        total = exact.sum(axis=0)
        without = metric.score(total - exact)
        parts[k] = (n - 1) / n * (without.mean() - without) + metric.score(total) / n
    return parts


def n_undefined(statistics: Array, metric: Metric) -> IntArray:
    """For each system (K,), without how many of the units its score is undefined (0 / 0)."""
    totals = statistics.sum(axis=1, dtype=np.float64)
    return np.array(
        [int((~metric.defined(total - of_system)).sum()) for total, of_system in zip(totals, statistics, strict=True)],
        dtype=np.int64,
    )


def deviations(parts: FloatArray, strata: Array | None = None) -> FloatArray:
    """Contributions (K, n) less their mean, scaled so that the sum of their squares is the score's variance.

    Strata (H + 1,) are bounds of runs of units, each drawn to its own size; None: one run.
    """
    bounds = [0, parts.shape[1]] if strata is None else [int(bound) for bound in strata]
    centred = np.empty_like(parts)
    for first, end in zip(bounds, bounds[1:], strict=False):
        run, n = parts[:, first:end], end - first
        centred[:, first:end] = (run - run.mean(axis=1, keepdims=True)) * np.sqrt(n / max(n - 1, 1))
    return centred


def over_denominator(side: Array, below: Array) -> FloatArray:
    """Numerators or denominators of units over their system's denominator, those of large units weighted up.

    A unit that has a share h of the denominator draws the ratio to itself, so that what is left of it is too small: it
    is divided by sqrt(1 - h), as in heteroscedasticity-consistent standard errors (HC2; MacKinnon and White 1985).
    Both arrays are (K systems, n units); below are the denominators.
    """
    of = below.sum(axis=1, dtype=np.float64)
    whole = np.where(of != 0, of, 1.0)[:, None]
    return np.asarray(side / whole / np.sqrt(np.maximum(1 - below / whole, _LEAST_LEFT)))
