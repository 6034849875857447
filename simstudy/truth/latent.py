"""Latent correlations of real scores, ties and all: from mean cross products, given the margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special

from simstudy.metrics.base import FloatArray, IntArray

# Scores of more distinct values are put into so many classes of like size, on both sides of the equation.
_CLASSES = 16

# So many angles between no correlation and a perfect one.
_ANGLES = 97

#: The largest latent correlation that is told from a perfect one.
MOST = float(np.sin(np.pi / 2 * (1 - 0.02)))


class Classes:
    """Real scores (K systems, n items) in classes, and latent correlations from mean cross products of these.

    Classes are distinct values or, where a system has more than 16, 16 classes of like size, ties together.

    With scores that go up by d_a at cut a, the derivative of the covariance by the latent correlation r is the sum
    over both systems' cuts of d_a d_b phi2(a, b; r), phi2 the bivariate normal density (Plackett 1954). With
    r = sin(angle) it has no pole at r = 1, so that a sum over some angles integrates it; as all terms are positive the
    covariance ascends and has one inverse. For two classes each this is the tetrachoric correlation.
    """

    def __init__(self, scores: FloatArray) -> None:
        n_systems, n = scores.shape
        #: (K, n): the mean of an item's class, less the system's mean.
        self.deviations = np.empty((n_systems, n))
        cuts, steps = [], []
        for k, own in enumerate(scores):
            values, inverse, counts = np.unique(own, return_inverse=True, return_counts=True)
            classes = np.arange(values.size)
            if values.size > _CLASSES:
                middle = (np.cumsum(counts) - counts / 2) / n
                _, classes = np.unique(np.floor(middle * _CLASSES), return_inverse=True)
            size = np.bincount(classes, weights=counts)
            mean = np.bincount(classes, weights=counts * values) / size
            self.deviations[k] = mean[classes][inverse] - own.mean()
            at = np.zeros((size.size - 1, n_systems))
            at[:, k] = np.diff(mean)
            cuts.append(special.ndtri(np.cumsum(size)[:-1] / n))
            steps.append(at)
        #: (P,) normal quantiles at which a system goes from one class to the next, all systems' one after the other,
        #: and (P, K) by how much its class mean goes up there; 0 for the other systems.
        self.cuts, self.steps = np.concatenate(cuts), np.concatenate(steps)
        self._sides: dict[int, FloatArray] = {}

    def _side(self, sign: int) -> FloatArray:
        """Covariances (angles, K, K) at latent correlations from 0 to 1, or to -1."""
        if sign not in self._sides:
            # Systems go from class to class at the same places where they have no ties: each place is reckoned once.
            cuts, place = np.unique(self.cuts, return_inverse=True)
            steps = np.zeros((cuts.size, self.steps.shape[1]))
            np.add.at(steps, place, self.steps)
            gap, product = (cuts[:, None] - sign * cuts) ** 2 / 2, sign * cuts[:, None] * cuts
            angles = np.linspace(0, np.pi / 2, _ANGLES)
            slopes = []
            for angle in angles:
                exponent = gap / max(np.cos(angle) ** 2, 1e-30) + product / (1 + np.sin(angle))
                slopes.append(steps.T @ (np.exp(-exponent) / (2 * np.pi)) @ steps)
            reached = integrate.cumulative_simpson(np.array(slopes), x=angles, axis=0, initial=0)
            self._sides[sign] = np.maximum.accumulate(reached, axis=0)
        return self._sides[sign]

    def inverse(self, covariance: FloatArray, margin: FloatArray | float = 0.0) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Latent correlations (K, K) of covariances (K, K), at most 0.9995 in size, and which were at a bound.

        A covariance is at a bound where it is nearer than `margin` to the largest or the least that the two systems can
        have; it is then put that far from it. The correlation is 0 where a system does not vary. The error is below
        1e-3 up to 0.99, where the covariance tells.
        """
        latent, bound = np.zeros_like(covariance), np.zeros(covariance.shape, dtype=np.bool_)
        for sign in (1, -1):
            if not (sign * covariance > 0).any():
                continue
            reached = self._side(sign)
            ours = (sign * covariance > 0) & (reached[-1] > 0)
            most = np.maximum(reached[-1] - margin, 0)
            solved = sign * _sines(np.minimum(sign * covariance, most), reached)
            latent, bound = np.where(ours, solved, latent), bound | (ours & (sign * covariance > most))
        return np.clip(latent, -MOST, MOST), bound

    def inverse_of_own(self, covariances: FloatArray, weights: FloatArray) -> float:
        """The one latent correlation at which covariances of systems with themselves (K,), weighted (K,), add up."""
        total = float(weights @ covariances)
        sign = 1 if total >= 0 else -1
        reached = np.einsum("akk,k->a", self._side(sign), weights)[:, None, None]
        if reached[-1, 0, 0] == 0:
            return 0.0
        return float(np.clip(sign * _sines(np.array([[sign * total]]), reached)[0, 0], -MOST, MOST))


