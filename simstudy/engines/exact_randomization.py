"""The share of *all* shuffles that are extreme, without shuffling (Yeh 2000, section 3.3, for any number of units).

Units on which two systems do not differ do not matter. Whole-number statistics have few distinct sums, whose
distribution is built up unit by unit: of one sum where the systems share their denominators (accuracy, recall), of
numerator and denominator jointly where each has its own (precision, F). Other metrics are enumerated.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.engines import exact_kernels
from simstudy.engines.enumeration import enumerated
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import MOST_ENUMERATED, Question, not_computed
from simstudy.engines.swap_kernels import Tail
from simstudy.metrics.base import FloatArray, IntArray

#: A distribution may have this many cells of 8 bytes for each thread: 512 MiB.
MOST_CELLS = 2**26

#: Units times cells that monte_carlo="auto" spends on a pair: about as long as 2^20 shuffles of it take.
AUTO_STEPS = 2**24


def exact_randomization(question: Question) -> FloatArray:
    """Exact p-values (P,), NaN where a pair's is to be resampled; ValueError where that must not be."""
    i, j = question.pairs
    p_value = np.full(len(i), np.nan)
    if not question.computes:
        return p_value
    # Sums of whole unit scores need no settling of ties.
    if question.small_counts or (question.integers and question.unit_scores is not None):
        units = _from_distributions(question, p_value)
    else:
        rows = question.statistics
        units = np.array([(rows[a] != rows[b]).any(axis=1).sum() for a, b in zip(i, j, strict=True)], dtype=np.int64)
    todo = np.flatnonzero(np.isnan(p_value) & (units <= question.most_enumerated))
    p_value[todo] = side_by_side(lambda part: enumerated(question, part), todo, question.n_jobs)
    if missing := question.first_missing(p_value):
        pair, names = missing
        if question.ratio is not None and question.integers:
            rule = f"its exact distribution would need more than {MOST_CELLS:,} cells ({8 * MOST_CELLS // 2**20} MiB)"
        else:
            rule = (
                f"metric '{question.metric.name}' has no whole-number statistics here, and all shuffles are enumerated "
                f"for at most {MOST_ENUMERATED} units"
            )
        raise not_computed(f"{names}, which differ on {units[pair]:,} units: {rule}")
    return p_value


def _from_distributions(question: Question, p_value: FloatArray) -> IntArray:
    """Fill in p-values (P,) where the swapped sums have a distribution within the bounds; how many units differ."""
    assert question.ratio is not None
    above, below = question.ratio
    if question.unit_scores is not None:
        above = question.unit_scores
    i, j = question.pairs
    tail = Tail(question.two_sided, question.convention.strict)
    counts = np.empty((len(i), 4), dtype=np.int64)
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
            exact_kernels.swapped_sum_tails(above, pairs, tail, found)
        else:
            exact_kernels.swapped_ratio_tails(Ratio(above, below), pairs, tail, found)
        return found

    todo = np.flatnonzero(np.isnan(p_value) & within)
    p_value[todo] = side_by_side(tails, todo, question.n_jobs)
    return units


def side_by_side(work: Callable[[NDArray[np.intp]], FloatArray], todo: NDArray[np.intp], n_jobs: int) -> FloatArray:
    """`work` done for parts of `todo` in threads, and put together in its order."""
    if len(todo) == 0:
        return np.empty(0)
    parts = np.array_split(todo, min(len(todo), 8 * n_jobs if n_jobs > 1 else 1))
    with ThreadPoolExecutor(n_jobs) as threads:
        return np.concatenate(list(threads.map(work, parts)))


def _coin_tails(more: IntArray, less: IntArray, tail: Tail) -> FloatArray:
    """Where units differ by 1 or not at all: a sum of coins, so the sign test."""
    share = np.asarray(stats.binom.cdf(less - int(tail.strict), more + less, 0.5))
    if tail.two_sided:
        return np.where((more == less) & (not tail.strict), 1.0, np.minimum(2 * share, 1.0))
    return share
