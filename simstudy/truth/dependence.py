"""Dependence: what systems' results on an item have in common, whatever the margins; copulas of uniform numbers.

A larger uniform number is a better score. All draw K numbers an item; items are independent of each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.running.threads import one_blas_thread
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.margins import EXTREME, check_one
from simstudy.validation import InputError, check_list, check_number

#: Uniform numbers stay strictly between 0 and 1, so that quantiles are finite.
LEAST = 2.0**-53

# Fewer degrees of freedom would draw t so far out that floating point can not hold it.
_LEAST_DF = 0.1

# A gamma frailty below this is drawn as a logarithm.
_SMALL = 1e-300

# Eigenvalues that are as little below 0 are rounding.
_ROUNDING = 1e-8


class Dependence(FieldsMixin, ABC):
    """A copula.

    Examples
    --------
    >>> float(Clayton(2.0).rank_correlation(2)[0, 1])
    0.5
    """

    #: Whether any two systems' numbers may be swapped and the law of these two stays the same.
    exchangeable: bool = True

    @abstractmethod
    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """Uniform numbers (n items, K systems), strictly between 0 and 1."""

    @abstractmethod
    def rank_correlation(self, n_systems: int) -> FloatArray:
        """Kendall's tau of the numbers of every two systems (K, K)."""

    def normals(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """The same as standard normal numbers (n items, K systems)."""
        return np.asarray(special.ndtri(self.uniforms(n_items, n_systems, rng)))

    def check_systems(self, n_systems: int) -> None:
        """Raise a ValueError where there is no such dependence of so many systems."""


@dataclass(frozen=True)
class Independent(Dependence):
    """Systems that have nothing in common.

    Examples
    --------
    >>> Independent().uniforms(4, 3, np.random.default_rng(0)).shape
    (4, 3)
    """

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        return np.maximum(rng.random((n_items, n_systems)), LEAST)

    def rank_correlation(self, n_systems: int) -> FloatArray:
        return np.eye(n_systems)


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
    >>> GaussianCopula(-0.6).matrix(3)
    Traceback (most recent call last):
    simstudy.validation.InputError: correlation must be from -0.5 to 1, not -0.6: the least common \
correlation of 3 systems is -1 / (3 - 1)
    """

    correlation: ArrayLike

    def __post_init__(self) -> None:
        if np.ndim(self.correlation) == 0:
            check_one("correlation", self.correlation, -1, 1)
        else:
            object.__setattr__(self, "correlation", _checked_matrix(self.correlation))

    def check_systems(self, n_systems: int) -> None:
        self.matrix(n_systems)

    def matrix(self, n_systems: int) -> FloatArray:
        """The correlations of so many systems (K, K); ValueError where it has others."""
        matrix = np.asarray(self.correlation, dtype=np.float64)
        if matrix.ndim == 0:
            least = -1 / (n_systems - 1) if n_systems > 1 else -1.0
            if matrix < least - _ROUNDING:
                because = f": the least common correlation of {n_systems} systems is -1 / ({n_systems} - 1)"
                raise InputError("correlation", f"must be from {least:g} to 1", self.correlation, because)
            return np.where(np.eye(n_systems, dtype=bool), 1.0, matrix)
        if len(matrix) != n_systems:
            rule = f"must be of {n_systems} systems, as there are so many, not of {len(matrix)}"
            raise InputError("correlation", rule)
        return matrix

    def rank_correlation(self, n_systems: int) -> FloatArray:
        return 2 / np.pi * np.arcsin(np.clip(self.matrix(n_systems), -1, 1))

    @cached_property
    def _roots(self) -> dict[int, FloatArray]:
        return {}

    def normals(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        if n_systems not in self._roots:
            with one_blas_thread():
                roots = _with_eigenvalues(self.matrix(n_systems), lambda values: np.sqrt(np.maximum(values, 0)))
                self._roots[n_systems] = roots
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

    Examples
    --------
    >>> TCopula(0.5, df=3).rank_correlation(2)[0, 1].round(6) == GaussianCopula(0.5).rank_correlation(2)[0, 1].round(6)
    np.True_
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
class Clayton(Dependence):
    """Systems fail together more than they do well together; any number of them, exchangeable.

    Drawn as Marshall and Olkin (1988) do: numbers are (1 + e_k / v)^(-1 / theta), with e exponential and one v an item,
    Gamma(1 / theta).

    Parameters
    ----------
    theta
        From 1e-100 to 1e100; Kendall's tau of two systems is theta / (theta + 2).

    Examples
    --------
    >>> Clayton(2.0).uniforms(4, 3, np.random.default_rng(0)).shape
    (4, 3)
    """

    theta: float

    def __post_init__(self) -> None:
        check_one("theta", self.theta, 1 / EXTREME, EXTREME)

    def rank_correlation(self, n_systems: int) -> FloatArray:
        return np.where(np.eye(n_systems, dtype=bool), 1.0, self.theta / (self.theta + 2))

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        frailty = rng.gamma(1 / self.theta, size=(n_items, 1))
        log_waits = np.log(rng.standard_exponential((n_items, n_systems)))
        # Near 0 the gamma law is a power law, whose logarithm is exponential.
        small = frailty < _SMALL
        log_frailty = np.log(np.maximum(frailty, _SMALL))
        log_frailty[small] -= self.theta * rng.standard_exponential(int(small.sum()))
        return inside(np.exp(-np.logaddexp(0, log_waits - log_frailty) / self.theta))


@dataclass(frozen=True)
class Gumbel(Dependence):
    """Systems do well together more than they fail together; where shares differ, one of two more often alone.

    Numbers are exp(-(e_k / v)^(1 / theta)), with e exponential and one v an item, positive stable of index 1 / theta
    (Marshall and Olkin 1988; v is drawn as Kanter 1975 does). With shares the distribution function is that one at
    u_k^share_k, times the product of u_k^(1 - share_k) (Tawn 1988; Khoudraji 1995): even systems of equal margins can
    not be exchanged where shares differ.

    Parameters
    ----------
    theta
        From 1 (independence) to 1e100; without shares Kendall's tau of two systems is 1 - 1 / theta.
    shares
        K numbers from 0 (the system is independent of all others) to 1; none: 1 of each.

    Examples
    --------
    >>> float(Gumbel(4.0).rank_correlation(2)[0, 1].round(6)), Gumbel(4.0, (0.9, 0.4)).exchangeable
    (0.75, False)
    """

    theta: float
    shares: Sequence[float] = ()

    def __post_init__(self) -> None:
        check_one("theta", self.theta, 1, EXTREME)
        object.__setattr__(self, "shares", tuple(self.shares))
        for share in self.shares:
            check_one("shares", share, 0, 1)

    @property
    def exchangeable(self) -> bool:  # type: ignore[override]
        """Whether all shares are the same."""
        return len(set(self.shares)) <= 1

    def check_systems(self, n_systems: int) -> None:
        if self.shares and len(self.shares) != n_systems:
            raise InputError("shares", f"must be {n_systems}, one of each system", len(self.shares))

    def rank_correlation(self, n_systems: int) -> FloatArray:
        # The integral of t (1 - t) / A(t) over A'(t), A being Pickands' function, as a mean over a logistic variable.
        s = np.linspace(-40, 40, 4001)
        weights = special.expit(s) * special.expit(-s)
        z, power = np.exp(s / self.theta), np.exp(np.logaddexp(0, s) / self.theta)
        shares = self.shares or (1.0,) * n_systems
        tau = np.eye(n_systems)
        for i, j in zip(*np.triu_indices(n_systems, 1), strict=True):
            a, b = shares[int(i)], shares[int(j)]
            if a * b > 0:
                ratio = a * b * power / (a * b * power + (1 - a) * b + (1 - b) * a * z)
                tau[i, j] = tau[j, i] = (1 - 1 / self.theta) * float(ratio @ weights / weights.sum())
        return tau

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        index = 1 / self.theta
        angle = np.pi * np.maximum(rng.random((n_items, 1)), LEAST)
        wait = np.log(rng.standard_exponential((n_items, 1)))
        # The logarithm of the stable number, whose own range is beyond that of floating point.
        log_frailty = np.log(np.sin(index * angle)) - self.theta * np.log(np.sin(angle))
        if index < 1:
            log_frailty += (self.theta - 1) * (np.log(np.sin((1 - index) * angle)) - wait)
        log_waits = np.log(rng.standard_exponential((n_items, n_systems)))
        common = inside(np.exp(-np.exp((log_waits - log_frailty) * index)))
        if not self.shares:
            return common
        shares = np.array(self.shares)
        with np.errstate(divide="ignore", over="ignore"):
            return inside(np.maximum(common ** (1 / shares), rng.random(common.shape) ** (1 / (1 - shares))))


@dataclass(frozen=True)
class Survival(Dependence):
    """Another dependence upside down: one less its numbers, so that lower and upper tail change places.

    Examples
    --------
    >>> float(Survival(Clayton(2.0)).rank_correlation(2)[0, 1])
    0.5
    """

    of: Dependence

    def __post_init__(self) -> None:
        if not isinstance(self.of, Dependence):
            raise InputError("of", "must be a dependence", self.of)

    @property
    def exchangeable(self) -> bool:  # type: ignore[override]
        """Whether the other one is."""
        return self.of.exchangeable

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        return inside(1 - self.of.uniforms(n_items, n_systems, rng))

    def rank_correlation(self, n_systems: int) -> FloatArray:
        return self.of.rank_correlation(n_systems)

    def check_systems(self, n_systems: int) -> None:
        self.of.check_systems(n_systems)


def inside(uniform: FloatArray) -> FloatArray:
    """Uniform numbers, strictly between 0 and 1."""
    return np.clip(uniform, LEAST, 1 - LEAST)


def of_families(families: Sequence[Hashable], *, between: float, within: float) -> FloatArray:
    """The correlation matrix of systems (K,) of these families: `within` for two of one family, else `between`.

    A matrix with 0 <= between <= within <= 1 is always one of correlations; a ValueError says where these are not so.

    Examples
    --------
    >>> of_families(["x", "x", "y"], between=0.3, within=0.8)[0].tolist()
    [1.0, 0.8, 0.3]
    """
    check_list("families", families, "names")
    check_number("between", between)
    check_number("within", within)
    if not 0 <= between <= within <= 1:
        raise InputError("between and within", f"must satisfy 0 <= between <= within <= 1, not {between} and {within}")
    codes = np.array([list(families).index(name) for name in families])
    matrix = np.where(codes[:, None] == codes, within, between).astype(np.float64)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _checked_matrix(given: ArrayLike) -> FloatArray:
    """A correlation matrix (K, K) as an array; a ValueError where no joint distribution has it.

    The message has the least eigenvalue and the pair of systems that does most to make it negative.
    """
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError("correlation", "must be a matrix (K systems, K systems)", given)
    outside = ~(np.abs(matrix) <= 1 + _ROUNDING)
    unlike = np.abs(matrix - matrix.T) > _ROUNDING
    for broken, rule in ((outside, "from -1 to 1"), (unlike, "the same both ways")):
        if broken.any():
            i, j = np.argwhere(broken)[0]
            pair = f"unlike {matrix[i, j]:g} between systems {i + 1} and {j + 1}"
            raise InputError("correlation", f"must be {rule}, {pair}")
    if (np.abs(np.diag(matrix) - 1) > _ROUNDING).any():
        i = int(np.argmax(np.abs(np.diag(matrix) - 1)))
        raise InputError("correlation", f"must be 1 of each system with itself, not {matrix[i, i]:g} of system {i + 1}")
    eigenvalues, vectors = np.linalg.eigh(matrix)
    if eigenvalues[0] < -_ROUNDING:
        parts = np.triu(matrix * np.outer(vectors[:, 0], vectors[:, 0]), 1).round(9)
        i, j = np.unravel_index(np.argmin(parts), parts.shape)
        worst = f"most of it by {matrix[i, j]:g} between systems {i + 1} and {j + 1}"
        rule = f"must be positive semi-definite, but its smallest eigenvalue is {eigenvalues[0]:.3g}, {worst}"
        raise InputError("correlation", rule)
    return matrix


def nearest_correlation(matrix: FloatArray, *, n_steps: int = 100, tolerance: float = 1e-7) -> tuple[FloatArray, float]:
    """The nearest correlation matrix to a symmetric one (K, K), and its distance (Frobenius norm).

    By alternating projections with Dykstra's correction (Higham 2002, algorithm 3.3), until a step changes less than
    the tolerance; what is then left below 0 is cut off and the diagonal made 1 again.
    """

    def without_negative(symmetric: FloatArray) -> FloatArray:
        return _with_eigenvalues(symmetric, lambda values: np.maximum(values, 0))

    if np.linalg.eigvalsh(matrix)[0] >= -_ROUNDING:
        return matrix, 0.0
    nearest, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(n_steps):
        before = nearest
        positive = without_negative(nearest - correction)
        correction = positive - (nearest - correction)
        nearest = positive.copy()
        np.fill_diagonal(nearest, 1.0)
        if np.abs(nearest - before).max() < tolerance:
            break
    nearest = without_negative(nearest)
    scale = np.sqrt(np.diag(nearest))
    nearest = np.clip(nearest / np.outer(scale, scale), -1, 1)
    nearest = (nearest + nearest.T) / 2
    np.fill_diagonal(nearest, 1.0)
    return nearest, float(np.linalg.norm(nearest - matrix))


def _with_eigenvalues(matrix: FloatArray, change: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """A symmetric matrix (K, K) with other eigenvalues."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * change(eigenvalues)) @ vectors.T)
