"""The models of the conditions: those of precision, BLEU and growing gains are here, others in simstudy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from simstudy.studies import METRICS, model_of
from simstudy.truth import KnownTruth

Pair = tuple[float, float]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# The second system's true score where gains grow.
_SCORE = 10.0

# References have 5 words and a negative binomial number more, 17 on average. Longer ones than this have a probability
# below 10^-12.
_SHORTEST, _SHAPE, _MEAN_MORE, _LONGEST = 5, 2, 17.0, 320

# Nodes of the normal distribution's quadrature: one more changes a score by less than 10^-9.
_NODES = 96


def model(condition: Mapping[str, Any]) -> KnownTruth:
    """The model that a condition names, one of this study or of simstudy."""
    kind = _MODELS.get(str(condition.get("model")))
    if kind is None:
        return model_of(condition)
    values = {name: condition[name] for name in signature(kind).parameters if name in condition}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


class _TwoSystems(KnownTruth):
    """Two systems, whose parameters are pairs of numbers."""

    @property
    def n_systems(self) -> int:
        return 2


@dataclass(frozen=True)
class Acceptances(_TwoSystems):
    """Candidates that are true with one probability for both systems, which accept some of them (precision).

    `accepted` are the shares that the two systems accept. Without `precisions` they accept candidates whether these are
    true or not, so that both precisions are `true`. Given whether a candidate is true, the systems are independent.
    """

    accepted: Pair
    true: float
    precisions: Pair | None = None
    metric: Any = field(default=METRICS["precision"], init=False, repr=False)

    def __post_init__(self) -> None:
        chances = np.array([self.accepted, self.accepted_of_true, self.accepted_of_false, (self.true, self.true)])
        if not ((chances >= 0) & (chances <= 1)).all():
            raise ValueError(f"the shares of all, true and false candidates that systems accept must be 0 to 1: {self}")

    @property
    def accepted_of_true(self) -> FloatArray:
        """The shares of the true candidates that the two systems accept."""
        return np.asarray(np.array(self.accepted) * np.array(self.precisions or self.true) / self.true)

    @property
    def accepted_of_false(self) -> FloatArray:
        return np.asarray(np.array(self.accepted) * (1 - np.array(self.precisions or self.true)) / (1 - self.true))

    def scores(self) -> FloatArray:
        return 100 * np.array(self.precisions or (self.true, self.true))

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> NDArray[np.int8]:
        true = rng.random(len(uniforms)) < self.true
        accepted = np.where(true, self.accepted_of_true[:, None], self.accepted_of_false[:, None]) > uniforms.T
        gold = np.broadcast_to(true, accepted.shape)
        return np.stack([accepted & true, accepted, gold], axis=-1).astype(np.int8)


@dataclass(frozen=True)
class GrowingGains(_TwoSystems):
    """Clusters of geometric sizes with mean `size`, in which the first system's gain grows with the cluster's size.

    On an item of a cluster of s items the expected gain is gain + slope (s - m). Here m = 2 size - 1 is the mean size
    of an item's cluster, so that the gain over all items is `gain`. The difference of two scores on an item of a given
    cluster is normal with standard deviation `spread`. Only the sums over clusters are drawn.
    """

    size: int
    slope: float
    spread: float
    gain: float = 0.0
    metric: Any = field(default=METRICS["mean"], init=False, repr=False)

    @property
    def units(self) -> tuple[str, ...]:
        return ("cluster",)

    @property
    def alike(self) -> bool:
        return self.slope == 0 and self.gain == 0

    def scores(self) -> FloatArray:
        return np.array([_SCORE + self.gain, _SCORE])

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> FloatArray:
        sizes = rng.geometric(1 / self.size, len(uniforms)).astype(np.float64)
        # Half of the variance of a difference is each system's.
        sums = _SCORE * sizes + special.ndtri(uniforms.T) * np.sqrt(sizes / 2) * self.spread
        sums[0] += sizes * (self.gain + self.slope * (sizes - (2 * self.size - 1)))
        return np.stack([sums, np.broadcast_to(sizes, sums.shape)], axis=-1)


@dataclass(frozen=True)
class Translations(_TwoSystems):
    """Sentences scored by BLEU, with lengths and clipped matches of 1- to 4-grams instead of words.

    A word of system k's translation of sentence i is matched with probability p, where logit(p) is quality_k +
    shared z_i + own e_{k, i} (z and e standard normal). If m n-grams are matched, each of m - 1 becomes a matched
    (n + 1)-gram with probability `goes_on`. A translation of a reference of r words has Binomial(r, length_k) words,
    and if length_k is above 1, r + Binomial(r, length_k - 1).
    """

    quality: Pair
    length: Pair
    shared: float = 0.5
    own: float = 0.4
    goes_on: float = 0.6
    metric: Any = field(default=METRICS["bleu"], init=False, repr=False)

    def scores(self) -> FloatArray:
        spread = float(np.hypot(self.shared, self.own))
        pairs = zip(self.quality, self.length, strict=True)
        expected = [expected_statistics(quality, length, spread, self.goes_on) for quality, length in pairs]
        return np.asarray(self.metric.score(np.array(expected)))

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> NDArray[np.int16]:
        n = len(uniforms)
        reference = _SHORTEST + rng.negative_binomial(_SHAPE, _SHAPE / (_SHAPE + _MEAN_MORE), n)
        hard = self.shared * rng.standard_normal(n)
        matched = special.expit(np.array(self.quality)[:, None] + hard + self.own * special.ndtri(uniforms.T))
        length = np.stack([_drawn_lengths(reference, ratio, rng) for ratio in self.length])
        correct = [rng.binomial(length, matched)]
        for _ in range(3):
            correct.append(rng.binomial(np.maximum(correct[-1] - 1, 0), self.goes_on))
        total = [np.maximum(length - order, 0) for order in range(4)]
        columns = [*correct, *total, length, np.broadcast_to(reference, length.shape)]
        return np.stack(columns, axis=-1).astype(np.int16)


def _drawn_lengths(reference: IntArray, ratio: float, rng: np.random.Generator) -> IntArray:
    lengths = rng.binomial(reference, ratio) if ratio <= 1 else reference + rng.binomial(reference, ratio - 1)
    return np.maximum(lengths, 1)


@cache
def expected_statistics(quality: float, length: float, spread: float, goes_on: float) -> FloatArray:
    """The expected values of the ten statistics of a sentence."""
    more = np.arange(_LONGEST - _SHORTEST + 1)
    references = _SHORTEST + more
    weight = scipy.stats.nbinom.pmf(more, _SHAPE, _SHAPE / (_SHAPE + _MEAN_MORE))
    words = np.arange(2 * _LONGEST + 1)
    if length <= 1:
        chance = scipy.stats.binom.pmf(words[:, None], references, length)
    else:
        chance = scipy.stats.binom.pmf(words[:, None] - references, references, length - 1)
    of_length = chance @ weight
    # An empty translation gets a word.
    of_length[1] += of_length[0]
    of_length[0] = 0.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    matches = expected_matches(words[:, None], special.expit(quality + spread * nodes), goes_on)
    correct = [of_length @ mean @ (weights / weights.sum()) for mean in matches]
    total = [of_length @ np.maximum(words - n, 0) for n in range(4)]
    return np.array([*correct, *total, of_length @ words, weight @ references])


def expected_matches(words: IntArray, p: FloatArray, goes_on: float) -> list[FloatArray]:
    """Expected numbers of matched 1- to 4-grams of translations with these numbers of words and chances of a match.

    Let G(s) = E[s^m] for the number m of matched n-grams. The max(m - 1, 0) that may go on have
    H(s) = G(0) + (G(s) - G(0)) / s, and the matched (n + 1)-grams have H(1 - goes_on + goes_on s).
    """

    def generating(order: int, s: float) -> FloatArray:
        if order == 1:
            return np.asarray((1 - p + p * s) ** words)
        at, none = 1 - goes_on + goes_on * s, generating(order - 1, 0.0)
        return none + (generating(order - 1, at) - none) / at

    means = [words * p]
    for order in (1, 2, 3):
        # E[max(m - 1, 0)] is E[m] - 1 + P(m = 0).
        means.append(goes_on * (means[-1] - 1 + generating(order, 0.0)))
    return means


_MODELS: dict[str, type[KnownTruth]] = {
    "Acceptances": Acceptances,
    "GrowingGains": GrowingGains,
    "Translations": Translations,
}
