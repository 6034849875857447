"""Models of two systems: means, gains that grow with clusters, responses and acceptance sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.metrics.base import Array
from simstudy.truth.pair_base import ROUNDING, Drawn, PairModel, Two, check_one, check_two, column, percent
from simstudy.validation import InputError, check_whole

# The second system's true score where gains grow.
_SCORE = 10.0


@dataclass(frozen=True)
class SkewedMeans(PairModel):
    """Item scores with mean 1: exponential for the first system, normal with a small spread for the second.

    They have nothing in common: means are equal, variance and skewness are not, and the systems are independent.

    Attributes
    ----------
    spread
        The normal scores' standard deviation; the exponential ones' is 1.

    Examples
    --------
    >>> SkewedMeans(0.3).scores()
    (1.0, 1.0)
    """

    spread: float
    metric: ClassVar[str] = "mean"
    exchangeable: ClassVar[bool] = False
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_one("spread", self.spread, 0)

    def scores(self) -> Two:
        return 1.0, 1.0

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        statistics = np.ones((n_sets, 2, n_units, 2))
        statistics[:, 0, :, 0] = rng.standard_exponential((n_sets, n_units))
        statistics[:, 1, :, 0] = rng.normal(1, self.spread, (n_sets, n_units))
        return Drawn(statistics)


@dataclass(frozen=True)
class GrowingGains(PairModel):
    """Item scores in clusters whose gain grows with the cluster's size: few large clusters decide.

    Sizes are geometric and drawn anew for each cluster of each test set. In a cluster of s items the first system's
    scores are higher by gain + slope (s - m) on average, where m = 2 size - 1 is the mean size of the cluster that an
    item is in, so that over all items they are higher by the gain. Only sums over clusters are drawn.

    Attributes
    ----------
    size
        The mean number of items of a cluster.
    slope
        By how much the gain grows for each item that a cluster has more.
    spread
        The standard deviation of the difference of the two systems' scores on one item of a given cluster (normal).
    gain
        The true gain.

    Examples
    --------
    >>> model = GrowingGains(size=5, slope=0.2, spread=3.0)
    >>> model.scores(), model.draw(3, 8, np.random.default_rng(0)).statistics.shape
    ((10.0, 10.0), (3, 2, 8, 2))
    """

    size: int
    slope: float
    spread: float
    gain: float = 0.0
    metric: ClassVar[str] = "mean"
    units: ClassVar[tuple[str, ...]] = ("cluster",)

    def __post_init__(self) -> None:
        check_whole("size", self.size, 1)
        check_one("slope", self.slope, -np.inf)
        check_one("spread", self.spread, 0)
        check_one("gain", self.gain, -np.inf)

    @property
    def exchangeable(self) -> bool:
        return self.slope == 0 and self.gain == 0

    def scores(self) -> Two:
        return _SCORE + self.gain, _SCORE

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        sizes = rng.geometric(1 / self.size, (n_sets, n_units)).astype(np.float64)
        # Half of an item's variance is each system's own.
        noise = rng.standard_normal((2, n_sets, n_units)) * np.sqrt(sizes / 2) * self.spread
        statistics = np.stack([_SCORE * sizes + noise, np.broadcast_to(sizes, noise.shape)], axis=-1)
        statistics[0, ..., 0] += sizes * (self.gain + self.slope * (sizes - (2 * self.size - 1)))
        return Drawn(statistics.swapaxes(0, 1))


@dataclass(frozen=True)
class Responses(PairModel):
    """Correct, guessed and gold responses (F1) in documents; the systems share what is to be found, and how hard it is.

    A document has Poisson(gold) responses to find. In half of the documents each is found with probability
    recall + swing, in the others with recall - swing; for each there are Poisson(recall (1 / precision - 1)) spurious
    guesses.

    Attributes
    ----------
    recall, precision
        True ones, fractions.
    gold
        Mean number of responses to find in a document.
    swing
        At most recall, and at most 1 - recall.

    Examples
    --------
    >>> [round(score, 9) for score in Responses(recall=(0.6, 0.9), precision=(0.9, 0.6)).scores()]
    [72.0, 72.0]
    """

    recall: Two
    precision: Two
    gold: float = 3.0
    swing: float = 0.1
    metric: ClassVar[str] = "f1"

    def __post_init__(self) -> None:
        check_two("recall", self.recall, "fractions", 0, 1)
        check_two("precision", self.precision, "fractions", 0, 1)
        if min(self.precision) == 0:
            raise InputError("precision", "must be above 0", self.precision)
        check_one("gold", self.gold, 0)
        check_one("swing", self.swing, 0, 1)
        # The chance to be found must be one in both kinds of documents.
        most = min(*self.recall, *(1 - share for share in self.recall))
        if self.swing > most + ROUNDING:
            raise InputError("swing", f"must be at most {most:g} for recall {self.recall}", self.swing)

    def scores(self) -> Two:
        first, second = (200 * p * r / (p + r) for p, r in zip(self.precision, self.recall, strict=True))
        return first, second

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        gold = rng.poisson(self.gold, (n_sets, 1, n_units))
        swing = self.swing * (2 * rng.integers(2, size=gold.shape) - 1)
        recall, precision = column(self.recall), column(self.precision)
        correct = rng.binomial(gold, np.clip(recall + swing, 0, 1))
        spurious = rng.poisson(gold * recall * (1 / precision - 1))
        return Drawn(np.stack([correct, correct + spurious, np.broadcast_to(gold, correct.shape)], axis=-1))


@dataclass(frozen=True)
class Acceptances(PairModel):
    """Acceptance sets (precision): candidates are true or false for both systems, which accept some of them.

    Without `precisions` they accept them regardless of it. So both precisions are the share of true candidates, however
    many a system accepts; and what only one accepts is true as often as what only the other does.

    Attributes
    ----------
    accepted
        The share of the candidates that each system accepts.
    true
        The share that is true.
    precisions
        The share of each system's accepted candidates that is true; None: as many as of all candidates.

    Examples
    --------
    >>> Acceptances((0.8, 0.2), true=0.5).scores(), Acceptances((0.5, 0.2), 0.5, (0.6, 0.8)).scores()
    ((50.0, 50.0), (60.0, 80.0))
    """

    accepted: Two
    true: float
    precisions: Two | None = None
    metric: ClassVar[str] = "precision"

    def __post_init__(self) -> None:
        check_two("accepted", self.accepted, "fractions", 0, 1)
        check_one("true", self.true, 0, 1)
        if self.precisions is None:
            return
        check_two("precisions", self.precisions, "fractions", 0, 1)
        for accepted, precision in zip(self.accepted, self.precisions, strict=True):
            if max(accepted * precision - self.true, accepted * (1 - precision) - 1 + self.true) > ROUNDING:
                raise InputError(
                    "precisions",
                    f"must not need more true or false candidates than there are (shares {self.true:g} and "
                    f"{1 - self.true:g}), unlike {precision:g} with a share of {accepted:g} accepted",
                )

    def scores(self) -> Two:
        return percent(self.precisions or (self.true, self.true))

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        true = rng.random((n_sets, 1, n_units), dtype=np.float32) < self.true
        chance: Array = column(self.accepted)
        if self.precisions is not None:
            right = chance * column(self.precisions)
            chance = np.where(true, right / max(self.true, ROUNDING), (chance - right) / max(1 - self.true, ROUNDING))
        accepted = rng.random((n_sets, 2, n_units), dtype=np.float32) < chance
        gold = np.broadcast_to(true, accepted.shape)
        return Drawn(np.stack([accepted & true, accepted, gold], axis=-1).astype(np.int8))
