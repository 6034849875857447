"""Fitting the dependence of two systems: the most likely copula of each family, and the choice by AIC.

Symmetric families are those under which two systems of equal margins could be exchanged; Tawn's are not symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from simstudy.truth import Clayton, Dependence, GaussianCopula, Gumbel, Independent, Survival, TCopula

from .margins import Floats

# Where the likelihood of each parameter is looked at first. Their ends bound the parameters.
_CORRELATIONS = np.tanh(np.linspace(-3, 3, 25))
_DF = np.array([2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0])
_CLAYTON = np.geomspace(0.02, 28, 16)
_GUMBEL = 1 + np.geomspace(0.01, 16, 16)
_FRANK = np.concatenate([-np.geomspace(0.05, 35, 12)[::-1], np.geomspace(0.05, 35, 16)])
_TAWN = 1 + np.geomspace(0.05, 19, 14)
_SHARES = special.expit(np.linspace(-3.9, 3.9, 17))

# How many grids there are, each finer than the one before, and the values of a parameter in all but the first.
_GRIDS, _VALUES = 6, 7

# Frank's copula with a parameter nearer to 0 is independence.
_LEAST_FRANK = 1e-6


@dataclass(frozen=True)
class Frank(Dependence):
    """Two systems that depend on each other alike in both tails, and little there, by the sign of theta."""

    theta: float

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> Floats:
        least = 2.0**-53
        first, level = np.maximum(rng.random((2, n_items)), least)
        # The second given the first, at this level of its distribution function (Nelsen 2006, exercise 4.17).
        # In this form no term cancels another one, however large or small theta is.
        size = max(abs(self.theta), _LEAST_FRANK)
        whole = np.log(-np.expm1(-size)) + np.log(level)
        left = np.log(1 - level + level * np.exp(-size * (1 - first)))
        second = np.logaddexp(0, whole + size * first - left) / size
        drawn = np.stack([first, second if self.theta > 0 else 1 - second], axis=1)
        return np.asarray(np.clip(drawn, least, 1 - least))

    def rank_correlation(self, n_systems: int) -> Floats:
        # 1 - 4 (1 - D) / theta, where Debye's D is the mean of t / (e^t - 1) from 0 to theta (Nelsen 2006, 5.9).
        size = max(abs(self.theta), _LEAST_FRANK)
        t = (np.arange(10_000) + 0.5) / 10_000 * size
        tau = np.sign(self.theta) * (1 - 4 / size * (1 - (t / np.expm1(t)).mean()))
        return np.where(np.eye(n_systems, dtype=bool), 1.0, tau)


@dataclass(frozen=True)
class PairFit:
    """A copula that was fitted to two systems: its family (one of `FAMILIES`), and what draws from it."""

    family: str
    dependence: Dependence
    log_likelihood: float
    n_parameters: int

    @property
    def aic(self) -> float:
        """Akaike's information criterion; less is better."""
        return 2 * self.n_parameters - 2 * self.log_likelihood


# The logarithm of the density of each copula at two systems' uniform numbers. Parameters may be arrays that numpy
# broadcasts against the numbers. Nothing overflows for numbers strictly between 0 and 1.


def gaussian_density(u: Floats, v: Floats, correlation: Floats) -> Floats:
    """Of normal latent scores."""
    x, y = special.ndtri(u), special.ndtri(v)
    rest = 1 - correlation**2
    quadratic = (correlation**2 * (x**2 + y**2) - 2 * correlation * x * y) / rest
    return np.asarray(-0.5 * (np.log(rest) + quadratic))


def student_density(u: Floats, v: Floats, correlation: Floats, df: Floats) -> Floats:
    """Of latent scores by Student's t with df degrees of freedom."""
    x, y = special.stdtrit(df, u), special.stdtrit(df, v)
    rest = 1 - correlation**2
    joint = (x**2 - 2 * correlation * x * y + y**2) / (df * rest)
    constant = special.gammaln(df / 2 + 1) + special.gammaln(df / 2) - 2 * special.gammaln((df + 1) / 2)
    margins = (df + 1) / 2 * (np.log1p(x**2 / df) + np.log1p(y**2 / df))
    return np.asarray(constant - 0.5 * np.log(rest) - (df / 2 + 1) * np.log1p(joint) + margins)


def clayton_density(u: Floats, v: Floats, theta: Floats) -> Floats:
    """Of Clayton's copula, theta above 0."""
    x, y = -np.log(u), -np.log(v)
    # log(u^-theta + v^-theta - 1): the larger term leaves the sum.
    large, small = np.maximum(x, y) * theta, np.minimum(x, y) * theta
    total = large + np.log1p(np.exp(small - large) - np.exp(-large))
    return np.asarray(np.log1p(theta) + (1 + theta) * (x + y) - (2 + 1 / theta) * total)


