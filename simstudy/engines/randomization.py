"""Approximate randomization of all pairs of systems (Noreen 1989; Chinchor 1992, Table 2; Yeh 2000, section 3.3).

The share of *all* shuffles is computed where it can be. Units on which two systems do not differ do not matter.
Whole-number statistics have few distinct sums, whose distribution is built up unit by unit: of one sum where the
systems share their denominators (accuracy, recall), of numerator and denominator jointly where each has its own
(precision, F). All shuffles of few units of other metrics are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from simstudy.compiled import plain
from simstudy.engines import exact_kernels, swap_kernels, ties
from simstudy.engines.by_arrays import little
from simstudy.engines.flip_kernels import FlippedSums
from simstudy.engines.flip_tails import NOT_KNOWN, flipped_shares, never_0
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import MOST_ENUMERATED, Question, SignificanceResult, not_computed
from simstudy.engines.resampling import over_resamples, side_by_side
from simstudy.engines.swap_kernels import Tail
from simstudy.engines.swap_tallies import make_swap_tally
from simstudy.engines.tallies import Tally
from simstudy.engines.wins import units_that_differ
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.scaling import on_grid

#: A distribution may have this many cells of 8 bytes for each thread: 512 MiB.
MOST_CELLS = 2**26

#: Units times cells that monte_carlo="auto" spends on a pair: about as long as 2^20 shuffles of it take.
AUTO_STEPS = 2**24

# Shuffles that an enumeration looks at together.
_TOGETHER = 2**16


def randomization(question: Question) -> SignificanceResult:
    """The share of shuffles whose pseudo-systems differ by at least the gain: of all, or of random ones."""
    computed = _computed(question)
    return SignificanceResult.resampled(
        question, computed, lambda: drawn(question, computed, make_swap_tally), exact=True
    )


def drawn(question: Question, computed: FloatArray, tally: Callable[[Question], Tally]) -> IntArray:
    """How many shuffles are extreme, for pairs without a computed p-value; 0 for others (P,)."""
    missing = np.isnan(computed)
    i, j = question.pairs
    rest = question if missing.all() else replace(question, asked=(i[missing], j[missing]))
    extreme = np.zeros(question.n_pairs, dtype=np.int64)
    counted = tally(rest)
    extreme[missing] = over_resamples(counted.columns, swap_kernels.coin_flips, counted.add, rest)
    return extreme


def _computed(question: Question) -> FloatArray:
    """Exact p-values (P,), NaN where a pair's is to be resampled; ValueError where that must not be."""
    i, j = question.pairs
    p_value = np.full(len(i), np.nan)
    if not question.computes:
        return p_value
    if not question.metric.of_sums:
        if question.monte_carlo is False:
            raise not_computed(f"metric '{question.metric.name}', which is computed again on each shuffle")
        return p_value
    if question.right_or_wrong:
        return never_0(_coin_tails(*question.won, Tail(question.two_sided, question.convention.strict)), question)
    # Sums of whole unit scores need no settling of ties.
    if question.small_counts or (question.integers and question.unit_scores is not None):
        units = _from_distributions(question, p_value)
    else:
        units = units_that_differ(question)
    # Means are sums with random signs, of any number of units.
    todo = np.flatnonzero(np.isnan(p_value) & (question.unit_scores is not None or (units <= question.most_enumerated)))
    if question.unit_scores is not None:
        p_value[todo] = _of_sums(question, todo)
    else:
        p_value[todo] = side_by_side(lambda part: _enumerated(question, part), todo, question.n_jobs)
    if missing := question.first_missing(p_value):
        pair, names = missing
        if question.unit_scores is not None:
            rule = NOT_KNOWN
        elif question.ratio is not None and question.integers:
            rule = f"its exact distribution would need more than {MOST_CELLS:,} cells ({8 * MOST_CELLS // 2**20} MiB)"
        else:
            rule = (
                f"metric '{question.metric.name}' has no whole-number statistics here, and all shuffles are enumerated "
                f"for at most {MOST_ENUMERATED} units"
            )
        raise not_computed(f"{names}, which differ on {units[pair]:,} units: {rule}")
    return never_0(p_value, question)


