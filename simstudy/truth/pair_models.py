"""Models of two systems: means, and responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.truth.pair_base import ROUNDING, Drawn, PairModel, Two, check_one, check_two, column
from simstudy.validation import InputError


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
