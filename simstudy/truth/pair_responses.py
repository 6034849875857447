"""Models of two systems that choose what they answer: responses in documents (F1), acceptance sets (precision)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simstudy.metrics.base import Array
from simstudy.truth.pair_base import ROUNDING, Drawn, PairModel, Two, alike, check_one, check_two, column, percent


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
            raise ValueError(f"precision must be above 0, not {self.precision}")
        check_one("gold", self.gold, 0)
        check_one("swing", self.swing, 0, 1)
        # The chance to be found must be one in both kinds of documents.
        most = min(*self.recall, *(1 - share for share in self.recall))
        if self.swing > most + ROUNDING:
            raise ValueError(f"swing must be at most {most:g} for recall {self.recall}, not {self.swing}")

    @property
    def exchangeable(self) -> bool:
        return alike(self.recall) and alike(self.precision)

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
                raise ValueError(
                    f"precisions must leave each system no more true and false candidates to accept than the shares "
                    f"{self.true:g} and {1 - self.true:g} that there are, unlike {precision:g} of {accepted:g}"
                )

    @property
    def exchangeable(self) -> bool:
        return alike(self.accepted) and (self.precisions is None or alike(self.precisions))

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
