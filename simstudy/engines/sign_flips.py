"""The sign-flip test: each unit's contribution to the gain keeps its size, and a fair coin gives it its sign.

After Hemerik, Goeman and Finos (2020, "Robust testing in generalized linear models by sign flipping score
contributions"). A gain is the sum of what the units contribute to it. If the gain is 0 in the population, signs are
worth nothing, whatever the systems' variances are and however they depend on each other.

Of a mean the contributions are the units' differences: flipping them is swapping the systems' units, so the p-value
*is* the randomization test's. For right and wrong answers it is exact, since differences of 1, 0 and -1 with a mean of
0 are symmetric; for others it is exact if the systems could be exchanged, and approximate if only their means are
equal.

Where each system has a denominator of its own (precision, F), randomization tests that systems could be exchanged unit
by unit, and rejects for ever where only their scores are equal; here a unit contributes (a - R d) / D, its numerator
less what the pair's pooled ratio R makes expect of its denominator, over the system's denominator: these add up to the
gain too. Other metrics (BLEU) contribute by the jackknife.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import swap_kernels
from simstudy.engines.enumeration import flipped_shares
from simstudy.engines.exact_randomization import MOST_ENUMERATED, side_by_side
from simstudy.engines.question import Answers, Question
from simstudy.engines.randomization import randomization
from simstudy.engines.resampling import over_resamples
from simstudy.metrics.base import TIE_TOLERANCE, FloatArray
from simstudy.metrics.influence import over_denominator
from simstudy.metrics.scaling import grid_steps, on_grid

# A pair's contribution of at most so many steps of the grid is what rounding left of none.
_ROUNDED = 4


def sign_flips(question: Question) -> Answers:
    """Count, for every pair, the flips whose contributions add up to at least the gain."""
    if question.unit_scores is not None:
        found = randomization(question)
        return replace(found, exact=found.exact & question.right_or_wrong)
    parts = _contributions(question)
    computed = _enumerated(question, parts)
    if not np.isnan(computed).any():
        return Answers.resampled(None, question, computed, exact=False)
    better, worse = question.pairs

    def draw(first: int, coins: NDArray[Any]) -> None:
        swap_kernels.coin_flips(np.uint64(question.seed), np.uint64(first), coins)

    def add(sums: NDArray[Any], extreme: NDArray[np.int64]) -> None:
        swap_kernels.tally_flips(
            sums,
            question.n_systems,
            better,
            worse,
            parts.totals,
            parts.pooled,
            parts.least,
            question.two_sided,
            extreme,
        )

    extreme = over_resamples(parts.columns, draw, add, question)
    return Answers.resampled(extreme, question, computed, exact=False)


@dataclass(frozen=True)
class _Parts:
    """The units' contributions on a grid, so that a pair's are one linear combination of few columns.

    Attributes
    ----------
    columns
        (K, n), or (2 K, n) with the parts that the pooled ratio multiplies.
    pooled
        (P,) a pair's pooled ratio.
    totals
        (P,) what a pair's contributions add up to.
    least
        (P,) the gain, less what may be rounding: flips that reach it are extreme.
    step
        (P,) the step of the pair's grid.
    """

    columns: FloatArray
    pooled: FloatArray
    totals: FloatArray
    least: FloatArray
    step: FloatArray

    def of_pairs(self, question: Question, pairs: NDArray[np.intp]) -> FloatArray:
        """The contributions (P', n) to the gains of some pairs."""
        k = question.n_systems
        i, j = (side[pairs] for side in question.pairs)
        parts = self.columns[i] - self.columns[j]
        if len(self.columns) > k:
            parts -= self.pooled[pairs, None] * (self.columns[k + i] - self.columns[k + j])
        return np.asarray(parts)


def _contributions(question: Question) -> _Parts:
    i, j = question.pairs
    if question.ratio is None:
        columns = question.contributions
        gain = columns.sum(axis=1)[i] - columns.sum(axis=1)[j]
        pooled = np.zeros(question.n_pairs)
    else:
        above, below = (side.astype(np.float64) for side in question.ratio)
        of, total = below.sum(axis=1), above.sum(axis=1)
        scores = np.divide(total, of, out=np.zeros_like(of), where=of != 0)
        gain = scores[i] - scores[j]
        together = of[i] + of[j]
        pooled = np.divide(total[i] + total[j], together, out=np.zeros_like(together), where=together != 0)
        columns = np.concatenate([over_denominator(above, below), over_denominator(below, below)])
    # Whole steps of a grid add up to the same in any order.
    steps, columns = grid_steps(columns), on_grid(columns)
    sums, size, k = columns.sum(axis=1), np.abs(columns).sum(axis=1), question.n_systems
    totals, sizes, step = sums[i] - sums[j], size[i] + size[j], np.maximum(steps[i], steps[j])
    if len(columns) > k:
        totals -= pooled * (sums[k + i] - sums[k + j])
        sizes += np.abs(pooled) * (size[k + i] + size[k + j])
        step = np.maximum(step, np.abs(pooled) * np.maximum(steps[k + i], steps[k + j]))
    noise = TIE_TOLERANCE * sizes + 2 * question.n_units * step
    strict = question.convention.strict
    return _Parts(columns, pooled, totals, gain + noise if strict else gain - noise, step)


def _enumerated(question: Question, parts: _Parts) -> FloatArray:
    """The share of all flips where the units that contribute are few, NaN elsewhere (P,)."""
    share = np.full(question.n_pairs, np.nan)
    if not question.computes:
        return share
    most = MOST_ENUMERATED
    if question.monte_carlo == "auto":
        most = min(most, question.n_resamples.bit_length() - 1)
    k = question.n_systems
    contribute = np.logical_or.reduce([rows != 0 for rows in np.split(parts.columns, len(parts.columns) // k)])
    i, j = question.pairs
    few = contribute.sum(axis=1) <= most
    todo = np.array([p for p in np.flatnonzero(few[i] & few[j]) if (contribute[i[p]] | contribute[j[p]]).sum() <= most])
    todo = todo.astype(np.intp)

    def shares(pairs: NDArray[np.intp]) -> FloatArray:
        of_pairs = parts.of_pairs(question, pairs)
        return np.array(
            [
                flipped_shares(row[np.abs(row) > _ROUNDED * step], float(least), question.two_sided)
                for row, least, step in zip(of_pairs, parts.least[pairs], parts.step[pairs], strict=True)
            ]
        )

    share[todo] = side_by_side(shares, todo, question.n_jobs)
    if question.monte_carlo is False and np.isnan(share).any():
        pair = int(np.flatnonzero(np.isnan(share))[0])
        raise ValueError(
            f"monte_carlo=False can not be had for '{question.names[i[pair]]}' and '{question.names[j[pair]]}': test "
            f"'sign_flips' looks at all flips of at most {most} units for metric '{question.metric.name}'; use "
            "monte_carlo='auto' or True"
        )
    return share
