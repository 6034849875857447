"""Bradley-Terry strengths of systems that met in pairs, and each meeting's contribution to them."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Newton's method stops when no strength moves by more than this.
_CLOSE = 1e-12
_MOST_STEPS = 100


def separated(first: NDArray[np.int64], second: NDArray[np.int64], points: FloatArray, k: int) -> NDArray[np.int64]:
    """The smallest set of systems that never won points from the others, or never lost any; empty if strengths exist.

    They exist if each of any two sets of systems has won points from the other (Ford 1957).
    """
    winner = np.concatenate([first[points > 0], second[points < 1]])
    loser = np.concatenate([second[points > 0], first[points < 1]])
    wins = scipy.sparse.coo_array((np.ones(len(winner)), (winner, loser)), shape=(k, k))
    n, component = scipy.sparse.csgraph.connected_components(wins, connection="strong")
    return np.flatnonzero((component == np.bincount(component).argmin()) & (n > 1))


def strengths(
    first: NDArray[np.int64], second: NDArray[np.int64], points: FloatArray, k: int, alpha: float = 0.0
) -> FloatArray:
    """Maximum-likelihood strengths (k,) in logits, with mean 0 (Bradley and Terry 1952).

    Parameters
    ----------
    first, second
        (n,) positions of the two systems of each meeting.
    points
        (n,) points of the first: 1 for a win, 0.5 for a tie, 0 for a loss.
    k
        Number of systems, none of them `separated` unless the fit is regularised.
    alpha
        Penalty: the maximum is of log-likelihood - alpha * sum(strengths^2), as in choix.
    """
    beta = np.zeros(k)
    wins = np.bincount(first, points, k) + np.bincount(second, 1 - points, k)
    for _ in range(_MOST_STEPS):
        expected, information = _moments(first, second, beta, alpha)
        step = np.linalg.pinv(information, hermitian=True) @ (wins - expected - 2 * alpha * beta)
        # A step of Newton's method may go too far while strengths are large.
        beta = beta + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < _CLOSE * max(1.0, float(np.abs(beta).max())):
            break
    return np.asarray(beta - beta.mean())


def meeting_parts(
    first: NDArray[np.int64], second: NDArray[np.int64], points: FloatArray, beta: FloatArray, alpha: float = 0.0
) -> FloatArray:
    """Each meeting's contribution to each strength, (k, n): the influence function.

    The sums of squares, or of squared sums over clusters, are the sandwich estimate of variances (Huber 1967). A
    meeting's residual is divided by the root of 1 - leverage, as in HC2 (MacKinnon and White 1985).
    """
    _, information = _moments(first, second, beta, alpha)
    inverse = np.linalg.pinv(information, hermitian=True)
    p = _win_probability(first, second, beta)
    leverage = p * (1 - p) * (inverse[first, first] + inverse[second, second] - 2 * inverse[first, second])
    residual = (points - p) / np.sqrt(np.maximum(1 - leverage, np.finfo(np.float64).eps))
    parts = (inverse[:, first] - inverse[:, second]) * residual
    return np.asarray(parts - parts.mean(axis=1, keepdims=True))


def _win_probability(first: NDArray[np.int64], second: NDArray[np.int64], beta: FloatArray) -> FloatArray:
    """The probability that the first system of each meeting wins, (n,)."""
    return np.asarray(1 / (1 + np.exp(beta[second] - beta[first])))


def _moments(
    first: NDArray[np.int64], second: NDArray[np.int64], beta: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Expected points (k,) and Fisher's information (k, k), to which the penalty adds 2 alpha on the diagonal."""
    k = len(beta)
    p = _win_probability(first, second, beta)
    expected = np.bincount(first, p, k) + np.bincount(second, 1 - p, k)
    weights = scipy.sparse.coo_array((p * (1 - p), (first, second)), shape=(k, k)).toarray()
    weights = weights + weights.T
    return np.asarray(expected, dtype=np.float64), np.diag(weights.sum(axis=1) + 2 * alpha) - weights
