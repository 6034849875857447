"""Dependence: what systems' results on an item have in common, whatever the margins; copulas of uniform numbers.

A larger uniform number is a better score. All draw K numbers an item; items are independent of each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.running.threads import one_blas_thread
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.pair_base import EXTREME, check_one
from simstudy.truth.scores.correlations import checked_correlation, equicorrelated, root
from simstudy.validation import InputError

#: Uniform numbers stay strictly between 0 and 1, so that quantiles are finite.
LEAST = 2.0**-53

# Fewer degrees of freedom would draw t so far out that floating point can not hold it.
_LEAST_DF = 0.1


class Dependence(FieldsMixin, ABC):
    """A copula."""

    #: Whether any two systems' numbers may be swapped and the law of these two stays the same.
    exchangeable: bool = True

    @abstractmethod
    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """Uniform numbers (n items, K systems), strictly between 0 and 1."""

    def normals(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """The same as standard normal numbers (n items, K systems)."""
        return np.asarray(special.ndtri(self.uniforms(n_items, n_systems, rng)))

    def check_systems(self, n_systems: int) -> None:
        """Raise a ValueError where there is no such dependence of so many systems."""

    def of_two(self, n_systems: int, first: int, second: int) -> Dependence:
        """That of two of so many systems; a ValueError where only that of all together, or in order, is known."""
        if n_systems > 2 and not self.exchangeable:
            raise InputError("pair", f"must be of two systems in all where dependence is {self!r}")
        if first > second and not self.exchangeable:
            raise InputError("first", f"must come before second where dependence is {self!r}")
        return self


@dataclass(frozen=True)
class Independent(Dependence):
    """Systems that have nothing in common."""

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        return np.maximum(rng.random((n_items, n_systems)), LEAST)


@dataclass(frozen=True, eq=False)
class GaussianCopula(Dependence):
    """Normal latent scores that correlate.

    Parameters
    ----------
    correlation
        A matrix (K, K), positive semi-definite (`of_families` makes one), or one number for all pairs, at least
        -1 / (K - 1).

    Examples
    --------
    >>> GaussianCopula(0.5).uniforms(4, 3, np.random.default_rng(0)).shape
    (4, 3)
    """

    correlation: ArrayLike

    def __post_init__(self) -> None:
        if np.ndim(self.correlation) == 0:
            check_one("correlation", self.correlation, -1, 1)
        else:
            object.__setattr__(self, "correlation", checked_correlation("correlation", self.correlation))

    def check_systems(self, n_systems: int) -> None:
        self.matrix(n_systems)

    def matrix(self, n_systems: int) -> FloatArray:
        """The correlations of so many systems (K, K); ValueError where it has others."""
        if np.ndim(self.correlation) == 0:
            return equicorrelated(n_systems, float(np.asarray(self.correlation)))
        matrix = np.asarray(self.correlation)
        if len(matrix) != n_systems:
            raise InputError(
                "correlation", f"must be of {n_systems} systems, as there are so many, not of {len(matrix)}"
            )
        return matrix

    def of_two(self, n_systems: int, first: int, second: int) -> Dependence:
        chosen = [first, second]
        return self if n_systems == 2 else replace(self, correlation=self.matrix(n_systems)[np.ix_(chosen, chosen)])

    @cached_property
    def _roots(self) -> dict[int, FloatArray]:
        return {}

    def normals(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        if n_systems not in self._roots:
            with one_blas_thread():
                self._roots[n_systems] = root(self.matrix(n_systems))
        return np.asarray(rng.standard_normal((n_items, n_systems)) @ self._roots[n_systems])

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        return inside(special.ndtr(self.normals(n_items, n_systems, rng)))


@dataclass(frozen=True, eq=False)
class TCopula(GaussianCopula):
    """The copula of a multivariate t: systems are far off together on some items, whatever their correlation.

    Parameters
    ----------
    correlation
        As that of `GaussianCopula`; 0 is not independence.
    df
        Degrees of freedom, at least 0.1; few: much dependence in both tails.
    """

    df: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_one("df", self.df, _LEAST_DF, EXTREME)

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        latent = GaussianCopula.normals(self, n_items, n_systems, rng)
        spread = np.sqrt(rng.chisquare(self.df, (n_items, 1)) / self.df)
        return inside(np.asarray(special.stdtr(self.df, latent / np.maximum(spread, 1e-300)), dtype=np.float64))

    normals = Dependence.normals


@dataclass(frozen=True)
class Survival(Dependence):
    """Another dependence upside down: one less its numbers, so that lower and upper tail change places."""

    of: Dependence

    def __post_init__(self) -> None:
        _check_other(self.of)

    @property
    def exchangeable(self) -> bool:  # type: ignore[override]
        """Whether the other one is."""
        return self.of.exchangeable

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        return inside(1 - self.of.uniforms(n_items, n_systems, rng))

    def check_systems(self, n_systems: int) -> None:
        self.of.check_systems(n_systems)

    def of_two(self, n_systems: int, first: int, second: int) -> Dependence:
        return Survival(self.of.of_two(n_systems, first, second))


@dataclass(frozen=True)
class Khoudraji(Dependence):
    """An asymmetric dependence: each system has its own share of another one (Khoudraji 1995; Genest et al. 1995).

    Its distribution function is that of the other one at u_k^share_k, times the product of u_k^(1 - share_k). Even
    systems of equal margins can not be exchanged where shares differ.

    Parameters
    ----------
    of
        The other dependence, such as `Clayton`.
    shares
        K numbers from 0 (the system is independent of all others) to 1.
    """

    of: Dependence
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_other(self.of)
        object.__setattr__(self, "shares", tuple(self.shares))
        for share in self.shares:
            check_one("shares", share, 0, 1)

    @property
    def exchangeable(self) -> bool:  # type: ignore[override]
        """Whether all shares are the same."""
        return self.of.exchangeable and len(set(self.shares)) <= 1

    def check_systems(self, n_systems: int) -> None:
        self.of.check_systems(n_systems)
        if len(self.shares) != n_systems:
            raise InputError("shares", f"must be {n_systems}, one of each system", len(self.shares))

    def of_two(self, n_systems: int, first: int, second: int) -> Dependence:
        return Khoudraji(self.of.of_two(n_systems, first, second), (self.shares[first], self.shares[second]))

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        shares = np.array(self.shares)
        common = self.of.uniforms(n_items, n_systems, rng)
        own = rng.random((n_items, n_systems))
        with np.errstate(divide="ignore", over="ignore"):
            return inside(np.maximum(common ** (1 / shares), own ** (1 / (1 - shares))))


def inside(uniform: FloatArray) -> FloatArray:
    """Uniform numbers, strictly between 0 and 1."""
    return np.clip(uniform, LEAST, 1 - LEAST)


def _check_other(of: object) -> None:
    if not isinstance(of, Dependence):
        raise InputError("of", "must be a dependence", of)
