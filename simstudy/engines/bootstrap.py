"""The paired bootstrap of all pairs of systems at once (Berg-Kirkpatrick et al. 2012, section 2.2 and footnote 5).

For right and wrong answers the p-value of infinitely many resamples is the tail of a trinomial. Other scores are
resampled, and extreme resamples are counted: those in which u_i >= u_j, where i is the better system of the pair and
u = score(x*) - target * score(x). With target 2 this is gain(x*) >= 2 gain(x) (figure 1). With K vectors u there are
K^2 / 2 comparisons and no second product.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from simstudy.compiled import few
from simstudy.engines import kernels
from simstudy.engines.array_scores import ArrayScores
from simstudy.engines.exact_distributions import add_trinomial_tails
from simstudy.engines.kernels import Event, Ratio
from simstudy.engines.question import RATIO_LIMIT, Question, SignificanceResult
from simstudy.engines.resampling import Tally, count_bootstrap, over_resamples, side_by_side
from simstudy.engines.summed_columns import ResampledScores, summable
from simstudy.metrics.base import Array, FloatArray, IntArray

# A mean of scores is summed in steps of this part of the largest score: whole numbers add up to the same in any order.
_STEPS = 2**30


def bootstrap(question: Question) -> SignificanceResult:
    """The share of resampled test sets that are extreme by the question's convention.

    For right and wrong answers it is that of infinitely many resamples. The test is approximate however many there are,
    and so is its p-value.
    """
    if question.computes and question.right_or_wrong and len(question.strata) == 2:
        return SignificanceResult.of_gains(question, _trinomial_tails(question), exact_level=False, approximated=True)
    if question.convention.counts == "beyond the mean":
        extreme = _count_beyond_the_mean(question)
    else:
        extreme = count_bootstrap(make_tally(question), question)
    return SignificanceResult.of_gains(question, n_extreme=extreme, exact_level=False)


def bootstrap_events(question: Question) -> list[Event]:
    """The events of a resampled gain that the question's convention counts as extreme."""
    strict = question.convention.strict
    lost = Event(target=0, sign=-1, strict=strict)
    if question.convention.counts == "not won":
        return [lost]
    twice = Event(target=2, sign=1, strict=strict)
    return [twice, lost] if question.two_sided else [twice]


def _trinomial_tails(question: Question) -> FloatArray:
    """The p-values (P,) of right and wrong answers: an item is won, lost or tied by the better system."""
    wins, losses = question.won
    # Pairs with equal counts have equal p-values: on 500 items half of all pairs or more.
    counts, places = np.unique(np.stack([wins, losses], axis=1), axis=0, return_inverse=True)

    def tails(part: IntArray) -> FloatArray:
        p_values = np.zeros(len(part))
        # All parts in the same way, however many there are.
        with few(len(counts) * question.n_units):
            add_trinomial_tails(question.n_units, counts[part], question.two_sided, p_values)
        return p_values

    p_values = side_by_side(tails, np.arange(len(counts)), question.n_jobs)
    return np.minimum(p_values, 1.0)[places.reshape(-1)]


def _count_beyond_the_mean(question: Question) -> IntArray:
    """Sacrebleu's rule: abs(gain(x*)) less its mean over the resamples is above gain(x); all are drawn twice."""
    scores = resampled_scores(question)
    step = max(scores.size, float(np.abs(scores.observed).max()), 1e-300) / _STEPS
    draw = partial(kernels.draw_counts, question.strata)

    def add_size(sums: Array, steps: IntArray) -> None:
        kernels.add_sizes(scores.of(sums), question.pairs, step, steps)

    mean = over_resamples(scores.columns, draw, add_size, question) * step / question.n_resamples
    better, worse = question.pairs
    # The mean is of sizes in whole steps: what is not further above than a step may be equal.
    bound = np.abs(scores.observed[better] - scores.observed[worse]) + mean + scores.tolerance + step

    def add(sums: Array, extreme: IntArray) -> None:
        values = scores.of(sums)
        kernels.count_reached(values, (better, worse), bound, extreme)
        kernels.count_reached(-values, (better, worse), bound, extreme)

    return over_resamples(scores.columns, draw, add, question)


def make_tally(question: Question) -> Tally:
    """The bootstrap's tally that fits the question's metric and statistics."""
    if question.ratio is None or not question.integers:
        return _Scores(question)
    above, below = question.ratio
    n = question.n_units
    most_above, most_below = int(np.abs(above).max()) * n, int(np.abs(below).max()) * n
    if question.unit_scores is not None and (below >= 0).all() and 3 * most_above * most_below < 2**61:
        return _SharedRatios(question)
    if question.fractions and most_below < RATIO_LIMIT:
        return _OwnRatios(question)
    return _Scores(question)


class _SharedRatios:
    """Integer numerators over one denominator for all systems (accuracy, recall): integers to the end."""

    def __init__(self, question: Question) -> None:
        above = question.unit_scores
        assert above is not None
        assert question.ratio is not None
        below = question.ratio[1][0]
        self._pairs, self._events = question.pairs, bootstrap_events(question)
        # Equal denominators cancel.
        equal = (below == below[0]).all()
        self._totals, self._whole = above.sum(axis=1), 1 if equal else int(below.sum())
        self.columns = summable(above if equal else np.concatenate([above, below[None]]))
        n = question.n_units
        largest = 3 * n * int(np.abs(above).max()) * (1 if equal else n * int(below.max()))
        # A difference of two values must fit too.
        self._kind = np.int32 if largest < 2**30 else np.int64

    def add(self, sums: Array, extreme: IntArray) -> None:
        k = len(self._totals)
        above = sums[:k].astype(self._kind) * self._whole
        below = np.maximum(sums[k:], 1).astype(self._kind) if len(sums) > k else np.ones((1, 1), self._kind)
        for event in self._events:
            # u times both denominators.
            values = above - (event.target * self._totals).astype(self._kind)[:, None] * below
            margins = np.full(len(extreme), event.strict, dtype=self._kind)
            kernels.count_reached(values if event.sign > 0 else -values, self._pairs, margins, extreme)


class _OwnRatios:
    """Integer numerators over a denominator for each system (precision, F): integers settle what is near a tie."""

    def __init__(self, question: Question) -> None:
        assert question.ratio is not None
        above, below = question.ratio
        self._pairs, self._events = question.pairs, bootstrap_events(question)
        # A system without a denominator scores 0, as 0/1 does; the kernel treats resamples in the same way.
        self._observed = Ratio(above.sum(axis=1), np.maximum(below.sum(axis=1), 1))
        self.columns = summable(np.concatenate([above, below]))

    def add(self, sums: Array, extreme: IntArray) -> None:
        for event in self._events:
            kernels.count_resampled_ratios(sums, self._pairs, self._observed, event, extreme)


class _Scores:
    """Any metric, by its scores."""

    def __init__(self, question: Question) -> None:
        self._scores, self._pairs = resampled_scores(question), question.pairs
        self._events = bootstrap_events(question)
        self._direction = question.metric.sign
        self.columns = self._scores.columns

    def add(self, sums: Array, extreme: IntArray) -> None:
        scores, tolerance = self._scores.of(sums), self._scores.tolerance
        for event in self._events:
            values = scores - event.target * self._scores.observed[:, None]
            if event.sign * self._direction < 0:
                np.negative(values, out=values)
            kernels.count_reached(values, self._pairs, tolerance if event.strict else -tolerance, extreme)


def resampled_scores(question: Question) -> ResampledScores | ArrayScores:
    """The scores of a question's systems on resamples, for any metric."""
    return ResampledScores(question) if question.metric.of_sums else ArrayScores(question)
