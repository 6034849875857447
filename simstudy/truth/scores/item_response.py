"""Shared item difficulty, as in item response theory: some items are hard for all, and some tell systems apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import interpolate, special

from simstudy.metrics.base import FloatArray
from simstudy.truth.pair_base import check_one
from simstudy.truth.scores.dependence import Dependence, inside

# Steps of the trapezoidal rule, whose error falls exponentially with their number for what is this smooth, and points
# of the table of the latent scores' law, whose error is below 10^-6.
_STEP, _GRID = 0.5, 4001


@dataclass(frozen=True)
class ItemResponse(Dependence):
    """The two-parameter logistic model (Birnbaum 1968) as a dependence.

    An item has a difficulty b, normal, and a discrimination a, log-normal; a system of ability theta is right with
    probability 1 / (1 + exp(-a (theta - b))), independently of the others given the item. That is so where
    b + l_k / a is below theta, with l_k logistic; so the law of b + l_k / a turns a margin's scores into thresholds of
    ability (for ordinal scores this is the graded response model, Samejima 1969), and a system's accuracy is its
    margin's. `ability` and `accuracy` go from one to the other.

    Parameters
    ----------
    difficulty
        The standard deviation of b; 0: all items are equally hard.
    discrimination
        The median of a, above 0.
    varying
        The standard deviation of log a; 0: the one-parameter (Rasch) model.

    Examples
    --------
    >>> model = ItemResponse(difficulty=1.5, varying=0.3)
    >>> round(float(model.accuracy(0.0)), 6), round(model.ability(0.8), 6)
    (0.5, 1.945155)
    """

    difficulty: float = 1.0
    discrimination: float = 1.0
    varying: float = 0.0

    def __post_init__(self) -> None:
        check_one("difficulty", self.difficulty, 0, 100)
        check_one("discrimination", self.discrimination, 0.01, 100)
        check_one("varying", self.varying, 0, 2)

    def accuracy(self, ability: ArrayLike) -> FloatArray:
        """The expected accuracy (fractions) of systems of these abilities, by quadrature."""
        given = np.asarray(ability, dtype=np.float64)
        # Where discrimination varies more, the integrand is steeper.
        others, weights = _normal(_STEP / max(1.0, self.varying)) if self.varying else (np.zeros(1), np.ones(1))
        found = np.zeros(given.shape)
        for a, weight in zip(self.discrimination * np.exp(self.varying * others), weights, strict=True):
            found += weight * _below(given, self.difficulty, 1 / a)
        return found

    def ability(self, accuracy: float) -> float:
        """The ability of a system of this accuracy (a fraction), by root finding."""
        check_one("accuracy", accuracy, 1e-9, 1 - 1e-9)
        reach = self._reach
        found: float = scipy.optimize.brentq(
            lambda theta: float(self.accuracy(theta)) - accuracy, -reach, reach, xtol=1e-12
        )
        return found

    @property
    def _reach(self) -> float:
        return float(9 * self.difficulty + 40 / (self.discrimination * np.exp(-2 * self.varying)))

    @cached_property
    def _law(self) -> interpolate.PchipInterpolator:
        # Points are dense in the middle.
        grid = np.sinh(np.linspace(-6, 6, _GRID)) / np.sinh(6) * self._reach
        return interpolate.PchipInterpolator(grid, self.accuracy(grid))

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        hard = self.difficulty * rng.standard_normal((n_items, 1))
        sharp = self.discrimination * np.exp(self.varying * rng.standard_normal((n_items, 1)))
        latent = hard + rng.logistic(size=(n_items, n_systems)) / sharp
        return inside(1 - self._law(np.clip(latent, -self._reach, self._reach)))


def _normal(step: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights, 1 in sum, for integrals over a standard normal variable."""
    nodes = np.arange(-9, 9 + step / 2, step)
    density = np.exp(-(nodes**2) / 2)
    return nodes, density / density.sum()


def _below(x: FloatArray, spread: float, noise: float) -> FloatArray:
    """P(spread z + noise l <= x) of a standard normal z and a standard logistic l, by the sum over the narrower one."""
    if spread <= noise:
        nodes, weights = _normal(_STEP)
        return np.asarray(special.expit((x[..., None] - spread * nodes) / noise) @ weights)
    nodes = np.arange(-40, 40 + _STEP / 2, _STEP)
    density = special.expit(nodes) * special.expit(-nodes)
    return np.asarray(special.ndtr((x[..., None] - noise * nodes) / spread) @ (density / density.sum()))
