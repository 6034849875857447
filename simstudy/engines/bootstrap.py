"""The paired bootstrap of all pairs of systems at once (Berg-Kirkpatrick et al. 2012, section 2.2 and footnote 5).

If all systems share a denominator on every unit (accuracy, recall, a mean of scores), the event that is counted is
one of a sum of n independent draws. So the p-value for infinitely many resamples is the tail of such a sum's
distribution; for right and wrong answers it is a trinomial's: microseconds a pair. Other functions of sums (F1, BLEU)
are resampled, and a linear event takes most of the Monte Carlo error off (`simstudy.engines.stratified`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import exact_kernels, kernels, linear_events
from simstudy.engines.question import Question, SignificanceResult, not_computed
from simstudy.engines.resampling import over_resamples, side_by_side
from simstudy.engines.stratified import stratified
from simstudy.engines.tallies import events, make_tally, resampled_scores
from simstudy.metrics.base import FloatArray, IntArray

# A mean of scores is summed in steps of this part of the largest score: whole numbers add up to the same in any order.
_STEPS = 2**30

# Resamples without a denominator, whose score is 0 and no mean, may be so many of all.
_UNDEFINED = 1e-12


def bootstrap(question: Question) -> SignificanceResult:
    """The share of resampled test sets that are extreme by the question's convention, or its limit.

    The limit has no Monte Carlo error, but the test is approximate however many resamples it has.
    """
    if (
        question.monte_carlo == "auto"
        and question.computes
        and question.metric.of_sums
        and question.unit_scores is None
    ):
        return stratified(question)
    return SignificanceResult.resampled(question, _limits(question), lambda: _counted(question), exact=False)


def _counted(question: Question) -> IntArray:
    """How many of the question's resamples are extreme (P,)."""
    if question.convention.counts == "beyond the mean":
        return _beyond_the_mean(question)
    tally = make_tally(question)
    return over_resamples(tally.columns, partial(kernels.resample_counts, question.strata), tally.add, question)


def _beyond_the_mean(question: Question) -> IntArray:
    """Sacrebleu's rule: abs(gain(x*)) less its mean over the resamples is above gain(x); all are drawn twice."""
    scores = resampled_scores(question)
    step = max(scores.size, float(np.abs(scores.observed).max()), 1e-300) / _STEPS
    draw = partial(kernels.resample_counts, question.strata)

    def add_size(sums: NDArray[Any], steps: IntArray) -> None:
        kernels.add_sizes(scores.of(sums), question.pairs, step, steps)

    mean = over_resamples(scores.columns, draw, add_size, question) * step / question.n_resamples
    better, worse = question.pairs
    # The mean is of sizes in whole steps: what is not further above than a step may be equal.
    bound = np.abs(scores.observed[better] - scores.observed[worse]) + mean + scores.tolerance + step

    def add(sums: NDArray[Any], extreme: IntArray) -> None:
        values = scores.of(sums)
        kernels.tally(values, (better, worse), bound, extreme)
        kernels.tally(-values, (better, worse), bound, extreme)

    return over_resamples(scores.columns, draw, add, question)


def _limits(question: Question) -> FloatArray:
    """P-values (P,) of infinitely many resamples, NaN where a pair is to be resampled; ValueError if it must not be."""
    p_value = np.full(question.n_pairs, np.nan)
    problem = _problem(question)
    if problem and question.monte_carlo is False:
        raise not_computed(f"the bootstrap: {problem}")
    if problem or not question.computes:
        return p_value
    assert question.ratio is not None
    todo = np.arange(question.n_pairs)
    if question.integers and len(question.strata) == 2 and (question.ratio[1] == question.ratio[1][0, 0]).all():
        p_value = _trinomials(question)
        todo = np.flatnonzero(np.isnan(p_value))
    tails = np.zeros(len(todo))
    for event in events(question):
        columns, linear = linear_events.of_means(question, event)
        tails += linear_events.shares(columns, linear, todo, question)
    p_value[todo] = np.minimum(tails, 1.0)
    if missing := question.first_missing(p_value):
        raise not_computed(f"the bootstrap of {missing[1]}: many sums of their differences are nearly equal")
    return p_value


def _trinomials(question: Question) -> FloatArray:
    """The p-values (P,) of pairs whose units differ by one at most, and have one denominator; NaN for others."""
    (i, j), scores = question.pairs, question.unit_scores
    assert scores is not None
    counts = np.empty((len(i), 4), dtype=np.int64)
    exact_kernels.swap_counts(scores, np.zeros_like(scores), question.pairs, counts)
    flat = np.flatnonzero(counts[:, 3] <= 1)
    totals = scores.sum(axis=1)
    gain = totals[i] - totals[j]

    def tails(part: IntArray) -> FloatArray:
        found = np.zeros(len(part))
        for event in events(question):
            # What the sum of n draws, or its negative, must reach.
            least = event.sign * event.target * gain[part] + event.strict
            more, less = (1, 2) if event.sign > 0 else (2, 1)
            wins = np.empty(len(part))
            exact_kernels.drawn_wins_tails(question.n_units, counts[part, more], counts[part, less], least, wins)
            found += wins
        return np.minimum(found, 1.0)

    # Pairs with equal counts of wins and losses have equal p-values: on 500 items half of all pairs or more.
    _, first, where = np.unique(counts[flat, 1:3], axis=0, return_index=True, return_inverse=True)
    p_value = np.full(len(i), np.nan)
    p_value[flat] = side_by_side(tails, flat[first], question.n_jobs)[where.reshape(-1)]
    return p_value


def _problem(question: Question) -> str:
    """Why no limit is computed; empty where it is."""
    if question.convention.counts == "beyond the mean":
        return f"convention '{question.convention.name}' has no limit that is computed here"
    if question.unit_scores is None:
        return f"metric '{question.metric.name}' is no mean of unit scores here"
    assert question.ratio is not None
    none = np.add.reduceat(question.ratio[1][0] == 0, question.strata[:-1], dtype=np.int64)
    sizes = np.diff(question.strata)
    if np.prod((none / sizes) ** sizes) > _UNDEFINED:
        return f"some resamples have no denominator, so few units ({question.unit}) have one"
    return ""
