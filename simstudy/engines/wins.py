"""The units behind a gain: on how many each system of a pair is better, worse, or level."""

from __future__ import annotations

import numpy as np

from simstudy.compiled import plain
from simstudy.engines.array_scores import units_that_differ
from simstudy.engines.by_arrays import little
from simstudy.engines.exact_kernels import swap_counts
from simstudy.engines.question import Question
from simstudy.engines.ties import SCALED
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import mean_slopes, weighted
from simstudy.running.progress import doing

# Pairs times units that are looked at together: 64 MiB.
_TOGETHER = 2**23


def win_counts(question: Question) -> tuple[IntArray, IntArray, IntArray]:
    """On how many units the better system of each pair does better, does worse, and differs at all; (P,) each.

    A unit counts for the system whose statistics there, put in the place of the other's, raise the score: of a mean,
    where its unit score is higher; of a ratio, where what it has more in the numerator outweighs, at the pair's pooled
    ratio, what it has more in the denominator; of other metrics by their mean derivative between the two systems' sums.
    These are the signs of `simstudy.metrics.influence.difference`.
    Units may differ and be level, as with one right word more and an equal price in guesses. Of a metric of arrays no
    unit is better or worse: only those that differ are counted.
    """
    if not question.metric.of_sums:
        none = np.zeros(question.n_pairs, dtype=np.int64)
        return none, none.copy(), units_that_differ(question)
    if question.right_or_wrong:
        better, worse = question.won
        return better, worse, better + worse
    i, j = question.pairs
    if question.unit_scores is not None and question.integers:
        scores, counts = question.unit_scores, np.empty((question.n_pairs, 4), dtype=np.int64)
        with plain(little(scores.shape[1] * question.n_pairs)):
            swap_counts(scores, np.zeros_like(scores), question.pairs, counts)
        return counts[:, 1].copy(), counts[:, 2].copy(), counts[:, 0].copy()
    better, worse, differ = np.zeros((3, question.n_pairs), dtype=np.int64)
    width = max(1, _TOGETHER // (question.n_units * question.statistics.shape[2]))
    with doing(f"wins and losses of {question.n_pairs:,} pairs", question.n_pairs) as advance:
        for first in range(0, question.n_pairs, width):
            those = slice(first, min(first + width, question.n_pairs))
            excess = _excess(question, those)
            better[those], worse[those] = (excess > 0).sum(axis=1), (excess < 0).sum(axis=1)
            if question.unit_scores is not None:
                differ[those] = better[those] + worse[those]
            else:
                differ[those] = (question.statistics[i[those]] != question.statistics[j[those]]).any(axis=2).sum(axis=1)
            advance(those.stop - first)
    return better, worse, differ


def _excess(question: Question, those: slice) -> Array:
    """How much better the better system is on each unit (P', n); only the sign means something."""
    i, j = (side[those] for side in question.pairs)
    if question.unit_scores is not None:
        return question.differences(those.start, those.stop)
    if question.ratio is not None:
        above, below = question.ratio
        totals, wholes = above.sum(axis=1), below.sum(axis=1)
        whole, total = (wholes[i] + wholes[j])[:, None], (totals[i] + totals[j])[:, None]
        more, cost = (above[i] - above[j]) * whole, (below[i] - below[j]) * total
        return question.ties.differences(more, cost, SCALED)
    return _by_derivative(question, i, j)


def _by_derivative(question: Question, i: Array, j: Array) -> FloatArray:
    metric, statistics = question.metric, question.statistics
    sums = statistics.sum(axis=1, dtype=np.float64)
    slopes = mean_slopes(metric, sums[i], sums[j]) * (1 if metric.higher_is_better else -1)
    return np.stack(
        [weighted(statistics[a] - statistics[b], slopes[p]) for p, (a, b) in enumerate(zip(i, j, strict=True))]
    )
