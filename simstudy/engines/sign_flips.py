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
less what the pair's pooled ratio R makes expect of its denominator, over the system's denominator. These add up to the
gain; but each is divided by sqrt(1 - h), where h is the unit's share d / D of the denominator
(`simstudy.metrics.influence.over_denominator`), and weighted in this way they do not. Their flipped sums are compared
with the gain itself. Other metrics (BLEU) contribute by the jackknife, and these contributions add up to the gain.

The share of all flips is the tail of a sum of numbers with random signs: `simstudy.engines.flip_kernels` counts or
integrates it, with a bound of the error. Flips are drawn where that bound is too large, or where they are asked for.

The second test here corrects for skewness. Sign flips take contributions to be symmetric around 0, or many. If they are
neither, the gain and its standard error depend on each other: where large contributions are rare and none (or many) of
them was drawn, both are wrong in the same direction. Hall (1992, "On the removal of skewness by transformation")
corrects the t statistic for that by g(t) = t + a (t^2 / 3 + 1 / 6) + a^2 t^3 / 27, which grows with t; a is the sample
skewness over the square root of n. The correction itself is wrong too often where contributions are symmetric and have
heavy tails. So the p-value is the larger of the two: never below that of sign flips, and exact where sign flips are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from simstudy.engines import swap_kernels
from simstudy.engines.flip_kernels import FlippedSums
from simstudy.engines.flip_tails import NOT_KNOWN, flipped_shares, never_0
from simstudy.engines.intervals import spread
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import Question, SignificanceResult, not_computed
from simstudy.engines.randomization import drawn, randomization
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray
from simstudy.metrics.influence import over_denominator
from simstudy.metrics.scaling import grid_steps, on_grid

# A pair's contribution of at most so many steps of the grid is what rounding left of none.
_ROUNDED = 4


def sign_flips(question: Question) -> SignificanceResult:
    """The share of all flips whose contributions add up to at least the gain; of random ones if that is not known.

    The study error_rates has its level by condition: close to the nominal one on 100 units and more, except for
    strongly skewed differences and for precisions of few wrong answers, where it rejects up to 0.3 at 0.05.
    """
    if question.right_or_wrong or question.unit_scores is not None:
        found = randomization(question)
        return replace(found, exact=found.exact & question.right_or_wrong)
    computed = _computed(question)
    return SignificanceResult.resampled(
        question, computed, lambda: drawn(question, computed, FlippedContributions), exact=False
    )


class FlippedContributions:
    """The units' contributions on a grid, so that a pair's are one linear combination of few columns.

    The columns are (K, n), or (2 K, n) with the parts that a pair's pooled ratio multiplies. Of each pair (P,) there
    are this ratio, what the contributions add up to, the step of their grid, and the gain, less what may be rounding:
    flips that reach it are extreme.
    """

    def __init__(self, question: Question) -> None:
        self._question, k, (i, j) = question, question.n_systems, question.pairs
        if question.ratio is None:
            columns = question.contributions
            gain = columns.sum(axis=1)[i] - columns.sum(axis=1)[j]
            self._pooled = np.zeros(question.n_pairs)
        else:
            above, below = (side.astype(np.float64) for side in question.ratio)
            of, total = below.sum(axis=1), above.sum(axis=1)
            scores = np.divide(total, of, out=np.zeros_like(of), where=of != 0)
            gain = scores[i] - scores[j]
            both = of[i] + of[j]
            self._pooled = np.divide(total[i] + total[j], both, out=np.zeros_like(both), where=both != 0)
            columns = np.concatenate([over_denominator(above, below), over_denominator(below, below)])
        # Whole steps of a grid add up to the same in any order.
        steps, self.columns = grid_steps(columns), on_grid(columns)
        sums, size = self.columns.sum(axis=1), np.abs(self.columns).sum(axis=1)
        self._totals, sizes, self.step = sums[i] - sums[j], size[i] + size[j], np.maximum(steps[i], steps[j])
        if len(columns) > k:
            self._totals -= self._pooled * (sums[k + i] - sums[k + j])
            sizes += np.abs(self._pooled) * (size[k + i] + size[k + j])
            self.step = np.maximum(self.step, np.abs(self._pooled) * np.maximum(steps[k + i], steps[k + j]))
        noise = TIE_TOLERANCE * sizes + 2 * question.n_units * self.step
        self.least = gain + noise if question.convention.strict else gain - noise

    def add(self, sums: Array, extreme: IntArray) -> None:
        k, pairs = self._question.n_systems, self._question.pairs
        unflipped = swap_kernels.Contributions(self._totals, self._pooled, self.least)
        swap_kernels.tally_flips(Ratio(sums[:k], sums[k:]), pairs, unflipped, self._question.two_sided, extreme)

    @property
    def sums(self) -> FlippedSums:
        """What the share of all flips is asked for."""
        return FlippedSums(self._pooled, self.least, _ROUNDED * self.step)


def _computed(question: Question) -> FloatArray:
    """The share of all flips (P,); NaN where flips are to be drawn."""
    if not question.computes:
        return np.full(question.n_pairs, np.nan)
    parts = FlippedContributions(question)
    share = flipped_shares(parts.columns, parts.sums, np.arange(question.n_pairs), question)
    if missing := question.first_missing(share):
        raise not_computed(f"{missing[1]} by metric '{question.metric.name}': {NOT_KNOWN}")
    return never_0(share, question)


def skew_corrected(question: Question) -> SignificanceResult:
    """The larger p-value of sign flips and of the t test with Hall's correction; sign flips' for right and wrong.

    In the study error_rates, where skewness makes sign flips reject 0.06 to 0.20 at 0.05 from 50 units on, it rejects
    0.04 to 0.09. It cannot know of large differences that no unit of the test set has (rare large gains: 0.22 on 100
    units), and for precisions of few wrong answers it is no better: see test "precision_score".
    """
    found = sign_flips(question)
    if question.right_or_wrong:
        return found
    i, j = question.pairs
    se, skewness = spread(question)
    scores = question.contributions.sum(axis=1)
    t, a = question.factor * (scores[i] - scores[j]) / se, skewness / np.sqrt(question.n_units)
    corrected = t + a * (t**2 / 3 + 1 / 6) + a**2 * t**3 / 27
    df = question.n_units - 1
    p = 2 * special.stdtr(df, -np.abs(corrected)) if question.two_sided else special.stdtr(df, -corrected)
    larger = p > found.p_value
    none = np.where(larger, 0, 1)
    return replace(
        found,
        p_value=np.where(larger, p, found.p_value),
        n_extreme=found.n_extreme * none,
        n_resamples=found.n_resamples * none,
    )
