"""Metrics that are no function of sums (`simstudy.metrics.arrays`), computed again on each resample.

A resample is the same row of counts for all systems, as for every other metric. The default test is the paired
bootstrap; a gain's standard error, and the interval made of it, are the bootstrap's too: a jackknife is wrong for a
median, and nobody knows what function a user brings.
"""

from __future__ import annotations

import numpy as np

from simstudy.engines import kernels
from simstudy.engines.question import Question, tolerance_of_scores
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.running.progress import doing

#: Resamples that standard errors are from, so that they are known to 2 %; it changes the stream of no seed.
N_SPREAD = 2_000

# Resamples that are drawn together.
_TOGETHER = 256


class ArrayScores:
    """Scores of a question's systems on resamples, as `simstudy.engines.summed_columns.ResampledScores` has them.

    There are no `columns` to sum: what comes in are the counts of units themselves.
    """

    def __init__(self, question: Question) -> None:
        assert isinstance(question.metric, ArrayMetric)
        self._metric, self._statistics, self._members = question.metric, question.statistics, question.members
        self.columns = np.empty((0, question.n_units), dtype=np.float32)
        self.observed = self._metric.test_set_scores(self._statistics)
        self.tolerance = tolerance_of_scores(self._metric, self._statistics, self.observed, question.pairs)
        self.size = float(np.abs(self._statistics).max())

    def of(self, counts: Array) -> FloatArray:
        """Scores (K, T) of T resamples, given how often each of n units is in each (n, T)."""
        times = _counts_of_items(counts.T, self._members)
        return np.stack([self._metric.resampled(rows, times) for rows in self._statistics])


class ArraySwaps:
    """Randomization's tally: the scores of all pairs' pseudo-systems."""

    def __init__(self, question: Question) -> None:
        self._question, self._scores = question, ArrayScores(question)
        self.columns = self._scores.columns

    def add(self, coins: Array, extreme: IntArray) -> None:
        """Add to extreme (P,) how many of T shuffles are extreme, given whether they swap each of n units (n, T)."""
        question, scores = self._question, self._scores
        assert isinstance(question.metric, ArrayMetric)
        swapped = _counts_of_items(coins.T, question.members)
        direction = question.metric.sign
        for p, (i, j) in enumerate(zip(*question.pairs, strict=True)):
            better, worse = question.metric.swapped(question.statistics[i], question.statistics[j], swapped)
            gain = direction * (better - worse)
            observed, tolerance = abs(scores.observed[i] - scores.observed[j]), scores.tolerance[p]
            bound = observed + tolerance if question.convention.strict else observed - tolerance
            extreme[p] += int(((np.abs(gain) if question.two_sided else gain) >= bound).sum())


def bootstrap_deviations(
    metric: ArrayMetric, statistics: Array, members: IntArray | None, strata: IntArray, seed: int
) -> FloatArray:
    """Deviations (K, `N_SPREAD`) of resampled scores from their mean, the sum of whose squares is a score's variance.

    Products of two systems' deviations add up to the covariance. Statistics are (K, n items, S), the items of unit u
    being those from ``members[u]`` to ``members[u + 1] - 1``; strata (H + 1,) are bounds of units.
    """
    scores = np.empty((len(statistics), N_SPREAD))
    counts = np.empty((_TOGETHER, int(strata[-1])), dtype=np.float32)
    with doing("intervals of gains", N_SPREAD * len(statistics)) as advance:
        for first in range(0, N_SPREAD, _TOGETHER):
            block = counts[: N_SPREAD - first]
            kernels.draw_counts(strata, np.uint64(seed), np.uint64(first), block)
            times = _counts_of_items(block, members)
            for k, rows in enumerate(statistics):
                scores[k, first : first + len(block)] = metric.resampled(rows, times)
                advance(len(block))
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) / np.sqrt(N_SPREAD - 1))


def _counts_of_items(counts: Array, members: IntArray | None) -> IntArray:
    """The counts of units (T, n) as those of their items."""
    whole: IntArray = counts.astype(np.int64)
    return whole if members is None else np.repeat(whole, np.diff(members), axis=1)
