"""The bootstrap of functions of sums with little Monte Carlo error: resamples in two strata of known probability.

A linear event near the one that is counted (`simstudy.engines.linear_events`) has a probability s that is computed. It
is a control variate, in the form that stays between 0 and 1: resamples are stratified by it after they were drawn. With
the shares q1 and q0 of extreme resamples among those in which it holds, and does not, p = s q1 + (1 - s) q0. q1 is near
1 and q0 near 0, so that only the few resamples on which the two events differ leave an error.

Each share counts one extreme resample more than there are, as the default convention does: p is above 0, and too large
by about 1 / B rather than too small.

If the linear event is rare, further resamples are tilted to it (`simstudy.engines.tilted`), each pair's own.

Measured on 568 pairs of real systems (F1 on 214 to 1,287 sentences, BLEU on 331 to 333) with 10^5 resamples: against
10^6 counted ones the root mean square of z is 0.95. By how many times the interval's squared length is shorter than
that of as many counted resamples:

=================  ======  ================  ==================
p                   pairs  median: F1, BLEU  lowest tenth: both
=================  ======  ================  ==================
0.00001 - 0.0001       39            63, 67                  11
0.0001 - 0.001         62           131, 51                  11
0.001 - 0.01          102            52, 20                   6
0.01 - 0.035           66            19, 18                   5
0.035 - 0.08           57            28, 28                   7
0.08 - 0.65           182            32, 45                   7
=================  ======  ================  ==================

BLEU gains least where a system's length is near the references': its brevity penalty has a corner there. Below p =
1e-3 / B no linear event is looked for, and the interval is as long as none of B allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from simstudy.engines import kernels
from simstudy.engines.linear_events import likeliest, shares
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.resampling import over_resamples
from simstudy.engines.tallies import ResampledScores, events
from simstudy.engines.tilted import Near, estimate, of_tilted, tilts
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.statistics.pvalues import clopper_pearson

# Of a linear event that is expected in so few of all resamples, no stratum is made.
_FEW = 1e-3


def stratified(question: Question) -> SignificanceResult:
    """P-values, and their Monte Carlo intervals, of resamples stratified by a linear event near each pair's own."""
    tally = _CrossTally(question)
    draw = partial(kernels.resample_counts, question.strata)
    counts = over_resamples(tally.columns, draw, tally.add, question, (len(tally.near), 7))
    n, ones = question.n_resamples, np.ones(question.n_pairs, dtype=np.int64)
    extreme = np.minimum(counts[:, 0].sum(axis=0), n)
    parts = np.zeros((4, question.n_pairs))
    for near, found in zip(tally.near, counts, strict=True):
        weights = found[3:] / kernels.STEPS + of_tilted(question, tally.scores, near)
        tilted = near.tilts[0] > 0
        for stratum in _of_strata(near.share, found, n):
            parts += np.where(tilted, 0.0, stratum)
        parts += np.where(tilted, estimate(question, near, weights), 0.0)
    p, middle, below, above = parts
    bounds = np.clip([middle - np.sqrt(below), middle + np.sqrt(above)], 0.0, 1.0)
    known = np.any([near.share > 0 for near in tally.near], axis=0)
    return SignificanceResult(
        np.minimum(np.where(known, p, question.convention.p_value(extreme, n)), 1.0),
        extreme,
        n * ones,
        np.zeros(len(ones), dtype=np.bool_),
        np.full(len(ones), np.nan),
        ones,
        np.where(known, bounds, clopper_pearson(extreme, n)),
    )


def _of_strata(share: FloatArray, counts: IntArray, n: int) -> Iterator[list[FloatArray]]:
    """Of each stratum: its part of p, with and without an extreme resample too many, and the interval's squares."""
    of_event, of_linear, of_both = counts[:3]
    for weight, found, of in ((share, of_both, of_linear), (1 - share, of_event - of_both, n - of_linear)):
        ends = clopper_pearson(found, of)
        # Of none, all may be extreme.
        rate = np.where(of > 0, found / np.maximum(of, 1), 1.0)
        lengths = (weight * (rate - ends[0])) ** 2, (weight * (ends[1] - rate)) ** 2
        yield [weight * (found + 1) / (of + 1), weight * rate, *lengths]


class _CrossTally:
    """Counts and weights (E, 7, P) of each event, of the linear event `near` it, and of both.

    The linear events' probabilities are 0 where they are too small or not known.
    """

    def __init__(self, question: Question) -> None:
        self._question, self.scores = question, ResampledScores(question)
        self.columns = self.scores.columns
        statistics, every = question.statistics.astype(np.float64), np.arange(question.n_pairs)
        least = _FEW / question.n_resamples
        self.near: list[Near] = []
        for event in events(question):
            linear = likeliest(statistics, question, event, least)
            share = shares(statistics, linear, every, question)
            which = share > least
            # Sums that must be infinite are not looked at.
            linear = linear._replace(least=np.where(which, linear.least, np.inf))
            share = np.where(which, share, 0.0)
            self.near.append(Near(event, linear, share, tilts(question, linear, share)))

    def add(self, sums: Array, found: IntArray) -> None:
        statistics = self.scores.statistics(sums)
        scores = self.scores.of_statistics(statistics)
        direction = 1 if self._question.metric.higher_is_better else -1
        for (event, linear, _, tilt), counts in zip(self.near, found, strict=True):
            values = event.sign * direction * (scores - event.target * self.scores.observed[:, None])
            drawn, pairs = (values, statistics), self._question.pairs
            kernels.cross_tally(drawn, pairs, -self.scores.tolerance, (linear, tilt), counts)
