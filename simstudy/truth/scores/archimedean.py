"""Archimedean copulas: dependence by one parameter, in the lower tail or in the upper one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import FloatArray
from simstudy.truth.pair_base import EXTREME, check_one
from simstudy.truth.scores.dependence import LEAST, Dependence, inside

# A gamma frailty below this is drawn as a logarithm.
_SMALL = 1e-300


@dataclass(frozen=True)
class Clayton(Dependence):
    """Systems fail together more than they do well together; any number of them, exchangeable.

    Drawn as Marshall and Olkin (1988) do: numbers are (1 + e_k / v)^(-1 / theta), with e exponential and one v an item,
    Gamma(1 / theta).

    Parameters
    ----------
    theta
        From 1e-100 to 1e100; Kendall's tau of two systems is theta / (theta + 2).
    """

    theta: float

    def __post_init__(self) -> None:
        check_one("theta", self.theta, 1 / EXTREME, EXTREME)

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        frailty = rng.gamma(1 / self.theta, size=(n_items, 1))
        log_waits = np.log(rng.standard_exponential((n_items, n_systems)))
        # Near 0 the gamma law is a power law, whose logarithm is exponential.
        small = frailty < _SMALL
        log_frailty = np.log(np.maximum(frailty, _SMALL))
        log_frailty[small] -= self.theta * rng.standard_exponential(int(small.sum()))
        return inside(np.exp(-np.logaddexp(0, log_waits - log_frailty) / self.theta))


@dataclass(frozen=True)
class Gumbel(Dependence):
    """Systems do well together more than they fail together; any number of them, exchangeable.

    Numbers are exp(-(e_k / v)^(1 / theta)), with e exponential and one v an item, positive stable of index 1 / theta
    (Marshall and Olkin 1988; v is drawn as Kanter 1975 does).

    Parameters
    ----------
    theta
        From 1 (independence) to 1e100; Kendall's tau of two systems is 1 - 1 / theta.
    """

    theta: float

    def __post_init__(self) -> None:
        check_one("theta", self.theta, 1, EXTREME)

    def uniforms(self, n_items: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        index = 1 / self.theta
        angle = np.pi * np.maximum(rng.random((n_items, 1)), LEAST)
        wait = np.log(rng.standard_exponential((n_items, 1)))
        # The logarithm of the stable number, whose own range is beyond that of floating point.
        log_frailty = np.log(np.sin(index * angle)) - self.theta * np.log(np.sin(angle))
        if index < 1:
            log_frailty += (self.theta - 1) * (np.log(np.sin((1 - index) * angle)) - wait)
        log_waits = np.log(rng.standard_exponential((n_items, n_systems)))
        return inside(np.exp(-np.exp((log_waits - log_frailty) * index)))
