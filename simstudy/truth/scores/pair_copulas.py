"""Fitting the dependence of two systems: one copula of each family by maximum likelihood, chosen by AIC or BIC.

Symmetric families are those under which two systems of equal margins could be exchanged; Tawn's are not symmetric. The
densities are our own: pyvinecopulib has them (and BB and Joe families), but brings networkx, pydot and
array-api-compat along for five one-line formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import optimize, special, stats

from simstudy.metrics.base import FloatArray
from simstudy.truth.scores import pair_densities as densities
from simstudy.truth.scores.archimedean import Clayton, Frank, Gumbel
from simstudy.truth.scores.dependence import (
    Dependence,
    GaussianCopula,
    Independent,
    Khoudraji,
    Survival,
    TCopula,
)
from simstudy.validation import brief

Criterion = Literal["aic", "bic"]

# Where the likelihood is looked at first; the best of these points is polished. Their ends bound what is found.
_CORRELATIONS = np.tanh(np.linspace(-3, 3, 25))
_DF = np.array([2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0])
_CLAYTON = np.geomspace(0.02, 28, 16)
_GUMBEL = 1 + np.geomspace(0.01, 16, 16)
_FRANK = np.concatenate([-np.geomspace(0.05, 35, 12)[::-1], np.geomspace(0.05, 35, 16)])
_TAWN = 1 + np.geomspace(0.05, 19, 10)
_SHARES = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98])


@dataclass(frozen=True)
class PairFit:
    """A copula that was fitted to two systems.

    Attributes
    ----------
    family
        A name of `FAMILIES`.
    dependence
        What draws from it.
    log_likelihood, n_parameters, n_items
        Of the fit.
    """

    family: str
    dependence: Dependence
    log_likelihood: float
    n_parameters: int
    n_items: int

    def criterion(self, name: Criterion = "aic") -> float:
        """Akaike's or the Bayesian information criterion; less is better."""
        price = 2.0 if name == "aic" else float(np.log(self.n_items))
        return price * self.n_parameters - 2 * self.log_likelihood


def pseudo_observations(scores: FloatArray, rng: np.random.Generator | None = None) -> FloatArray:
    """Ranks over n + 1 of each system's scores (2, n), which stand for its uniform numbers.

    Parameters
    ----------
    scores
        (2, n).
    rng
        What breaks ties at random; None: ties share their mean rank.

    Examples
    --------
    >>> pseudo_observations(np.array([[0.0, 0.5, 0.0], [3.0, 1.0, 2.0]])).tolist()
    [[0.375, 0.75, 0.375], [0.75, 0.25, 0.5]]
    """
    given = np.asarray(scores, dtype=np.float64)
    if given.ndim != 2 or len(given) != 2 or not given.size or not np.isfinite(given).all():
        raise ValueError(f"scores must be finite numbers (2, n) of two systems, not {brief(scores)}")
    n = given.shape[1]
    if rng is None:
        return np.asarray(stats.rankdata(given, axis=1) / (n + 1))
    order = np.stack([np.lexsort((rng.random(n), row)) for row in given])
    ranks = np.empty_like(given)
    np.put_along_axis(ranks, order, np.arange(1, n + 1, dtype=np.float64)[None, :].repeat(2, axis=0), axis=1)
    return np.asarray(ranks / (n + 1))


def fit_families(uniforms: FloatArray, families: Sequence[str] | None = None) -> list[PairFit]:
    """Of each family the most likely copula of uniform numbers (2, n): pseudo-likelihood (Genest et al. 1995).

    Examples
    --------
    >>> drawn = Clayton(3.0).uniforms(400, 2, np.random.default_rng(0)).T
    >>> found = best_fit(fit_families(pseudo_observations(drawn)))
    >>> found.family, abs(found.dependence.theta - 3.0) < 0.6
    ('clayton', True)
    """
    u, v = uniforms
    return [FAMILIES[name](name, u, v) for name in (FAMILIES if families is None else families)]


def best_fit(
    fits: Sequence[PairFit], families: Sequence[str] | None = None, *, criterion: Criterion = "aic"
) -> PairFit:
    """The best one of these families by a criterion; the first where two are level."""
    return min(
        (fit for fit in fits if families is None or fit.family in families), key=lambda fit: fit.criterion(criterion)
    )


