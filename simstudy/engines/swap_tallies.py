"""How the extreme shuffles of one tile are counted: a class for each kind of metric, made once for a comparison.

In randomization a coin decides for each unit whether two systems swap their statistics. With coins c, shared by all
pairs, and the picked sums m_k = c . x_k of every system, the pseudo-systems of a pair are total_i - m_i + m_j and
total_j - m_j + m_i: so coins times statistics is one matrix product for all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels, swap_kernels, ties
from simstudy.engines.array_scores import ArraySwaps
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import Question
from simstudy.engines.swap_kernels import Decisive, Summed, Tail
from simstudy.engines.tallies import ResampledScores, Tally, summable
from simstudy.engines.ties import Pairs
from simstudy.metrics.base import Array, IntArray
from simstudy.metrics.quick_kernels import WIDTH
from simstudy.metrics.scaling import on_grid

# Statistics of pseudo-systems that are scored together: they stay in a core's second-level cache.
_CELLS = 2**16

# Pairs whose quick gains are looked at together, for the same reason.
_PAIRS = 256

# Shuffles that quick gains leave undecided, until they are scored.
_UNDECIDED = 2**14

# Systems times statistics that quick gains are for: 32 MiB for each thread.
_MOST_ARRANGED = 2**15


def make_swap_tally(question: Question) -> Tally:
    """Randomization's tally that fits the question's metric and statistics; its columns are what coins pick from."""
    if not question.metric.of_sums:
        return ArraySwaps(question)
    if question.unit_scores is not None:
        return _SharedDenominators(question)
    if question.small_counts:
        return _SwappedRatios(question)
    return _SwappedScores(question)


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


class _SwappedRatios:
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


class _SwappedScores:
    """Any metric of sums: the scores of all pairs' pseudo-systems.

    Some metrics have quick gains (`Metric.quick`). A shuffle whose quick gain is too close to the observed gain is kept
    until there are many, and is decided by `Metric.score`. So the counts are those of `Metric.score`.
    """

    def __init__(self, question: Question) -> None:
        scores = ResampledScores(question)
        self._metric, self._pairs, self._two_sided = question.metric, question.pairs, question.two_sided
        self.columns = scores.columns
        # Single precision holds the sums of these columns exactly.
        few = self.columns.dtype == np.float32 and scores.rows.size <= _MOST_ARRANGED
        self._quick = question.metric.quick if few else None
        kind: type[np.floating[Any]] = np.float32 if self._quick else np.float64
        self._all_sums = scores.all_sums
        totals = self._all_sums(self.columns.sum(axis=1, dtype=kind)[:, None])[:, 0]
        self._systems = Summed(scores.rows, totals[scores.rows])
        i, j = question.pairs
        gain = np.abs(scores.observed[i] - scores.observed[j])
        self._bound = gain + scores.tolerance if question.convention.strict else gain - scores.tolerance
        # Errors of two scores; the third one covers the roundings of their difference and of the bound.
        margin = 3 * self._quick.error if self._quick else 0.0
        surely, maybe = self._bound + margin, self._bound - margin
        # Systems with equal statistics have no other gain than 0, which need not be looked at closely.
        equal = (scores.rows[i] == scores.rows[j]).all(axis=1)
        surely[equal] = maybe[equal] = np.where(self._bound[equal] > 0, np.inf, -np.inf)
        self._decisive = Decisive(surely.astype(kind), maybe.astype(kind))

    def add(self, sums: Array, extreme: IntArray) -> None:
        sums, rows = self._all_sums(sums), self._systems.rows
        n_shuffles = sums.shape[1]
        some, width = self._block(n_shuffles)
        picked = np.zeros((*rows.shape, WIDTH), np.float32) if self._quick else np.empty(0)
        undecided, n_undecided = np.empty((2, some * width + _UNDECIDED), np.int32), 0
        for begin in range(0, n_shuffles, width):
            end = min(begin + width, n_shuffles)
            if self._quick:
                swap_kernels.arrange(sums, (begin, end), rows, picked)
            for first in range(0, len(extreme), some):
                those = slice(first, first + some)
                pairs = self._pairs[0][those], self._pairs[1][those]
                if self._quick:
                    gains = np.empty((len(pairs[0]), end - begin), np.float32)
                    self._quick.gains(picked.reshape(len(rows), -1), self._systems.totals, pairs, gains)
                else:
                    gains = self._gains(sums, pairs, np.array([begin]), end - begin)
                decisive = Decisive(self._decisive.surely[those], self._decisive.maybe[those])
                n_undecided = swap_kernels.tally_gains(
                    gains, decisive, self._two_sided, extreme[those], (undecided, n_undecided, first, begin)
                )
                if n_undecided > _UNDECIDED:
                    self._decide(sums, undecided[:, :n_undecided], extreme)
                    n_undecided = 0
        self._decide(sums, undecided[:, :n_undecided], extreme)

    def _block(self, n_shuffles: int) -> tuple[int, int]:
        """How many pairs, and how many of this many shuffles, are looked at together."""
        n_pairs = len(self._bound)
        if self._quick:
            return min(n_pairs, _PAIRS), WIDTH
        cells = max(1, _CELLS // (2 * self._systems.rows.shape[1]))
        some = max(1, min(n_pairs, cells // min(n_shuffles, WIDTH)))
        return some, max(1, min(n_shuffles, cells // some))

    def _gains(self, sums: Array, pairs: Pairs, shuffles: Array, width: int = 1) -> Array:
        """Gains (P', T) of some pairs, in the `width` shuffles from one position of sums on, or in one each."""
        swapped = np.empty((self._systems.rows.shape[1], 2, len(pairs[0]), width))
        swap_kernels.swap(sums, self._systems, pairs, shuffles, swapped)
        better, worse = self._metric.score(np.moveaxis(swapped, 0, -1))
        return np.asarray(better - worse if self._metric.higher_is_better else worse - better)

    def _decide(self, sums: Array, undecided: NDArray[np.int32], extreme: IntArray) -> None:
        """Add to extreme (P,) how many of some shuffles are extreme, given their pairs and positions in sums (2, U)."""
        size = max(1, _CELLS // (2 * self._systems.rows.shape[1]))
        for first in range(0, undecided.shape[1], size):
            which, shuffles = undecided[:, first : first + size]
            gain = self._gains(sums, (self._pairs[0][which], self._pairs[1][which]), shuffles)[:, 0]
            reached = (np.abs(gain) if self._two_sided else gain) >= self._bound[which]
            extreme += np.bincount(which[reached], minlength=len(extreme))
