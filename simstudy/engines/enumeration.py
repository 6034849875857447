"""All shuffles of few units, one by one (Yeh 2000, section 3.3), for what has no distribution of whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import ties
from simstudy.engines.question import Question
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.scaling import on_grid

# Shuffles that an enumeration looks at together.
_TOGETHER = 2**16


def enumerated(question: Question, pairs: NDArray[np.intp]) -> FloatArray:
    """The share of extreme ones among all 2^m shuffles of the m units that differ, for some pairs."""
    i, j = question.pairs
    if question.unit_scores is not None:
        return np.array([_enumerate_sums(question, int(i[p]), int(j[p])) for p in pairs])
    if question.ratio is not None and question.integers:
        return np.array([_enumerate_ratios(question, int(i[p]), int(j[p])) for p in pairs])
    return np.array([_enumerate(question, question.statistics[i[p]], question.statistics[j[p]]) for p in pairs])


def _enumerate_sums(question: Question, better: int, worse: int) -> float:
    """Means of unit scores, of which a shuffle flips the units' differences."""
    assert question.unit_scores is not None
    scores = question.unit_scores[[better, worse]]
    if not question.integers:
        scores = on_grid(scores)
    difference = (scores[0] - scores[1]).astype(np.float64)
    rounding, strict = 2 * float(question.ties.of_sums(scores).max()), question.convention.strict
    least = difference.sum() + (rounding if strict else -rounding)
    return flipped_share(difference[difference != 0], least, question.two_sided, observed=not strict)


def flipped_share(contributions: FloatArray, least: float, two_sided: bool, observed: bool = True) -> float:
    """The share of all 2^m flips of m contributions that add up to `least` or more, or, two-sided, as far from 0.

    What was observed is one of the flips: where it counts, it does so although rounding may leave it below `least`.

    Examples
    --------
    >>> flipped_share(np.array([3.0, 1.0, 1.0]), 3.0, two_sided=False)   # 5, 3 and 3 of 8
    0.375
    """
    if two_sided and least <= 0:
        return 1.0
    # A flip turns |c| into -|c|: of all sizes together, twice those that are turned are taken off. All sums of some of
    # the first half of the sizes are put together with all of the second.
    sizes, half = np.abs(contributions), len(contributions) // 2
    first = np.sort(np.concatenate([coins @ sizes[:half] for coins in _all_shuffles(half)]))
    second = np.concatenate([coins @ sizes[half:] for coins in _all_shuffles(len(sizes) - half)])
    count = int(np.searchsorted(first, (sizes.sum() - least) / 2 - second, side="right").sum())
    share = max(count, int(observed)) / 2 ** len(sizes)
    return float(min(2 * share, 1.0) if two_sided else share)


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
