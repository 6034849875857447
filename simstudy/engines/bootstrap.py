"""The paired bootstrap of all pairs of systems at once (Berg-Kirkpatrick et al. 2012, section 2.2 and footnote 5)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels
from simstudy.engines.bootstrap_limit import bootstrap_limit
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.resampling import over_resamples
from simstudy.engines.tallies import ResampledScores, events, make_tally
from simstudy.metrics.base import IntArray

# A mean of scores is summed in steps of this part of the largest score: whole numbers add up to the same in any order.
_STEPS = 2**30


def bootstrap(question: Question) -> SignificanceResult:
    """Count, for every pair, the resampled test sets that are extreme by the question's convention.

    Where `question.monte_carlo` allows it and the item scores are whole numbers, the limit for infinitely many
    resamples: a p-value without Monte Carlo error, of a test that is approximate however many resamples it has.
    """
    extreme = _beyond_the_mean if question.convention.counts == "beyond the mean" else _tallied
    return SignificanceResult.resampled(question, bootstrap_limit(question), lambda: extreme(question), exact=False)


def _tallied(question: Question) -> IntArray:
    tally = make_tally(question)

    def add(sums: NDArray[Any], extreme: IntArray) -> None:
        for event in events(question):
            tally.add(sums, event, extreme)

    return over_resamples(tally.columns, partial(kernels.resample_counts, question.strata), add, question)


def _beyond_the_mean(question: Question) -> IntArray:
    """Sacrebleu's rule: abs(gain(x*)) less its mean over the resamples is above gain(x).

    The mean is known after the last resample only, so all are drawn twice.
    """
    scores = ResampledScores(question)
    # Scores may cancel to 0 on the test set and not in resamples: how large they get, sizes tell.
    sizes = question.metric.score(np.abs(question.statistics).sum(axis=1, dtype=np.float64))
    step = max(float(np.abs([sizes, scores.observed]).max()), 1e-300) / _STEPS

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
