"""Translations scored by BLEU, with a population score that is known: lengths and matches of sentences, no words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import scipy
from scipy import special

from simstudy.metrics import METRICS
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.truth.pair_base import Drawn, PairModel, Two, check_one, check_two

# References have 5 words and a negative binomial number more, 17 on average; longer ones than this are too rare to
# matter (their probability is below 10^-12).
_SHORTEST, _SHAPE, _MEAN_MORE, _LONGEST = 5, 2, 17.0, 320

# Nodes of the normal distribution's quadrature: a further one changes a score by less than 10^-9.
_NODES = 96


@dataclass(frozen=True)
class Translations(PairModel):
    """Sentences with lengths and clipped matches of 1- to 4-grams; the systems share how hard each sentence is.

    A word of system k's translation of sentence i is matched with probability p, where logit(p) is quality_k +
    shared z_i + own e_{k, i} (z and e standard normal). Of m matched n-grams, each of m - 1 goes on to be a matched
    (n + 1)-gram with probability `goes_on`. A translation of a reference of r words has Binomial(r, length) words, and
    where length is above 1, r + Binomial(r, length - 1).

    Attributes
    ----------
    quality
        Log-odds.
    length
        Expected length over the reference's, at most 2.
    shared, own
        Spread of sentences' log-odds, what the systems have in common and what not.
    goes_on
        Probability.

    Examples
    --------
    >>> first, second = Translations(quality=(1.0, 0.5), length=(1.0, 1.0)).scores()
    >>> first > second
    True
    >>> Translations((0.6, 0.6), (0.9, 0.9)).draw(3, 8, np.random.default_rng(0)).statistics.shape
    (3, 2, 8, 10)
    """

    quality: Two
    length: Two
    shared: float = 0.5
    own: float = 0.4
    goes_on: float = 0.6
    metric: ClassVar[str] = "bleu"

    def __post_init__(self) -> None:
        check_two("quality", self.quality, "numbers", -np.inf)
        check_two("length", self.length, "numbers", 0, 2)
        check_one("shared", self.shared, 0)
        check_one("own", self.own, 0)
        check_one("goes_on", self.goes_on, 0, 1)

    def scores(self) -> Two:
        spread = float(np.hypot(self.shared, self.own))
        first, second = (
            float(METRICS["bleu"].score(_expected(quality, length, spread, self.goes_on)))
            for quality, length in zip(self.quality, self.length, strict=True)
        )
        return first, second

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        reference = _SHORTEST + rng.negative_binomial(_SHAPE, _SHAPE / (_SHAPE + _MEAN_MORE), (n_sets, 1, n_units))
        hard = self.shared * rng.standard_normal((n_sets, 1, n_units))
        own = self.own * rng.standard_normal((n_sets, 2, n_units))
        matched = special.expit(np.array(self.quality)[:, None] + hard + own)
        length = np.concatenate([_lengths(reference, ratio, rng) for ratio in self.length], axis=1)
        correct = [rng.binomial(length, matched)]
        for _ in range(3):
            correct.append(rng.binomial(np.maximum(correct[-1] - 1, 0), self.goes_on))
        total = [np.maximum(length - n, 0) for n in range(4)]
        columns = [*correct, *total, length, np.broadcast_to(reference, length.shape)]
        return Drawn(np.stack(columns, axis=-1).astype(np.int16))


def _lengths(reference: IntArray, ratio: float, rng: np.random.Generator) -> IntArray:
    drawn = rng.binomial(reference, ratio) if ratio <= 1 else reference + rng.binomial(reference, ratio - 1)
    return np.maximum(drawn, 1)


@cache
def _expected(quality: float, length: float, spread: float, goes_on: float) -> FloatArray:
    """The ten statistics that a sentence is expected to have."""
    more = np.arange(_LONGEST - _SHORTEST + 1)
    references = _SHORTEST + more
    weight = scipy.stats.nbinom.pmf(more, _SHAPE, _SHAPE / (_SHAPE + _MEAN_MORE))
    words = np.arange(2 * _LONGEST + 1)
    if length <= 1:
        share = scipy.stats.binom.pmf(words[:, None], references, length)
    else:
        share = scipy.stats.binom.pmf(words[:, None] - references, references, length - 1)
    of_length = share @ weight
    # An empty translation gets a word.
    of_length[1] += of_length[0]
    of_length[0] = 0.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    p = special.expit(quality + spread * nodes)
    correct = [of_length @ row @ (weights / weights.sum()) for row in _matches(words[:, None], p, goes_on)]
    total = [of_length @ np.maximum(words - n, 0) for n in range(4)]
    return np.array([*correct, *total, of_length @ words, weight @ references])


def _matches(words: IntArray, p: FloatArray, goes_on: float) -> list[FloatArray]:
    """Expected matched 1- to 4-grams of translations of so many words, each matched with probability p.

    With G(s) = E[s^m] of the number m of matched n-grams, m - 1 that may go on (none, where m is 0) have
    H(s) = G(0) + (G(s) - G(0)) / s, and the (n + 1)-grams H(1 - goes_on + goes_on s).
    """

    def generating(order: int, s: float) -> FloatArray:
        if order == 1:
            return np.asarray((1 - p + p * s) ** words)
        at, none = 1 - goes_on + goes_on * s, generating(order - 1, 0.0)
        return none + (generating(order - 1, at) - none) / at

    expected = [words * p]
    for order in (1, 2, 3):
        # E[(m - 1)+] is E[m] - 1 + P(m = 0).
        expected.append(goes_on * (expected[-1] - 1 + generating(order, 0.0)))
    return expected