def _from_distributions(question: Question, p_value: FloatArray) -> IntArray:
    """Fill in p-values (P,) where the swapped sums have a distribution within the bounds; how many units differ."""
    assert question.ratio is not None
    above, below = question.ratio
    if question.unit_scores is not None:
        above = question.unit_scores
    i, j = question.pairs
    tail = Tail(question.two_sided, question.convention.strict)
    counts = np.empty((len(i), 4), dtype=np.int64)
    with plain(little(above.shape[1] * question.n_pairs)):
        exact_kernels.swap_counts(above, below, question.pairs, counts)
    units, largest = counts[:, 0], counts[:, 3]
    shared = question.unit_scores is not None
    if shared:
        coins = largest <= 1
        p_value[coins] = _coin_tails(counts[coins, 1], counts[coins, 2], tail)
        # In floating point: a product of large differences may pass 2^63.
        cells = units.astype(np.float64) * largest + 1
    else:
        cells = np.empty(len(i))
        exact_kernels.ratio_cells(above, below, question.pairs, cells)
    within = cells <= MOST_CELLS if question.monte_carlo is False else units * cells <= AUTO_STEPS

    def tails(part: NDArray[np.intp]) -> FloatArray:
        found = np.empty(len(part))
        pairs = (i[part], j[part])
        if shared:
            with plain(little(above.shape[1] * len(part))):
                exact_kernels.swapped_sum_tails(above, pairs, tail, found)
        else:
            exact_kernels.swapped_ratio_tails(Ratio(above, below), pairs, tail, found)
        return found

    todo = np.flatnonzero(np.isnan(p_value) & within)
    p_value[todo] = side_by_side(tails, todo, question.n_jobs)
    return units


def _coin_tails(more: IntArray, less: IntArray, tail: Tail) -> FloatArray:
    """Where units differ by 1 or not at all: a sum of coins, so the sign test."""
    # Pairs with equal counts have equal p-values.
    width = less.max(initial=0) + 1
    places, counts = pd.factorize(more * width + less)
    more, less = counts // width, counts % width
    most = less - int(tail.strict)
    # P(Binomial(n, 1/2) <= k) = I(n - k, k + 1) at 1/2, the regularised incomplete beta function.
    inside = special.betainc(np.maximum(more + less - most, 1), np.maximum(most, 0) + 1, 0.5)
    share = np.where(most < 0, 0.0, np.where(most >= more + less, 1.0, inside))[places]
    return np.minimum(2 * share, 1.0) if tail.two_sided else share


def _enumerated(question: Question, pairs: NDArray[np.intp]) -> FloatArray:
    """The share of extreme ones among all 2^m shuffles of the m units that differ, for some pairs."""
    i, j = question.pairs
    if question.ratio is not None and question.integers:
        return np.array([_enumerate_ratios(question, int(i[p]), int(j[p])) for p in pairs])
    return np.array([_enumerate_scores(question, question.statistics[i[p]], question.statistics[j[p]]) for p in pairs])


def _of_sums(question: Question, which: NDArray[np.intp]) -> FloatArray:
    """Means of unit scores, of which a shuffle flips the units' differences, for some pairs."""
    assert question.unit_scores is not None
    scores, (i, j), strict = question.unit_scores, question.pairs, question.convention.strict
    nothing = np.zeros(question.n_pairs)
    if question.integers:
        sums = scores.sum(axis=1)
        # Sums differ by 2 at least, as each flip changes them by twice a difference.
        least = (sums[i] - sums[j] + (1 if strict else -1)).astype(np.float64)
        return flipped_shares(
            scores.astype(np.float64), FlippedSums(nothing, least, nothing, step=1.0, observed=0), which, question
        )
    scores = on_grid(scores)
    sums = scores.sum(axis=1)
    rounding = 2 * ties.of_pairs(question.ties.of_sums(scores), question.pairs)
    least = sums[i] - sums[j] + (rounding if strict else -rounding)
    return flipped_shares(scores, FlippedSums(nothing, least, nothing, observed=int(not strict)), which, question)


