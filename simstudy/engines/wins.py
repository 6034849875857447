"""Wins, losses and ties: the units on which each system of a pair does better, and those that differ at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled, few
from simstudy.engines.question import Pairs, Question
from simstudy.engines.resampling import side_by_side
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray
from simstudy.metrics.influence import mean_slopes

# Numbers that are made together for the weights of some pairs, half a MiB: threads with far fewer wait for each other.
_TOGETHER = 2**16


def win_counts(question: Question) -> tuple[IntArray, IntArray, IntArray]:
    """Wins and losses of the better system of each pair, and the number of units that differ at all; (P,) each.

    A unit is won by the system whose statistics there, put in the place of the other's, raise the score: for a mean,
    the system with the higher unit score; for a ratio, at the pair's pooled ratio of numerators and denominators; for
    other metrics, by their mean derivative between the two systems' sums. These are the signs of
    `simstudy.metrics.influence.difference`. Units may differ and tie, as with one right word more and an equal price in
    guesses. A metric of arrays has no wins and losses.
    """
    if not question.metric.of_sums:
        return *np.zeros((2, question.n_pairs), dtype=np.int64), units_that_differ(question)
    if question.right_or_wrong:
        wins, losses = question.won
        return wins, losses, wins + losses
    statistics = question.statistics if question.ratio is None else np.stack(question.ratio, axis=-1)
    sums = statistics.sum(axis=1, dtype=np.float64)

    def fill(pairs: Pairs, counts: IntArray) -> None:
        first, second = (sums[side] for side in pairs)
        if question.unit_scores is not None:
            _count_scores(question.unit_scores, 0.0 if question.integers else TIE_TOLERANCE, pairs, counts)
        elif question.ratio is not None:
            above, below = (first + second).T
            weights = np.stack([below, -above], axis=1)
            _count_weighted(statistics, weights, 0.0 if question.integers else TIE_TOLERANCE, pairs, counts)
        else:
            weights = mean_slopes(question.metric, first, second) * question.metric.sign
            _count_weighted(statistics, weights, TIE_TOLERANCE, pairs, counts)

    wins, losses = _counts(question, fill, 2).T.copy()
    return wins, losses, wins + losses if question.unit_scores is not None else units_that_differ(question)


def units_that_differ(question: Question) -> IntArray:
    """The number of units on which the two systems of each pair have different statistics, (P,)."""
    members = np.arange(question.n_units + 1) if question.members is None else question.members
    return _counts(question, partial(_count_different, question.statistics, members), 1)[:, 0]


def _counts(question: Question, fill: Callable[[Pairs, IntArray], None], n_columns: int) -> IntArray:
    """Counts of units (P, n_columns), which `fill` makes for some pairs; without compiled loops if all are few."""

    def counted(part: NDArray[np.intp]) -> IntArray:
        counts = np.empty((len(part), n_columns), dtype=np.int64)
        with few(question.statistics[0].size * question.n_pairs):
            fill((question.pairs[0][part], question.pairs[1][part]), counts)
        return counts

    n_parts = 1 + question.n_pairs * question.statistics.shape[2] ** 2 // _TOGETHER
    return side_by_side(counted, np.arange(question.n_pairs), question.n_jobs, "wins and losses", n_parts)


@compiled
def _count_scores(scores: Array, tolerance: float, pairs: Pairs, counts: IntArray) -> None:
    """Fill wins and losses (P, 2) by unit scores (K, n)."""
    i, j = pairs
    for p in range(len(i)):
        first, second = scores[i[p]], scores[j[p]]
        wins = losses = 0
        for u in range(scores.shape[1]):
            x, y = first[u], second[u]
            noise = tolerance * max(abs(x), abs(y))
            wins += x - y > noise
            losses += y - x > noise
        counts[p] = wins, losses


@compiled
def _count_weighted(statistics: Array, weights: FloatArray, tolerance: float, pairs: Pairs, counts: IntArray) -> None:
    """Fill wins and losses (P, 2) by differences of statistics (K, n, S) times each pair's weights (P, S)."""
    i, j = pairs
    for p in range(len(i)):
        first, second, weight = statistics[i[p]], statistics[j[p]], weights[p]
        wins = losses = 0
        for u in range(statistics.shape[1]):
            worth = size = 0.0
            for s in range(statistics.shape[2]):
                # Numbers without a sign have no differences below 0.
                term = (float(first[u, s]) - float(second[u, s])) * weight[s]
                worth += term
                size += abs(term)
            wins += worth > tolerance * size
            losses += -worth > tolerance * size
        counts[p] = wins, losses


@compiled
def _count_different(statistics: Array, members: IntArray, pairs: Pairs, counts: IntArray) -> None:
    """Fill counts (P, 1) of units whose statistics (K, n, S) differ; a unit's rows are between two of `members`."""
    i, j = pairs
    for p in range(len(i)):
        first, second = statistics[i[p]], statistics[j[p]]
        counts[p, 0] = 0
        for u in range(len(members) - 1):
            different = False
            for row in range(members[u], members[u + 1]):
                for s in range(statistics.shape[2]):
                    different |= first[row, s] != second[row, s]
            counts[p, 0] += different
