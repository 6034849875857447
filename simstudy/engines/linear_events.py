"""The event that the bootstrap counts, as a sum of draws that is at least some number: exactly, or nearly.

If all systems share a denominator on every unit (accuracy, recall, a mean of scores), gain(x*) >= 2 gain(x) is such an
event: the better system's numerator less the worse one's, less 2 gain(x) times the denominator, adds up to at least 0.
So the p-value for infinitely many resamples is a tail of `simstudy.engines.draw_kernels`.

For other functions of sums (F1, BLEU) the event has a curved boundary. Its tangent is a sum of draws. It is taken at
the boundary's likeliest point, where resamples that are just extreme are most often: the point of first-order
reliability methods (Hasofer and Lind 1974), and the one that importance sampling would tilt resamples to (Hesterberg
1996). Far fewer resamples lie between the boundary and this tangent than between it and the tangent at the test set: a
tenth at p = 0.05, and less for smaller p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import draw_kernels
from simstudy.engines.draw_kernels import LEAST_ERROR, MOST_ERROR, DrawnEvents
from simstudy.engines.kernels import Event
from simstudy.engines.question import Question
from simstudy.engines.resampling import side_by_side
from simstudy.metrics.base import TIE_TOLERANCE, FloatArray
from simstudy.metrics.influence import derivatives

# Steps from the test set to the likeliest point: after two, the tangent is as good as after more.
_STEPS = 2

# Whole numbers are drawn as such if their sums stay below this.
_WHOLE = 2.0**50


def shares(columns: FloatArray, events: DrawnEvents, which: NDArray[np.intp], question: Question) -> FloatArray:
    """The probability of some pairs' events (P',), NaN where it is not known well enough, for columns (K, n, S)."""

    def found(part: NDArray[np.intp]) -> FloatArray:
        tails = np.empty((2, len(part)))
        draw_kernels.drawn_tails((columns, question.strata), question.pairs, events, part, tails)
        tails[0, tails[1] > np.maximum(MOST_ERROR * tails[0], LEAST_ERROR)] = np.nan
        return np.asarray(np.clip(tails[0], 0.0, 1.0))

    return side_by_side(found, which, question.n_jobs)


def of_means(question: Question, event: Event) -> tuple[FloatArray, DrawnEvents]:
    """Columns (K, n, 2) and the events of all pairs, where the systems share a denominator on every unit."""
    scores = question.unit_scores
    assert scores is not None
    assert question.ratio is not None
    below = question.ratio[1][0]
    # A denominator that all units have is none.
    below = np.ones_like(below) if (below == below[0]).all() else below
    columns = np.stack([scores, np.broadcast_to(below, scores.shape)], axis=-1).astype(np.float64)
    i, j = question.pairs
    totals, sizes = columns.sum(axis=1), np.abs(columns).sum(axis=1)
    of, gain = float(totals[0, 1]), totals[i, 0] - totals[j, 0]
    better = np.stack([np.full(len(i), event.sign * of), -event.sign * event.target * gain], axis=-1)
    worse = np.stack([better[:, 0], np.zeros(len(i))], axis=-1)
    largest = of * 2 * np.abs(columns[..., 0]).max() + event.target * np.abs(gain).max() * np.abs(below).max()
    if question.integers and largest * question.n_units < _WHOLE:
        return columns, DrawnEvents(better, worse, np.full(len(i), float(event.strict)), whole=True)
    noise = TIE_TOLERANCE * (of * (sizes[i, 0] + sizes[j, 0]) + event.target * np.abs(gain) * sizes[0, 1])
    return columns, DrawnEvents(better, worse, noise if event.strict else -noise)


def likeliest(columns: FloatArray, question: Question, event: Event, negligible: float) -> DrawnEvents:
    """Tangents (P, S) at the likeliest points of all pairs' boundaries, for statistics (K, n, S)."""
    totals, centred = columns.sum(axis=1), np.moveaxis(columns, 2, 1).copy()
    for first, end in zip(question.strata, question.strata[1:], strict=False):
        centred[..., first:end] -= centred[..., first:end].mean(axis=2, keepdims=True)
    (i, j), (_, s, n) = question.pairs, centred.shape
    own = np.matmul(centred, np.swapaxes(centred, 1, 2))
    better, worse, least = np.empty((len(i), s)), np.empty((len(i), s)), np.empty(len(i))
    for system in np.unique(i):
        these = np.flatnonzero(i == system)
        across = (centred[system] @ centred[j[these]].reshape(-1, n).T).reshape(s, -1, s).swapaxes(0, 1)
        better[these], worse[these], least[these] = _tangents(
            question, event, (totals[system], totals[j[these]]), (own[system], own[j[these]], across)
        )
    # Where there is no tangent, no sum is so large.
    none = ~np.isfinite(better.sum(axis=1) + worse.sum(axis=1) + least)
    better[none], worse[none], least[none] = 0.0, 0.0, np.inf
    return DrawnEvents(better, worse, least, negligible=negligible)


def _tangents(
    question: Question, event: Event, totals: tuple[FloatArray, FloatArray], covariances: tuple[FloatArray, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights of a better system and of m worse ones (m, S) each, and what the weighted sums must reach (m,).

    `covariances` are those of the sums: the better system's (S, S), the worse ones' and those of both (m, S, S).
    """
    metric, direction = question.metric, event.sign * (1 if question.metric.higher_is_better else -1)
    a, b = np.broadcast_to(totals[0], totals[1].shape), totals[1]
    goal = event.target * (metric.score(a) - metric.score(b))
    at_a, at_b = a, b
    with np.errstate(all="ignore"):
        for step in range(_STEPS + 1):
            slope_a, slope_b = (direction * derivatives(metric, at) for at in (at_a, at_b))
            beyond = goal - metric.score(at_a) + metric.score(at_b)
            least = direction * beyond + (slope_a * at_a - slope_b * at_b).sum(axis=1)
            if step == _STEPS:
                break
            toward_a = slope_a @ covariances[0] - np.einsum("mst,mt->ms", covariances[2], slope_b)
            toward_b = np.einsum("mst,ms->mt", covariances[2], slope_a) - np.einsum(
                "mst,mt->ms", covariances[1], slope_b
            )
            variance = (slope_a * toward_a - slope_b * toward_b).sum(axis=1)
            reach = (least - (slope_a * a - slope_b * b).sum(axis=1)) / variance
            # Any tangent will do: at a point in single precision it does not depend on how covariances were added up.
            at_a, at_b = (
                whole + (reach[:, None] * toward).astype(np.float32) for whole, toward in ((a, toward_a), (b, toward_b))
            )
    return slope_a, slope_b, least