def _enumerate_ratios(question: Question, better: int, worse: int) -> float:
    """Ratios of whole numbers too large for the compiled loops: what is near a tie is settled by Python's integers."""
    assert question.ratio is not None
    above, below = (side[[better, worse]].astype(np.float64) for side in question.ratio)
    totals, wholes = [[int(x) for x in side.sum(axis=1)] for side in (above, below)]
    differ = (above[0] != above[1]) | (below[0] != below[1])
    exchanged = np.stack([above[1] - above[0], below[1] - below[0]], axis=1)[differ]
    gain = _fraction(totals[0], wholes[0]) - _fraction(totals[1], wholes[1])
    n_extreme = 0
    for coins in _all_shuffles(len(exchanged)):
        a, b = (coins @ exchanged + [totals[0], wholes[0]]).T
        c, d = sum(totals) - a, sum(wholes) - b
        first, second = (np.divide(x, y, out=np.zeros_like(x), where=y != 0) for x, y in ((a, b), (c, d)))
        excess = (np.abs(first - second) if question.two_sided else first - second) - float(gain)
        near = np.abs(excess) <= 1e-9 * (1 + np.abs(first) + np.abs(second))
        n_extreme += int((excess[~near] > 0).sum())
        kinds, counts = np.unique(np.stack([a[near], b[near]], axis=1), axis=0, return_counts=True)
        for (x, y), count in zip(kinds.astype(np.int64).tolist(), counts.tolist(), strict=True):
            exact = _fraction(x, y) - _fraction(sum(totals) - x, sum(wholes) - y)
            exact = abs(exact) if question.two_sided else exact
            n_extreme += count * int(exact > gain or (exact == gain and not question.convention.strict))
    return float(n_extreme / 2 ** len(exchanged))


def _fraction(above: int, below: int) -> Fraction:
    return Fraction(above, below) if below else Fraction(0)


def _enumerate_scores(question: Question, better: Array, worse: Array) -> float:
    """Any metric, by its scores."""
    metric = question.metric
    direction = 1 if metric.higher_is_better else -1
    better, worse = better.astype(np.float64), worse.astype(np.float64)
    exchanged = (worse - better)[(better != worse).any(axis=1)]
    total_better, total_worse = better.sum(axis=0), worse.sum(axis=0)
    observed = metric.score(np.array([total_better, total_worse]))
    tolerance = float(ties.of_scores(metric, np.array([better, worse]), observed).max())
    gain = direction * (observed[0] - observed[1])
    bound = gain + tolerance if question.convention.strict else gain - tolerance
    n_extreme = 0
    for coins in _all_shuffles(len(exchanged)):
        moved = coins @ exchanged
        drawn = direction * (metric.score(total_better + moved) - metric.score(total_worse - moved))
        n_extreme += int((drawn >= bound).sum())
        if question.two_sided:
            n_extreme += int(((-drawn >= bound) & (drawn < bound)).sum())
    return float(n_extreme / 2 ** len(exchanged))


def _all_shuffles(n_units: int) -> Iterator[FloatArray]:
    """All 2^n rows of n coins, some at a time."""
    low = min(n_units, _TOGETHER.bit_length() - 1)
    rows = (np.arange(2**low)[:, None] >> np.arange(low) & 1).astype(np.float64)
    for high in product((0.0, 1.0), repeat=n_units - low):
        yield np.hstack([rows, np.broadcast_to(high, (len(rows), n_units - low))])