def _polished(likelihood: Callable[[FloatArray], FloatArray], grid: FloatArray) -> tuple[float, float]:
    """The parameter with the largest likelihood, between the neighbours of the best of a grid, and that likelihood."""
    values = likelihood(grid[:, None])
    k = int(np.argmax(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
    found = optimize.minimize_scalar(
        lambda x: -float(likelihood(np.array([[x]]))[0]), bounds=ends, method="bounded", options={"xatol": 1e-4}
    )
    if -found.fun < values[k]:
        return float(grid[k]), float(values[k])
    return float(found.x), -float(found.fun)


def _independent(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    return PairFit(name, Independent(), 0.0, 0, u.size)


def _gaussian(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    found, likelihood = _polished(lambda r: densities.gaussian(u, v, r).sum(axis=-1), _CORRELATIONS)
    return PairFit(name, GaussianCopula(found), likelihood, 1, u.size)


def _student(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    """Degrees of freedom are those of the grid, on which little depends."""
    x, y = special.stdtrit(_DF[:, None], u), special.stdtrit(_DF[:, None], v)
    over_grid = densities.student(x, y, _CORRELATIONS[:, None, None], _DF[:, None]).sum(axis=-1)
    k = int(np.argmax(over_grid.max(axis=0)))
    found, likelihood = _polished(lambda r: densities.student(x[k], y[k], r, _DF[k]).sum(axis=-1), _CORRELATIONS)
    return PairFit(name, TCopula(found, df=float(_DF[k])), likelihood, 2, u.size)


def _frank(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    found, likelihood = _polished(lambda theta: densities.frank(u, v, _not_0(theta)).sum(axis=-1), _FRANK)
    return PairFit(name, Frank(float(_not_0(np.array(found)))), likelihood, 1, u.size)


def _clayton(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    found, likelihood = _polished(lambda theta: densities.clayton(u, v, theta).sum(axis=-1), _CLAYTON)
    return PairFit(name, Clayton(found), likelihood, 1, u.size)


def _gumbel(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    one = np.array(1.0)
    found, likelihood = _polished(lambda theta: densities.tawn(u, v, theta, one, one).sum(axis=-1), _GUMBEL)
    return PairFit(name, Gumbel(found), likelihood, 1, u.size)


def _tawn(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    """Type 1 has a share of the first system, type 2 of the second; the other one's is 1."""
    one, swapped = np.array(1.0), name.endswith("2")
    a, b = (v, u) if swapped else (u, v)

    def parameters(point: FloatArray) -> tuple[FloatArray, FloatArray]:
        theta = np.clip(1 + np.exp(point[0]), _TAWN[0], _TAWN[-1])
        return theta, np.clip(special.expit(point[1]), _SHARES[0], _SHARES[-1])

    def loss(point: FloatArray) -> float:
        return -float(densities.tawn(a, b, *parameters(point), one).sum())

    over_grid = densities.tawn(a, b, _TAWN[:, None, None], _SHARES[:, None], one).sum(axis=-1)
    i, j = np.unravel_index(int(np.argmax(over_grid)), over_grid.shape)
    start = np.array([np.log(_TAWN[i] - 1), special.logit(_SHARES[j])])
    corners = start + np.array([[0, 0], [0.4, 0], [0, 0.5]])
    options: Any = {"xatol": 1e-2, "fatol": 1e-3, "maxfev": 150, "initial_simplex": corners}
    found = optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    point, likelihood = (found.x, -found.fun) if -found.fun >= over_grid[i, j] else (start, over_grid[i, j])
    theta, share = map(float, parameters(point))
    shares = (1.0, share) if swapped else (share, 1.0)
    return PairFit(name, Khoudraji(Gumbel(theta), shares), float(likelihood), 2, u.size)


def _not_0(theta: FloatArray) -> FloatArray:
    """Frank's copula has none at 0, which is independence."""
    return np.where(np.abs(theta) < 1e-3, 1e-3, theta)


def _upside_down(fitted: Callable[[str, FloatArray, FloatArray], PairFit]) -> Callable[..., PairFit]:
    def fit(name: str, u: FloatArray, v: FloatArray) -> PairFit:
        found = fitted(name.removeprefix("survival "), 1 - u, 1 - v)
        return PairFit(name, Survival(found.dependence), found.log_likelihood, found.n_parameters, u.size)

    return fit


#: Families of two systems' copulas, and what fits each: those of `SYMMETRIC` and Tawn's.
FAMILIES: dict[str, Callable[[str, FloatArray, FloatArray], PairFit]] = {
    "independent": _independent,
    "gaussian": _gaussian,
    "t": _student,
    "frank": _frank,
    "clayton": _clayton,
    "survival clayton": _upside_down(_clayton),
    "gumbel": _gumbel,
    "survival gumbel": _upside_down(_gumbel),
    "tawn 1": _tawn,
    "tawn 2": _tawn,
    "survival tawn 1": _upside_down(_tawn),
    "survival tawn 2": _upside_down(_tawn),
}

#: Those under which two systems of equal margins could be exchanged.
SYMMETRIC = tuple(name for name in FAMILIES if "tawn" not in name)
