"""Pairs of systems: what draws their scores under each null hypothesis, with a gain, and under each control.

Fifty topics are a sample: their differences are not symmetric, nor two margins equal, though those of the population
are. Each control does with such topics what its null hypothesis does with real ones: its rates are those of a world in
which there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simstudy.truth import Margin

from .copulas import FAMILIES, SYMMETRIC, PairFit, best_fit, pseudo_observations
from .margins import Floats
from .runs import Collections, fitted_margin

#: The family of pairs that have no copula, only topics.
NO_COPULA = ""

# Throws of the coins of `exchanged`, of which one is taken.
_THROWS = 1000


@dataclass(frozen=True)
class Pair:
    """Two systems: what draws scores (2, topics) of theirs, and the family of their copula."""

    draw: Callable[[int, np.random.Generator], Floats]
    family: str = NO_COPULA


@lru_cache(maxsize=2000)
def pair_of(name: str, gain: float, collections: Collections, seed: int) -> Pair:
    """A pair under the null hypothesis or control of this name, or with a gain.

    It is kept: several numbers of topics, and several tests, have the same pairs.
    """
    rng = np.random.default_rng(seed)
    match name:
        case "fitted" | "symmetric" | "refitted":
            return one_margin(collections, rng, name)
        case "equal means" | "gain":
            return two_margins(collections, gain, rng)
        case "equal means, nothing to find":
            return refitted_margins(collections, rng)
        case "real topics":
            return topic_pair(collections.like_two(0.0, rng).scores)
        case "real topics, nothing to find":
            return topic_pair(exchanged(collections.like_two(0.0, rng).scores, rng))
        case _:
            raise ValueError(f"condition must be one that pairs.py knows, not {name}")


def copula_pair(fit: PairFit, first: Margin, second: Margin) -> Pair:
    """Two systems of these margins."""

    def draw(n: int, rng: np.random.Generator) -> Floats:
        uniforms = fit.dependence.uniforms(n, 2, rng)
        return np.stack([first.quantile(uniforms[:, 0]), second.quantile(uniforms[:, 1])])

    return Pair(draw, fit.family)


def topic_pair(scores: Floats) -> Pair:
    """Two systems on real topics (2, T), drawn again; the first one's scores are moved so that means are equal."""
    moved = scores + [[scores[1].mean() - scores[0].mean()], [0.0]]
    return Pair(lambda n, rng: moved[:, rng.integers(moved.shape[1], size=n)])


def one_margin(collections: Collections, rng: np.random.Generator, name: str) -> Pair:
    """Both systems have the margin of one run. Their copula is fitted to two runs, or again to topics of a fit."""
    runs = collections.any_two(rng)
    fit = best_fit(pseudo_observations(runs.scores, rng), FAMILIES if name == "fitted" else SYMMETRIC)
    if name == "refitted":
        topics = fit.dependence.uniforms(runs.scores.shape[1], 2, rng).T
        fit = best_fit(pseudo_observations(topics, rng))
    return copula_pair(fit, runs.margins[0], runs.margins[0])


def two_margins(collections: Collections, gain: float, rng: np.random.Generator) -> Pair:
    """Each system has the margin of its run, one of them moved so that there is this gain, or none.

    The better system is the first. Without a gain the systems are symmetric but for their margins.
    """
    while True:
        runs = collections.like_two(gain, rng)
        baseline, other = runs.margins
        with suppress(ValueError):
            moved = other.with_mean(baseline.mean + gain)
            break
    if gain:
        return copula_pair(best_fit(pseudo_observations(runs.scores[::-1], rng)), moved, baseline)
    return copula_pair(best_fit(pseudo_observations(runs.scores, rng), SYMMETRIC), baseline, moved)


def refitted_margins(collections: Collections, rng: np.random.Generator) -> Pair:
    """What `two_margins` makes of topics that are drawn with the margin of one run for both systems."""
    while True:
        runs = collections.like_two(0.0, rng)
        margin = runs.margins[0]
        fit = best_fit(pseudo_observations(runs.scores, rng), SYMMETRIC)
        topics = copula_pair(fit, margin, margin).draw(runs.scores.shape[1], rng)
        first, second = (fitted_margin(row, collections.lattice) for row in topics)
        with suppress(ValueError):
            moved = second.with_mean(first.mean)
            break
    return copula_pair(best_fit(pseudo_observations(topics, rng), SYMMETRIC), first, moved)


def exchanged(scores: Floats, rng: np.random.Generator) -> Floats:
    """Scores (2, T) with the two systems exchanged on each topic by a fair coin, given (nearly) the gain that they had.

    Like runs have small gains, and differences of a small mean have more even signs: of so many throws that one is
    taken whose gain is nearest.
    """
    difference = scores[0] - scores[1]
    kept = rng.random((_THROWS, difference.size)) < 0.5
    gains = np.where(kept, difference, -difference).mean(axis=1)
    nearest = np.abs(gains - difference.mean()).argmin()
    return np.where(kept[nearest], scores, scores[::-1])
