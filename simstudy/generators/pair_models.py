"""Models of two systems: right and wrong answers, clusters of them, means, responses and acceptance sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.generators.pair_base import Drawn, PairModel, Two, check_one, check_two
from simstudy.metrics.base import Array, FloatArray
from simstudy.validation import check_flag, check_whole

# As 1 - 0.9 is less than 0.1 in binary, what is left may be as little below 0.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class RightOrWrong(PairModel):
    """Right and wrong answers; the systems share the items' difficulty.

    A system is right where sqrt(between) d_i + sqrt(1 - between) e_{k, i} is below its accuracy's normal quantile
    (`simstudy.generators.synthetic.correlated_accuracies`, for many test sets).

    Attributes
    ----------
    accuracies
        True ones, fractions.
    between
        The latent correlation of the two systems on one item.

    Examples
    --------
    >>> model = RightOrWrong((0.75, 0.5), between=0.5)
    >>> model.scores(), model.draw(3, 8, np.random.default_rng(0)).statistics.shape
    ((75.0, 50.0), (3, 2, 8, 2))
    """

    accuracies: Two
    between: float
    metric: ClassVar[str] = "accuracy"

    def __post_init__(self) -> None:
        check_two("accuracies", self.accuracies, "fractions", 0, 1)
        check_one("between", self.between, 0, 1)

    @property
    def exchangeable(self) -> bool:
        return _alike(self.accuracies)

    def scores(self) -> Two:
        return _percent(self.accuracies)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        normals = _normals(rng, n_sets, 3, n_units)
        latent = np.sqrt(self.between) * normals[:, :1] + np.sqrt(1 - self.between) * normals[:, 1:]
        return Drawn(_answers(latent, self.accuracies))


@dataclass(frozen=True)
class Clusters(PairModel):
    """Right and wrong answers on items that come in clusters (documents, users), some of which suit a system.

    The law is that of `simstudy.generators.clustered.clustered_accuracies`: two systems of equal accuracy may swap
    whole clusters and nothing changes, while items that are swapped one by one are taken to be independent and are
    not.

    Attributes
    ----------
    accuracies
        True ones, fractions.
    within
        The latent correlation of a system's results on two items of a cluster.
    between
        That of two systems' on one item.
    size
        Items of a cluster, or their mean.
    varying
        Whether sizes are geometric, drawn anew for each batch of test sets, rather than all the same.

    Examples
    --------
    >>> drawn = Clusters((0.8, 0.8), within=0.3, between=0.5, size=5).draw(3, 8, np.random.default_rng(0))
    >>> drawn.by("item").shape, drawn.by("cluster").shape
    ((3, 2, 40, 2), (3, 2, 8, 2))
    """

    accuracies: Two
    within: float
    between: float
    size: int
    varying: bool = False
    metric: ClassVar[str] = "accuracy"
    units: ClassVar[tuple[str, ...]] = ("cluster", "item")

    def __post_init__(self) -> None:
        check_two("accuracies", self.accuracies, "fractions", 0, 1)
        check_one("within", self.within, 0, 1)
        check_one("between", self.between, 0, 1)
        if self.within + self.between > 1 + _ROUNDING:
            raise ValueError(f"within and between must be at most 1 in sum, not {self.within} and {self.between}")
        check_whole("size", self.size, 1)
        check_flag("varying", self.varying)

    @property
    def exchangeable(self) -> bool:
        return _alike(self.accuracies)

    def scores(self) -> Two:
        return _percent(self.accuracies)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        sizes = rng.geometric(1 / self.size, n_units) if self.varying else np.full(n_units, self.size)
        suits = np.repeat(_normals(rng, n_sets, 2, n_units), sizes, axis=2)
        normals = _normals(rng, n_sets, 3, int(sizes.sum()))
        latent = np.sqrt(self.between) * normals[:, :1] + np.sqrt(self.within) * suits
        latent += np.sqrt(max(1 - self.within - self.between, 0)) * normals[:, 1:]
        return Drawn(_answers(latent, self.accuracies), np.concatenate([[0], np.cumsum(sizes)[:-1]]))


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

    def __post_init__(self) -> None:
        check_one("spread", self.spread, 0)

    @property
    def exchangeable(self) -> bool:
        return False

    @property
    def independent(self) -> bool:
        return True

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
            raise ValueError(f"precision must be above 0, not {self.precision}")
        check_one("gold", self.gold, 0)
        check_one("swing", self.swing, 0, 1)
        # The chance to be found must be one in both kinds of documents.
        most = min(*self.recall, *(1 - share for share in self.recall))
        if self.swing > most + _ROUNDING:
            raise ValueError(f"swing must be at most {most:g} for recall {self.recall}, not {self.swing}")

    @property
    def exchangeable(self) -> bool:
        return _alike(self.recall) and _alike(self.precision)

    def scores(self) -> Two:
        first, second = (200 * p * r / (p + r) for p, r in zip(self.precision, self.recall, strict=True))
        return first, second

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        gold = rng.poisson(self.gold, (n_sets, 1, n_units))
        swing = self.swing * (2 * rng.integers(2, size=gold.shape) - 1)
        recall, precision = _column(self.recall), _column(self.precision)
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
            if max(accepted * precision - self.true, accepted * (1 - precision) - 1 + self.true) > _ROUNDING:
                raise ValueError(
                    f"precisions must leave each system no more true and false candidates to accept than the shares "
                    f"{self.true:g} and {1 - self.true:g} that there are, unlike {precision:g} of {accepted:g}"
                )

    @property
    def exchangeable(self) -> bool:
        return _alike(self.accepted) and (self.precisions is None or _alike(self.precisions))

    def scores(self) -> Two:
        return _percent(self.precisions or (self.true, self.true))

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        true = rng.random((n_sets, 1, n_units), dtype=np.float32) < self.true
        chance: Array = _column(self.accepted)
        if self.precisions is not None:
            right = chance * _column(self.precisions)
            chance = np.where(true, right / max(self.true, _ROUNDING), (chance - right) / max(1 - self.true, _ROUNDING))
        accepted = rng.random((n_sets, 2, n_units), dtype=np.float32) < chance
        gold = np.broadcast_to(true, accepted.shape)
        return Drawn(np.stack([accepted & true, accepted, gold], axis=-1).astype(np.int8))


def _alike(of_systems: Two) -> bool:
    return of_systems[0] == of_systems[1]


def _percent(shares: Two) -> Two:
    return 100 * shares[0], 100 * shares[1]


def _column(of_systems: Sequence[float]) -> FloatArray:
    """A number for each system, to go with arrays (M, 2, n)."""
    return np.array(of_systems)[:, None]


def _normals(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return rng.standard_normal(shape, dtype=np.float32)


def _answers(latent: Array, accuracies: Two) -> Array:
    """Accuracy's statistics (M, 2, items, 2) of latent scores (M, 2, items)."""
    right = latent < stats.norm.ppf(_column(accuracies))
    return np.stack([right, np.ones_like(right)], axis=-1).astype(np.int8)
