"""Densities of copulas of two systems' uniform numbers, as logarithms: what fitting a pair of systems needs.

Parameters may be arrays that numpy broadcasts against the numbers. Nothing overflows for numbers strictly between 0
and 1.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from simstudy.metrics.base import FloatArray


def gaussian(u: FloatArray, v: FloatArray, correlation: FloatArray) -> FloatArray:
    """Of normal latent scores.

    Examples
    --------
    >>> float(gaussian(np.array(0.5), np.array(0.5), np.array(0.6)).round(6))   # -log(1 - 0.36) / 2
    0.223144
    """
    x, y = special.ndtri(u), special.ndtri(v)
    rest = 1 - correlation**2
    quadratic = (correlation**2 * (x**2 + y**2) - 2 * correlation * x * y) / rest
    return np.asarray(-0.5 * (np.log(rest) + quadratic))


def student(x: FloatArray, y: FloatArray, correlation: FloatArray, df: FloatArray) -> FloatArray:
    """Of bivariate t, at the quantiles x and y of t with so many degrees of freedom (`scipy.special.stdtrit`)."""
    rest = 1 - correlation**2
    joint = (x**2 - 2 * correlation * x * y + y**2) / (df * rest)
    constant = special.gammaln(df / 2 + 1) + special.gammaln(df / 2) - 2 * special.gammaln((df + 1) / 2)
    own = (df + 1) / 2 * (np.log1p(x**2 / df) + np.log1p(y**2 / df))
    return np.asarray(constant - 0.5 * np.log(rest) - (df / 2 + 1) * np.log1p(joint) + own)


def clayton(u: FloatArray, v: FloatArray, theta: FloatArray) -> FloatArray:
    """Of Clayton's copula, theta above 0."""
    x, y = -np.log(u), -np.log(v)
    # log(u^-theta + v^-theta - 1): the larger term leaves the sum.
    large, small = np.maximum(x, y) * theta, np.minimum(x, y) * theta
    total = large + np.log1p(np.exp(small - large) - np.exp(-large))
    return np.asarray(np.log1p(theta) + (1 + theta) * (x + y) - (2 + 1 / theta) * total)


def frank(u: FloatArray, v: FloatArray, theta: FloatArray) -> FloatArray:
    """Of Frank's copula, theta any number but 0; its sign is that of the dependence."""
    # A negative theta is a positive one with one of the numbers upside down.
    size, v = np.abs(theta), np.where(theta < 0, 1 - v, v)
    whole = np.log(-np.expm1(-size))
    # whole - (1 - e^(-size u)) (1 - e^(-size v)) as a sum of two positive terms.
    below = np.logaddexp(np.log(-np.expm1(-size * v)) - size * u, np.log(-np.expm1(-size * (1 - v))) - size * v)
    return np.asarray(np.log(size) + whole - size * (u + v) - 2 * below)


def tawn(u: FloatArray, v: FloatArray, theta: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Of Gumbel's copula with a share of each system (Tawn 1988): `Khoudraji` of `Gumbel`; shares of 1: Gumbel's own.

    With x = -log u and y = -log v its distribution function is exp(-l), where l = (1 - first) x + (1 - second) y + r
    and r = ((first x)^theta + (second y)^theta)^(1 / theta); the density is exp(x + y - l) (l_x l_y - l_xy).

    Examples
    --------
    >>> u, one = np.array([0.2, 0.9]), np.array(1.0)
    >>> bool(np.abs(tawn(u, u, one, one, one)).max() < 1e-12)   # theta 1 is independence
    True
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