def _sines(wanted: FloatArray, reached: FloatArray) -> FloatArray:
    """Sines (K, K) of the angles at which covariances (angles, K, K) are what is wanted, by linear interpolation."""
    panel = np.clip((reached <= wanted).sum(axis=0) - 1, 0, len(reached) - 2)
    low, high = (np.take_along_axis(reached, (panel + more)[None], axis=0)[0] for more in (0, 1))
    part = np.clip((wanted - low) / np.where(high > low, high - low, 1.0), 0, 1)
    return np.asarray(np.sin((panel + part) * (np.pi / 2 / (len(reached) - 1))))


def latent_correlation(classes: Classes) -> tuple[FloatArray, int]:
    """Latent correlations (K, K) of real scores, which need not be positive semi-definite, and how many are at a bound.

    Where two systems' scores are as alike, or as unlike, as their margins allow (no item that only the better one has
    right), the covariance is put half an item and a least step of each away from that, as usual in tetrachoric
    correlation (Brown and Benedetti 1977). Where a system does not vary its correlations are 0.
    """
    n_systems, n = classes.deviations.shape
    least = np.array([own[own > 0].min(initial=np.inf) for own in classes.steps.T])
    least[np.isinf(least)] = 0.0
    covariance = classes.deviations @ classes.deviations.T / n
    matrix, bound = classes.inverse(covariance, np.outer(least, least) / (2 * n))
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 1.0)
    return matrix, int(bound[np.triu_indices(n_systems, 1)].sum())


def intra_cluster(classes: Classes, codes: IntArray) -> tuple[float, float]:
    """The latent correlations, at least 0, of two items of a cluster: by one system, and by two, on average.

    Cross products are means over all such pairs of items. A system's counts by one over its variance; of two systems
    each pair has its latent correlation, and of these it is the mean (0 of fewer than two systems that vary).
    """
    deviations, sizes = classes.deviations, np.bincount(codes)
    n_pairs = float((sizes * (sizes - 1.0)).sum())
    variance = (deviations**2).mean(axis=1)
    varies = variance > 0
    if n_pairs == 0 or not varies.any():
        return 0.0, 0.0
    sums = np.stack([np.bincount(codes, weights=row, minlength=sizes.size) for row in deviations])
    products = (sums @ sums.T - deviations @ deviations.T) / n_pairs
    weights = np.where(varies, 1 / np.where(varies, variance, 1), 0)
    by_one = classes.inverse_of_own(np.diag(products), weights)
    first, second = (np.flatnonzero(varies)[of] for of in np.triu_indices(int(varies.sum()), 1))
    of_two = classes.inverse((products + products.T) / 2)[0][first, second]
    return max(0.0, by_one), max(0.0, float(of_two.mean())) if of_two.size else 0.0


def common_share(within: float, of_two: float, between: float) -> float:
    """How much of what clusters do is common to all systems, from 0 to 1.

    Given are latent correlations, means over pairs of systems: of two items of a cluster by one system and by two, and
    of two systems on one item. With a share s and the dependence's own correlation d, `between` is d + within s (1 - d)
    and `of_two` is within (s + (1 - s) d). So 1 - between = (1 - d) (1 - within s), and
    1 - of_two / within = (1 - d) (1 - s): with q the second over the first, s = (1 - q) / (1 - q within).
    """
    if within <= 0 or between >= 1:
        return 0.0
    q = (1 - of_two / within) / (1 - between)
    return float(np.clip((1 - q) / (1 - q * within), 0, 1)) if q * within < 1 else 0.0
