"""Models of two systems: right and wrong answers, of single items and of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simstudy.truth.pair_base import ROUNDING, Drawn, PairModel, Two, check_one, check_two, percent, starts_of
from simstudy.truth.synthetic import right_or_wrong
from simstudy.validation import InputError, check_flag, check_whole


@dataclass(frozen=True)
class RightOrWrong(PairModel):
    """Right and wrong answers; the systems share the items' difficulty.

    A system is right where sqrt(between) d_i + sqrt(1 - between) e_{k, i} is below its accuracy's normal quantile
    (`simstudy.truth.correlated_accuracies`, for many test sets).

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

    def scores(self) -> Two:
        return percent(self.accuracies)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        normals = _normals(rng, n_sets, 3, n_units)
        latent = np.sqrt(self.between) * normals[:, :1] + np.sqrt(1 - self.between) * normals[:, 1:]
        return Drawn(right_or_wrong(latent, self.accuracies))


@dataclass(frozen=True)
class Clusters(PairModel):
    """Right and wrong answers on items that come in clusters (documents, users), some of which suit a system.

    The law is that of `simstudy.truth.clustered_accuracies`: two systems of equal accuracy may swap whole clusters and
    nothing changes, while items that are swapped one by one are assumed to be independent and are not.

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
        if self.within + self.between > 1 + ROUNDING:
            raise InputError("within and between", f"must be at most 1 in sum, not {self.within} and {self.between}")
        check_whole("size", self.size, 1)
        check_flag("varying", self.varying)

    def scores(self) -> Two:
        return percent(self.accuracies)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        sizes = rng.geometric(1 / self.size, n_units) if self.varying else np.full(n_units, self.size)
        suits = np.repeat(_normals(rng, n_sets, 2, n_units), sizes, axis=2)
        normals = _normals(rng, n_sets, 3, int(sizes.sum()))
        latent = np.sqrt(self.between) * normals[:, :1] + np.sqrt(self.within) * suits
        latent += np.sqrt(max(1 - self.within - self.between, 0)) * normals[:, 1:]
        return Drawn(right_or_wrong(latent, self.accuracies), starts_of(sizes))


def _normals(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return rng.standard_normal(shape, dtype=np.float32)
