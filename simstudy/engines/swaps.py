"""How randomization counts on one tile of shuffles: one class for each kind of metric.

For each unit a coin decides whether two systems swap their statistics. With coins c, shared by all pairs, and the
picked sums m_k = c . x_k of every system, the pseudo-systems of a pair are total_i - m_i + m_j and total_j - m_j + m_i:
so coins times statistics is one matrix product for all pairs, and what remains per pair is cheap.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels, swap_kernels, ties
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import Question
from simstudy.engines.swap_kernels import Tail
from simstudy.engines.tallies import ResampledScores, summable
from simstudy.metrics.base import Array, IntArray
from simstudy.metrics.scaling import on_grid

# Pseudo-systems' statistics that the general tally holds at a time.
_PSEUDO_SYSTEMS = 2**18


class SwapTally(Protocol):
    """Which columns the coins pick from, and what to count in the picked sums."""

    columns: Array
    """(C, n), single or double precision: what the matrix product sums."""

    def add(self, sums: Array, extreme: IntArray) -> None:
        """Add to extreme (P,) how often the pseudo-systems' gain is extreme, given picked sums (C, T)."""


def make_swap_tally(question: Question) -> SwapTally:
    """The tally that fits the question's metric and statistics."""
    if question.unit_scores is not None:
        return _SharedDenominators(question)
    if question.small_counts:
        return _OwnRatios(question)
    return _Scores(question)


class _SharedDenominators:
    """Means of unit scores (accuracy, recall, ratings): gain* = gain - 2 (m_i - m_j), so only m_i and m_j compare."""

    def __init__(self, question: Question) -> None:
        scores = question.unit_scores
        assert scores is not None
        self._pairs = question.pairs
        self._strict, self._two_sided = question.convention.strict, question.two_sided
        self.columns = summable(scores) if question.integers else on_grid(scores)
        self._totals = (scores if question.integers else self.columns).sum(axis=1)
        margin = ties.of_pairs(question.ties.of_sums(self.columns), question.pairs)
        self._margin = (margin if self._strict else -margin).astype(self.columns.dtype)

    def add(self, sums: Array, extreme: IntArray) -> None:
        kernels.tally(-sums, self._pairs, self._margin, extreme)
        if self._two_sided:
            kernels.tally(sums - self._totals[:, None].astype(sums.dtype), self._pairs, self._margin, extreme)


class _OwnRatios:
    """Integer numerators over a denominator for each system (precision, F): integers settle what is near a tie."""

    def __init__(self, question: Question) -> None:
        assert question.ratio is not None
        above, below = question.ratio
        self._pairs = question.pairs
        self._observed = Ratio(above.sum(axis=1), below.sum(axis=1))
        self._tail = Tail(question.two_sided, question.convention.strict)
        self.columns = summable(np.concatenate([above, below]))

    def add(self, sums: Array, extreme: IntArray) -> None:
        swap_kernels.tally_swapped_ratios(sums, self._pairs, self._observed, self._tail, extreme)


class _Scores:
    """Any metric of sums: the scores of all pairs' pseudo-systems in double precision."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._scores = ResampledScores(question)
        self.columns = self._scores.columns
        ones = np.ones((self.columns.shape[1], 1))
        self._totals = self._scores.statistics(self.columns.astype(np.float64) @ ones)

    def add(self, sums: Array, extreme: IntArray) -> None:
        picked = self._scores.statistics(sums)
        n_statistics, _, n_shuffles = picked.shape
        better, worse = self._question.pairs
        # Of many pairs few shuffles at a time, and of very many some pairs: what is held stays within bounds.
        some = max(1, min(len(better), _PSEUDO_SYSTEMS // (n_statistics * min(n_shuffles, 64))))
        width = max(1, _PSEUDO_SYSTEMS // (some * n_statistics))
        for first in range(0, len(better), some):
            those = slice(first, first + some)
            for begin in range(0, n_shuffles, width):
                part = picked[:, :, begin : begin + width]
                extreme[those] += self._count(those, part[:, worse[those]] - part[:, better[those]])

    def _count(self, those: slice, exchanged: NDArray[np.float64]) -> Any:
        """For some pairs, given what their shuffles exchange (S, P', T): counts (P',)."""
        metric, scores = self._question.metric, self._scores
        i, j = (side[those] for side in self._question.pairs)
        better, worse = self._totals[:, i] + exchanged, self._totals[:, j] - exchanged
        gain = metric.score(np.moveaxis(better, 0, -1)) - metric.score(np.moveaxis(worse, 0, -1))
        observed = np.abs(scores.observed[i] - scores.observed[j])[:, None]
        tolerance = scores.tolerance[those, None]
        bound = observed + tolerance if self._question.convention.strict else observed - tolerance
        if self._question.two_sided:
            extreme = np.abs(gain) >= bound
        else:
            extreme = (gain if metric.higher_is_better else -gain) >= bound
        return extreme.sum(axis=1)
