"""Fitting the dependence of two systems: one copula of each family by maximum likelihood, chosen by AIC.

Symmetric families are those under which two systems of equal margins could be exchanged; Tawn's are not symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from simstudy.truth import (
    Clayton,
    Dependence,
    GaussianCopula,
    Gumbel,
    Independent,
    Khoudraji,
    Survival,
    TCopula,
)

from .margins import Floats

# Where the likelihood is looked at first; the best of these points is polished. Their ends bound the parameters.
_CORRELATIONS = np.tanh(np.linspace(-3, 3, 25))
_DF = np.array([2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0])
_CLAYTON = np.geomspace(0.02, 28, 16)
_GUMBEL = 1 + np.geomspace(0.01, 16, 16)
_FRANK = np.concatenate([-np.geomspace(0.05, 35, 12)[::-1], np.geomspace(0.05, 35, 16)])
_TAWN = 1 + np.geomspace(0.05, 19, 10)
_SHARES = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98])


@dataclass(frozen=True)
class Frank(Dependence):
    """Two systems that depend on each other alike in both tails, and little there, by either sign; exchangeable.

    Parameters
    ----------
    theta
        Not 0; its sign is that of the dependence.
    """

    theta: float

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> Floats:
        least = 2.0**-53
        first, level = np.maximum(rng.random((2, n_items)), least)
        # The second given the first, at this level of its distribution function (Nelsen 2006, exercise 4.17).
        # In this form no term cancels another one, however large or small theta is.
        size = abs(self.theta)
        whole = np.log(-np.expm1(-size)) + np.log(level)
        left = np.log(1 - level + level * np.exp(-size * (1 - first)))
        second = np.logaddexp(0, whole + size * first - left) / size
        drawn = np.stack([first, second if self.theta > 0 else 1 - second], axis=1)
        return np.asarray(np.clip(drawn, least, 1 - least))


@dataclass(frozen=True)
class PairFit:
    """A copula that was fitted to two systems.

    Attributes
    ----------
    family
        A name of `FAMILIES`.
    dependence
        What draws from it.
    log_likelihood, n_parameters
        Of the fit.
    """

    family: str
    dependence: Dependence
    log_likelihood: float
    n_parameters: int

    @property
    def aic(self) -> float:
        """Akaike's information criterion; less is better."""
        return 2 * self.n_parameters - 2 * self.log_likelihood


FamilyFit = Callable[[str, Floats, Floats], PairFit]
"""What fits the family of a name to two systems' uniform numbers."""


def pseudo_observations(scores: Floats, rng: np.random.Generator) -> Floats:
    """Ranks over n + 1 of each system's scores (2, n), in place of its uniform numbers; ties are in random order."""
    n = scores.shape[1]
    order = np.stack([np.lexsort((rng.random(n), row)) for row in scores])
    return np.asarray((order.argsort(axis=1) + 1) / (n + 1))


def fit_families(uniforms: Floats, families: Sequence[str] | None = None) -> list[PairFit]:
    """The most likely copula of each family for uniform numbers (2, n): pseudo-likelihood (Genest et al. 1995)."""
    u, v = uniforms
    return [FAMILIES[name](name, u, v) for name in families or FAMILIES]


def best_fit(fits: Sequence[PairFit], families: Sequence[str] | None = None) -> PairFit:
    """The fit of these families with the least AIC; the first where two are level."""
    return min((fit for fit in fits if families is None or fit.family in families), key=lambda fit: fit.aic)


