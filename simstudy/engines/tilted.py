"""Importance sampling for small p-values of the bootstrap: resamples that are tilted to a pair's linear event.

Units are drawn with probabilities proportional to exp(rate * c_u), where c_u is what unit u adds to the linear event
(`simstudy.engines.linear_events`), so that the event holds for about half of the resamples (Johns 1988, "Importance
sampling for bootstrap confidence intervals"). Their weights depend on the linear sum alone.

The tilted resamples are no replacement: they join those that all pairs share, in a mixture of known shares, and each
resample of either kind has the weight that it has in the mixture (Hesterberg 1995, "Weighted average importance
sampling and defensive mixture distributions"; the balance heuristic of Veach and Guibas 1995). So no resample weighs
more than without tilting, even where the event has a second region that the tilted ones do not reach.

The p-value is the linear event's probability, which is computed, plus the weights of the resamples on which only the
bootstrap's event holds, less the weights of those on which only the linear one does. It is unbiased, but for one
resample of the boundary's weight that is added: as in counts, p is above 0, and too large rather than too small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from simstudy.engines import tilted_kernels
from simstudy.engines.draw_kernels import DrawnEvents
from simstudy.engines.kernels import Event
from simstudy.engines.question import Question
from simstudy.engines.resampling import side_by_side
from simstudy.engines.tallies import ResampledScores
from simstudy.metrics.base import FloatArray

#: Resamples are tilted to linear events that are less probable than this.
RARE = 0.01

# They are so many that the boundary has this many times the resamples that it has without them, a few hundred at least;
# but at most this part of the others, and so many draws of a unit for a pair: some 30 ms.
_TIMES, _LEAST, _PART, _DRAWS = 10, 256, 1 / 16, 2**21

# An interval's end at the level 0.95.
_TAIL = 0.025


class Near(NamedTuple):
    """An event of the bootstrap, and of each pair (P,) a linear event near it."""

    event: Event
    #: `least` is infinite where none is known.
    linear: DrawnEvents
    #: The linear events' probabilities; 0 where none is known.
    share: FloatArray
    #: (3, P): the rate; the logarithm of how much more likely the boundary is by tilting; how many resamples are tilted
    #: for one that is not. 0 for pairs without tilting.
    tilts: FloatArray


def tilts(question: Question, linear: DrawnEvents, share: FloatArray) -> FloatArray:
    """The tilts (3, P) of rare linear events, given their probabilities (P,), which are 0 where they are not known."""
    found, n = np.zeros((3, question.n_pairs)), question.n_resamples
    which = (share > 0) & (share < RARE)
    units = (question.statistics.astype(np.float64), question.strata)
    tilted_kernels.tilts(units, question.pairs, linear, which, found)
    most = min(max(_DRAWS // question.n_units, _LEAST), max(int(_PART * n), 1))
    wanted = np.clip(_TIMES * n * np.exp(-found[1]), _LEAST, None)
    found[2, which] = np.minimum(wanted, most).astype(np.int64)[which] / n
    return found


def of_tilted(question: Question, scores: ResampledScores, near: Near) -> FloatArray:
    """Sums (4, P) of the tilted resamples' weights and of their squares, as `simstudy.engines.kernels.cross_tally`."""
    statistics, metric = question.statistics.astype(np.float64), question.metric
    sign = near.event.sign * (1 if metric.higher_is_better else -1)

    def weights(which: NDArray[np.intp]) -> FloatArray:
        added = np.empty((len(which), 4))
        for k, p in enumerate(which):
            pair, (rate, gain, part) = [int(side[p]) for side in question.pairs], near.tilts[:, p]
            weighted = (near.linear.better[p], near.linear.worse[p], rate)
            sums = np.empty((round(part * question.n_resamples), 2 * statistics.shape[2]))
            tilted_kernels.tilted_sums((statistics, question.strata), tuple(pair), weighted, question.seed, sums)
            sums = sums.reshape(len(sums), 2, -1)
            values = sign * (metric.score(sums) - near.event.target * scores.observed[pair])
            holds = values[:, 0] - values[:, 1] >= -scores.tolerance[p]
            # No matrix product, whose last digits depend on the number of threads.
            linear = np.einsum("tks,ks->t", sums, np.stack([weighted[0], -weighted[1]])) - near.linear.least[p]
            with np.errstate(over="ignore"):
                weight = 1 / (1 + part * np.exp(rate * linear + gain))
            for row, only in ((0, holds & (linear < 0)), (2, ~holds & (linear >= 0))):
                added[k, row : row + 2] = weight[only].sum(), (weight[only] ** 2).sum()
        return added

    rare, found = np.flatnonzero(near.tilts[0]), np.zeros((4, question.n_pairs))
    if len(rare):
        found[:, rare] = side_by_side(weights, rare, question.n_jobs).T
    return found


def estimate(question: Question, near: Near, sums: FloatArray) -> FloatArray:
    """Of sums (4, P) of weights and of their squares: p, with and without the added resample, the interval's squares.

    The interval is that of weighted sums of Poisson counts (Fay and Feuer 1997), with the added resample of the weight
    that those found have on average, or that of the boundary; two sums combine by squares.
    """
    n = question.n_resamples
    boundary = 1 / (1 + near.tilts[2] * np.exp(near.tilts[1]))
    (more, fewer), ends = sums[::2], []
    for total, squares in (sums[:2], sums[2:]):
        none = squares == 0
        mean = np.where(none, boundary, squares / np.where(none, 1, total))
        low = np.where(none, 0, mean * special.gammaincinv(np.where(none, 1, total / mean), _TAIL))
        one = np.maximum(mean, boundary)
        mean = (squares + one**2) / (total + one)
        ends.append((low, mean * special.gammaincinv((total + one) / mean, 1 - _TAIL)))
    (more_low, more_high), (fewer_low, fewer_high) = ends
    below = ((more - more_low) ** 2 + (fewer_high - fewer) ** 2) / n**2
    above = ((more_high - more) ** 2 + (fewer - fewer_low) ** 2) / n**2
    middle = near.share + (more - fewer) / n
    return np.array([np.maximum(middle, 0) + boundary / n, middle, below, above])
