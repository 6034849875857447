"""What pair models are: two systems whose true scores are known exactly, on many test sets of n units at once.

For studies of how often tests reject and intervals cover: what is drawn are sufficient statistics, all test sets of a
batch alike in shape. A unit is an item, or a cluster of items that depend on each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_number, number_list

Two = tuple[float, float]
"""A number for each of the two systems."""


#: No parameter without a bound of its own is larger, or nearer to 0: products of a few stay in floating point.
EXTREME = 1e100

#: As 1 - 0.9 is less than 0.1 in binary, what is left may be as little below 0.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Drawn(FieldsMixin):
    """M test sets: statistics (M, 2 systems, items, S).

    `starts` are the positions (n,) of the first item of each cluster, the same in all test sets; None where items are
    independent.
    """

    statistics: Array
    starts: IntArray | None = None

    def by(self, unit: str) -> Array:
        """Statistics (M, 2, units, S), by "item" or by "cluster"."""
        if unit == "item" or self.starts is None:
            return self.statistics
        sums = np.add.reduceat(self.statistics.astype(np.float64), self.starts, axis=2)
        return sums.astype(np.int32) if np.issubdtype(self.statistics.dtype, np.integer) else sums


class PairModel(FieldsMixin, ABC):
    """A model of two systems' results on one test set."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """What the systems are scored by, a name in `simstudy.metrics.METRICS`; more is better."""

    @property
    def units(self) -> tuple[str, ...]:
        """What tests may take as units, the independent ones first."""
        return ("item",)

    @property
    def exchangeable(self) -> bool:
        """Whether the systems' results on an independent unit may be swapped and nothing changes in law.

        That is the null hypothesis of randomization. It holds where the parameters that each system has of its own
        (pairs of numbers) are the same.
        """
        own = [value for value in vars(self).values() if np.ndim(value) == 1]
        return all(first == second for first, second in own)

    @property
    def independent(self) -> bool:
        """Whether the two systems' results are independent of each other."""
        return False

    @abstractmethod
    def scores(self) -> Two:
        """The two systems' scores in the population, on the metric's scale."""

    @abstractmethod
    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        """Test sets of n independent units each."""

    @property
    def true_gain(self) -> float:
        """The first system's true score less the second's, on the metric's scale."""
        first, second = self.scores()
        return first - second


def starts_of(sizes: IntArray) -> IntArray:
    """Positions (n,) of the first items of clusters of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def percent(shares: Two) -> Two:
    """Shares in percent."""
    return 100 * shares[0], 100 * shares[1]


def column(of_systems: Sequence[float]) -> FloatArray:
    """A number for each system, to go with arrays (M, 2, n)."""
    return np.array(of_systems)[:, None]


def check_two(argument: str, values: object, what: str, least: float, most: float = np.inf) -> None:
    """Raise a ValueError where these are not two finite numbers, one for each system, from least to most."""
    given = number_list(argument, values)
    if given.size != 2 or not (np.isfinite(given) & (given >= least) & (given <= most)).all():
        raise InputError(argument, f"must be two {what}{_within(least, most)}, one for each system", values)


def check_one(argument: str, value: object, least: float, most: float = np.inf) -> None:
    """Raise a ValueError where this is no finite number from least to most."""
    check_number(argument, value)
    assert isinstance(value, float | int | np.number)
    if not (np.isfinite(value) and least <= value <= most):
        raise InputError(argument, f"must be a finite number{_within(least, most)}", value)


def _within(least: float, most: float) -> str:
    if np.isfinite(most):
        return f" from {least:g} to {most:g}"
    return f" of at least {least:g}" if np.isfinite(least) else ""
