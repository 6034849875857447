"""The paired bootstrap of all pairs of systems at once (Berg-Kirkpatrick et al. 2012, section 2.2 and footnote 5).

Where every item has the same denominator and scores are whole numbers (accuracy, ratings), gain(x*) is a sum of n
independent draws from the pair's differences. So the p-value for infinitely many resamples is the tail of an n-fold
convolution; for right and wrong answers it is a trinomial's: microseconds a pair.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from simstudy.engines import exact_kernels, kernels
from simstudy.engines.question import Question, SignificanceResult, not_computed
from simstudy.engines.resampling import over_resamples, side_by_side
from simstudy.engines.tallies import events, make_tally, resampled_scores
from simstudy.metrics.base import FloatArray, IntArray

#: A distribution may have this many cells; its Fourier transform holds some eight numbers for each: 512 MiB a thread.
MOST_CELLS = 2**23

#: Cells that monte_carlo="auto" spends on a pair: about as long as 10^6 resamples of one of many pairs take.
AUTO_CELLS = 2**16

# A mean of scores is summed in steps of this part of the largest score: whole numbers add up to the same in any order.
_STEPS = 2**30


def bootstrap(question: Question) -> SignificanceResult:
    """The share of resampled test sets that are extreme by the question's convention, or its limit.

    The limit has no Monte Carlo error, but the test is approximate however many resamples it has.
    """
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
    i, j = question.pairs
    p_value = np.full(len(i), np.nan)
    problem = _problem(question)
    if problem and question.monte_carlo is False:
        raise not_computed(f"the bootstrap: {problem}")
    if problem or not question.computes:
        return p_value
    scores = question.unit_scores
    assert scores is not None
    counts = np.empty((len(i), 4), dtype=np.int64)
    exact_kernels.swap_counts(scores, np.zeros_like(scores), question.pairs, counts)
    # Wins and losses by one need no convolution.
    cells = np.where(counts[:, 3] <= 1, 0, 2 * question.n_units * counts[:, 3] + 1)
    if question.monte_carlo is False and cells.max() > MOST_CELLS:
        size = f"more than {MOST_CELLS:,} ({64 * MOST_CELLS // 2**20} MiB)"
        raise not_computed(f"the bootstrap: the distribution would need {cells.max():,} cells, {size}")
    todo = np.flatnonzero(cells <= (MOST_CELLS if question.monte_carlo is False else AUTO_CELLS))
    totals = scores.sum(axis=1)
    gain = totals[i] - totals[j]

    def tails(part: IntArray) -> FloatArray:
        found = np.zeros(len(part))
        flat = counts[part, 3] <= 1
        some, others = part[flat], part[~flat]
        for event in events(question):
            # What the sum of n draws, or its negative, must reach.
            least = event.sign * event.target * gain + event.strict
            more, less = (1, 2) if event.sign > 0 else (2, 1)
            wins = np.empty(len(some))
            exact_kernels.drawn_wins_tails(question.n_units, counts[some, more], counts[some, less], least[some], wins)
            found[flat] += wins
            found[~flat] += [_upper_tail(event.sign * (scores[i[p]] - scores[j[p]]), int(least[p])) for p in others]
        return np.minimum(found, 1.0)

    # Pairs with equal counts of wins and losses have equal p-values: on 500 items half of all pairs or more.
    kinds = np.where(counts[:, 3:] <= 1, counts[:, 1:3], -1 - np.arange(len(i))[:, None])[todo]
    _, first, where = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    p_value[todo] = side_by_side(tails, todo[first], question.n_jobs)[where.reshape(-1)]
    return p_value


def _problem(question: Question) -> str:
    """Why no limit is computed; empty where it is."""
    if question.convention.counts == "beyond the mean":
        return f"convention '{question.convention.name}' has no limit that is computed here"
    scores = question.unit_scores
    if scores is None or not question.integers:
        return f"metric '{question.metric.name}' is no mean of whole-number item scores here"
    assert question.ratio is not None
    if (question.ratio[1] != question.ratio[1][0, 0]).any():
        return f"units ({question.unit}) have different denominators, and which are drawn changes the score's"
    if len(question.strata) > 2:
        return "strata are resampled each on its own"
    return ""


def _upper_tail(difference: IntArray, least: int) -> float:
    """P(sum of n draws >= least), least >= 0, to a relative accuracy that small tails keep.

    The draws are tilted by exp(theta d), so that the sum's mean is `least`: there the Fourier transform's rounding,
    one part in 10^15 of the largest probability, is small beside the probabilities themselves.
    """
    n = len(difference)
    values, counts = np.unique(difference, return_counts=True)
    if least > n * values[-1]:
        return 0.0
    log_share = np.log(counts / n)
    if least == n * values[-1]:
        return float(np.exp(n * log_share[-1]))
    if least <= n * values[0]:
        return 1.0

    def mean_excess(theta: float) -> float:
        return float((special.softmax(log_share + theta * values) * values).sum()) - least / n

    # The mean grows with theta, from at most `least` where theta is 0 to the largest value.
    largest = 1.0
    while mean_excess(largest) < 0 and largest < 2**10:
        largest *= 2
    bracketed = mean_excess(0.0) < 0 < mean_excess(largest)
    theta = scipy.optimize.brentq(mean_excess, 0.0, largest) if bracketed else 0.0
    tilted = special.softmax(log_share + theta * values)
    log_mean = special.logsumexp(log_share + theta * values)
    low = int(values[0])
    cells = n * int(values[-1] - low) + 1
    one = np.zeros(cells)
    one[values - low] = tilted
    size = scipy.fft.next_fast_len(cells, real=True)
    sums = np.maximum(scipy.fft.irfft(scipy.fft.rfft(one, size) ** n, size)[:cells], 0.0)
    at = np.arange(max(least, n * low), n * int(values[-1]) + 1)
    return float((sums[at - n * low] * np.exp(n * log_mean - theta * at)).sum())
