"""The share of *all* shuffles that are extreme, without shuffling (Yeh 2000, section 3.3, for any number of units).

Units on which two systems do not differ do not matter. Whole-number statistics have few distinct sums, whose
distribution is built up unit by unit: of one sum where the systems share their denominators (accuracy, recall), of
numerator and denominator jointly where each has its own (precision, F). Other metrics are enumerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.engines import exact_kernels
from simstudy.engines.question import Array, FloatArray, IntArray, Question
from simstudy.engines.tallies import RATIO_LIMIT, grid, on_grid, score_noise
from simstudy.metrics.base import TIE_TOLERANCE, tie_tolerance

#: A distribution may have this many cells of 8 bytes for each thread: 512 MiB.
MOST_CELLS = 2**26

#: Units times cells that exact="auto" spends on a pair: about as long as 2^20 shuffles of it take.
AUTO_STEPS = 2**24

#: Units that differ of which all shuffles are enumerated, as Yeh does (2^20 shuffles).
MOST_ENUMERATED = 20

# Shuffles that an enumeration looks at together.
_TOGETHER = 2**16


def exact_randomization(question: Question) -> FloatArray:
    """Exact p-values (P,), NaN where a pair's is to be resampled.

    Raises
    ------
    ValueError
        Where `question.exact` is True and some pair has no exact p-value within the bounds.
    """
    i, j = question.pairs
    p_value = np.full(len(i), np.nan)
    wanted = question.exact is True or (question.exact == "auto" and question.convention.name == "default")
    if not wanted:
        return p_value
    two_sided, strict = question.two_sided, question.convention.strict
    if question.ratio is not None and question.integers and _within_limit(question):
        above, below = question.ratio
        shared = question.unit_scores is not None
        counts = np.empty((len(i), 4), dtype=np.int64)
        exact_kernels.swap_counts(above, below, i, j, counts)
        units = counts[:, 0]
        if shared:
            # In floating point: a product of large differences may pass 2^63.
            cells = counts[:, 0].astype(np.float64) * counts[:, 3] + 1
            flat = counts[:, 3] <= 1
            p_value[flat] = _coin_tails(counts[flat, 1], counts[flat, 2], two_sided, strict)
        else:
            cells = np.empty(len(i))
            exact_kernels.ratio_cells(above, below, i, j, cells)
            flat = np.zeros(len(i), dtype=bool)
        small = cells <= MOST_CELLS if question.exact is True else units * cells <= AUTO_STEPS
        todo = np.flatnonzero(~flat & small)

        def tails(part: NDArray[np.intp]) -> FloatArray:
            found = np.empty(len(part))
            if shared:
                exact_kernels.swapped_sum_tails(above, i[part], j[part], strict, two_sided, found)
            else:
                exact_kernels.swapped_ratio_tails(above, below, i[part], j[part], strict, two_sided, found)
            return found

        p_value[todo] = side_by_side(tails, todo, question.n_jobs)
    else:
        units = _units_that_differ(question)
    # Under "auto" all shuffles are looked at where they are no more than those that would be drawn.
    most = MOST_ENUMERATED if question.exact is True else min(MOST_ENUMERATED, question.n_resamples.bit_length() - 1)
    todo = np.flatnonzero(np.isnan(p_value) & (units <= most))
    p_value[todo] = side_by_side(lambda part: _enumerated(question, part), todo, question.n_jobs)
    if question.exact is True and np.isnan(p_value).any():
        pair = int(np.flatnonzero(np.isnan(p_value))[0])
        _refuse(question, pair, int(units[pair]))
    return p_value


def side_by_side(work: Callable[[NDArray[np.intp]], FloatArray], todo: NDArray[np.intp], n_jobs: int) -> FloatArray:
    """`work` done for parts of `todo` in threads, and put together in its order."""
    if len(todo) == 0:
        return np.empty(0)
    parts = np.array_split(todo, min(len(todo), 8 * n_jobs if n_jobs > 1 else 1))
    with ThreadPoolExecutor(n_jobs) as threads:
        return np.concatenate(list(threads.map(work, parts)))


def _within_limit(question: Question) -> bool:
    """Whether integer arithmetic can settle ties; sums of unit scores need no settling."""
    assert question.ratio is not None
    above, below = question.ratio
    if question.unit_scores is not None:
        return True
    return bool((np.abs(above) <= below).all()) and int(below.sum(axis=1).max()) < RATIO_LIMIT // 2


def _coin_tails(more: IntArray, less: IntArray, two_sided: bool, strict: bool) -> FloatArray:
    """Where units differ by 1 or not at all: a sum of coins, so the sign test."""
    tail = np.asarray(stats.binom.cdf(less - int(strict), more + less, 0.5))
    if two_sided:
        return np.where((more == less) & (not strict), 1.0, np.minimum(2 * tail, 1.0))
    return tail


def _units_that_differ(question: Question) -> IntArray:
    i, j = question.pairs
    statistics = question.statistics
    return np.array(
        [(statistics[a] != statistics[b]).any(axis=1).sum() for a, b in zip(i, j, strict=True)], dtype=np.int64
    )


def _enumerated(question: Question, pairs: NDArray[np.intp]) -> FloatArray:
    """The share of extreme ones among all 2^m shuffles of the m units that differ, for some pairs."""
    i, j = question.pairs
    if question.unit_scores is not None:
        return np.array([_enumerate_sums(question, int(i[p]), int(j[p])) for p in pairs])
    if question.ratio is not None and question.integers:
        return np.array([_enumerate_ratios(question, int(i[p]), int(j[p])) for p in pairs])
    return np.array([_enumerate(question, question.statistics[i[p]], question.statistics[j[p]]) for p in pairs])


def _enumerate_sums(question: Question, better: int, worse: int) -> float:
    """Means of unit scores: all sums of half of the units, put together with all sums of the other half."""
    assert question.unit_scores is not None
    scores = question.unit_scores[[better, worse]]
    steps = grid(scores)
    difference = np.diff(on_grid(scores, steps)[::-1], axis=0)[0]
    sizes = np.abs(difference[difference != 0]).astype(np.float64)
    back = np.abs(difference[difference < 0]).astype(np.float64).sum()
    noise = 0.25 if question.integers else TIE_TOLERANCE * np.abs(on_grid(scores, steps)).sum(axis=1).max()
    half = len(sizes) // 2
    first = np.sort(np.concatenate([coins @ sizes[:half] for coins in _all_shuffles(half)]))
    second = np.concatenate([coins @ sizes[half:] for coins in _all_shuffles(len(sizes) - half)])

    def share(most: float) -> float:
        return float(np.searchsorted(first, most - second, side="right").sum() / 2 ** len(sizes))

    tail = share(back - noise if question.convention.strict else back + noise)
    if not question.two_sided:
        return tail
    # The sum's distribution is the same from either end; the two tails meet where there is no gain.
    tie = abs(2 * back - sizes.sum()) <= 2 * noise
    return 1.0 if tie and not question.convention.strict else min(2 * tail, 1.0)


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


def _enumerate(question: Question, better: Array, worse: Array) -> float:
    metric = question.metric
    direction = 1 if metric.higher_is_better else -1
    better, worse = better.astype(np.float64), worse.astype(np.float64)
    exchanged = (worse - better)[(better != worse).any(axis=1)]
    total_better, total_worse = better.sum(axis=0), worse.sum(axis=0)
    observed = metric.score(np.array([total_better, total_worse]))
    tolerance = float(np.maximum(tie_tolerance(metric, np.array([better, worse])), score_noise(observed)).max())
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


def _refuse(question: Question, pair: int, units: int) -> None:
    i, j = question.pairs
    names = f"'{question.names[i[pair]]}' and '{question.names[j[pair]]}'"
    if question.ratio is not None and question.integers:
        rule = f"its exact distribution would need more than {MOST_CELLS:,} cells ({8 * MOST_CELLS // 2**20} MiB)"
    else:
        rule = (
            f"metric '{question.metric.name}' has no whole-number statistics here, and all shuffles are enumerated for "
            f"at most {MOST_ENUMERATED} units"
        )
    raise ValueError(
        f"exact=True can not be had for {names}, which differ on {units:,} units: {rule}; use exact='auto' or False"
    )
