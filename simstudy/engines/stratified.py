"""The bootstrap of functions of sums with little Monte Carlo error: resamples in two strata of known probability.

A linear event near the one that is counted (`simstudy.engines.linear_events`) has a probability s that is computed. It
is a control variate, in the form that stays between 0 and 1: resamples are stratified by it after they were drawn. With
the shares q1 and q0 of extreme resamples among those in which it holds, and does not, p = s q1 + (1 - s) q0. q1 is near
1 and q0 near 0, so that only the few resamples on which the two events differ leave an error.

Each share counts one extreme resample more than there are, as the default convention does: p is above 0, and too large
by about 1 / B rather than too small.

Measured on 609 pairs of real systems (F1 on 250 to 634 sentences, BLEU on 333 to 502) with 10^5 resamples: against 10^6
counted ones the root mean square of z is 0.95. 10^5 stratified resamples take a sixth to an eighth of the time of 10^6
counted ones. By how many times the interval's squared length is shorter than that of as many counted resamples:

=================  ======  ================  ==================
p                   pairs  median: F1, BLEU  lowest tenth: both
=================  ======  ================  ==================
0.00001 - 0.0001       66          1.3, 1.2                 0.8
0.0001 - 0.001         93          8.5, 3.5                 1.7
0.001 - 0.01           78            37, 13                 2.5
0.01 - 0.035           77           132, 12                 3.1
0.035 - 0.08           63           270, 28                 9.3
0.08 - 0.65           230           313, 54                  10
=================  ======  ================  ==================

BLEU gains least where a system's length is near the references': its brevity penalty has a corner there. Below p = 1e-4
no resample differs, and the interval is as long as none of B allows. Only resamples that are tilted to each pair's
boundary would tell more, one pair at a time; they are not built.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from simstudy.engines import kernels
from simstudy.engines.linear_events import likeliest, shares
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.resampling import over_resamples
from simstudy.engines.tallies import ResampledScores, events
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.statistics.pvalues import clopper_pearson

# Of a linear event that is expected in so few of all resamples, no stratum is made.
_FEW = 1e-3


def stratified(question: Question) -> SignificanceResult:
    """P-values, and their Monte Carlo intervals, of resamples stratified by a linear event near each pair's own."""
    tally = _CrossTally(question)
    draw = partial(kernels.resample_counts, question.strata)
    shape = (len(tally.shares), 3)
    counts = over_resamples(tally.columns, draw, tally.add, question, shape)
    n, ones = question.n_resamples, np.ones(question.n_pairs, dtype=np.int64)
    extreme = np.minimum(counts[:, 0].sum(axis=0), n)
    plain = question.convention.p_value(extreme, n)
    p, (low, high) = np.zeros(question.n_pairs), np.zeros((2, question.n_pairs))
    middle = np.zeros(question.n_pairs)
    for share, (of_event, of_linear, of_both) in zip(tally.shares, counts, strict=True):
        for weight, found, of in ((share, of_both, of_linear), (1 - share, of_event - of_both, n - of_linear)):
            p += weight * (found + 1) / (of + 1)
            ends = clopper_pearson(found, of)
            # Of none, all may be extreme.
            rate = np.where(of > 0, found / np.maximum(of, 1), 1.0)
            middle += weight * rate
            low += (weight * (rate - ends[0])) ** 2
            high += (weight * (ends[1] - rate)) ** 2
    bounds = np.clip([middle - np.sqrt(low), middle + np.sqrt(high)], 0.0, 1.0)
    known = tally.which.any(axis=0)
    return SignificanceResult(
        np.minimum(np.where(known, p, plain), 1.0),
        extreme,
        n * ones,
        np.zeros(len(ones), dtype=np.bool_),
        np.full(len(ones), np.nan),
        ones,
        np.where(known, bounds, clopper_pearson(extreme, n)),
    )


class _CrossTally:
    """Counts (E, 3, P) of each event, of the linear event near it, and of both.

    The linear events' probabilities are `shares` (E, P); they are 0 for pairs that are not in `which` (E, P), where
    they are too small or not known.
    """

    def __init__(self, question: Question) -> None:
        self._question, self._scores, self._events = question, ResampledScores(question), events(question)
        self.columns = self._scores.columns
        statistics, every = question.statistics.astype(np.float64), np.arange(question.n_pairs)
        least = _FEW / question.n_resamples
        tangents = [likeliest(statistics, question, event, least) for event in self._events]
        found = np.array([shares(statistics, linear, every, question) for linear in tangents])
        self.which = found > least
        self.shares: FloatArray = np.where(self.which, found, 0.0)
        # Sums that must be infinite are not looked at.
        self._linear = [
            linear._replace(least=np.where(which, linear.least, np.inf))
            for linear, which in zip(tangents, self.which, strict=True)
        ]

    def add(self, sums: Array, found: IntArray) -> None:
        statistics = self._scores.statistics(sums)
        scores = self._scores.of_statistics(statistics)
        direction = 1 if self._question.metric.higher_is_better else -1
        for event, linear, counts in zip(self._events, self._linear, found, strict=True):
            values = event.sign * direction * (scores - event.target * self._scores.observed[:, None])
            kernels.cross_tally((values, statistics), self._question.pairs, -self._scores.tolerance, linear, counts)
