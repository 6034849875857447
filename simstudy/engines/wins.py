"""The units behind a gain: on how many each system of a pair is better, worse, or level."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import few
from simstudy.engines import win_kernels
from simstudy.engines.question import Question
from simstudy.engines.resampling import side_by_side
from simstudy.metrics.base import TIE_TOLERANCE, IntArray
from simstudy.metrics.influence import ROUNDING, mean_slopes

# Numbers that are made together for the slopes of some pairs, half a MiB. Threads that make far fewer wait for each
# other: numpy's functions hold Python's lock between two arrays.
_TOGETHER = 2**16

# Numbers that are looked at without compiled loops: some 40 milliseconds.
_LITTLE = 2**16


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

    def counted(part: NDArray[np.intp]) -> IntArray:
        counts = np.empty((len(part), 2), dtype=np.int64)
        with _plain(question, part):
            _count(question, part, counts)
        return counts

    every, n_parts = np.arange(question.n_pairs), None
    if question.ratio is None:
        numbers = question.n_pairs * question.statistics.shape[2] ** 2
        n_parts = max(-(-numbers // _TOGETHER), min(2 * numbers // _TOGETHER, question.n_jobs), 1)
    better, worse = side_by_side(counted, every, question.n_jobs, "wins and losses", n_parts).T.copy()
    return better, worse, better + worse if question.unit_scores is not None else units_that_differ(question)


def units_that_differ(question: Question) -> IntArray:
    """On how many units the two systems of each pair have other statistics (P,)."""
    i, j = question.pairs
    members = np.arange(question.n_units + 1) if question.members is None else question.members

    def found(part: NDArray[np.intp]) -> IntArray:
        differ = np.empty(len(part), dtype=np.int64)
        with _plain(question, part):
            win_kernels.differing(question.statistics, members, (i[part], j[part]), differ)
        return differ

    return side_by_side(found, np.arange(question.n_pairs), question.n_jobs, "units that differ")


def _plain(question: Question, part: NDArray[np.intp]) -> AbstractContextManager[None]:
    return few(question.statistics[0].size * len(part))


def _count(question: Question, part: NDArray[np.intp], counts: IntArray) -> None:
    """Fill counts (P', 2) of some pairs."""
    i, j = pairs = (question.pairs[0][part], question.pairs[1][part])
    if question.unit_scores is not None:
        win_kernels.of_scores(question.unit_scores, 0.0 if question.integers else TIE_TOLERANCE, pairs, counts)
    elif question.ratio is not None:
        win_kernels.of_ratios(*question.ratio, 0.0 if question.integers else TIE_TOLERANCE, pairs, counts)
    else:
        sums = question.statistics.sum(axis=1, dtype=np.float64)
        slopes = mean_slopes(question.metric, sums[i], sums[j]) * (1 if question.metric.higher_is_better else -1)
        win_kernels.of_slopes(question.statistics, slopes, ROUNDING, pairs, counts)
