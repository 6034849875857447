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
import scipy
from scipy import special

from simstudy.metrics.base import FloatArray
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.scores.archimedean import Clayton, Frank, Gumbel
from simstudy.truth.scores.dependence import Dependence, GaussianCopula, Independent, Khoudraji, Survival, TCopula
from simstudy.validation import InputError

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
class PairFit(FieldsMixin):
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
        raise InputError("scores", "must be finite numbers (2, n) of two systems", scores)
    n = given.shape[1]
    if rng is None:
        return np.asarray(scipy.stats.rankdata(given, axis=1) / (n + 1))
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
    found = scipy.optimize.minimize_scalar(
        lambda x: -float(likelihood(np.array([[x]]))[0]), bounds=ends, method="bounded", options={"xatol": 1e-4}
    )
    if -found.fun < values[k]:
        return float(grid[k]), float(values[k])
    return float(found.x), -float(found.fun)


def _student(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    """Degrees of freedom are those of the grid, on which little depends."""
    x, y = special.stdtrit(_DF[:, None], u), special.stdtrit(_DF[:, None], v)
    over_grid = student_density(x, y, _CORRELATIONS[:, None, None], _DF[:, None]).sum(axis=-1)
    k = int(np.argmax(over_grid.max(axis=0)))
    found, likelihood = _polished(lambda r: student_density(x[k], y[k], r, _DF[k]).sum(axis=-1), _CORRELATIONS)
    return PairFit(name, TCopula(found, df=float(_DF[k])), likelihood, 2, u.size)


def _tawn(name: str, u: FloatArray, v: FloatArray) -> PairFit:
    """Type 1 has a share of the first system, type 2 of the second; the other one's is 1."""
    one, swapped = np.array(1.0), name.endswith("2")
    a, b = (v, u) if swapped else (u, v)

    def parameters(point: FloatArray) -> tuple[FloatArray, FloatArray]:
        theta = np.clip(1 + np.exp(point[0]), _TAWN[0], _TAWN[-1])
        return theta, np.clip(special.expit(point[1]), _SHARES[0], _SHARES[-1])

    def loss(point: FloatArray) -> float:
        return -float(tawn_density(a, b, *parameters(point), one).sum())

    over_grid = tawn_density(a, b, _TAWN[:, None, None], _SHARES[:, None], one).sum(axis=-1)
    i, j = np.unravel_index(int(np.argmax(over_grid)), over_grid.shape)
    start = np.array([np.log(_TAWN[i] - 1), special.logit(_SHARES[j])])
    corners = start + np.array([[0, 0], [0.4, 0], [0, 0.5]])
    options: Any = {"xatol": 1e-2, "fatol": 1e-3, "maxfev": 150, "initial_simplex": corners}
    found = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    point, likelihood = (found.x, -found.fun) if -found.fun >= over_grid[i, j] else (start, over_grid[i, j])
    theta, share = map(float, parameters(point))
    shares = (1.0, share) if swapped else (share, 1.0)
    return PairFit(name, Khoudraji(Gumbel(theta), shares), float(likelihood), 2, u.size)


def _one_parameter(
    density: Callable[..., FloatArray], grid: FloatArray, make: Callable[[float], Dependence]
) -> Callable[[str, FloatArray, FloatArray], PairFit]:
    def fit(name: str, u: FloatArray, v: FloatArray) -> PairFit:
        found, likelihood = _polished(lambda x: density(u, v, x).sum(axis=-1), grid)
        return PairFit(name, make(found), likelihood, 1, u.size)

    return fit


def _upside_down(
    fitted: Callable[[str, FloatArray, FloatArray], PairFit],
) -> Callable[[str, FloatArray, FloatArray], PairFit]:
    def fit(name: str, u: FloatArray, v: FloatArray) -> PairFit:
        found = fitted(name.removeprefix("survival "), 1 - u, 1 - v)
        return PairFit(name, Survival(found.dependence), found.log_likelihood, found.n_parameters, u.size)

    return fit


# The logarithm of the density of each copula at two systems' uniform numbers. Parameters may be arrays that numpy
# broadcasts against the numbers. Nothing overflows for numbers strictly between 0 and 1.


def gaussian_density(u: FloatArray, v: FloatArray, correlation: FloatArray) -> FloatArray:
    """Of normal latent scores."""
    x, y = special.ndtri(u), special.ndtri(v)
    rest = 1 - correlation**2
    quadratic = (correlation**2 * (x**2 + y**2) - 2 * correlation * x * y) / rest
    return np.asarray(-0.5 * (np.log(rest) + quadratic))


def student_density(x: FloatArray, y: FloatArray, correlation: FloatArray, df: FloatArray) -> FloatArray:
    """Of bivariate t, at the quantiles x and y of t with so many degrees of freedom (`scipy.special.stdtrit`)."""
    rest = 1 - correlation**2
    joint = (x**2 - 2 * correlation * x * y + y**2) / (df * rest)
    constant = special.gammaln(df / 2 + 1) + special.gammaln(df / 2) - 2 * special.gammaln((df + 1) / 2)
    own = (df + 1) / 2 * (np.log1p(x**2 / df) + np.log1p(y**2 / df))
    return np.asarray(constant - 0.5 * np.log(rest) - (df / 2 + 1) * np.log1p(joint) + own)


def clayton_density(u: FloatArray, v: FloatArray, theta: FloatArray) -> FloatArray:
    """Of Clayton's copula, theta above 0."""
    x, y = -np.log(u), -np.log(v)
    # log(u^-theta + v^-theta - 1): the larger term leaves the sum.
    large, small = np.maximum(x, y) * theta, np.minimum(x, y) * theta
    total = large + np.log1p(np.exp(small - large) - np.exp(-large))
    return np.asarray(np.log1p(theta) + (1 + theta) * (x + y) - (2 + 1 / theta) * total)


def frank_density(u: FloatArray, v: FloatArray, theta: FloatArray) -> FloatArray:
    """Of Frank's copula, theta any number but 0; its sign is that of the dependence."""
    # A negative theta is a positive one with one of the numbers upside down.
    size, v = np.abs(theta), np.where(theta < 0, 1 - v, v)
    whole = np.log(-np.expm1(-size))
    # whole - (1 - e^(-size u)) (1 - e^(-size v)) as a sum of two positive terms.
    below = np.logaddexp(np.log(-np.expm1(-size * v)) - size * u, np.log(-np.expm1(-size * (1 - v))) - size * v)
    return np.asarray(np.log(size) + whole - size * (u + v) - 2 * below)


def tawn_density(u: FloatArray, v: FloatArray, theta: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Of Gumbel's copula with a share of each system (Tawn 1988): `Khoudraji` of `Gumbel`; shares of 1: Gumbel's own.

    With x = -log u and y = -log v its distribution function is exp(-l), where l = (1 - first) x + (1 - second) y + r
    and r = ((first x)^theta + (second y)^theta)^(1 / theta); the density is exp(x + y - l) (l_x l_y - l_xy).
    """
    x, y = -np.log(u), -np.log(v)
    a, b = np.log(first * x), np.log(second * y)
    log_r = np.logaddexp(theta * a, theta * b) / theta
    r = np.exp(log_r)
    # Powers of the two parts relative to r, at most 1.
    part_x, part_y = np.exp((theta - 1) * (a - log_r)), np.exp((theta - 1) * (b - log_r))
    slope_x, slope_y = 1 - first + first * part_x, 1 - second + second * part_y
    mixed = (theta - 1) * first * second * part_x * part_y / r
    function = (1 - first) * x + (1 - second) * y + r
    return np.asarray(x + y - function + np.log(slope_x * slope_y + mixed))


def gumbel_density(u: FloatArray, v: FloatArray, theta: FloatArray) -> FloatArray:
    """Of Gumbel's copula, theta from 1 on."""
    return tawn_density(u, v, theta, np.array(1.0), np.array(1.0))


def _not_0(theta: FloatArray) -> FloatArray:
    """Frank's copula has none at 0, which is independence."""
    return np.where(np.abs(theta) < 1e-3, 1e-3, theta)


_CLAYTON_FIT = _one_parameter(clayton_density, _CLAYTON, Clayton)
_GUMBEL_FIT = _one_parameter(gumbel_density, _GUMBEL, Gumbel)

#: Families of two systems' copulas, and what fits each: those of `SYMMETRIC` and Tawn's.
FAMILIES: dict[str, Callable[[str, FloatArray, FloatArray], PairFit]] = {
    "independent": lambda name, u, v: PairFit(name, Independent(), 0.0, 0, u.size),
    "gaussian": _one_parameter(gaussian_density, _CORRELATIONS, GaussianCopula),
    "t": _student,
    "frank": _one_parameter(
        lambda u, v, theta: frank_density(u, v, _not_0(theta)),
        _FRANK,
        lambda found: Frank(float(_not_0(np.array(found)))),
    ),
    "clayton": _CLAYTON_FIT,
    "survival clayton": _upside_down(_CLAYTON_FIT),
    "gumbel": _GUMBEL_FIT,
    "survival gumbel": _upside_down(_GUMBEL_FIT),
    "tawn 1": _tawn,
    "tawn 2": _tawn,
    "survival tawn 1": _upside_down(_tawn),
    "survival tawn 2": _upside_down(_tawn),
}

#: Those under which two systems of equal margins could be exchanged.
SYMMETRIC = tuple(name for name in FAMILIES if "tawn" not in name)