def _polished(likelihood: Callable[[Floats], Floats], grid: Floats) -> tuple[float, float]:
    """The parameter with the largest likelihood, between the neighbours of the best of a grid, and that likelihood."""
    values = likelihood(grid[:, None])
    k = int(np.argmax(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
    best = optimize.minimize_scalar(
        lambda x: -float(likelihood(np.array([[x]]))[0]), bounds=ends, method="bounded", options={"xatol": 1e-4}
    )
    if -best.fun < values[k]:
        return float(grid[k]), float(values[k])
    return float(best.x), -float(best.fun)


def _student(name: str, u: Floats, v: Floats) -> PairFit:
    """Degrees of freedom are those of the grid, on which little depends."""
    x, y = special.stdtrit(_DF[:, None], u), special.stdtrit(_DF[:, None], v)
    over_grid = student_density(x, y, _CORRELATIONS[:, None, None], _DF[:, None]).sum(axis=-1)
    k = int(np.argmax(over_grid.max(axis=0)))
    correlation, likelihood = _polished(lambda r: student_density(x[k], y[k], r, _DF[k]).sum(axis=-1), _CORRELATIONS)
    return PairFit(name, TCopula(correlation, df=float(_DF[k])), likelihood, 2)


def _tawn(name: str, u: Floats, v: Floats) -> PairFit:
    """Type 1 has a share of the first system, type 2 of the second; the other one's is 1."""
    swapped = name.endswith("2")
    a, b = (v, u) if swapped else (u, v)

    def parameters(point: Floats) -> tuple[Floats, Floats]:
        theta = np.clip(1 + np.exp(point[0]), _TAWN[0], _TAWN[-1])
        return theta, np.clip(special.expit(point[1]), _SHARES[0], _SHARES[-1])

    def loss(point: Floats) -> float:
        return -float(tawn_density(a, b, *parameters(point)).sum())

    over_grid = tawn_density(a, b, _TAWN[:, None, None], _SHARES[:, None]).sum(axis=-1)
    i, j = np.unravel_index(int(np.argmax(over_grid)), over_grid.shape)
    start = np.array([np.log(_TAWN[i] - 1), special.logit(_SHARES[j])])
    corners = start + np.array([[0, 0], [0.4, 0], [0, 0.5]])
    options: Any = {"xatol": 1e-2, "fatol": 1e-3, "maxfev": 150, "initial_simplex": corners}
    best = optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    point, likelihood = (best.x, -best.fun) if -best.fun >= over_grid[i, j] else (start, over_grid[i, j])
    theta, share = map(float, parameters(point))
    shares = (1.0, share) if swapped else (share, 1.0)
    return PairFit(name, Khoudraji(Gumbel(theta), shares), float(likelihood), 2)


def _one_parameter(density: Callable[..., Floats], grid: Floats, make: Callable[[float], Dependence]) -> FamilyFit:
    def fit(name: str, u: Floats, v: Floats) -> PairFit:
        theta, likelihood = _polished(lambda x: density(u, v, x).sum(axis=-1), grid)
        return PairFit(name, make(theta), likelihood, 1)

    return fit


def _upside_down(fitted: FamilyFit) -> FamilyFit:
    def fit(name: str, u: Floats, v: Floats) -> PairFit:
        turned = fitted(name.removeprefix("survival "), 1 - u, 1 - v)
        return PairFit(name, Survival(turned.dependence), turned.log_likelihood, turned.n_parameters)

    return fit


# The logarithm of the density of each copula at two systems' uniform numbers. Parameters may be arrays that numpy
# broadcasts against the numbers. Nothing overflows for numbers strictly between 0 and 1.


def gaussian_density(u: Floats, v: Floats, correlation: Floats) -> Floats:
    """Of normal latent scores."""
    x, y = special.ndtri(u), special.ndtri(v)
    rest = 1 - correlation**2
    quadratic = (correlation**2 * (x**2 + y**2) - 2 * correlation * x * y) / rest
    return np.asarray(-0.5 * (np.log(rest) + quadratic))


def student_density(x: Floats, y: Floats, correlation: Floats, df: Floats) -> Floats:
    """Log density of the t copula at quantiles x and y of t with df degrees of freedom (`scipy.special.stdtrit`)."""
    rest = 1 - correlation**2
    joint = (x**2 - 2 * correlation * x * y + y**2) / (df * rest)
    constant = special.gammaln(df / 2 + 1) + special.gammaln(df / 2) - 2 * special.gammaln((df + 1) / 2)
    own = (df + 1) / 2 * (np.log1p(x**2 / df) + np.log1p(y**2 / df))
    return np.asarray(constant - 0.5 * np.log(rest) - (df / 2 + 1) * np.log1p(joint) + own)


def clayton_density(u: Floats, v: Floats, theta: Floats) -> Floats:
    """Of Clayton's copula, theta above 0."""
    x, y = -np.log(u), -np.log(v)
    # log(u^-theta + v^-theta - 1): the larger term leaves the sum.
    large, small = np.maximum(x, y) * theta, np.minimum(x, y) * theta
    total = large + np.log1p(np.exp(small - large) - np.exp(-large))
    return np.asarray(np.log1p(theta) + (1 + theta) * (x + y) - (2 + 1 / theta) * total)


def frank_density(u: Floats, v: Floats, theta: Floats) -> Floats:
    """Of Frank's copula, theta any number but 0; its sign is that of the dependence."""
    # A negative theta is a positive one with one of the numbers upside down.
    size, v = np.abs(theta), np.where(theta < 0, 1 - v, v)
    whole = np.log(-np.expm1(-size))
    # whole - (1 - e^(-size u)) (1 - e^(-size v)) as a sum of two positive terms.
    below = np.logaddexp(np.log(-np.expm1(-size * v)) - size * u, np.log(-np.expm1(-size * (1 - v))) - size * v)
    return np.asarray(np.log(size) + whole - size * (u + v) - 2 * below)


def tawn_density(u: Floats, v: Floats, theta: Floats, share: Floats) -> Floats:
    """Of Gumbel's copula with a share of the first system (Tawn 1988): `Khoudraji` of `Gumbel`; 1: Gumbel's own.

    With x = -log u and y = -log v its distribution function is exp(-l), where l = (1 - share) x + r and
    r = ((share x)^theta + y^theta)^(1 / theta); the density is exp(x + y - l) (l_x l_y - l_xy).
    """
    x, y = -np.log(u), -np.log(v)
    a, b = np.log(share * x), np.log(y)
    log_r = np.logaddexp(theta * a, theta * b) / theta
    r = np.exp(log_r)
    # Powers of the two parts relative to r, at most 1.
    part_x, part_y = np.exp((theta - 1) * (a - log_r)), np.exp((theta - 1) * (b - log_r))
    slope_x = 1 - share + share * part_x
    mixed = (theta - 1) * share * part_x * part_y / r
    function = (1 - share) * x + r
    return np.asarray(x + y - function + np.log(slope_x * part_y + mixed))


def gumbel_density(u: Floats, v: Floats, theta: Floats) -> Floats:
    """Of Gumbel's copula, theta from 1 on."""
    return tawn_density(u, v, theta, np.array(1.0))


def _not_0(theta: Floats) -> Floats:
    """Frank's copula has none at 0, which is independence."""
    return np.where(np.abs(theta) < 1e-3, 1e-3, theta)


_CLAYTON_FIT = _one_parameter(clayton_density, _CLAYTON, Clayton)
_GUMBEL_FIT = _one_parameter(gumbel_density, _GUMBEL, Gumbel)

#: Families of two systems' copulas, and what fits each: those of `SYMMETRIC` and Tawn's.
FAMILIES: dict[str, FamilyFit] = {
    "independent": lambda name, u, v: PairFit(name, Independent(), 0.0, 0),
    "gaussian": _one_parameter(gaussian_density, _CORRELATIONS, GaussianCopula),
    "t": _student,
    "frank": _one_parameter(
        lambda u, v, theta: frank_density(u, v, _not_0(theta)),
        _FRANK,
        lambda theta: Frank(float(_not_0(np.array(theta)))),
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
