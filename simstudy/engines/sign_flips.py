"""The sign-flip test: each unit's contribution to the gain keeps its size, and a fair coin gives it its sign.

After Hemerik, Goeman and Finos (2020, "Robust testing in generalized linear models by sign flipping score
contributions"). A gain is the sum of what the units contribute to it. If the gain is 0 in the population, signs are
worth nothing, whatever the systems' variances are and however they depend on each other.

The contributions to a mean are the units' differences: flipping them is swapping the systems' units, so the p-value
*is* the randomization test's. For right and wrong answers it is exact, since differences of 1, 0 and -1 with a mean of
0 are symmetric; for others it is exact if the systems could be exchanged, and approximate if only their means are
equal.

Where each system has a denominator of its own (precision, F), randomization tests that systems could be exchanged unit
by unit, and rejects for ever where only their scores are equal; here a unit contributes its numerator less what the
pair's pooled ratio makes expect of its denominator (`simstudy.engines.gain_contributions`). Flipped sums are compared
with the gain itself. Units contribute to other metrics (BLEU, macro-F1) by the score's averaged gradient.

The share of all flips is computed where it can be (`simstudy.engines.sign_flip_tails`). Flips are drawn where it
cannot, or where they are asked for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from simstudy.compiled import few
from simstudy.engines import kernels
from simstudy.engines.gain_contributions import gain_contributions
from simstudy.engines.intervals import spread
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.resampling import count_shuffles, side_by_side
from simstudy.engines.sign_flip_tails import DRAWN, EXACT, sign_flip_tails
from simstudy.engines.summed_columns import summable
from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, IntArray
from simstudy.metrics.scaling import on_grid

# Where fewer of the drawn flips than this are extreme, the approximation is the better estimate.
_FEW_EXTREME = 10


def sign_flips(question: Question) -> SignificanceResult:
    """The share of all flips whose contributions add up to at least the gain.

    The study error_rates has its level by condition: close to the nominal one on 100 units and more, except for
    strongly skewed differences and for precisions of few wrong answers, where it rejects up to 0.3 at 0.05.
    """
    return flipped(question, exact_level=question.right_or_wrong)


def flipped(question: Question, *, exact_level: bool) -> SignificanceResult:
    """The share of all flips: exact, approximated, or estimated by random ones."""
    p_value, approximated = np.full(question.n_pairs, np.nan), np.zeros(question.n_pairs, dtype=np.bool_)
    drawn = np.full(question.n_pairs, not question.computes)
    if question.computes and question.right_or_wrong:
        p_value = coin_tails(*question.won, question.two_sided)
    elif question.computes:
        tails, how = FlippedContributions(question).tails()
        p_value = np.minimum(2 * tails, 1.0) if question.two_sided else tails
        drawn, approximated = how == DRAWN, how != EXACT
    n_extreme = np.zeros(question.n_pairs, dtype=np.int64)
    if drawn.any():
        better, worse = question.pairs
        rest = question.about((better[drawn], worse[drawn]))
        n_extreme[drawn] = count_shuffles(FlippedContributions(rest), rest)
        if question.computes:
            drawn &= n_extreme >= _FEW_EXTREME
        p_value[drawn] = np.nan
    return SignificanceResult.of_gains(question, p_value, n_extreme, exact_level=exact_level, approximated=approximated)


def coin_tails(wins: IntArray, losses: IntArray, two_sided: bool) -> FloatArray:
    """P-values (P,) of the sign test: the wins of fair coins are as many or more."""
    # Pairs with equal counts have equal p-values.
    width = losses.max(initial=0) + 1
    places, counts = pd.factorize(wins * width + losses)
    wins, losses = counts // width, counts % width
    # P(Binomial(n, 1/2) <= k) = I(n - k, k + 1) at 1/2, the regularised incomplete beta function.
    tails = np.where(wins == 0, 1.0, special.betainc(np.maximum(wins, 1), losses + 1, 0.5))[places]
    return np.minimum(2 * tails, 1.0) if two_sided else tails


class FlippedContributions:
    """The units' contributions (`simstudy.engines.gain_contributions`), as columns (S K, n) that all pairs share.

    Flips of a pair are extreme if the contributions then add up to `least` (P,): the gain, less what may be rounding.
    """

    def __init__(self, question: Question) -> None:
        self._question, (i, j) = question, question.pairs
        contributed = gain_contributions(question.statistics, question.metric, question.ratio, question.pairs)
        #: Whether contributions are whole numbers.
        self.whole = question.unit_scores is not None and question.integers
        columns = contributed.columns.reshape(-1, question.n_units)
        self.columns = summable(columns) if self.whole else on_grid(columns)
        self.weights, gains = contributed.weights, contributed.gains
        # Whole steps of a grid add up to the same in any order.
        by_system = self._by_system(self.columns)
        sums, sizes = (side.sum(axis=2, dtype=np.float64) for side in (by_system, np.abs(by_system)))
        self._totals = ((sums[:, i] - sums[:, j]).T * self.weights).sum(axis=1)
        # Sums of whole numbers are two apart, as each flip changes them by twice a difference.
        rounding = (
            0.5 if self.whole else TIE_TOLERANCE * ((sizes[:, i] + sizes[:, j]).T * np.abs(self.weights)).sum(axis=1)
        )
        self.least = gains + rounding if question.convention.strict else gains - rounding

    def _by_system(self, rows: Array) -> Array:
        """Rows (S K, ...) as (S, K, ...)."""
        return rows.reshape(-1, self._question.n_systems, rows.shape[1])

    def add(self, sums: Array, extreme: IntArray) -> None:
        """Add to extreme (P,) how many flips are, given what the coins pick of the columns (S K, T)."""
        question, unflipped = self._question, (self._totals, self.weights, self.least)
        kernels.count_flips(self._by_system(sums), question.pairs, unflipped, question.two_sided, extreme)

    def tails(self) -> tuple[FloatArray, IntArray]:
        """The share of all flips that reach the gain, and how it is computed, for each pair (P,)."""
        columns, (i, j) = self._by_system(self.columns).astype(np.float64, copy=False), self._question.pairs

        def of_part(part: NDArray[np.intp]) -> FloatArray:
            tails, how = np.empty(len(part)), np.empty(len(part))
            # All parts in the same way, however many there are.
            with few(self._question.n_pairs * columns.shape[2]):
                sign_flip_tails(
                    columns, (i[part], j[part]), self.weights[part], self.least[part], self.whole, tails, how
                )
            return np.stack([tails, how], axis=1)

        tails, how = side_by_side(of_part, np.arange(self._question.n_pairs), self._question.n_jobs).T
        return tails, how.astype(np.int64)


def skew_corrected(question: Question) -> SignificanceResult:
    """The larger p-value of sign flips and of the t test with Hall's correction; sign flips' for right and wrong.

    Sign flips take contributions to be symmetric around 0, or many. If they are neither, the gain and its standard
    error depend on each other: where large contributions are rare and none (or many) of them was drawn, both are wrong
    in the same direction. Hall (1992, "On the removal of skewness by transformation") corrects the t statistic for that
    by g(t) = t + a (t^2 / 3 + 1 / 6) + a^2 t^3 / 27, which grows with t; a is the sample skewness over the square root
    of n. The correction itself is wrong too often where contributions are symmetric and have heavy tails: hence the
    larger p-value. It cannot know of large differences that no unit of the test set has.
    """
    flips = sign_flips(question)
    if question.right_or_wrong:
        return flips
    i, j = question.pairs
    se, skewness = spread(question)
    scores = question.contributions.sum(axis=1)
    t, a = question.factor * (scores[i] - scores[j]) / se, skewness / np.sqrt(question.n_units)
    corrected = t + a * (t**2 / 3 + 1 / 6) + a**2 * t**3 / 27
    df = question.n_units - 1
    p = 2 * special.stdtr(df, -np.abs(corrected)) if question.two_sided else special.stdtr(df, -corrected)
    larger = p > flips.p_value
    return replace(
        flips,
        p_value=np.where(larger, p, flips.p_value),
        approximated=larger | flips.approximated,
        n_extreme=np.where(larger, 0, flips.n_extreme),
        n_resamples=np.where(larger, 0, flips.n_resamples),
    )
