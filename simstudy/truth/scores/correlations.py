"""Correlation matrices: of families, checked, and the nearest one to what is none."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from simstudy.metrics.base import FloatArray
from simstudy.truth.pair_base import check_one
from simstudy.truth.synthetic import check_correlations
from simstudy.validation import InputError, check_list, check_whole

# Eigenvalues that are as little below 0 are rounding.
_ROUNDING = 1e-8


def equicorrelated(n_systems: int, correlation: float) -> FloatArray:
    """The matrix (K, K) in which all pairs correlate alike; ValueError below -1 / (K - 1), where there is none.

    Examples
    --------
    >>> equicorrelated(3, -0.6)
    Traceback (most recent call last):
    simstudy.validation.InputError: correlation must be from -0.5 to 1, not -0.6: the least common \
correlation of 3 systems is -1 / (3 - 1)
    """
    check_whole("n_systems", n_systems, 1)
    check_one("correlation", correlation, -1, 1)
    least = -1 / (n_systems - 1) if n_systems > 1 else -1.0
    if correlation < least - _ROUNDING:
        because = f": the least common correlation of {n_systems} systems is -1 / ({n_systems} - 1)"
        raise InputError("correlation", f"must be from {least:g} to 1", correlation, because)
    return np.where(np.eye(n_systems, dtype=bool), 1.0, correlation)


def of_families(families: Sequence[Hashable], *, between: float, within: float) -> FloatArray:
    """The matrix of systems (K,) of these families: `within` for two of one family, `between` for others.

    Both are as in `simstudy.truth.correlated_accuracies`: 0 <= between <= within <= 1, so that there always is one.

    Examples
    --------
    >>> of_families(["x", "x", "y"], between=0.3, within=0.8)[0].tolist()
    [1.0, 0.8, 0.3]
    """
    check_list("families", families, "names")
    check_correlations(between, within)
    codes, _ = pd.factorize(np.array(list(families), dtype=object))
    matrix = np.where(codes[:, None] == codes, within, between).astype(np.float64)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def checked_correlation(argument: str, given: ArrayLike) -> FloatArray:
    """A correlation matrix (K, K) as an array; ValueError where no joint distribution has it.

    The message names the least eigenvalue and the pair of systems that does most to make it negative, with the bounds
    that all other correlations leave for theirs, where they leave any.
    """
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(argument, "must be a matrix (K systems, K systems)", given)
    outside = ~(np.abs(matrix) <= 1 + _ROUNDING)
    unlike = np.abs(matrix - matrix.T) > _ROUNDING
    for broken, rule in ((outside, "from -1 to 1"), (unlike, "the same both ways")):
        if broken.any():
            i, j = np.argwhere(broken)[0]
            raise InputError(argument, f"must be {rule}, unlike {matrix[i, j]:g} between systems {i + 1} and {j + 1}")
    if (np.abs(np.diag(matrix) - 1) > _ROUNDING).any():
        i = int(np.argmax(np.abs(np.diag(matrix) - 1)))
        raise InputError(argument, f"must be 1 of each system with itself, not {matrix[i, i]:g} of system {i + 1}")
    eigenvalues, vectors = np.linalg.eigh(matrix)
    if eigenvalues[0] < -_ROUNDING:
        parts = np.triu(matrix * np.outer(vectors[:, 0], vectors[:, 0]), 1).round(9)
        i, j = np.unravel_index(np.argmin(parts), parts.shape)
        found = f"between systems {i + 1} and {j + 1} it is {matrix[i, j]:g}"
        bounds = _left(matrix, int(i), int(j))
        left = f", where the others leave {bounds[0]:.2g} to {bounds[1]:.2g}" if bounds else ""
        raise InputError(
            argument,
            f"must be positive semi-definite, but its smallest eigenvalue is {eigenvalues[0]:.3g}: {found}{left}",
        )
    return matrix


def _left(matrix: FloatArray, i: int, j: int) -> tuple[float, float] | None:
    """Which correlations of two systems are possible where all others are as they are; None where none is."""
    both = np.array([i, j])
    rest = np.setdiff1d(np.arange(len(matrix)), both)
    inner = matrix[np.ix_(rest, rest)]
    if rest.size and np.linalg.eigvalsh(inner)[0] < -_ROUNDING:
        return None
    solved = np.linalg.pinv(inner, hermitian=True) @ matrix[np.ix_(rest, both)] if rest.size else np.zeros((0, 2))
    explained = matrix[np.ix_(both, rest)] @ solved
    room = (1 - explained[0, 0]) * (1 - explained[1, 1])
    if explained[0, 0] > 1 + _ROUNDING or explained[1, 1] > 1 + _ROUNDING:
        return None
    reach = float(np.sqrt(max(room, 0)))
    return float(explained[0, 1] - reach), float(explained[0, 1] + reach)


def root(matrix: FloatArray) -> FloatArray:
    """The symmetric square root of a positive semi-definite matrix (K, K)."""
    return _with_eigenvalues(matrix, lambda eigenvalues: np.sqrt(np.maximum(eigenvalues, 0)))


def nearest_correlation(matrix: FloatArray, *, n_steps: int = 100, tolerance: float = 1e-7) -> tuple[FloatArray, float]:
    """The nearest correlation matrix to a symmetric one (K, K), and its distance (Frobenius norm).

    By alternating projections with Dykstra's correction (Higham 2002, algorithm 3.3), until a step changes less than
    the tolerance; what is then left below 0 is cut off and the diagonal made 1 again.
    """
    if np.linalg.eigvalsh(matrix)[0] >= -_ROUNDING:
        return matrix, 0.0
    found, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(n_steps):
        before = found
        positive = _without_negative(found - correction)
        correction = positive - (found - correction)
        found = positive.copy()
        np.fill_diagonal(found, 1.0)
        if np.abs(found - before).max() < tolerance:
            break
    found = _without_negative(found)
    scale = np.sqrt(np.diag(found))
    found = np.clip(found / np.outer(scale, scale), -1, 1)
    found = (found + found.T) / 2
    np.fill_diagonal(found, 1.0)
    return found, float(np.linalg.norm(found - matrix))


def _without_negative(matrix: FloatArray) -> FloatArray:
    return _with_eigenvalues(matrix, lambda eigenvalues: np.maximum(eigenvalues, 0))


def _with_eigenvalues(matrix: FloatArray, change: Callable[[FloatArray], FloatArray]) -> FloatArray:
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * change(eigenvalues)) @ vectors.T)