def frank_density(u: Floats, v: Floats, theta: Floats) -> Floats:
    """Of Frank's copula; the sign of theta is that of the dependence."""
    # A negative theta is a positive one with one of the numbers upside down.
    size, v = np.maximum(np.abs(theta), _LEAST_FRANK), np.where(theta < 0, 1 - v, v)
    whole = np.log(-np.expm1(-size))
    # whole - (1 - e^(-size u)) (1 - e^(-size v)) as a sum of two positive terms.
    below = np.logaddexp(np.log(-np.expm1(-size * v)) - size * u, np.log(-np.expm1(-size * (1 - v))) - size * v)
    return np.asarray(np.log(size) + whole - size * (u + v) - 2 * below)


def tawn_density(u: Floats, v: Floats, theta: Floats, share: Floats | float = 1.0) -> Floats:
    """Of Gumbel's copula with a share of the first system (Tawn 1988); 1: Gumbel's own.

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


@dataclass(frozen=True)
class Family:
    """The logarithm of a density, the copula with its parameters, and where each parameter is looked at first."""

    density: Callable[..., Floats]
    copula: Callable[..., Dependence]
    grids: tuple[Floats, ...]


_PLAIN = {
    "independent": Family(lambda u, v: np.zeros(u.shape), Independent, ()),
    "gaussian": Family(gaussian_density, GaussianCopula, (_CORRELATIONS,)),
    "t": Family(student_density, lambda correlation, df: TCopula(correlation, df=df), (_CORRELATIONS, _DF)),
    "frank": Family(frank_density, Frank, (_FRANK,)),
    "clayton": Family(clayton_density, Clayton, (_CLAYTON,)),
    "gumbel": Family(tawn_density, Gumbel, (_GUMBEL,)),
    # Type 1 has a share of the first system, type 2 of the second; the other one's is 1.
    "tawn 1": Family(tawn_density, lambda theta, share: Gumbel(theta, (share, 1.0)), (_TAWN, _SHARES)),
    "tawn 2": Family(
        lambda u, v, theta, share: tawn_density(v, u, theta, share),
        lambda theta, share: Gumbel(theta, (1.0, share)),
        (_TAWN, _SHARES),
    ),
}
_SURVIVAL = "survival "

#: Families of two systems' copulas; survival copulas are upside down.
FAMILIES = (*_PLAIN, *(_SURVIVAL + name for name in ("clayton", "gumbel", "tawn 1", "tawn 2")))

#: Those under which two systems of equal margins could be exchanged.
SYMMETRIC = tuple(name for name in FAMILIES if "tawn" not in name)


def pseudo_observations(scores: Floats, rng: np.random.Generator) -> Floats:
    """Ranks over n + 1 of each system's scores (2, n), in place of its uniform numbers; ties are in random order."""
    n = scores.shape[1]
    order = np.stack([np.lexsort((rng.random(n), row)) for row in scores])
    return np.asarray((order.argsort(axis=1) + 1) / (n + 1))


def best_fit(uniforms: Floats, families: Sequence[str] = FAMILIES) -> PairFit:
    """The copula of these families with the least AIC for uniform numbers (2, n); the first where two are level."""
    return min((fitted(name, uniforms) for name in families), key=lambda fit: fit.aic)


def fitted(name: str, uniforms: Floats) -> PairFit:
    """The most likely copula of a family for uniform numbers (2, n): pseudo-likelihood (Genest et al. 1995)."""
    family = _PLAIN[name.removeprefix(_SURVIVAL)]
    upside_down = name.startswith(_SURVIVAL)
    u, v = 1 - uniforms if upside_down else uniforms
    parameters, likelihood = most_likely(lambda *point: family.density(u, v, *point).sum(axis=-1), family.grids)
    copula = family.copula(*parameters)
    return PairFit(name, Survival(copula) if upside_down else copula, likelihood, len(parameters))


def most_likely(likelihood: Callable[..., Floats], grids: Sequence[Floats]) -> tuple[list[float], float]:
    """The parameters with the largest likelihood: the best point of a grid, then of finer ones around it.

    `likelihood` is called with arrays of parameters whose last axis has length 1 and is that of a sum.
    """
    ends = [(grid[0], grid[-1]) for grid in grids]
    for _ in range(_GRIDS):
        values = np.asarray(likelihood(*(mesh[..., None] for mesh in np.ix_(*grids))))
        best = np.unravel_index(values.argmax(), values.shape)
        point = [float(grid[k]) for grid, k in zip(grids, best, strict=True)]
        gaps = [np.diff(grid)[max(k - 1, 0) : k + 1].max() for grid, k in zip(grids, best, strict=True)]
        grids = [
            np.linspace(max(at - gap, low), min(at + gap, high), _VALUES)
            for at, gap, (low, high) in zip(point, gaps, ends, strict=True)
        ]
    return point, float(values[best])
