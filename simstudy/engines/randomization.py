"""Approximate randomization of all pairs of systems (Noreen 1989; Chinchor 1992, Table 2; Yeh 2000, section 3.3).

A shuffle swaps the two systems' statistics of each unit by a fair coin. Where the systems share their denominators
(accuracy, recall, a mean) it flips the units' differences (`simstudy.engines.sign_flips`). Of ratios with a denominator
each (precision, F) whole numbers have a joint distribution of numerator and denominator, which is built up unit by
unit. All shuffles of few units are looked at. Others are drawn: with coins c, shared by all pairs, and the picked sums
m_k = c . x_k of every system, the pseudo-systems of a pair have total_i - m_i + m_j and total_j - m_j + m_i, so that
coins times statistics is one matrix product for all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels
from simstudy.engines.array_scores import ArraySwaps
from simstudy.engines.exact_distributions import joint_cells, joint_tails
from simstudy.engines.kernels import Ratio, Tail
from simstudy.engines.question import Question, SignificanceResult, tolerance_of_scores
from simstudy.engines.resampling import Tally, count_shuffles, side_by_side
from simstudy.engines.sign_flips import flipped
from simstudy.engines.summed_columns import ResampledScores, summable
from simstudy.engines.wins import units_that_differ
from simstudy.metrics.base import Array, FloatArray, IntArray

#: Units times cells of a joint distribution that take as long as a shuffle; and shuffles that are always worth it.
STEPS_OF_SHUFFLE, LEAST_SHUFFLES = 16, 2**20

#: Units that differ of which all shuffles are looked at, as Yeh does (2^20 shuffles), but no more shuffles than drawn.
MOST_ENUMERATED = 20

# Shuffles that an enumeration looks at together; statistics of pseudo-systems that are scored together, which stay in a
# core's second-level cache; and shuffles of a block of them.
_TOGETHER, _CELLS, _WIDTH = 2**16, 2**16, 256


def randomization(question: Question) -> SignificanceResult:
    """The share of shuffles whose pseudo-systems differ by at least the gain: of all, or of random ones."""
    if question.metric.of_sums and question.unit_scores is not None:
        return flipped(question, exact_level=True)
    p_value = np.full(question.n_pairs, np.nan)
    if question.computes and question.metric.of_sums:
        p_value = _exact_shares(question)
    drawn, (better, worse) = np.isnan(p_value), question.pairs
    n_extreme = np.zeros(question.n_pairs, dtype=np.int64)
    if drawn.any():
        rest = question.about((better[drawn], worse[drawn]))
        n_extreme[drawn] = count_shuffles(make_tally(rest), rest)
    return SignificanceResult.of_gains(question, p_value, n_extreme, exact_level=True)


def _exact_shares(question: Question) -> FloatArray:
    """The share of all shuffles (P,) where it is computed; NaN for other pairs."""
    p_value = np.full(question.n_pairs, np.nan)
    n_differ = units_that_differ(question)
    i, j = question.pairs
    if question.small_counts:
        assert question.ratio is not None
        sides = Ratio(*(side.astype(np.int64) for side in question.ratio))
        cells = np.empty(question.n_pairs)
        joint_cells(sides, question.pairs, cells)

        def shares(part: NDArray[np.intp]) -> FloatArray:
            tails = np.empty(len(part))
            joint_tails(sides, (i[part], j[part]), Tail(question.two_sided, strict=False), tails)
            return tails

        most_steps = STEPS_OF_SHUFFLE * max(question.n_resamples, LEAST_SHUFFLES)
        within = np.flatnonzero(n_differ * cells <= most_steps)
        p_value[within] = side_by_side(shares, within, question.n_jobs)
    most = min(MOST_ENUMERATED, question.n_resamples.bit_length() - 1)
    todo = np.flatnonzero(np.isnan(p_value) & (n_differ <= most))
    p_value[todo] = side_by_side(lambda part: _enumerated_shares(question, part), todo, question.n_jobs)
    return p_value


def _enumerated_shares(question: Question, pairs: NDArray[np.intp]) -> FloatArray:
    """The share of extreme ones among all 2^m shuffles of the m units that differ, for some pairs."""
    metric, (i, j) = question.metric, question.pairs
    direction = metric.sign
    shares = np.empty(len(pairs))
    for k, p in enumerate(pairs):
        both = question.statistics[[i[p], j[p]]].astype(np.float64)
        moves = (both[1] - both[0])[(both[0] != both[1]).any(axis=1)]
        totals = both.sum(axis=1)
        observed = metric.score(totals)
        (tolerance,) = tolerance_of_scores(metric, both, observed, (np.array([0]), np.array([1])))
        bound = direction * (observed[0] - observed[1]) - tolerance
        n_extreme = 0
        for coins in _all_coins(len(moves)):
            moved = coins @ moves
            gains = direction * (metric.score(totals[0] + moved) - metric.score(totals[1] - moved))
            n_extreme += int(((np.abs(gains) if question.two_sided else gains) >= bound).sum())
        shares[k] = n_extreme / 2 ** len(moves)
    return shares


def _all_coins(n_units: int) -> Iterator[FloatArray]:
    """All 2^n rows of n coins, some at a time."""
    low = min(n_units, _TOGETHER.bit_length() - 1)
    rows = (np.arange(2**low)[:, None] >> np.arange(low) & 1).astype(np.float64)
    for high in product((0.0, 1.0), repeat=n_units - low):
        yield np.hstack([rows, np.broadcast_to(high, (len(rows), n_units - low))])


def make_tally(question: Question) -> Tally:
    """Randomization's tally that fits the question's metric and statistics; its columns are what coins pick from."""
    if not question.metric.of_sums:
        return ArraySwaps(question)
    return _SwappedRatios(question) if question.small_counts else _SwappedScores(question)


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
        kernels.count_swapped_ratios(sums, self._pairs, self._observed, self._tail, extreme)


class _SwappedScores:
    """Any metric of sums: the scores of all pairs' pseudo-systems."""

    def __init__(self, question: Question) -> None:
        self._question, self._scores = question, ResampledScores(question)
        self.columns = self._scores.columns
        rows = self._scores.rows
        self._totals = self._scores.all_sums(self.columns.sum(axis=1, dtype=np.float64)[:, None])[rows, 0]
        i, j = question.pairs
        gain, tolerance = np.abs(self._scores.observed[i] - self._scores.observed[j]), self._scores.tolerance
        self._bound = gain + tolerance if question.convention.strict else gain - tolerance

    def add(self, sums: Array, extreme: IntArray) -> None:
        metric, rows, (i, j) = self._question.metric, self._scores.rows, self._question.pairs
        sums = self._scores.all_sums(sums)
        n_statistics = rows.shape[1]
        for first in range(0, sums.shape[1], _WIDTH):
            width = min(_WIDTH, sums.shape[1] - first)
            some = max(1, _CELLS // (2 * n_statistics * width))
            for begin in range(0, len(extreme), some):
                block = slice(begin, begin + some)
                swapped = np.empty((n_statistics, 2, len(i[block]), width))
                kernels.swap_sums(sums, self._totals, rows, (i[block], j[block]), first, swapped)
                better, worse = metric.score(np.moveaxis(swapped, 0, -1))
                gains = better - worse if metric.higher_is_better else worse - better
                reached = (np.abs(gains) if self._question.two_sided else gains) >= self._bound[block, None]
                extreme[block] += reached.sum(axis=1)
