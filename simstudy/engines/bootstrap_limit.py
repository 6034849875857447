"""The bootstrap's p-value for infinitely many resamples, where item scores are whole numbers (accuracy, ratings).

Where every item has the same denominator, gain(x*) is a sum of n independent draws from the pair's differences, so
that the share of extreme resamples is the tail of an n-fold convolution. For right and wrong answers this is a
trinomial: microseconds a pair.
"""

from __future__ import annotations

import numpy as np
from scipy import fft, optimize, special

from simstudy.engines import exact_kernels
from simstudy.engines.exact_randomization import side_by_side
from simstudy.engines.question import Question, not_computed
from simstudy.engines.tallies import events
from simstudy.metrics.base import FloatArray, IntArray

#: A distribution may have this many cells; its Fourier transform holds some eight numbers for each: 512 MiB a thread.
MOST_CELLS = 2**23

#: Cells that monte_carlo="auto" spends on a pair: about as long as 10^6 resamples of one of many pairs take.
AUTO_CELLS = 2**16


def bootstrap_limit(question: Question) -> FloatArray:
    """The limits (P,), NaN where a pair's is to be resampled; ValueError where that must not be."""
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
    theta = optimize.brentq(mean_excess, 0.0, largest) if bracketed else 0.0
    tilted = special.softmax(log_share + theta * values)
    log_mean = special.logsumexp(log_share + theta * values)
    low = int(values[0])
    cells = n * int(values[-1] - low) + 1
    one = np.zeros(cells)
    one[values - low] = tilted
    size = fft.next_fast_len(cells, real=True)
    sums = np.maximum(fft.irfft(fft.rfft(one, size) ** n, size)[:cells], 0.0)
    at = np.arange(max(least, n * low), n * int(values[-1]) + 1)
    return float((sums[at - n * low] * np.exp(n * log_mean - theta * at)).sum())
