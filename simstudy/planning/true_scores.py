"""True scores of many systems, given the observed ones: those ahead by luck are drawn towards the others.

The prior is normal, with the mean and the spread that true scores seem to have, and the errors have the covariance of all
systems: two variants of one model, whose errors are nearly the same, are better told apart than two others. A prior of
any form on a grid (expectation maximisation) was tried beside it: it made too small a share of pairs significant, by up to
0.03, where this one is off by 0.02 at most, also where true scores are skewed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray

# True scores are not taken to be nearer to each other than this part of their errors.
_NEAREST = 0.1


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


def posterior(scores: FloatArray, covariance: FloatArray, weights: FloatArray) -> Posterior:
    """The true scores of K systems given the observed ones.

    Parameters
    ----------
    scores
        (K,) observed.
    covariance
        (K, K) of their errors, without what all systems share.
    weights
        (K,) of the systems, from which mean and spread of the prior are taken: others are others' (Rubin 1981).

    Examples
    --------
    Of scores that differ by no more than their errors nothing is left but their mean:

    >>> scores = np.random.default_rng(0).normal(size=60)
    >>> found = posterior(scores, np.eye(60), np.ones(60))
    >>> bool(found.mean.std() < 0.5)
    True
    """
    k = len(scores)
    shares = weights / weights.sum()
    middle = float(shares @ scores)
    errors = np.diag(covariance)
    left = float(shares @ (scores - middle) ** 2) * k / (k - 1) - float(shares @ errors)
    spread = max(left, _NEAREST**2 * float(errors.mean()), np.finfo(float).tiny)
    # Of the prior's covariance S and the errors' C: the part S (S + C)^-1 of what was observed is true.
    prior = spread * np.eye(k)
    part = np.linalg.solve(covariance + prior, prior).T
    return Posterior(middle + part @ (scores - middle), root(prior - part @ prior))


def root(covariance: FloatArray) -> FloatArray:
    """A matrix whose product with its transpose is the covariance, which may be singular.

    Examples
    --------
    >>> found = root(np.array([[2.0, 2.0], [2.0, 2.0]]))
    >>> bool(np.allclose(found @ found.T, 2))
    True
    """
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
