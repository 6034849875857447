"""True scores of many systems, given the observed ones: those ahead by luck are drawn towards the others.

The prior is that of all systems' true scores. It need not be normal (leaderboards have long lower ends), so that it is
a distribution on a grid, found from the observed scores by expectation maximisation (Laird 1978; Efron 2014 calls it
g-modelling), stopped early so that it stays smooth. What it says of a system is put as a normal prior of its own, and
those with the covariance of all systems' errors give the joint posterior: two variants of one model, whose errors are
nearly the same, are better told apart than two others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray

# Points of the grid, and how often the prior is updated from a flat one.
_GRID, _UPDATES = 300, 60

# A prior is not taken to be narrower than this part of a system's error, nor wider than this many times it.
_NARROWEST, _WIDEST = 0.05, 100.0


@dataclass(frozen=True)
class Posterior:
    """A joint normal distribution of K true scores.

    Attributes
    ----------
    mean
        (K,).
    root
        (K, K), whose product with its transpose is the covariance.
    """

    mean: FloatArray
    root: FloatArray

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """True scores (K,)."""
        return np.asarray(self.mean + self.root @ rng.standard_normal(len(self.mean)))


def posterior(scores: FloatArray, covariance: FloatArray) -> Posterior:
    """The true scores of K systems given the observed ones.

    Parameters
    ----------
    scores
        (K,) observed.
    covariance
        (K, K) of their errors, without what all systems share.

    Examples
    --------
    Of scores that differ by no more than their errors nothing is left but their mean:

    >>> scores = np.random.default_rng(0).normal(size=60)
    >>> found = posterior(scores, np.eye(60))
    >>> bool(found.mean.std() < 0.5)
    True
    """
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    floor = max(float(errors.max()) * 1e-6, 1e-12)
    errors = np.maximum(errors, floor)
    middles, widths = _own_priors(scores, errors)
    # Of the normal prior N(middles, widths^2) and the errors' covariance: S (S + T)^-1 by the prior's side.
    prior = np.diag(widths**2)
    gain = np.linalg.solve((covariance + prior).T, prior.T).T
    mean = middles + gain @ (scores - middles)
    left = prior - gain @ prior
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    return Posterior(mean, np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))))


def _own_priors(scores: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A normal prior for each system, (K,) means and standard deviations, that has the grid's posterior for it."""
    reach = 3 * float(errors.max())
    grid = np.linspace(scores.min() - reach, scores.max() + reach, _GRID)
    z = (scores[:, None] - grid) / errors[:, None]
    likelihood = np.exp(-0.5 * (z**2 - (z**2).min(axis=1, keepdims=True)))
    weights = np.full(_GRID, 1 / _GRID)
    for _ in range(_UPDATES):
        shares = likelihood * weights
        weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = likelihood * weights
    shares /= shares.sum(axis=1, keepdims=True)
    mean = shares @ grid
    variance = np.maximum(shares @ grid**2 - mean**2, (_NARROWEST * errors) ** 2 / 2)
    # A posterior wider than the error, between two heaps of systems, has no normal prior: that one is wide.
    precision = np.clip(1 / variance - 1 / errors**2, 1 / (_WIDEST * errors) ** 2, 1 / (_NARROWEST * errors) ** 2)
    middles = (mean * (precision + 1 / errors**2) - scores / errors**2) / precision
    middles = np.clip(middles, grid[0], grid[-1])
    return np.asarray(middles), np.asarray(1 / np.sqrt(precision))
